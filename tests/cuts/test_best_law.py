"""The best law of k drafts, against programs over cuts, all extreme targets, and water filling."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.optimize import linprog

import otspec
from otspec.optimum import best_law, inclusion_bound, safest_bound, safest_law

PAIRS = [["1/2" if y in pair else 0 for y in range(4)] for pair in combinations(range(4), 2)]
"""Four tokens, of which the target wants two."""
UNEVEN = [Fraction(mass, 16) for mass in (1, 3, 1, 10, 1)]


def distributions(rng, n, count, parts=12):
    """Random distributions in fractions, with zeros and ties."""
    return [
        [Fraction(int(c), parts) for c in np.bincount(rng.integers(0, n, parts), minlength=n)]
        for _ in range(count)
    ]


def best_by_cuts(targets, weights, k, worst):
    """The best acceptance by SciPy: each target's is below the bound of every set of tokens."""
    m, n = np.shape(targets)
    sets = list(combinations(range(n), k))
    rows, limits = [], []
    for i, target in enumerate(np.array(targets, dtype=float)):
        for size in range(n + 1):
            for inside in combinations(range(n), size):
                row = np.zeros(len(sets) + m + 1)
                row[: len(sets)] = [set(drafts) <= set(inside) for drafts in sets]
                row[len(sets) + i] = 1
                rows.append(row)
                limits.append(target[list(inside)].sum() + 1)
        row = np.zeros(len(sets) + m + 1)
        row[-1], row[len(sets) + i] = 1, -1
        rows.append(row)
        limits.append(0)
    goal = np.zeros(len(sets) + m + 1)
    goal[len(sets) :] = [0] * m + [-1] if worst else [*-np.array(weights, dtype=float), 0]
    whole = [[1] * len(sets) + [0] * (m + 1)]
    found = linprog(goal, A_ub=rows, b_ub=limits, A_eq=whole, b_eq=[1])
    return -found.fun


@pytest.mark.parametrize("worst", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_law_is_that_of_a_program_over_cuts(seed, worst):
    rng = np.random.default_rng(seed)
    targets = distributions(rng, 4, 3)
    weights = distributions(rng, 3, 1)[0]
    found = best_law(targets, 2, weights, worst=worst)
    found.check()
    assert found.acceptance == found.bound
    assert float(found.acceptance) == pytest.approx(
        best_by_cuts(targets, weights, 2, worst), abs=1e-9
    )
    assert found.law.inside(range(4)) == 1 == sum(found.masses)
    assert sum(found.inclusion) == 2


@pytest.mark.parametrize("seed", range(4))
def test_one_draft_reaches_what_water_filling_allows(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    targets, (weights,) = distributions(rng, n, 3), distributions(rng, 3, 1)
    filled = inclusion_bound(targets, 1, weights)
    filled.check()
    assert best_law(targets, 1, weights).acceptance == filled.bound


def test_no_law_is_above_water_filling():
    rng = np.random.default_rng(5)
    for _ in range(40):
        n, k = rng.integers([3, 1], [9, 4]).tolist()
        targets = distributions(rng, n, 3)
        filled = inclusion_bound(targets, k)
        filled.check()
        law = otspec.Joint(rng.dirichlet(np.ones(n**k)).reshape((n,) * k))
        floats = np.array(targets, dtype=float)
        mean = np.mean([otspec.optimal_acceptance(law, target).acceptance for target in floats])
        assert mean <= float(filled.bound) + 1e-12
        assert inclusion_bound(floats, k).bound == pytest.approx(float(filled.bound), abs=1e-12)


def test_inclusion_probabilities_do_not_decide():
    # Each of the six pairs is wanted: every pair of drafts misses one of them.
    assert inclusion_bound(PAIRS, 2).bound == 1
    for worst in (False, True):
        found = best_law(PAIRS, 2, worst=worst)
        found.check()
        assert found.acceptance == Fraction(5, 6)
    # Two laws with the same inclusion probabilities.
    sure, spread = np.zeros((4, 4), dtype=object), np.zeros((4, 4), dtype=object)
    sure[0, 1] = sure[2, 3] = Fraction(1, 2)
    for pair in combinations(range(4), 2):
        spread[pair] = Fraction(1, 6)
    assert [
        otspec.optimal_acceptance(otspec.Joint(t), PAIRS[0]).acceptance for t in (sure, spread)
    ] == [
        Fraction(1, 2),
        Fraction(5, 6),
    ]


def test_all_tokens_but_one_reach_what_water_filling_allows():
    rng = np.random.default_rng(7)
    for n in (3, 4):
        targets = distributions(rng, n, 3)
        assert best_law(targets, n - 1).acceptance == inclusion_bound(targets, n - 1).bound


def test_independent_drafts_have_their_share_of_the_bound():
    rng = np.random.default_rng(8)
    for _ in range(30):
        n, k = rng.integers([3, 2], [8, 4]).tolist()
        draft, target = distributions(rng, n, 2)
        allowed = sum(min(q, k * p, 1) for p, q in zip(draft, target, strict=True))
        share = 1 - (1 - Fraction(1, k)) ** k
        if max(draft) * k <= 1:
            found = otspec.optimal_acceptance(otspec.IID(draft, k), target)
            assert found.acceptance >= share * allowed


def test_the_bound_is_mostly_attained():
    rng, attained = np.random.default_rng(0), []
    for _ in range(60):
        n, m = rng.integers([3, 1], [7, 5]).tolist()
        k = int(rng.integers(2, min(n, 4)))
        targets = rng.dirichlet(rng.dirichlet(np.ones(n)) * 10 + 0.05, size=m)
        gap = inclusion_bound(targets, k).bound - best_law(targets, k).acceptance
        assert gap > -1e-7
        attained.append(gap < 1e-7)
    assert all(attained)  # as the page of draft laws says


def test_one_draw_filled_up_with_the_likeliest_is_best_for_a_target_that_may_be_certain():
    draft = [Fraction(part, 12) for part in (5, 3, 2, 2)]
    certain = [[int(y == x) for x in range(4)] for y in range(4)]
    for sure in (Fraction(1, 4), Fraction(7, 12)):  # the draft itself with 1 - sure
        targets, weights = [draft, *certain], [1 - sure, *(sure * p for p in draft)]
        for k in (2, 3):
            top, rest = draft[: k - 1], draft[k - 1 :]
            wanted = [1] * (k - 1) + [rest[0] + sum(top), *rest[1:]]
            filled = inclusion_bound(targets, k, weights)
            assert filled.inclusion.tolist() == wanted
            assert best_law(targets, k, weights).acceptance == filled.bound


def extreme_targets(draft, variation):
    """All ways to move probability to one token, taken from the others one by one."""
    for y in range(len(draft)):
        for order in permutations(set(range(len(draft))) - {y}):
            target, left = list(draft), variation
            for x in order:
                taken = min(left, target[x])
                target[x], target[y], left = target[x] - taken, target[y] + taken, left - taken
            yield target


@pytest.mark.parametrize(("k", "variation"), [(1, "1/3"), (2, "1/12"), (2, "1/2"), (2, "1")])
def test_the_worst_target_near_the_draft_is_an_extreme_one(k, variation):
    draft = [Fraction(1, 6), Fraction(1, 2), Fraction(1, 3)]
    found = safest_law(draft, k, total_variation=variation)
    found.check()
    targets = [t for i, t in enumerate(extreme_targets(draft, Fraction(variation)))]
    unique = [list(t) for t in dict.fromkeys(map(tuple, targets))]
    assert found.acceptance == best_law(unique, k, worst=True).acceptance
    assert found.acceptance == safest_bound(draft, k, variation)


def test_the_bound_for_the_worst_target_is_not_always_attained():
    found = safest_law(UNEVEN, 2, total_variation="7/32")
    found.check()
    assert found.acceptance == Fraction(251, 256)
    assert safest_bound(UNEVEN, 2, "7/32") == Fraction(157, 160)


def test_many_tokens_leave_nothing_to_gain_in_the_worst_case():
    draft = np.random.default_rng(0).dirichlet(np.ones(50_000))
    for k in (1, 2, 8):
        bound = safest_bound(draft, k, 0.3)
        assert 0.7 - 1e-12 <= bound <= 0.7 + (k - 1) / 50_000 + 1e-12


def test_limits_of_the_safest_law():
    draft = ["1/2", "1/2", 0]
    assert safest_law(draft, 1, total_variation=0).acceptance == 1  # the draft is the target
    assert safest_law(draft, 3, total_variation=1).acceptance == 1  # everything is drafted
    assert safest_law(draft, 1, total_variation=1).acceptance == Fraction(1, 3)
    assert safest_law(["1"], 1, total_variation="1/2").acceptance == 1


def test_targets_within_a_divergence():
    draft, rng = np.array([0.4, 0.3, 0.2, 0.1]), np.random.default_rng(0)
    found = safest_law(draft, 2, kullback_leibler=0.2)
    found.check()
    near = []
    while len(near) < 50:
        target = rng.dirichlet(20 * draft)
        if (target * np.log(target / draft)).sum() <= 0.2:
            near.append(otspec.optimal_acceptance(found.law, target).acceptance)
    assert min(near) >= found.acceptance - 1e-9
    # The reach of a set is a root of the divergence between two tokens.
    for tokens, reach in zip(found.tokens, found.reach, strict=True):
        mass = draft[tokens].sum()
        if reach < 1:
            far = reach * np.log(reach / mass) + (1 - reach) * np.log((1 - reach) / (1 - mass))
            assert far == pytest.approx(0.2, abs=1e-12)
    assert safest_law(draft, 1, kullback_leibler=0).acceptance == pytest.approx(1, abs=1e-9)
    assert safest_law(draft, 2, kullback_leibler=3.0).acceptance == pytest.approx(0.5, abs=1e-9)


def test_a_changed_result_is_noticed():
    found = best_law(PAIRS, 2)
    lower = found.prices - Fraction(1, 100)
    with pytest.raises(ValueError, match="the bound is"):
        replace(found, prices=np.maximum(lower, 0)).check()
    masses = found.masses.copy()
    masses[:] = 0
    masses[0] = Fraction(1)
    with pytest.raises(ValueError, match="acceptance of the law is"):
        replace(found, masses=masses).check()
    filled = inclusion_bound(PAIRS, 2)
    with pytest.raises(ValueError, match="reach"):
        replace(filled, inclusion=filled.inclusion / 2).check()
    with pytest.raises(ValueError, match="the sum 4"):
        replace(filled, inclusion=filled.inclusion * 0 + 1).check()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: best_law([], 1), "targets is empty"),
        (lambda: best_law([["1/2", "1/2"]], 3), "k must be at most 2, got 3"),
        (lambda: best_law([["1/2", "1/2"], [1, 0, 0]], 1), r"targets\[1\]"),
        (lambda: best_law([["1/2", "1/2"]], 1, [0.5, 0.5]), "weights has 2 entries"),
        (lambda: best_law([np.full(20, 0.05)], 1), "the vocabulary has 20 tokens"),
        (lambda: safest_law(["1/2", "1/2"], 1), "pass either total_variation="),
        (
            lambda: safest_law([0.5, 0.5], 1, total_variation=0.1, kullback_leibler=0.1),
            "pass either total_variation=",
        ),
        (lambda: safest_law(["1/2", "1/2"], 1, kullback_leibler=0.1), "kullback_leibler"),
        (lambda: safest_bound(["1/2", "1/2"], 1, 2), "total_variation is 2"),
    ],
)
def test_bad_input_says_what_to_change(call, message):
    with pytest.raises(ValueError, match=message):
        call()
