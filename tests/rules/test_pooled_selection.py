"""Pooled selection exactly: lossless whatever the pools, optimal where it says so."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product

import numpy as np
import oracles
import pytest
from instances import fractions, pairs
from searching import enough, of_all

import otspec
from otspec.rules import PooledSelection

NAMES = ("tokens", "fewest")
BINS = (1, 2, 3, 7, 256)
MOST_TUPLES = 125


def instances(seed, count=500):
    """Pairs of all kinds over at most 5 tokens, k from 1 to 4; few of them with many tuples."""
    for index, (draft, target) in enumerate(pairs(seed, count, most_tokens=5)):
        k = 1 + index // 8 % 4
        while len(draft) ** k > MOST_TUPLES and index % 10:
            k -= 1
        yield draft, target, k


@dataclass(frozen=True)
class Documented:
    """What the documentation makes of a rule's ``lifetimes`` and ``pool``, by enumeration.

    With a uniform number w the knots whose lifetime exceeds w are barriers. Of the drafts in the
    highest group of pools between two barriers one is selected, all alike; its law is b. It is
    accepted with probability min(1, q/b), and (q − b)₊ is drawn from otherwise.
    """

    rule: PooledSelection

    def selection(self, x):
        """The probability that each draft is selected, integrated over w from 0 to 1."""
        lifetimes = self.rule.lifetimes.tolist()
        pools = [int(self.rule.pool[token]) for token in x]
        chances, start = [Fraction(0)] * len(x), Fraction(0)
        for end in sorted({Fraction(1), *(life for life in lifetimes if 0 < life < 1)}):
            # The same knots are barriers for all w from start to end, excluded.
            barriers = [knot for knot, life in enumerate(lifetimes) if life >= end]
            groups = [max(knot for knot in barriers if knot <= pool) for pool in pools]
            top = [i for i, group in enumerate(groups) if group == max(groups)]
            for i in top:
                chances[i] += (end - start) / len(top)
            start = end
        return chances

    @cached_property
    def table(self):
        return oracles.iid_table(self.rule.draft.tolist(), self.rule.k)

    @cached_property
    def selections(self):
        return {x: self.selection(x) for x in self.table}

    @cached_property
    def law(self):
        """The law b of the selected token."""
        law = [Fraction(0)] * len(self.rule.target)
        for x, mass in self.table.items():
            for token, chance in zip(x, self.selections[x], strict=True):
                law[token] += mass * chance
        return law

    @cached_property
    def joints(self):
        """Row i: what each token gets from accepting draft i; the last row: from no draft."""
        target = self.rule.target.tolist()
        residual = [max(q - b, Fraction(0)) for q, b in zip(target, self.law, strict=True)]
        total, joints = sum(residual), {}
        for x, chances in self.selections.items():
            rows, rejected = [[Fraction(0)] * len(target) for _ in x], Fraction(1)
            for row, token, chance in zip(rows, x, chances, strict=True):
                row[token] = chance * min(Fraction(1), target[token] / self.law[token])
                rejected -= row[token]
            rows.append([rejected * mass / total if total else total for mass in residual])
            joints[x] = rows
        return joints


def check(rule):
    """All that holds with any pools; return what the acceptance is below the optimum."""
    documented, n, k = Documented(rule), len(rule.target), rule.k
    table, law, joints = documented.table, documented.law, documented.joints
    assert rule.law_of_selection.tolist() == law
    inside = oracles.inside_every_set(table, n)
    assert all(sum(law[y] for y in oracles.members(A)) >= inside[A] for A in range(2**n))
    assert sum(law) == inside[-1] == 1
    for x in product(range(n), repeat=k):
        joint = rule.joint_kernel(x)
        if x in joints:
            assert joint.tolist() == joints[x]
            continue
        assert (joint >= 0).all()  # impossible drafts are no excuse
        assert joint.sum() == 1
        assert all(joint[i].sum() == joint[i, token] for i, token in enumerate(x))
    kernels = {x: [sum(each) for each in zip(*rows, strict=True)] for x, rows in joints.items()}
    assert oracles.output(table, kernels.__getitem__, n) == rule.target.tolist()
    accepted = oracles.acceptance(table, kernels.__getitem__)
    assert rule.acceptance() == accepted
    by_position = rule.accepted().by_position.tolist()
    assert by_position == oracles.by_position(table, joints.__getitem__, k)
    by_draft = oracles.accepted_by_draft(table, joints.__getitem__, k)
    assert by_draft == [sum(map(min, law, rule.target)) / k] * k
    hits = oracles.residual_hits(table, joints.__getitem__)
    assert rule.residual_hits() == hits == accepted - sum(by_draft)
    exactly = [rule.acceptance(), rule.residual_hits(), rule.loss_bound(), *rule.law_of_selection]
    assert {type(value) for value in exactly} == {Fraction}
    check_lifetimes(rule)
    gap = oracles.optimum(table, rule.target.tolist()) - accepted
    assert rule.loss_bound() >= gap >= 0
    if not rule.pools.optimal:  # what the best knot proves of the drafts below it
        wanted = rule.wanted_law
        below = (rule.draft > 0) & (wanted.pools.index < wanted.cut)
        proved = 1 - rule.draft[below].sum() ** k + rule.target[below].sum()
        assert rule.loss_bound() == proved - sum(by_draft)
    return gap


def cuts(rule):
    """The knots where P(all drafts below) − target mass below is largest."""
    wanted = [Fraction(0)] * len(rule.knots)
    for token, pool in enumerate(rule.pool.tolist()):
        wanted[pool + 1] += rule.target[token] * (rule.draft[token] > 0)
    excess = [u**rule.k - q for u, q in zip(rule.knots, np.cumsum(wanted), strict=True)]
    return {j for j, value in enumerate(excess) if value == max(excess)}


def check_lifetimes(rule):
    infinite = {j for j, life in enumerate(rule.lifetimes) if life == math.inf}
    last = len(rule.knots) - 1
    assert len(rule.lifetimes) == last + 1
    assert {0, last, min(cuts(rule))} <= infinite
    if rule.pools.optimal and rule.k > 1:
        assert infinite == {0, last} | cuts(rule)
    for j in set(range(last)) - infinite:
        assert type(rule.lifetimes[j]) is Fraction
        # With one draft the only law has no kinks, so that nothing needs to die.
        assert 0 <= rule.lifetimes[j] < 1 or (rule.k == 1 and rule.lifetimes[j] == 1)


def check_pools(rule, bin_of):
    """Pools are the bins that hold draft mass, numbered by ascending ratio."""
    drafted = [token for token, mass in enumerate(rule.draft) if mass > 0]
    bins = {token: bin_of(rule.target[token] / rule.draft[token]) for token in drafted}
    filled = sorted(set(bins.values()))
    assert {token: filled[rule.pool[token]] for token in drafted} == bins
    below = [sum(rule.draft[y] for y in drafted if bins[y] < each) for each in filled]
    assert rule.knots.tolist() == [*below, 1]


def ratios(draft, target):
    return sorted({q / p for p, q in zip(draft, target, strict=True) if p > 0})


# Degenerate input


@pytest.mark.parametrize("pools", [*NAMES, *BINS, [], [0], [1], ["1/2", 2], [0.5, 1e300]], ids=repr)
@pytest.mark.parametrize("k", [1, 2, 5])
def test_degenerate_input(k, pools):
    for draft, target, accepted in (
        (fractions(1), fractions(1), 1),
        (fractions(1, 0), fractions(0, 1), 0),
        (fractions(0, 1), fractions(0, 1), 1),
        (fractions(0, 1), fractions("1/3", "2/3"), Fraction(2, 3)),
        (fractions("1/4", "3/4", 0), fractions(0, 0, 1), 0),
        (fractions("1/4", "3/4"), fractions("1/4", "3/4"), 1),
        (fractions("3/4", "1/4"), fractions(0, 1), 1 - Fraction(3, 4) ** k),
    ):
        rule = PooledSelection(draft, target, k, pools)
        check(rule)
        assert rule.acceptance() == accepted  # in the last case by residual hits, if need be


def test_the_instances_hold_all_edge_cases():
    found = list(instances(seed=220))
    assert len(found) == enough(500)
    assert {(len(draft), k) for draft, _, k in found} == set(product(range(1, 6), range(1, 5)))
    assert sum(draft == target and len(draft) > 1 for draft, target, _ in found) > of_all(20)
    assert sum(not any(map(min, draft, target)) for draft, target, _ in found) > of_all(20)
    assert sum(sum(map(bool, draft)) < k for draft, _, k in found) > of_all(20)
    for i in (0, 1):
        assert sum(0 in each[i] and 0 not in each[1 - i] for each in found) >= of_all(10)
        assert sum(len(set(each[i])) < len(each[i]) for each in found) > of_all(20)


# Optimal rules


@pytest.mark.parametrize("pools", NAMES)
def test_named_pools_give_lossless_optimal_rules(pools):
    for draft, target, k in instances(seed=220, count=320):
        rule = PooledSelection(draft, target, k, pools)
        assert check(rule) == 0
        assert rule.acceptance() == otspec.optimal_acceptance(rule.law, target).acceptance
        # The one pool of a single draft says nothing of the optimum, which any pools attain.
        assert rule.loss_bound() == 0 or (pools, k) == ("fewest", 1)


def test_a_pool_for_every_ratio_clips_the_ratios():
    clipped = 0
    for draft, target, k in instances(seed=220):
        rule = PooledSelection(draft, target, k)
        check_pools(rule, lambda ratio: ratio)
        drafted = [token for token in oracles.by_ratio(draft, target) if draft[token] > 0]
        slopes = [rule.law_of_selection[token] / draft[token] for token in drafted]
        wanted = [target[token] / draft[token] for token in drafted]
        assert slopes == [max(slopes[0], min(slopes[-1], ratio)) for ratio in wanted]
        clipped += 1 < len(set(slopes)) < len(set(wanted))
    assert clipped > of_all(20)


def fewest_pools(draft, target, k):
    """By brute force, for k > 1: the fewest stretches of ratios on which an optimal b is ∝ draft.

    A law b accepts q(A) + 1 − p(A)^k, with A a minimum cut, only if b ≥ q in A, b ≤ q elsewhere,
    and b(A) = p(A)^k. No stretch then reaches across the cut, as B stays above u^k, which is
    strictly convex. Going away from the cut, B changes least if a stretch below has its highest
    ratio and one above its lowest; B must stay above u^k all the same.
    """
    order = [token for token in oracles.by_ratio(draft, target) if draft[token] > 0]
    slopes = ratios(draft, target)
    sets = [[y for y in order if target[y] / draft[y] < slope] for slope in slopes] + [order]
    knots = [sum(draft[y] for y in inside) for inside in sets]
    excess = [u**k - sum(target[y] for y in A) for u, A in zip(knots, sets, strict=True)]
    m, cut = len(slopes), excess.index(max(excess))

    def stays_above(kept):
        below, above = [j for j in kept if j <= cut], [j for j in kept if j >= cut]
        for way in (below[::-1], above):
            height = knots[cut] ** k
            for i, j in pairwise(way):
                height += slopes[i - (j < i)] * (knots[j] - knots[i])
                if height < knots[j] ** k:
                    return False
        return True

    choices = product([False, True], repeat=m - 1)
    ways = ([0, *(j for j in range(1, m) if chosen[j - 1]), m] for chosen in choices)
    return min(len(kept) - 1 for kept in ways if cut in kept and stays_above(kept))


def test_fewest_pools_are_the_fewest():
    fewer = 0
    for draft, target, k in instances(seed=221):
        pools = len(PooledSelection(draft, target, k, "fewest").knots) - 1
        assert pools == (fewest_pools(draft, target, k) if k > 1 else 1)
        fewer += 1 < pools < len(ratios(draft, target))
    assert fewer > of_all(20)


# Any pools


@pytest.mark.parametrize("pools", [*NAMES, 2, ["1/2", 2]], ids=repr)
def test_an_audit_finds_no_fault(pools):
    for draft, target, k in instances(seed=226, count=40):
        rule = PooledSelection(draft, target, k, pools)
        report = otspec.audit(rule)
        assert report.lossless
        assert report.output.tolist() == list(target)
        assert report.acceptance == rule.acceptance()
        assert rule.loss_bound() >= report.gap >= 0


def test_any_thresholds_give_lossless_rules():
    rng, losing, hitting = np.random.default_rng(222), 0, 0
    for draft, target, k in instances(seed=223, count=320):
        # Some of the ratios themselves, 0, a huge one, and random fractions.
        others = fractions(0, 10**6, *(f"{weight}/7" for weight in rng.integers(1, 30, 3)))
        choice = sorted({*ratios(draft, target), *others})
        given = [value for value in choice if rng.random() < 0.4]
        rule = PooledSelection(draft, target, k, given)
        losing += check(rule) > 0
        hitting += rule.residual_hits() > 0
        check_pools(rule, lambda ratio, given=given: sum(value <= ratio for value in given))
    assert losing > of_all(20)
    assert hitting > of_all(20)


@pytest.mark.parametrize("bins", BINS)
def test_any_number_of_bins_gives_lossless_rules(bins):
    def bin_of(ratio):
        # How many log₂ thresholds 16 j/bins − 8 are at most log₂(ratio), without a logarithm.
        return sum(ratio**bins >= Fraction(2) ** (16 * j - 8 * bins) for j in range(1, bins))

    gap, hits = 0, 0
    for draft, target, k in instances(seed=224, count=80):
        rule = PooledSelection(draft, target, k, bins)
        gap, hits = max(gap, check(rule)), max(hits, rule.residual_hits())
        check_pools(rule, bin_of)
    assert (gap > 0) == (hits > 0) == (bins < 256)  # a bin of 256 holds one of these ratios


@pytest.mark.parametrize("loss", [0, Fraction(1, 100), 0.05, math.inf])
def test_a_loss_is_kept_within(loss):
    most = 0
    for draft, target, k in instances(seed=261, count=80):
        rule = PooledSelection.within(draft, target, k, loss)
        most = max(most, check(rule))
        assert rule.loss_bound() <= loss
        # No more pools than ratios, and one where anything may be lost.
        assert len(rule.knots) - 1 <= (1 if loss == math.inf else len(ratios(draft, target)))
    assert (most > 0) == (loss > 0)
