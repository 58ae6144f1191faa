"""What is accepted at best within Kullback-Leibler and Rényi divergences (Theory, 30)."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import oracles
import pytest
from instances import LAWS, extreme_pairs, floats, fractions, law_cases
from searching import NIGHTLY, enough

import otspec
from otspec.optimum.divergences import KullbackLeibler, Renyi, ReverseKullbackLeibler
from otspec.rules.lossy.base import entropy, kullback_leibler

BUDGETS = {
    "kullback_leibler": lambda amount: {"kullback_leibler": amount},
    "reverse_kullback_leibler": lambda amount: {"reverse_kullback_leibler": amount},
    "order 2": lambda amount: {"renyi": (2, amount)},
    "order 1/2": lambda amount: {"renyi": (0.5, amount)},
    "order 5": lambda amount: {"renyi": (5, amount)},
}
KINDS = {kind.name: kind for kind in (KullbackLeibler, ReverseKullbackLeibler, Renyi)}
DRAFT, TARGET = [0.5, 0.3, 0.2, 0.0], [0.1, 0.5, 0.3, 0.1]
SOLVER_ERROR = 2e-6
"""Of the interior point, which is told to stop at 1e-8 in units of its own."""


def convex_program(cvxpy, table, target, kind, amount):
    """The optimum over outputs and selection laws, both variables, in the words of cvxpy."""
    n, q = len(target), np.array(floats(target))
    selection, output = cvxpy.Variable(n, nonneg=True), cvxpy.Variable(n, nonneg=True)
    inside = oracles.inside_every_set(table, n)
    rows = [cvxpy.sum(selection) == 1, cvxpy.sum(output) == 1]
    rows += [
        cvxpy.sum(selection[oracles.members(mask)]) >= float(inside[mask])
        for mask in range(1, 2**n - 1)
        if inside[mask] > 0
    ]
    wanted = np.flatnonzero(q > 0)
    if len(wanted) < n and kind in ("kullback_leibler", "order 2", "order 5"):
        rows.append(cvxpy.sum(output[np.flatnonzero(q == 0)]) == 0)
    p, o = q[wanted], output[wanted]
    if kind == "kullback_leibler":
        rows.append(cvxpy.sum(cvxpy.rel_entr(o, p)) <= amount)
    elif kind == "reverse_kullback_leibler":
        rows.append(cvxpy.sum(cvxpy.rel_entr(p, o)) <= amount)
    else:
        order = {"order 2": 2, "order 1/2": 0.5, "order 5": 5}[kind]
        powers = cvxpy.sum(cvxpy.multiply(p, cvxpy.power(cvxpy.multiply(o, 1 / p), order)))
        limit = math.exp((order - 1) * amount)
        rows.append(powers <= limit if order > 1 else powers >= limit)
    program = cvxpy.Problem(cvxpy.Maximize(cvxpy.sum(cvxpy.minimum(selection, output))), rows)
    program.solve(solver="CLARABEL")
    return program.value


def test_a_divergence_of_fractions_has_no_largest_quotient():
    tiny, half = Fraction(1, 10**400), Fraction(1, 2)
    even, uneven = (np.array([mass, 1 - mass]) for mass in (half, tiny))
    assert kullback_leibler(even, uneven) == pytest.approx(200 * math.log(10) - math.log(2))
    assert kullback_leibler(uneven, even) == pytest.approx(math.log(2))
    third = np.array([Fraction(1, 3), Fraction(2, 3)])
    assert kullback_leibler(third, even) == pytest.approx(math.log(2 ** (5 / 3) / 3), rel=1e-15)


@pytest.mark.parametrize("kind", BUDGETS)
def test_it_is_the_value_of_a_convex_program(kind):
    import cvxpy

    inner = 0
    for index, name in enumerate(LAWS):
        for case, target in law_cases(name, 2220 + index, count=1, most_tokens=4, most_drafts=3):
            amount = (0.001, 0.02, 0.2, 1.0)[index % 4]
            best = otspec.optimal_acceptance(case.float, floats(target), **BUDGETS[kind](amount))
            best.check()
            assert abs(best.gap) < 1e-12
            value = convex_program(cvxpy, case.table, target, kind, amount)
            assert abs(best.acceptance - value) < SOLVER_ERROR
            lossless = otspec.optimal_acceptance(case.float, floats(target)).acceptance
            inner += lossless + 1e-9 < best.acceptance < 1 - 1e-9
    assert inner > 1


@pytest.mark.parametrize("kind", BUDGETS)
def test_it_is_concave_and_ascends_from_the_lossless_optimum(kind):
    law = otspec.IID(DRAFT, 2)
    alpha = otspec.optimal_acceptance(law, TARGET).acceptance
    amounts = np.linspace(0, 0.5, 26)
    if kind in ("order 2", "order 5"):  # concave in the mean of the power
        order = {"order 2": 2, "order 5": 5}[kind]
        amounts = np.log1p(amounts * 2) / (order - 1)
    found = [
        otspec.optimal_acceptance(law, TARGET, **BUDGETS[kind](amount)).acceptance
        for amount in amounts.tolist()
    ]
    steps = np.diff(found)
    assert abs(found[0] - alpha) < 1e-15
    assert (steps >= 0).all()
    assert (np.diff(steps) <= 1e-12).all()
    assert found[-1] > alpha + 0.05


@pytest.mark.parametrize("name", LAWS)
def test_divergences_are_below_total_variation_as_pinsker_says(name):
    for case, target in law_cases(name, seed=2230, count=3, most_tokens=5, most_drafts=3):
        law, q = case.float, floats(target)
        alpha = otspec.optimal_acceptance(law, q).acceptance
        for amount in (0.01, 0.3):
            for kind in ("kullback_leibler", "reverse_kullback_leibler", "order 2"):
                best = otspec.optimal_acceptance(law, q, **BUDGETS[kind](amount))
                assert best.acceptance <= min(1, alpha + math.sqrt(amount / 2)) + 1e-12
            orders = [
                otspec.optimal_acceptance(law, q, renyi=(order, amount)).acceptance
                for order in (0.5, 0.999999, 1.000001, 2, 5)
            ]
            # The divergence ascends with its order.
            assert all(high <= low + 1e-9 for low, high in pairwise(orders))
            at_one = otspec.optimal_acceptance(law, q, kullback_leibler=amount).acceptance
            assert abs(orders[2] - at_one) < 1e-4


def test_the_output_within_a_total_variation_is_also_the_nearest_in_divergence():
    """What a divergence buys costs no less in another output of the same acceptance."""
    law = otspec.IID(DRAFT, 2)
    best = otspec.optimal_acceptance(law, TARGET, total_variation=0.05)
    for within in BUDGETS.values():
        budget = otspec.optimal_acceptance(law, TARGET, **within(0.1)).budget
        amount = budget.distance(best.output, best.target)
        again = otspec.optimal_acceptance(law, TARGET, **within(amount + 1e-15))
        assert abs(again.acceptance - best.acceptance) < 1e-9
        assert np.abs(again.output - best.output).max() < 1e-9


@pytest.mark.parametrize("kind", BUDGETS)
def test_a_rule_attains_it(kind):
    best = otspec.optimal_acceptance(otspec.IID(DRAFT, 2), TARGET, **BUDGETS[kind](0.05))
    rule = otspec.rules.lossy.rule_attaining(best)
    report = otspec.audit(rule, target=TARGET)
    assert abs(report.acceptance - best.acceptance) < 1e-12
    assert best.budget.distance(report.output, report.target) <= 0.05 + 1e-12


def test_full_vocabulary():
    draft, target = np.random.default_rng(2231).dirichlet(np.full(49_152, 0.05), size=2)
    best = otspec.optimal_acceptance(otspec.IID(draft, 4), target, kullback_leibler=0.05)
    best.check()
    assert abs(best.gap) < 1e-11
    assert abs(best.distance - 0.05) < 1e-11
    assert abs(otspec.rules.lossy.rule_attaining(best).acceptance() - best.acceptance) < 1e-11


def test_what_is_never_wanted_costs_a_divergence_beyond_all_budgets():
    law, target = otspec.IID([0.5, 0.5], 2), [1.0, 0.0]
    most = otspec.optimal_acceptance(law, target, kullback_leibler=1e9)
    assert most.acceptance == most.bound == 0.75
    assert most.output.tolist() == target
    other = otspec.optimal_acceptance(law, target, reverse_kullback_leibler=math.log(4 / 3))
    assert abs(other.acceptance - 1) < 1e-12
    assert abs(otspec.optimal_acceptance(law, target, renyi=(0.5, 1e9)).acceptance - 1) < 1e-12


@pytest.mark.parametrize("kind", ["kullback_leibler", "reverse_kullback_leibler", "order 2"])
def test_numbers_over_the_whole_range_of_floats(kind):
    for draft, target in extreme_pairs(2232, 12, 4):
        for law in (otspec.IID(draft, 2), otspec.Hub(draft)):
            otspec.optimal_acceptance(law, target, **BUDGETS[kind](0.1)).check()


ORDERS = (1e-9, 1e-4, 0.01, 0.1, 0.3, 0.5, 0.9, 1 - 1e-9, 1 + 1e-9, 1.5, 2, 20, 1_000)
AMOUNTS = (0, 1e-30, 1e-15, 1e-9, 1e-6, 1e-3, 0.03, 0.3, 1, 2, 5, 50, 700)


def rough_law(rng, n):
    """A law with zeros, ties, and masses over the whole range of floats."""
    masses = rng.dirichlet(np.full(n, rng.choice([0.05, 0.3, 1, 5])))
    masses[rng.random(n) < rng.choice([0, 0.3])] = 0
    masses = masses.round(int(rng.choice([1, 17])))
    masses *= 10.0 ** -(rng.integers(0, 300, n) * (rng.random() < 0.2))
    masses[rng.integers(n)] += masses.sum() == 0
    return masses / masses.sum()


def budgets(order, amount):
    return {"kullback_leibler": amount}, {"reverse_kullback_leibler": amount}, {
        "renyi": (order, amount)
    }  # fmt: skip


def near_full_acceptance(rng, law, target, order):
    """Budgets that the nearest selection law just does not have, and some that it has."""
    selection = otspec.optimal_acceptance(law, target, total_variation=1.0).selection
    for budget in budgets(order, 1.0):
        found = otspec.optimal_acceptance(law, target, **budget).budget
        amount = found.distance(selection, target)
        if amount < math.inf:
            amount *= 1 - float(rng.choice([1e-12, 1e-8, 1e-5, 1e-3, 0.1]))
            (name,) = budget
            yield {name: (order, amount) if name == "renyi" else amount}


@pytest.mark.parametrize(
    ("draft", "target", "budget"),
    [
        ([0.5, 0.5, 0], [0, 0, 1.0], (0.1, 1.0)),
        ([0.9, 0.1, 0], [0, 0.3, 0.7], (0.3, 2.0)),
        ([0.1, 0.3, 0, 0, 0.6], [0.85, 0.15, 2.7e-139, 1.7e-124, 9.7e-129], (1.5, 3.0)),
        ([1 - 1e-14, 1e-14], [1.0, 1e-170], (1.5, 0.7)),
        ([4e-65, 1.0], [0.0, 1.0], (100.0, 0.001)),
    ],
)
def test_right_answers_at_the_ends_are_proved(draft, target, budget):
    """Orders below 1 near full acceptance; tokens that are rare in the target, or in the draft."""
    best = otspec.optimal_acceptance(otspec.IID(draft, 1), target, normalize=True, renyi=budget)
    best.check()
    assert abs(best.gap) <= best.law.accuracy + best.budget.accuracy < 1e-9


@pytest.mark.parametrize(
    ("draft", "target"),
    [
        ((0.2, 0.4, 0.4), (1.0, 4e-323, 3.5e-323)),
        ((0.3, 0.5, 0.2), (2e-323, 1e-323, 1.0)),
    ],
)
def test_one_draft_is_selected_as_it_is_drawn_beside_subnormal_masses(draft, target):
    """The law of a selected draft is that of the only one, whatever the target is."""
    for budget in budgets(2, 0.05):
        best = otspec.optimal_acceptance(otspec.IID(draft, 1), target, **budget)
        assert best.selection == pytest.approx(draft, rel=1e-15)
        best.check()


def test_tokens_of_subnormal_mass_are_output_as_often_as_the_budget_allows():
    # o = (x, 1 − x): x log(x/q) + (1 − x) log(1 − x) is the budget.
    law = otspec.IID([1.0, 0.0], 1)
    best = otspec.optimal_acceptance(law, [4e-323, 1.0], kullback_leibler=0.05)
    x = best.acceptance
    spent = x * (math.log(x) - math.log(4e-323)) + (1 - x) * math.log1p(-x)
    assert spent == pytest.approx(0.05, abs=1e-14)
    best.check()
    # 1 + x²/q is e^B; q is 2 units of 2^−1074.
    best = otspec.optimal_acceptance(law, [1e-323, 1.0], renyi=(2, 0.5))
    assert (best.acceptance * 2.0**536) ** 2 * 2 == pytest.approx(math.expm1(0.5), rel=1e-12)
    best.check()
    # Σ q log(q/o) is the budget where o is e^{−B} on the one likely token.
    rare = otspec.optimal_acceptance(
        otspec.IID([0.0, 0.0, 1.0], 1), [1.0, 2e-323, 1.5e-323], reverse_kullback_leibler=3
    )
    assert rare.acceptance == pytest.approx(-math.expm1(-3), rel=1e-14)
    rare.check()


def test_every_answer_is_proved_by_its_bound():
    """Whatever the order is, and from budgets of nothing to all that is ever needed."""
    rng = np.random.default_rng(2234)
    near = 0
    for _ in range(2_000 if NIGHTLY else 50):
        n = int(rng.integers(2, 6))
        draft, target = rough_law(rng, n), rough_law(rng, n)
        law = otspec.IID(draft, int(rng.integers(1, 4)))
        if rng.random() < 0.3 and (draft > 0).sum() > 1:
            law = otspec.WithoutReplacement(draft, 2)
        order, amount = float(rng.choice(ORDERS)), float(rng.choice(AMOUNTS))
        for budget in (*budgets(order, amount), *near_full_acceptance(rng, law, target, order)):
            best = otspec.optimal_acceptance(law, target, **budget)
            best.check()
            # Exponents of at most 1,490 times the order, rounded a few times.
            highest = order if "renyi" in budget else 1
            assert abs(best.gap) <= 3e-12 * (1 + highest)
            near += 1e-3 < 1 - best.acceptance < 1
    assert near > 20


def brute_distance(kind, order, output, target):
    """By its definition, in the most precise sums that there are."""
    pairs = [(o, q) for o, q in zip(output.tolist(), target.tolist(), strict=True) if q > 0]
    if kind == "kullback_leibler":
        return math.fsum(o * math.log(o / q) for o, q in pairs if o > 0)
    if kind == "reverse_kullback_leibler":
        return math.fsum(q * math.log(q / o) for o, q in pairs)
    return math.log(math.fsum(q * (o / q) ** order for o, q in pairs)) / (order - 1)


@pytest.mark.parametrize("order", [0.01, 0.3, 0.9, 1.1, 2, 7])
def test_prices_bound_every_output_within_the_budget(order):
    """Whatever the prices are: outputs are drawn, and each has the budget that it needs."""
    rng = np.random.default_rng(2235)
    closest = {}
    for _ in range(enough(400)):
        n = int(rng.integers(2, 5))
        target, output = rng.dirichlet(np.ones(n)), rng.dirichlet(np.full(n, 0.7))
        heights = rng.random(n) * rng.choice([0.01, 1, 5])
        highest = heights.max()
        tilted = rng.random() < 0.5
        for budget in budgets(order, 0.0):
            (kind,) = budget
            power = {"kullback_leibler": 1, "reverse_kullback_leibler": 0}.get(kind, order)
            if tilted:  # the output that brings most
                output = target * np.exp(heights)
                output /= output.sum()
            amount = brute_distance(kind, order, output, target)
            orders = (order,) if kind == "renyi" else ()
            within = KINDS[kind](amount, *orders)
            assert abs(within.distance(output, target) - amount) < 1e-13 * (1 + power)
            prices = heights / highest
            if power != 1:
                prices = np.expm1((power - 1) * heights) / np.expm1((power - 1) * highest)
            left = within.dearest(heights, highest, target) - (prices * output).sum()
            assert left > -1e-11
            closest[kind, tilted] = max(closest.get((kind, tilted), 0), left)
    assert all((left < 1e-11) == tilted for (_, tilted), left in closest.items())


def test_a_gap_is_stated_not_denied():
    """Where the bound is above the acceptance, the sentence says what is proved."""
    best = otspec.optimal_acceptance(otspec.IID(DRAFT, 2), TARGET, kullback_leibler=0.05)
    assert best.proof == best.budget.proof
    less = dataclasses.replace(best, acceptance=best.acceptance - 1e-4)
    stated = f"What is proved is that no rule within the budget is above {best.bound!r}."
    assert less.proof == stated


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ({"kullback_leibler": -1}, "kullback_leibler is -1"),
        ({"kullback_leibler": math.nan}, "kullback_leibler is nan"),
        ({"reverse_kullback_leibler": "x"}, "reverse_kullback_leibler is 'x'"),
        ({"renyi": 2}, r"renyi is 2: it must be .*order and the budget"),
        ({"renyi": (2, 0.1, 3)}, r"renyi has more than 2|renyi is \(2, 0.1, 3\)"),
        ({"renyi": (1, 0.1)}, r"renyi\[0\] is 1, .*pass kullback_leibler=0.1"),
        ({"renyi": (-2, 0.1)}, r"renyi\[0\] is -2"),
        ({"renyi": (2, -0.1)}, r"renyi\[1\] is -0.1"),
        ({"renyi": (2, 0.1), "total_variation": 0.1}, "total_variation and renyi are both given"),
    ],
)
def test_what_is_no_budget_is_refused(budget, message):
    with pytest.raises(ValueError, match=message):
        otspec.optimal_acceptance(otspec.IID(DRAFT, 2), TARGET, **budget)


@pytest.mark.parametrize("kind", BUDGETS)
def test_logarithms_are_not_exact(kind):
    law = otspec.IID(["1/2", "1/2"], 2)
    with pytest.raises(ValueError, match="computed in floats, but the target is exact"):
        otspec.optimal_acceptance(law, ["1/4", "3/4"], **BUDGETS[kind](0.1))


def test_what_was_changed_is_refused():
    best = otspec.optimal_acceptance(otspec.IID(DRAFT, 2), TARGET, kullback_leibler=0.05)
    best.check()
    more = dataclasses.replace(best, acceptance=best.acceptance + 1e-6)
    tighter = dataclasses.replace(best, budget=otspec.optimum.KullbackLeibler(0.04))
    further = dataclasses.replace(best)
    vars(further)["output"] = best.selection
    for changed in (more, tighter, further):
        with pytest.raises(ValueError, match=r"one of the two was changed"):
            changed.check()


def test_independent_drafts_of_many_tokens_have_total_variation_only():
    draft = np.full(101, 1 / 101)
    law = otspec.Independent([draft, draft])
    with pytest.raises(ValueError, match="at most 100 tokens"):
        otspec.optimal_acceptance(law, draft, kullback_leibler=0.1)
    best = otspec.optimal_acceptance(law, draft, total_variation=0.1)
    best.check()
    assert best.output is None
    with pytest.raises(ValueError, match="at most 100 tokens"):
        otspec.rules.lossy.rule_attaining(best)


def test_mentored_decoding_is_the_optimum_for_one_draft():
    """A published rule, of which its source proves that no output of one draft is nearer."""
    rng = np.random.default_rng(2233)
    for _ in range(10):
        draft, target = rng.dirichlet(np.ones(6), size=2)
        rule = otspec.rules.lossy.MentoredDecoding.within(draft, target, 0.02)
        law = otspec.IID(draft, 1)
        best = otspec.optimal_acceptance(law, target, reverse_kullback_leibler=0.02)
        assert abs(rule.acceptance() - best.acceptance) < 1e-9
        assert np.abs(rule.declared_output - best.output).max() < 1e-9


def test_laws_that_are_all_but_alike_have_a_divergence_and_a_certain_one_has_no_entropy():
    # Of (1/2, 1/2) from (1/2 + d, 1/2 - d): -ln(1 - 4 d^2) / 2.
    for d in (2.0**-10, 2.0**-20, 2.0**-30):
        laws = np.array([0.5, 0.5]), np.array([0.5 + d, 0.5 - d])
        assert kullback_leibler(*laws) == pytest.approx(-math.log1p(-4 * d**2) / 2, rel=1e-5)
    assert entropy(np.array([1 + 2.0**-52, 0])) == 0
    law, moved = np.array(fractions("5/9", "4/9")), Fraction(1, 10**19)
    beside = law + moved * np.array([1, -1])
    assert 0 <= kullback_leibler(law, beside) < 1e-34  # about moved² · 81/40
