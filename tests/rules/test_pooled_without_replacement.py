"""Pooled selection of two distinct drafts: lossless and optimal, exactly and in floats."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, islice, product

import numpy as np
import oracles
import pytest
from instances import EPS, floats, fractions, pairs, shares, weights
from kept_drafts import kept_by_position
from searching import enough, of_all

import otspec
from otspec.drafts.race.increments import inside_pairs
from otspec.rules import (
    PooledSelectionWithoutReplacement,
    RecursiveRejectionWithoutReplacement,
)

LIGHT = Fraction(1, 10**9)
PAIR = fractions("1/2", "1/4", "1/8", "1/8"), fractions("1/8", "1/8", "1/4", "1/2")


def heavy(rng, n):
    """A distribution of which one token leaves 10^-9 to all the others."""
    token, rest = int(rng.integers(n)), [mass * LIGHT for mass in weights(rng, n - 1, 12)]
    return (*rest[:token], 1 - LIGHT, *rest[token:])


def instances(seed, count=400):
    """Pairs of all kinds over 2 to 6 tokens; heavy drafts where too few tokens are drafted."""
    rng = np.random.default_rng(seed)
    for index, (draft, target) in enumerate(pairs(seed, count, most_tokens=6, fewest=2)):
        wanted = heavy(rng, len(draft)) if index % 9 == 0 else target
        yield (draft if sum(map(bool, draft)) > 1 else heavy(rng, len(draft))), wanted


def drafts_of(seed, count, fewest=2):
    """Random drafts, zeros and heavy tokens among them, with at least ``fewest`` tokens."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        n = int(rng.integers(fewest, 7))
        draft = heavy(rng, n) if index % 5 == 0 else weights(rng, n, 12, 0.2)
        yield draft if sum(map(bool, draft)) >= fewest else weights(rng, n, 12)


def share(first, second, kappa):
    """With what probability the first of two drafts in one group is selected."""
    return (1 - first + kappa * (first - second)) / (2 - first - second)


def documented_selection(rule, x):
    """What the documentation makes of ``lifetimes`` and ``pool``, over all uniform numbers."""
    lifetimes, chances, start = rule.lifetimes.tolist(), np.array(fractions(0, 0)), Fraction(0)
    for end in sorted({Fraction(1), *(life for life in lifetimes if 0 < life < 1)}):
        # The same knots are barriers for all uniform numbers from start to end, excluded.
        barriers = [knot for knot, life in enumerate(lifetimes) if life >= end]
        chances += (end - start) * np.array(selection_between(barriers, rule, x))
        start = end
    return chances.tolist()


def selection_between(barriers, rule, x):
    pools, draft = rule.pool.tolist(), rule.draft.tolist()
    lowest = max(knot for knot in barriers if knot <= max(pools[token] for token in x))
    highest = min(knot for knot in barriers if knot > lowest)
    inside = [Fraction(pools[token] >= lowest) for token in x]
    if sum(inside) == 1:
        return inside
    below = sum(p for pool, p in zip(pools, draft, strict=True) if pool < lowest)
    up_to = sum(p for pool, p in zip(pools, draft, strict=True) if pool < highest)
    first = share(draft[x[0]], draft[x[1]], (1 - below) / (up_to - below))
    return [first, 1 - first]


# The rule exactly


def test_the_instances_hold_all_edge_cases():
    found = list(instances(seed=240))
    assert len(found) == enough(400)
    assert {len(draft) for draft, _ in found} == {2, 3, 4, 5, 6}
    assert sum(draft == target for draft, target in found) > of_all(20)
    assert sum(not any(map(min, draft, target)) for draft, target in found) > of_all(20)
    for i in (0, 1):
        assert sum(0 in each[i] and 0 not in each[1 - i] for each in found) > of_all(10)
        assert sum(len(set(each[i])) < len(each[i]) for each in found) > of_all(20)
        assert sum(max(each[i]) == 1 - LIGHT for each in found) > of_all(20)


def test_the_rule_is_exactly_lossless_and_optimal():
    for draft, target in islice(instances(seed=240), 200):  # of 25 rounds of all kinds
        rule = PooledSelectionWithoutReplacement(draft, target)
        report = otspec.audit(rule)
        assert report.lossless
        assert report.output.tolist() == list(target)
        optimum = oracles.optimum(oracles.without_replacement_table(draft, 2), target)
        assert rule.acceptance() == report.acceptance == report.optimum == optimum
        assert report.gap == 0
        assert type(rule.acceptance()) is Fraction
        assert kept_by_position(rule).sum() == optimum  # no residual token is a draft


def test_the_selected_token_has_the_stated_feasible_law():
    split = 0
    for draft, target in instances(seed=240):
        rule, n = PooledSelectionWithoutReplacement(draft, target), len(draft)
        table = oracles.without_replacement_table(draft, 2)
        found = {x: rule.shares_of(x).tolist() for x in table}
        for (a, b), mass in table.items():
            # The documentation says it of two drafts in whatever order (proposition 5).
            other = table[b, a]
            mean = (mass * found[a, b][0] + other * found[b, a][1]) / (mass + other)
            assert documented_selection(rule, (a, b)) == [mean, 1 - mean]
        assert all(min(chances) >= 0 and sum(chances) == 1 for chances in found.values())
        law, inside = [Fraction(0)] * n, oracles.inside_every_set(table, n)
        for x, mass in table.items():
            for token, chance in zip(x, found[x], strict=True):
                law[token] += mass * chance
        assert rule.law_of_selection.tolist() == law
        assert all(sum(law[y] for y in oracles.members(A)) >= inside[A] for A in range(2**n))
        assert sum(law) == inside[-1] == 1
        split += any(min(chances) > 0 for chances in found.values())
    assert split > of_all(100)


# Shares inside a group


def test_shares_give_a_law_proportional_to_the_draft_inside_a_group():
    rng, shared = np.random.default_rng(242), 0
    for draft in drafts_of(seed=243, count=400):
        part = rng.integers(0, 3, len(draft)).tolist()  # below the group, in it, above it
        below, mass = (sum(p for p, at in zip(draft, part, strict=True) if at == i) for i in (0, 1))
        law = {y: Fraction(0) for y, at in enumerate(part) if at == 1 and mass > 0}
        for x, chance in oracles.without_replacement_table(draft, 2).items():
            inside, highest = [y for y in x if y in law], max(part[y] for y in x)
            if inside and highest == 1:
                first = share(draft[x[0]], draft[x[1]], (1 - below) / mass)
                assert len(inside) == 1 or 0 <= first <= 1
                chosen = (first, 1 - first) if len(inside) == 2 else (Fraction(1),)
                for token, selected in zip(inside, chosen, strict=True):
                    law[token] += chance * selected
                shared += len(inside) == 2
        assert all(law[y] * mass == sum(law.values()) * draft[y] for y in law)
    assert shared > 400


def shortcut(name):
    """The rule with another choice between two drafts in one group: a natural one, but wrong."""

    class Shortcut(PooledSelectionWithoutReplacement):
        def _shares_in(self, x, lowest, *_):
            inside = [int(self.pool[token] >= lowest) for token in x]
            alike = [Fraction(among, sum(inside)) for among in inside]
            first = fractions(inside[0], 1 - inside[0])
            return np.array(first if name == "first drawn" else alike)

    return Shortcut(*PAIR)


@pytest.mark.parametrize(
    ("name", "distance"), [("first drawn", "7321/320124"), ("uniform", "13241/213416")]
)
def test_natural_shortcuts_are_not_lossless(name, distance):
    report = otspec.audit(shortcut(name))
    assert not report.lossless
    assert report.total_variation == Fraction(distance)
    rule = PooledSelectionWithoutReplacement(*PAIR)
    assert otspec.audit(rule).lossless
    assert rule.acceptance() == Fraction(17, 21)


def test_pairs_add_up_to_the_probability_to_be_inside_a_prefix():
    rng = np.random.default_rng(246)
    for draft in drafts_of(seed=247, count=200):
        law, order = otspec.WithoutReplacement(draft, 2), rng.permutation(len(draft))
        found = inside_pairs(law.draft[order]).tolist()
        expected = oracles.inside_prefixes(oracles.without_replacement_table(draft, 2), order)
        assert [0, *accumulate(found)] == law.inside_prefixes(order).tolist() == expected


@pytest.mark.parametrize(
    "draft",
    [
        (1 - 1e-12, 6e-13, 3e-13, 1e-13),
        (1e-300, 1.0, 2e-300, 3e-300),
        (1e-300, 0.5, 1e-300, 0.5, 1e-17),
        (1e-300, 1e-200, 1e-100, 1.0, 0.0),
        tuple(np.random.default_rng(248).dirichlet(np.full(30, 0.05)).tolist()),
    ],
)
def test_pairs_keep_their_digits_in_floats(draft):
    rng, n = np.random.default_rng(249), len(draft)
    checked = otspec.WithoutReplacement(draft, 2).draft
    exact = np.array(shares(checked.tolist()), dtype=object)
    for order in (range(n), range(n)[::-1], *(rng.permutation(n) for _ in range(20))):
        found = inside_pairs(checked[list(order)]).tolist()
        expected = inside_pairs(exact[list(order)]).tolist()  # held against a table above
        for value, wanted in zip(found, expected, strict=True):
            # Sums of at most n positive terms, three of them multiplied. Products of two tiny
            # numbers underflow, by the smallest float at most.
            error = abs(Fraction(value) - wanted)
            assert error <= 4 * (n + 2) * EPS * wanted + n * Fraction(5e-324)


# Floats


def test_floats_agree_with_exact_arithmetic():
    for draft, target in instances(seed=250, count=120):
        exact = PooledSelectionWithoutReplacement(draft, target)
        rule = PooledSelectionWithoutReplacement(floats(draft), floats(target))
        # Each of the n² masses passes through a few sums of at most n + 2 terms.
        limit, report = 16 * (len(draft) + 2) * EPS, otspec.audit(rule)
        assert report.lossless
        assert type(rule.acceptance()) is float
        assert abs(rule.acceptance() - exact.acceptance()) <= limit
        assert abs(report.acceptance - exact.acceptance()) <= limit
        assert np.abs(rule.law_of_selection - exact.law_of_selection.astype(float)).max() <= limit


@pytest.mark.parametrize("light", [1e-17, 1e-20, 1e-143, 1e-300])
def test_groups_whose_mass_is_lost_to_rounding_are_selected_from(light):
    """Two light tokens above a heavy one: the knots around their pool are all 1."""
    rule = PooledSelectionWithoutReplacement([light, 1 - 2 * light, light], [0.25, 0.5, 0.25])
    assert otspec.audit(rule).lossless
    for x in product(range(3), repeat=2):  # impossible drafts are no excuse
        joint = rule.joint_kernel(x)
        assert (joint >= 0).all()
        assert abs(joint.sum() - 1) <= 4 * EPS


@pytest.mark.parametrize("light", [1e-9, 1e-11, 1e-13])
def test_drafts_that_leave_next_to_nothing_are_selected_in_proportion(light):
    """Both are in the lowest group, which is all but what they leave: λ = 1."""
    draft = np.array([0.6, 0.4, 3 * light, light])
    draft /= draft.sum()
    rule = PooledSelectionWithoutReplacement(draft, [0.1, 0.2, 0.3, 0.4])
    first, second = map(Fraction, draft[:2].tolist())
    wanted = float(first / (first + second))
    xs, uniforms = np.array([(0, 1)] * 3), np.array([0.1, 0.5, 0.9])
    for found in (*rule.some_shares_of(xs, uniforms), rule.shares_of((0, 1))):
        np.testing.assert_allclose(found, [wanted, 1 - wanted], rtol=16 * EPS)


def test_the_rule_is_the_best_at_full_vocabulary():
    found = []
    for _, draft, target in islice(otspec.datasets.load_smollm2().pairs(), 12):
        rule, iid = PooledSelectionWithoutReplacement(draft, target), otspec.IID(draft, 2)
        optimum = otspec.optimal_acceptance(rule.law, target).acceptance
        # A few sums of n masses, which are at most 1, each off by n EPS = 1.1e-11 at most.
        assert abs(rule.acceptance() - optimum) <= 1e-10
        assert abs(rule.law_of_selection.sum() - 1) <= 1e-10
        assert (rule.law_of_selection >= 0).all()
        recursive = RecursiveRejectionWithoutReplacement(draft, target, 2)
        optimum = otspec.optimal_acceptance(iid, target).acceptance
        found.append((rule.acceptance(), recursive.acceptance(), optimum))
    best, *others = np.mean(found, axis=0)
    assert best > max(others)


def test_samples_agree_with_the_kernel_for_each_draft_pair():
    rule = PooledSelectionWithoutReplacement([0.4, 0.3, 0.2, 0.1], [0.1, 0.3, 0.0, 0.6])
    tuples = rule.law.tuples()[0].tolist()
    for seed, x in enumerate(tuples):
        certain = np.zeros((4, 4))
        certain[tuple(x)] = 1.0
        found = otspec.audit_samples(
            rule.sample, otspec.Joint(certain), rule.kernel(x), enough(36_000) // len(tuples), seed
        )
        assert found.consistent, x  # each fails with probability 1e-3 at other seeds
    assert any(rule.shares_of(tuple(x)).max() < 1 for x in tuples)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((*PAIR, 5), "draft has 4 tokens of positive probability, too few for 5 distinct drafts"),
        ((*PAIR, 2, "one"), "pools is 'one': pass 'tokens', 'fewest'"),
        (([0, 1], ["1/2", "1/2"]), "draft has 1 token of positive probability, too few for 2"),
        ((PAIR[0], ["1/2", "1/2"]), "draft has 4 tokens and target has 2"),
        ((PAIR[0], floats(PAIR[1])), "draft is exact but target is float: write both as"),
        ((PAIR[0], [1, 1, 1, 1]), "target sums to 4, not exactly 1: pass normalize=True"),
    ],
)
def test_unusable_input_is_refused(given, says):
    with pytest.raises(ValueError, match=says):
        PooledSelectionWithoutReplacement(*given)
