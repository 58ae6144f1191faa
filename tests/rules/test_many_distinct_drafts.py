"""Pooled selection of any number of distinct drafts: the propositions, and the rule exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import oracles
import pytest
from instances import EPS, floats, pairs, weights
from kept_drafts import kept_by_position
from searching import enough, of_all

import otspec
from otspec.rules import NotExactError, PooledSelectionWithoutReplacement
from validation.oracles import flow

PAIR = ["1/2", "1/4", "1/8", "1/8"], ["1/8", "1/8", "1/4", "1/2"]
KS = (*(1, 2, 3, 2, 3, 4, 2, 3, 2) * 18, 5, 6)  # few of those with hundreds of tuples
OTHER_POOLS = ("fewest", 3, ["1/2", "3/2"])


def support_of(draft):
    return sum(map(bool, draft))


def instances(seed, count):
    """Pairs of all kinds with k = 1 to 6 distinct drafts, as many as there are tokens at most."""
    several = pairs(seed, count, most_tokens=5, fewest=2)
    many = pairs(seed + 1, count, most_tokens=6, fewest=6)
    for i, (few, six) in enumerate(zip(several, many, strict=True)):
        k = KS[i % len(KS)]
        draft, target = six if k > 4 or i % 20 == 0 else few
        yield draft, target, min(k, support_of(draft))


# The propositions


def groups(seed, count):
    """Drafts, and tokens cut into those below, in and above a group, which holds some mass."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(2, 7))
        draft = weights(rng, n, 12, 0.1)
        place = rng.choice(3, n, p=[0.3, 0.5, 0.2])
        if sum(p for p, part in zip(draft, place, strict=True) if part == 1) > 0:
            yield draft, place.tolist()


def lists(draft, place, n):
    """Ordered lists of n distinct tokens that are not above the group, with their masses."""
    usable = [y for y, part in enumerate(place) if part < 2 and draft[y] > 0]
    for z in permutations(usable, n):
        mass, left = Fraction(1), Fraction(1)
        for y in z:
            mass, left = mass * draft[y] / left, left - draft[y]
        if left > 0:
            yield z, mass, left


def test_the_swap_identity():
    compared = 0
    for draft, place in groups(830, enough(150)):
        group = [y for y, part in enumerate(place) if part == 1 and draft[y] > 0]
        for n in range(1, 5):
            for a in group:
                lead, swap = Fraction(0), Fraction(0)
                for z, mass, left in lists(draft, place, n):
                    of_group = [y for y in z if y in group]
                    first = of_group[:1] == [a]
                    lead += mass * (first and z[-1] in group) - mass * (z[-1] == a)
                    swap += mass * draft[a] / left * (a in z)
                    swap -= first * mass * sum(draft[y] for y in of_group) / left
                assert lead == swap
                compared += lead != 0
    assert compared > of_all(100)


def test_the_choice_in_a_group_is_proportional_to_the_draft():
    """By the documentation alone: lambda, the first drawn, and what is proportional."""
    several = 0
    for draft, place in groups(831, enough(120)):
        group = {y for y, part in enumerate(place) if part == 1}
        above = sum(p for p, part in zip(draft, place, strict=True) if part == 2)
        mass_of_group = sum(draft[y] for y in group)
        for k in range(1, min(support_of(draft), 5) + 1):
            law = dict.fromkeys(group, Fraction(0))
            for x, mass in oracles.without_replacement_table(draft, k).items():
                inside = [y for y in x if y in group]
                if not inside or any(place[y] == 2 for y in x):
                    continue
                held, left = sum(draft[y] for y in inside), 1 - sum(draft[y] for y in x)
                share = above / mass_of_group * held / left if above else Fraction(0)
                assert 0 <= share <= 1
                law[inside[0]] += mass * (1 - share)
                for y in inside:
                    law[y] += mass * share * draft[y] / held
                several += 0 < share < 1 and len(inside) > 1
            assert all(law[y] * mass_of_group == sum(law.values()) * draft[y] for y in law)
    assert several > of_all(800)


def test_the_rule_makes_that_choice():
    for draft, target, k in instances(832, 60):
        rule = PooledSelectionWithoutReplacement(draft, target, k)
        pools, knots = rule.pool.tolist(), rule.knots.tolist()
        table = oracles.without_replacement_table(draft, k)
        for lowest in range(len(knots) - 1):
            for end in range(lowest + 1, len(knots)):
                law = [Fraction(0)] * len(draft)
                for x, mass in table.items():
                    if lowest <= max(pools[y] for y in x) < end:
                        for y, share in zip(x, rule._shares_in(x, lowest, end), strict=True):
                            law[y] += mass * share
                total, held = sum(law), knots[end] - knots[lowest]
                for y, p in enumerate(draft):
                    inside = p > 0 and lowest <= pools[y] < end
                    assert law[y] * held == (total * p if inside else 0)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_probability_to_be_below_is_convex_over_the_draft_mass(k):
    rng, bent = np.random.default_rng(833), 0
    for draft, _ in groups(834, enough(60)):
        order = [y for y in rng.permutation(len(draft)).tolist() if draft[y] > 0]
        if len(order) < k:
            continue
        inside = oracles.inside_prefixes(oracles.without_replacement_table(draft, k), order)
        slopes = [(after - before) / draft[y]
                  for y, before, after in zip(order, inside, inside[1:], strict=False)]  # fmt: skip
        assert slopes == sorted(slopes)
        bent += slopes[0] < slopes[-1]
    assert bent > of_all(20)


# The rule exactly


def check(rule, draft, target, k):
    """The rule is lossless, has the law and the acceptance that it states; returns the optimum."""
    table = oracles.without_replacement_table(draft, k)
    shares = {x: rule.shares_of(x) for x in table}
    rows = {x: rule.coupling.joint_kernel(x, shares[x]) for x in table}
    kernel = {x: row.sum(axis=0).tolist() for x, row in rows.items()}.__getitem__
    assert oracles.output(table, kernel, len(draft)) == list(target)
    assert rule.acceptance() == oracles.acceptance(table, kernel)
    law, by_draft = [Fraction(0)] * len(draft), [Fraction(0)] * k
    for x, mass in table.items():
        for i, (y, share) in enumerate(zip(x, shares[x], strict=True)):
            law[y] += mass * share
            by_draft[i] += mass * rows[x][i, y]
    assert rule.law_of_selection.tolist() == law
    if len(table) <= 24:
        assert kept_by_position(rule).tolist() == by_draft
    assert rule.accepted().by_token.sum() == rule.acceptance()
    return oracles.optimum(table, list(target))


def test_seven_hundred_instances_are_lossless_and_optimal():
    seen = dict.fromkeys(range(1, 7), 0)
    for draft, target, k in instances(835, 700):
        rule = PooledSelectionWithoutReplacement(draft, target, k)
        assert rule.acceptance() == check(rule, draft, target, k)
        assert rule.loss_bound() == 0
        seen[k] += 1
    assert min(seen.values()) >= of_all(2)


def test_five_drafts_of_six_tokens_are_lossless_and_optimal():
    """All of positive probability, so that groups of several tokens hold several of the drafts."""
    rng = np.random.default_rng(841)
    for _ in range(4):
        draft, target = weights(rng, 6, 9), weights(rng, 6, 9)
        rule = PooledSelectionWithoutReplacement(draft, target, 5)
        assert rule.acceptance() == check(rule, draft, target, 5)


def test_a_flow_gives_the_same_optimum():
    for draft, target, k in instances(836, 100):
        rule = PooledSelectionWithoutReplacement(draft, target, k)
        table = oracles.without_replacement_table(draft, k)
        assert rule.acceptance() == flow(table, target)


@pytest.mark.parametrize("pools", OTHER_POOLS)
def test_other_pools_are_lossless_and_lose_what_they_say(pools):
    lost = 0
    for draft, target, k in instances(837, 80):
        rule = PooledSelectionWithoutReplacement(draft, target, k, pools)
        best = check(rule, draft, target, k)
        accepted = sum(map(min, rule.law_of_selection, target))
        assert rule.acceptance() <= best
        assert 0 <= best - accepted <= rule.loss_bound()
        assert accepted == best or not rule.pools.optimal
        lost += rule.loss_bound() > 0
    assert (lost > 4) == (pools != "fewest")


def test_refined_thresholds_lose_at_most_what_they_may():
    for draft, target, k in instances(838, 80):
        for loss in (Fraction(0), Fraction(1, 20)):
            rule = PooledSelectionWithoutReplacement.within(draft, target, k, loss)
            assert rule.loss_bound() <= loss
            best = otspec.optimal_acceptance(rule.law, target).acceptance
            assert best - loss <= rule.acceptance() <= best


def test_one_draft_and_all_tokens():
    for draft, target, _ in instances(839, 60):
        one = PooledSelectionWithoutReplacement(draft, target, 1)
        assert one.acceptance() == sum(map(min, draft, target))
        n = support_of(draft)
        every = PooledSelectionWithoutReplacement(draft, target, n)
        wanted = sum(q for p, q in zip(draft, target, strict=True) if p > 0)
        assert every.acceptance() == wanted
        with pytest.raises(ValueError, match=f"lower k to {n} or less"):
            PooledSelectionWithoutReplacement(draft, target, n + 1)


# Floats


@pytest.mark.parametrize("pools", ["tokens", *OTHER_POOLS])
def test_floats_are_close_to_fractions(pools):
    for draft, target, k in instances(840, 60):
        if k > 4:
            continue  # hits are enumerated only up to a limit
        exact = PooledSelectionWithoutReplacement(draft, target, k, pools)
        rule = PooledSelectionWithoutReplacement(floats(draft), floats(target), k, pools)
        # Sums of n masses in k rounds, and G to 1e-13 for three drafts and more.
        limit = 8 * (k + 1) * (len(draft) + 2) * EPS + (2e-12 if k > 2 else 0)
        assert abs(rule.acceptance() - float(exact.acceptance())) <= limit
        assert np.abs(rule.law_of_selection - exact.law_of_selection.astype(float)).max() <= limit
        assert abs(rule.loss_bound() - float(exact.loss_bound())) <= limit


def test_at_full_vocabulary_the_optimum_is_accepted():
    found = otspec.datasets.load_smollm2().pairs()
    for (_, draft, target), k in zip(found, (2, 4, 8, 16), strict=False):
        rule = PooledSelectionWithoutReplacement(draft, target, k)
        best = otspec.optimal_acceptance(rule.law, target).acceptance
        assert abs(rule.acceptance() - best) <= 1e-10
        accepted = np.minimum(rule.law_of_selection, target).sum()
        assert abs(accepted - best) <= 1e-10
        coarse = PooledSelectionWithoutReplacement(draft, target, k, 64)
        with pytest.raises(NotExactError, match=r"estimate\(\) simulates them"):
            coarse.acceptance()
        simulated, loss = coarse.estimate(50).probability, coarse.loss_bound()
        assert best - loss - 1e-10 <= simulated.low
        assert simulated.low <= best + 1e-10
        assert simulated.high <= simulated.low + loss


@pytest.mark.parametrize("k", [3, 4])
def test_samples_are_those_of_the_kernel(k):
    rule = PooledSelectionWithoutReplacement(*map(floats, map(fractions_of, PAIR)), k)
    for seed, x in enumerate(rule.law.tuples()[0].tolist()[:6]):
        certain = np.zeros((4,) * k)
        certain[tuple(x)] = 1.0
        found = otspec.audit_samples(
            rule.sample, otspec.Joint(certain), rule.kernel(x), enough(3_000), seed
        )
        assert found.consistent, x  # each fails with probability 1e-3 at other seeds


def fractions_of(values):
    return [Fraction(value) for value in values]
