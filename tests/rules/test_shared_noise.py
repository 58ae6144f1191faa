"""Shared noise (Theory, 33 to 35): exact acceptance, one race against lists, floats, noise."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction
from itertools import product

import numpy as np
import oracles
import pytest
from instances import extreme, fractions, pairs
from searching import enough, of_all

import otspec
from otspec._base import compiling
from otspec.rules import GumbelCoupling, GumbelLists, NotExactError
from otspec.rules.base.accepted import joint_kernel_of
from otspec.rules.shared_noise.base import earliest
from otspec.rules.shared_noise.gumbel_race import GumbelRace

RULES = [GumbelCoupling, GumbelLists]
CHANCES = {GumbelCoupling: oracles.race_chance, GumbelLists: oracles.lists_chance}
TABLES = {GumbelCoupling: oracles.without_replacement_table, GumbelLists: oracles.iid_table}
SAMPLE = fractions("1/2", "3/10", "1/5"), fractions("1/10", "3/5", "3/10")


def made(rule_class, seed, count, most_tokens=5):
    """Rules for k = 1 to 4 drafts at random exact pairs."""
    for i, (draft, target) in enumerate(pairs(seed, count, most_tokens=most_tokens)):
        k = 1 + i % 4
        if rule_class.law_class.exists(np.array(draft, dtype=object), k):
            yield rule_class(draft, target, k)


def chances(rule):
    """P(accepted | Y = y) of every token that can be the output."""
    law = rule.accepted().by_token
    return {y: law[y] / mass for y, mass in enumerate(rule.target) if mass}


@pytest.mark.parametrize("rule_class", RULES)
def test_acceptance_is_the_integral_of_written_out_polynomials(rule_class):
    tried = 0
    for rule in made(rule_class, 4001, 900 if rule_class is GumbelCoupling else 500):
        pair = list(rule.draft), list(rule.target)
        expected = {y: CHANCES[rule_class](*pair, y, rule.k) for y in chances(rule)}
        assert chances(rule) == expected
        by_draft = rule.accepted().by_position_and_token
        assert by_draft.sum() == rule.acceptance() == rule.accepted().by_position.sum()
        assert by_draft.sum(axis=0).tolist() == rule.accepted().by_token.tolist()
        floats = rule_class(rule.draft.astype(float), rule.target.astype(float), rule.k)
        assert abs(floats.acceptance() - float(rule.acceptance())) <= 1e-12
        assert (
            np.abs(floats.accepted().by_position_and_token - by_draft.astype(float)).max() <= 1e-12
        )
        tried += 1
    assert tried >= of_all(500)


@pytest.mark.parametrize("rule_class", RULES)
def test_the_law_of_drafts_and_output_is_that_of_the_race(rule_class):
    seen = 0
    for rule in made(rule_class, 4002, 60, most_tokens=4 if rule_class is GumbelCoupling else 3):
        table = TABLES[rule_class](rule.draft, rule.k)
        rows = {x: rule.kernel(x).tolist() for x in table}
        assert oracles.output(table, rows.__getitem__, rule.law.n) == list(rule.target)
        assert oracles.acceptance(table, rows.__getitem__) == rule.acceptance()
        joint = [[Fraction(0)] * rule.law.n for _ in range(rule.k)]
        for x, mass in table.items():
            assert rule.joint_kernel(x).tolist() == joint_kernel_of(rule, x).tolist()
            for y in set(x):
                joint[x.index(y)][y] += mass * rows[x][y]
        assert joint == rule.accepted().by_position_and_token.tolist()
        seen += 1
    assert seen >= 6


@pytest.mark.parametrize("rule_class", RULES)
def test_given_noise_leads_to_drafts_and_an_output_with_that_law(rule_class):
    """Counts of 20,000 draws against the exact joint law: Hoeffding at 1e-9 for each cell."""
    size, rng = 20_000, np.random.default_rng(5)
    rule = rule_class(*(np.array(each, dtype=float) for each in SAMPLE), 2)
    exact = rule_class(*SAMPLE, 2)
    noise = rng.standard_exponential((size, *rule._noise_shape))
    drafts, tokens = rule._drafts(noise), rule._output(noise)
    limit = math.sqrt(math.log(2e9) / (2 * size))
    for x, mass in TABLES[rule_class](SAMPLE[0], 2).items():
        here = (drafts == x).all(axis=1)
        for y in range(3):
            share = (here & (tokens == y)).mean()
            assert abs(share - float(mass * exact.kernel(x)[y])) <= limit
    assert rule.couple(noise[0]) == (drafts[0].tolist(), tokens[0])


def test_the_output_of_one_race_depends_on_the_noise_and_the_target_alone():
    rng = np.random.default_rng(6)
    target = rng.dirichlet(np.full(30, 0.3))
    for _ in range(50):
        noise = rng.standard_exponential(30)
        outputs = set()
        for k in (1, 2, 5):
            draft = rng.dirichlet(np.full(30, 0.3))
            drafts, token = GumbelCoupling(draft, target, k).couple(noise)
            assert drafts == np.argsort(noise / draft)[:k].tolist()
            outputs.add(token)
        assert outputs == {int(np.argmin(noise / target))}


@pytest.mark.parametrize("rule_class", RULES)
def test_samples_of_given_drafts_have_the_law_of_the_kernel(rule_class):
    size, rng = enough(20_000), np.random.default_rng(7)
    rule = rule_class(*(np.array(each, dtype=float) for each in SAMPLE), 2)
    for x in ([0, 1], [2, 1]):
        drawn = [rule.sample(x, rng) for _ in range(size)]
        assert all(accepted == (token in x) for token, accepted in drawn)
        shares = np.bincount([token for token, _ in drawn], minlength=3) / size
        assert np.abs(shares - rule.kernel(x)).max() <= math.sqrt(math.log(2e9) / (2 * size))


def test_drafts_that_cannot_occur_leave_the_target():
    rule = GumbelCoupling(["1/2", "1/2", 0], ["1/4", "1/4", "1/2"], 2)
    for x in ([0, 0], [0, 2]):
        assert rule.kernel(x).tolist() == list(rule.target)
    assert rule.sample([0, 0], np.random.default_rng(0))[0] in range(3)


def test_the_numbers_of_the_example():
    """Theory, 33 and 34."""
    race = [GumbelCoupling(*SAMPLE, k) for k in (1, 2, 3)]
    assert [rule.acceptance() for rule in race] == [Fraction(32, 55), Fraction(2009, 2090), 1]
    assert round(float(race[1].acceptance()), 4) == 0.9612
    assert round(float(GumbelLists(*SAMPLE, 2).acceptance()), 4) == 0.7661
    assert round(float(middle(GumbelCoupling(*SAMPLE, 1), 2)), 4) == 0.8034


def test_one_draft_is_the_closed_form():
    for draft, target in pairs(4003, 120, most_tokens=6):
        found = sum(
            1 / sum(max(p / draft[y], q / target[y]) for p, q in zip(draft, target, strict=True))
            for y in range(len(draft))
            if draft[y] * target[y]
        )
        distance = sum(abs(p - q) for p, q in zip(draft, target, strict=True)) / 2
        assert GumbelCoupling(draft, target, 1).acceptance() == found
        assert GumbelLists(draft, target, 1).acceptance() == found
        assert found >= (1 - distance) / (1 + distance)


def middle(one_draft, k):
    """Σ q (1 − (1 − a)^k), a the chance of one draft."""
    return sum(one_draft.target[y] * (1 - (1 - a) ** k) for y, a in chances(one_draft).items())


def test_one_race_is_never_below_the_middle_nor_that_below_lists_for_any_token():
    strict = equal = 0
    for i, (draft, target) in enumerate(pairs(4004, 2_000, most_tokens=4)):
        support = sum(p > 0 for p in draft)
        k = 1 + i % 4
        one = chances(GumbelCoupling(draft, target, 1))
        lists = chances(GumbelLists(draft, target, k))
        race = chances(GumbelCoupling(draft, target, min(k, support)))
        for y, a in one.items():
            between = 1 - (1 - a) ** k
            assert lists[y] <= between <= race[y]
            strict += lists[y] < between < race[y]
            equal += lists[y] == between == race[y]
    assert strict > of_all(500)
    assert equal > of_all(500)


def test_the_worst_case_is_sharp():
    """Half of p and q agree; the rest of p is on many light tokens, that of q on its own one."""
    d, k = Fraction(1, 2), 3
    bound = (1 - d) * (1 - (d / (1 + d)) ** k)
    found = []
    for light in (1, 10, 100, 1000):
        draft = [1 - d, Fraction(0), *[d / light] * light]
        target = [1 - d, d, *[Fraction(0)] * light]
        draft += [Fraction(0)] * 2
        target += [Fraction(0)] * 2
        if light == 1:
            found.append(GumbelCoupling(draft, target, 2).acceptance())
            continue
        found.append(GumbelCoupling(draft, target, k).acceptance())
        assert found[-1] >= bound
    assert found[1] > found[2] > found[3]
    assert found[3] - bound < Fraction(1, 1000)
    for i, (draft, target) in enumerate(pairs(4005, 300, most_tokens=5)):
        k = 1 + i % 4
        distance = sum(abs(p - q) for p, q in zip(draft, target, strict=True)) / 2
        if sum(p > 0 for p in draft) >= k:
            least = (1 - distance) * (1 - (distance / (1 + distance)) ** k)
            assert GumbelCoupling(draft, target, k).acceptance() >= least


@pytest.mark.parametrize("n", [4, 5])
def test_no_scheme_without_communication_agrees_more_often(n):
    """Theory, 35: of all functions f and g with f(i) ≠ i and g(j) ≠ j, at d = 1/(n − 1)."""
    best = max(
        sum(
            max(sum(draft == x for i, draft in enumerate(f) if i != j) for x in range(n) if x != j)
            for j in range(n)
        )
        for f in product(*[[x for x in range(n) if x != i] for i in range(n)])
    )
    d = Fraction(1, n - 1)
    assert Fraction(best, n * (n - 1)) == (1 - d) / (1 + d)
    sets = [[Fraction(i != x, n - 1) for x in range(n)] for i in range(2)]
    assert GumbelCoupling(*sets, 1).acceptance() == (1 - d) / (1 + d)


def directly(draft, target, most):
    """P(N(t) < k) token by token at nodes of time, for every y: (most, n)."""
    points, weights = np.polynomial.legendre.leggauss(40)
    found = np.zeros((most, len(draft)))
    ends = np.array([0, 1e-3, 1e-2, 0.1, 0.4, 1, 2, 4, 8, 16, 45])
    halves = np.diff(ends) / 2
    times = (ends[:-1, None] + np.outer(halves, 1 + points)).ravel()
    weights = np.exp(-times) * np.outer(halves, weights).ravel()
    for y in np.flatnonzero(draft * target):
        rates = np.maximum(target[y] / draft[y] * draft - target, 0)
        counts = np.zeros((most, len(times)))
        counts[0] = 1
        for rate in rates[rates > 0]:
            missing = np.exp(-rate * times)
            more = (1 - missing) * counts[:-1]
            counts *= missing
            counts[1:] += more
        found[:, y] = np.cumsum(counts, axis=0) @ weights
    return found


@pytest.mark.parametrize("concentration", [0.05, 2.0])
def test_panels_agree_with_every_token_by_itself(concentration):
    """More tokens than have nodes of their own: a panel may be off by 1e-11 in all."""
    rng = np.random.default_rng(8)
    rows = rng.dirichlet(np.full(150, concentration), size=2) + 1e-4
    draft, target = rows / rows.sum(axis=1)[:, None]
    rule = GumbelCoupling(draft, target, 9)
    expected = target * directly(draft, target, 9)
    assert (
        np.abs(np.cumsum(rule.accepted().by_position_and_token, axis=0) - expected).max() <= 1e-10
    )
    found = GumbelCoupling.acceptances(draft, target, range(1, 10))
    assert np.abs(np.array(found, float) - expected.sum(axis=1)).max() <= 1e-10


@pytest.mark.parametrize("rule_class", RULES)
def test_floats_are_the_same_without_numba(rule_class, monkeypatch):
    """To the last bit; of light and heavy tokens, and of some that are at the first nodes alone."""
    pair = np.random.default_rng(10).dirichlet(np.full(300, 0.1), size=2)
    found = rule_class(*pair, 5).accepted().by_position_and_token
    monkeypatch.setattr(compiling, "HAS_NUMBA", False)
    assert found.tolist() == rule_class(*pair, 5).accepted().by_position_and_token.tolist()


def test_one_draft_at_full_vocabulary_is_the_closed_form():
    _, draft, target = next(iter(otspec.datasets.load_smollm2().pairs()))
    rules = GumbelCoupling(draft, target, 1), GumbelLists(draft, target, 1)
    chance = np.zeros(len(draft))
    heavy = np.argsort(target)[-200:]
    for y in heavy[draft[heavy] > 0]:
        chance[y] = 1 / np.maximum(draft * (target[y] / draft[y]), target).sum()
    for rule in rules:
        found = rule.accepted().by_token[heavy]
        assert np.abs(found - (target * chance)[heavy]).max() <= 1e-12


def test_the_trace_accepts_what_simulated_noise_does():
    """Theory, 33: .59 of one race with two drafts, .83 with eight; lists .54 and .74."""
    pairs_of_trace = [
        (draft, target) for _, draft, target in otspec.datasets.load_smollm2().pairs()
    ]
    ks = (1, 2, 4, 8)
    found = {
        rule: np.mean(
            np.array([rule.acceptances(*pair, ks) for pair in pairs_of_trace[::16]], float), axis=0
        )
        for rule in RULES
    }
    # Panels of tokens may be off by 1e-11 each.
    assert found[GumbelCoupling][0] == pytest.approx(found[GumbelLists][0], abs=1e-10)
    assert (found[GumbelCoupling][1:] > found[GumbelLists][1:]).all()
    for rule_class in RULES:
        rule = rule_class(*pairs_of_trace[0], 4)
        estimate = rule.estimate(150, seed=3).probability
        assert estimate.low <= rule.acceptance() <= estimate.high


SIMULATED = {
    GumbelCoupling: {2: 0.590, 4: 0.736, 8: 0.833},
    GumbelLists: {2: 0.540, 4: 0.654, 8: 0.754},
}
"""Means over the 24 positions of the bundled trace, from drawn noise, each with a standard error of
about .005."""


def test_one_draft_on_the_trace_by_the_closed_form():
    """.4235 by shared noise and .087 by independent noise, of the optimum .489."""
    found = []
    for _, draft, target in otspec.datasets.load_smollm2().pairs():
        overlap = np.minimum(draft, target).sum()
        distance = 1 - overlap
        accepted = float(GumbelCoupling.acceptances(draft, target, [1])[0])
        assert (1 - distance) / (1 + distance) <= accepted <= overlap
        found.append((accepted, (draft * target).sum(), overlap))
    assert np.round(np.mean(found, axis=0), 4).tolist() == [0.4235, 0.0867, 0.4888]


@pytest.mark.nightly
@pytest.mark.parametrize("rule_class", RULES)
def test_the_trace_accepts_what_was_simulated(rule_class):
    pairs_of_trace = [pair for _, *pair in otspec.datasets.load_smollm2().pairs()]
    check_simulated(rule_class, pairs_of_trace)


@pytest.mark.nightly
@pytest.mark.parametrize("rule_class", RULES)
def test_the_full_trace_has_the_bounds_of_the_theory(rule_class, full_trace_path):
    """Lists ≤ race ≤ optimum of distinct drafts, and the worst case at each position's distance."""
    ks = (1, 2, 4, 8)
    for _, draft, target in otspec.datasets.load_smollm2(full_trace_path).pairs():
        d = 1 - np.minimum(draft, target).sum()
        race = np.array(GumbelCoupling.acceptances(draft, target, ks), dtype=float)
        least = [(1 - d) * (1 - (d / (1 + d)) ** k) for k in ks]
        assert (race >= np.array(least) - 1e-10).all()
        best = otspec.optimal_acceptances(draft, target, ks, law="without-replacement")
        assert (race <= best + 1e-10).all()
        if rule_class is GumbelLists:
            lists = np.array(GumbelLists.acceptances(draft, target, ks), dtype=float)
            assert (lists <= race + 1e-10).all()


def check_simulated(rule_class, pairs_of_trace):
    wanted = SIMULATED[rule_class]
    rows = [rule_class.acceptances(*pair, list(wanted)) for pair in pairs_of_trace]
    found = np.mean(np.array(rows, dtype=float), axis=0)
    # Four standard errors of each of six numbers.
    assert np.abs(found - list(wanted.values())).max() <= 4 * 0.005


def test_what_an_estimate_says_of_a_token_is_counted_in_its_steps():
    rule = GumbelLists(np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6]), 3)
    drawn = rule.estimate(300, seed=2)
    places, tokens = drawn.steps
    for y in range(3):
        counts = [np.count_nonzero(places[tokens == y] == i) for i in range(3)]
        found = drawn.of_token_by_position(y)
        assert [each.value for each in found] == pytest.approx(np.array(counts) / 300)
        assert drawn.by_position_and_token.value[:, y] == pytest.approx(np.array(counts) / 300)
        assert drawn.of_token(y).value == pytest.approx(sum(counts) / 300)


def test_light_tokens_of_lists_are_summed_and_not_kept_one_by_one():
    """Otherwise 16,000 tokens at hundreds of times would take 180 MB, and a vocabulary ten times
    as much."""
    pair = np.random.default_rng(0).dirichlet(np.full(16_000, 0.2), 2)
    GumbelLists.acceptances([0.5, 0.5], [0.2, 0.8], [8])
    tracemalloc.start()
    GumbelLists.acceptances(*pair, [8])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 90e6


def test_extreme_pairs_stay_in_range():
    tiny = np.nextafter(0, 1)
    for draft, target in (
        ([1.0, 0.0], [0.0, 1.0]), ([1.0], [1.0]), ([1 - 1e-16, 1e-16], [1e-300, 1 - 1e-300]),
        ([0.5, 0.5, tiny], [0.5, tiny, 0.5]), ([1.0, tiny, tiny], [tiny, tiny, 1.0]),
    ):  # fmt: skip
        for rule_class in RULES:
            for k in (1, min(2, sum(p > 0 for p in draft))):
                rule = rule_class(draft, target, k)
                law = rule.accepted().by_position_and_token
                assert np.isfinite(law).all()
                assert law.min() >= -1e-12
                assert 0 <= rule.acceptance() <= 1
    assert GumbelCoupling([0.5, 0.5], [0.5, 0.5], 1).acceptance() == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize(
    ("draft", "target"),
    [
        ([1.0, 5e-320, 4e-310, 6e-310], [0.18, 0.12, 0.18, 0.52]),
        ([1.2e-149, 1.1e-309, 0.0, 1e-320, 6e-315, 1.0], [0.002, 0.086, 0.167, 0.4, 0.09, 0.255]),
        ([0.25, 0.75, 1.75e-310, 2.5e-315, 1.25e-315], [3e-290, 0.75, 0.25, 2.5e-310, 1e-315]),
        ([0.5, 2.5e-323, 1.5e-323, 0.5, 4e-150], [0.13, 0.01, 0.04, 0.62, 0.2]),
    ],
)
def test_drafts_below_the_normal_floats_compete_with_each_other(draft, target):
    """What is left of a draft when its few heavy tokens have come may be below 1e-300."""
    exact = [[Fraction(mass) / sum(map(Fraction, side)) for mass in side]
             for side in (draft, target)]  # fmt: skip
    for k in range(1, 4):
        floats = GumbelCoupling(draft, target, k, normalize=True).accepted().by_position_and_token
        wanted = GumbelCoupling(*exact, k).accepted().by_position_and_token.astype(float)
        assert np.abs(floats - wanted).max() <= 1e-12
        assert abs(GumbelCoupling.acceptances(draft, target, [k])[0].value - wanted.sum()) <= 1e-12


@pytest.mark.parametrize("rule_class", RULES)
def test_chances_over_many_orders_of_magnitude(rule_class):
    rng = np.random.default_rng(9)
    for size in (20, 150):
        draft, target = (np.array(extreme(rng, size)) for _ in range(2))
        law = (
            rule_class(draft / draft.sum(), target / target.sum(), 2)
            .accepted()
            .by_position_and_token
        )
        assert np.isfinite(law).all()
        assert (law.sum(axis=0) <= target / target.sum() * (1 + 1e-9) + 1e-300).all()


def test_what_is_refused():
    rule = GumbelCoupling(*SAMPLE, 2)
    for noise, message in (
        ([1.0, 2.0], "noise has shape"), ([1, 2, 3], "noise has shape"),
        ([1.0, 0.0, 2.0], "not positive and finite"), ([1.0, np.nan, 2.0], "not positive"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            rule.couple(noise)
    many = [Fraction(2 * i + 1, 300**2) for i in range(300)]
    for rule_class in RULES:
        rule = rule_class(many, many[::-1], 4)
        with pytest.raises(NotExactError, match="exact"):
            rule.acceptance()
        found = rule.estimate(400, seed=1).probability
        floats = rule_class([float(p) for p in many], [float(p) for p in many[::-1]], 4)
        assert found.low <= floats.acceptance() <= found.high
        with pytest.raises(NotExactError, match=r"sample\(\) draws"):
            floats.kernel([0, 1, 2, 3])


def test_all_numbers_of_drafts_come_from_one_race():
    _, draft, target = next(iter(otspec.datasets.load_smollm2().pairs()))
    found = GumbelCoupling.acceptances(draft, target, [1, 2, 16])
    assert found == [
        GumbelRace(otspec.ratios.Pair(draft, target), 16).acceptances()[k] for k in (0, 1, 15)
    ]
    two = GumbelCoupling(draft, target, 2).acceptance()
    assert float(found[1]) == pytest.approx(two, abs=1e-12)


def test_numbers_of_very_many_digits_count_as_many_terms():
    """9,900 terms of two drafts in units of 2^14,000 are as many as a million short ones."""
    n, unit = 100, 2**14_000
    draft = [Fraction(1, n)] * n
    target = [Fraction(1, n) + Fraction(i if i < n // 2 else i - n + 1, unit) for i in range(n)]
    assert sum(target) == 1
    with pytest.raises(NotExactError, match="9,900 exact terms"):
        GumbelCoupling(draft, target, 2).acceptance()


@pytest.mark.parametrize("shape", [(4,), (2, 4), (3, 2, 4)])
def test_the_first_of_a_race_stand_in_order_whatever_the_shape(shape):
    # Token 1 has no rate. Times: 3, none, 4, 1.
    noise = np.broadcast_to([3.0, 0.5, 2.0, 1.0], shape)
    for count, wanted in ((1, [3]), (2, [3, 0]), (3, [3, 0, 2])):
        found = earliest(noise, np.array([1.0, 0.0, 0.5, 1.0]), count)
        assert (found == np.broadcast_to(wanted, (*shape[:-1], count))).all()


@pytest.mark.parametrize("k", [100, 1_000, 4_000])
def test_of_many_lists_equal_distributions_accept_always(k):
    assert GumbelLists([0.5, 0.3, 0.2], [0.5, 0.3, 0.2], k).acceptance() == pytest.approx(
        1, abs=1e-13
    )


def test_of_a_hundred_lists_floats_are_as_the_exact_rule():
    pair = fractions("9/10", "1/10"), fractions("1/10", "9/10")
    exact = GumbelLists(*pair, 100).acceptance()
    floats = GumbelLists(*(tuple(map(float, row)) for row in pair), 100).acceptance()
    assert floats == pytest.approx(float(exact), abs=1e-13)
