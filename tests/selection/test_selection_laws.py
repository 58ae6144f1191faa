"""Laws of the selected draft (Pooled, propositions 1, 3 and 5): feasible, optimal, their losses."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
import oracles
import pytest
from each_case import each
from instances import EPS, HEAVY_DRAFTS, pairs, turn
from searching import of_all

import otspec
from otspec.distributions import as_pair
from otspec.optimum.pools.pools import by_bins, by_thresholds, by_token, clipped_law
from otspec.rules import PooledSelection
from otspec.rules.pooled.base import losses, refined_thresholds


def instances(seed, count, most_tokens=6, most_drafts=4):
    """Exact pairs beside a k, all kinds with all ks."""
    for index, pair in enumerate(pairs(seed, count, most_tokens)):
        yield *as_pair(*pair), 1 + turn(index, most_drafts)


def partitions(draft, target, rng):
    """A pool per ratio, one pool, bins, and pools between random ones of the ratios."""
    ratios = sorted({q / p for p, q in zip(draft, target, strict=True) if p > 0})
    some = [ratio for ratio in ratios if rng.random() < 0.4]
    yield by_token(draft, target)
    yield by_thresholds(draft, target, draft[:0])
    yield by_bins(draft, target, 5)
    yield by_thresholds(draft, target, np.array(some, dtype=object))


def laws(seed, count, **sizes):
    """Exact instances beside their pools of every sort and the clipped law."""
    rng = np.random.default_rng(seed)
    for draft, target, k in instances(seed, count, **sizes):
        for pools in partitions(draft, target, rng):
            yield draft, target, k, clipped_law(pools, pools.knots**k)


def cumulative(masses):
    return [Fraction(0), *accumulate(masses)]


def by_tokens(draft, law):
    """The law of selection of each token."""
    return law.slopes[law.pools.index] * draft


def overlap(first, second):
    return sum(map(min, first, second))


def assert_convex_between_tight_knots(law):
    for j, (before, after) in enumerate(pairwise(law.slopes), start=1):
        assert law.tight[j] or before <= after


def test_the_law_is_feasible_for_every_token_set():
    tables = {}
    for draft, _, k, law in laws(310, 160, most_tokens=5):
        key = (*draft, k)
        if key not in tables:
            table = oracles.iid_table(draft.tolist(), k)
            tables[key] = oracles.inside_every_set(table, len(draft))
        selected = by_tokens(draft, law).tolist()
        assert min(selected) >= 0
        assert sum(selected) == 1
        for mask, inside in enumerate(tables[key]):
            assert sum(selected[token] for token in oracles.members(mask)) >= inside


def test_it_is_convex_between_its_tight_knots_where_it_equals_the_inside_mass():
    between = 0
    for _, _, k, law in laws(311, 400):
        reached = cumulative(law.masses)
        equal = [mass == u**k for mass, u in zip(reached, law.pools.knots, strict=True)]
        assert law.tight.dtype == bool
        assert all(law.tight[[0, law.cut, -1]])
        assert_convex_between_tight_knots(law)
        if k > 1:
            assert law.tight.tolist() == equal
        else:  # then every law is the draft, and all knots would do
            assert all(equal)
        between += not all(law.tight)
    assert between > of_all(200)


def test_pool_by_pool_it_is_at_least_the_target_below_the_cut_and_at_most_above():
    for _, _, k, law in laws(312, 400):
        wanted, heights = cumulative(law.pools.target), law.pools.knots**k
        excess = [g - q for g, q in zip(heights, wanted, strict=True)]
        assert excess[law.cut] == max(excess)
        assert (law.masses >= law.pools.target)[: law.cut].all()
        assert (law.masses <= law.pools.target)[law.cut :].all()


def test_with_a_pool_per_ratio_it_clips_the_ratios_and_is_optimal():
    for draft, target, k in instances(313, 400):
        pools = by_token(draft, target)
        law = clipped_law(pools, pools.knots**k)
        ratios = pools.target / pools.draft
        # Two slopes, whatever the number of pools; the target's ratios in between.
        assert (law.slopes == ratios.clip(law.slopes[0], law.slopes[-1])).all()
        best = oracles.optimum(oracles.iid_table(draft.tolist(), k), target.tolist())
        assert overlap(by_tokens(draft, law), target) == best
        assert losses(law, as_pair(draft, target)[1]).sum() == 0


def test_losses_are_exactly_what_is_missing_to_the_bound_of_the_best_knot():
    lost_something = 0
    for draft, target, k, law in laws(314, 300):
        wanted, heights = cumulative(law.pools.target), law.pools.knots**k
        bound = min(q + 1 - g for q, g in zip(wanted, heights, strict=True))
        accepted = overlap(by_tokens(draft, law), target)
        lost = losses(law, as_pair(draft, target)[1])
        assert lost.min() >= 0
        assert lost.sum() == bound - accepted
        optimum = otspec.optimal_acceptance(otspec.IID(draft, k), target).acceptance
        assert optimum - accepted <= lost.sum()
        lost_something += lost.sum() > 0
    assert lost_something > of_all(300)


def convex_heights(rng, knots):
    """A random convex function over the knots from 0 to 1, with straight pieces."""
    rises = sorted(int(rise) for rise in rng.integers(0, 4, len(knots) - 1))
    rises[-1] += 1
    heights = cumulative(rise * width for rise, width in zip(rises, np.diff(knots), strict=True))
    return np.array([height / heights[-1] for height in heights], dtype=object)


def test_any_convex_heights_will_do():
    rng = np.random.default_rng(315)
    for draft, target, _ in instances(315, 400, most_tokens=8):
        for pools in partitions(draft, target, rng):
            heights = convex_heights(rng, pools.knots)
            law = clipped_law(pools, heights)
            reached, wanted = cumulative(law.masses), cumulative(pools.target)
            assert reached[-1] == 1
            assert (reached >= heights).all()
            assert (reached == heights)[law.tight].all()
            assert_convex_between_tight_knots(law)
            bound = min(q + 1 - g for q, g in zip(wanted, heights, strict=True))
            # Whole pools need not know of the ratios inside them.
            assert overlap(law.masses, pools.target) == bound


def test_two_pools_by_hand():
    draft, target = as_pair(["1/4", "1/4", "1/2"], ["0", "1/16", "15/16"])
    pools = by_thresholds(draft, target, np.array([Fraction(1)], dtype=object))
    law = clipped_law(pools, pools.knots**2)
    # G = 1/4 at the knot 1/2; Q = 1/16 there: the cut, and B = G.
    assert law.cut == 1
    assert law.masses.tolist() == [Fraction(1, 4), Fraction(3, 4)]
    assert law.slopes.tolist() == [Fraction(1, 2), Fraction(3, 2)]
    assert overlap(by_tokens(draft, law), target) == Fraction(1, 16) + Fraction(3, 4)
    assert losses(law, as_pair(draft, target)[1]).tolist() == [0, 0]


def float_laws(draft, target, k):
    for pools in (by_token(draft, target), by_bins(draft, target, 16)):
        yield clipped_law(pools, pools.knots**k)


@each("k", [1, 2, 8, 64])
@each("target", ["uniform", "equal", "reversed", "certain"])
@each("draft", HEAVY_DRAFTS)
def test_floats_of_very_different_sizes(draft, target, k):
    draft = np.array(draft)
    n = len(draft)
    shapes = {
        "uniform": np.full(n, 1 / n),
        "equal": draft,
        "reversed": draft[::-1],
        "certain": np.eye(n)[0],
    }
    p, q = as_pair(draft, shapes[target])
    # B and G have errors of n roundings and of k of them; sums of n terms.
    error = (k + 2) * (n + 2) * EPS
    optimum = otspec.optimal_acceptance(otspec.IID(p, k), q).acceptance
    for law in float_laws(p, q, k):
        selected = by_tokens(p, law)
        assert (selected >= 0).all()
        assert abs(selected.sum() - 1) <= error
        assert (np.cumsum(law.masses) >= law.pools.knots[1:] ** k - error).all()
        assert_convex_between_tight_knots_within(law, error)
        lost = losses(law, q).sum()
        assert -error <= optimum - overlap(selected, q) <= lost + error


def assert_convex_between_tight_knots_within(law, error):
    """Moving ``error`` of mass would mend what slopes fall by."""
    fall = np.maximum(law.slopes[:-1] - law.slopes[1:], 0)
    mass = fall * np.minimum(law.pools.draft[:-1], law.pools.draft[1:])
    assert (mass[~law.tight[1:-1]] <= error).all()


def at_low_temperature(n, seed):
    """Nearly all mass on one token; many others are below the rounding of its mass."""
    rng = np.random.default_rng(seed)
    logits = rng.standard_normal(n) * 15
    return as_pair(
        *(np.exp(x - x.max()) for x in (logits, logits + 5 * rng.standard_normal(n))),
        normalize=True,
    )


@pytest.mark.parametrize("pools", ["tokens", "fewest", 64, 256, [1.0]])
def test_tokens_too_light_to_move_a_knot_do_not_bend_the_law(pools):
    # The second token of the first pair has a ratio below the lowest slope, which as a float is
    # the same with that token as without it.
    first = [0.5, 1e-17, 0.25, 0.25], [0.1, 3e-18, 0.3, 0.6]
    for draft, target in [first, *(at_low_temperature(50, seed) for seed in range(60))]:
        for k in (2, 8):
            rule = PooledSelection(draft, target, k, pools)
            error = (k + 2) * (rule.law.n + 2) * EPS
            wanted = by_tokens(rule.draft, rule.wanted_law)
            assert abs(rule.law_of_selection - wanted).sum() <= error
            best = otspec.optimal_acceptance(rule.law, rule.target).acceptance
            accepted = overlap(rule.law_of_selection, rule.target)
            assert best - rule.loss_bound() - error <= accepted
            assert accepted - error <= rule.acceptance() <= best + error


def heavy_pair(n, seed):
    draft, noise = np.random.default_rng(seed).standard_normal((2, n))
    return as_pair(np.exp(3 * draft), np.exp(2.7 * draft + noise), normalize=True)


@pytest.mark.parametrize("k", [1, 4, 64])
def test_floats_at_the_largest_vocabularies(k):
    p, q = heavy_pair(262_144, seed=k)
    optimum = otspec.optimal_acceptance(otspec.IID(p, k), q).acceptance
    # Cumulative sums of n terms up to 1, the k-th power of one of them.
    error = (k + 2) * len(p) * EPS
    fine, coarse = float_laws(p, q, k)
    assert abs(optimum - overlap(by_tokens(p, fine), q)) <= error
    lost = losses(coarse, q).sum()
    assert -error <= optimum - overlap(by_tokens(p, coarse), q) <= lost + error
    assert lost < 0.1


def test_refinement_loses_at_most_what_it_may():
    for draft, target, k in instances(316, 160):
        optimum = otspec.optimal_acceptance(otspec.IID(draft, k), target).acceptance
        ratios = {q / p for p, q in zip(draft, target, strict=True) if p > 0}
        for loss in (Fraction(0), Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 20)):
            thresholds = refined_thresholds(otspec.IID(draft, k), as_pair(draft, target)[1], loss)
            assert all(before < after for before, after in pairwise(thresholds))
            pools = by_thresholds(draft, target, thresholds)
            law = clipped_law(pools, pools.knots**k)
            # Each threshold splits a pool.
            assert len(pools.draft) == len(thresholds) + 1 <= len(ratios)
            assert losses(law, as_pair(draft, target)[1]).sum() <= loss
            accepted = overlap(by_tokens(draft, law), target)
            assert 0 <= optimum - accepted <= loss
            rule = PooledSelection.within(draft, target, k, loss)
            assert rule.pools.values.tolist() == thresholds.tolist()
            assert rule.loss_bound() <= loss


def test_a_loss_of_one_needs_no_threshold_and_none_at_all_is_optimal():
    needed = 0
    for draft, target, k in instances(317, 160):
        assert len(refined_thresholds(otspec.IID(draft, k), as_pair(draft, target)[1], 1)) == 0
        rule = PooledSelection.within(draft, target, k, 0)
        law = otspec.IID(draft, k)
        assert rule.acceptance() == otspec.optimal_acceptance(law, target).acceptance
        needed += len(rule.pools.values) > 0
    assert needed > of_all(40)


@pytest.mark.parametrize("k", [2, 4, 16])
def test_smaller_losses_take_more_pools(k):
    draft, target = heavy_pair(8_000, seed=3)
    optimum = otspec.optimal_acceptance(otspec.IID(draft, k), target).acceptance
    counts = []
    for loss in (0.1, 0.01, 1e-4, 1e-6):
        rule = PooledSelection.within(draft, target, k, loss)
        assert rule.loss_bound() <= loss
        rounding = (k + 2) * len(draft) * EPS
        assert -rounding <= optimum - rule.acceptance() <= loss + rounding
        counts.append(len(rule.pools.values))
    # Nothing says that fewer pools may not do for a smaller loss, but these are far apart.
    assert counts[0] < counts[1] < counts[2] < counts[3] < len(draft) / 2


def test_without_any_loss_floats_end_where_pools_cannot_be_split():
    draft, target = heavy_pair(400, seed=4)
    thresholds = refined_thresholds(otspec.IID(draft, 3), target, 0.0)
    assert (np.diff(thresholds) > 0).all()
    rule = PooledSelection(draft, target, 3, thresholds)
    best = otspec.optimal_acceptance(rule.law, target).acceptance
    assert abs(rule.acceptance() - best) <= 5 * 400 * EPS
