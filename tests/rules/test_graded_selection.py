"""Graded pooled selection as an exact rule: by the definition in the documentation, and audited."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import prod

import graded_reference
import numpy as np
import oracles
import pytest
from instances import EPS, floats, pairs
from kept_drafts import kept_by_position
from searching import enough, of_all

import otspec
from otspec import batch
from otspec.rules import Graded, PooledSelection


def instances(seed, count):
    for i, (draft, target) in enumerate(pairs(seed, count, most_tokens=4)):
        yield draft, target, 1 + i % 3, 2 + i % 4


def test_the_rule_is_what_the_documentation_says():
    several = 0
    for draft, target, k, m in instances(700, 60):
        rule = PooledSelection(draft, target, k, Graded(m))
        wanted = graded_reference.Graded(draft, target, k, m)
        assert rule.law_of_selection.tolist() == wanted.law
        kept = [mass > 0 for mass in wanted.masses]
        assert rule.barriers.slopes.tolist() == [
            slope for slope, filled in zip(wanted.slopes, kept, strict=True) if filled
        ]
        lifetimes = {
            knot: min(life, Fraction(1))
            for knot, life in zip(wanted.knots, wanted.lifetimes, strict=True)
        }
        found = [min(life, Fraction(1)) for life in rule.lifetimes]
        assert dict(zip(rule.knots.tolist(), found, strict=True)) == lifetimes
        several += len(found) > 3
    assert several > of_all(10)


def test_a_token_is_below_a_knot_as_often_as_it_is_put_in_pools_there():
    straddling = 0
    for draft, target, k, m in instances(705, 40):
        pools = PooledSelection(draft, target, k, Graded(m))._pools
        tokens, knots = np.arange(len(draft)), np.arange(len(pools.draft) + 1)
        for token, row in enumerate(pools.below(tokens, knots).tolist()):
            ways = {pool: chance for (pool,), chance in pools.placements([token])}
            assert row == [sum(ways[pool] for pool in ways if pool < knot) for knot in knots]
            straddling += len(ways) > 1
    assert straddling > of_all(10)


def test_it_is_lossless_and_says_what_it_accepts():
    hit = 0
    for draft, target, k, m in instances(701, 60):
        rule = PooledSelection(draft, target, k, Graded(m))
        table = oracles.iid_table(draft, k)
        kernel = {x: rule.kernel(x).tolist() for x in table}.__getitem__
        assert oracles.output(table, kernel, len(draft)) == list(target)
        assert rule.acceptance() == oracles.acceptance(table, kernel)
        best = oracles.optimum(table, target)
        assert rule.acceptance() <= best
        coupled = rule.acceptance() - rule.residual_hits()
        assert best - coupled <= rule.loss_bound()
        # What the best knot proves: of all drafts below it no more than the target has there.
        wanted = rule.wanted_law
        below = [x for x in range(len(draft)) if draft[x] and wanted.pools.index[x] < wanted.cut]
        proved = 1 - sum(draft[x] for x in below) ** k + sum(target[x] for x in below)
        assert rule.loss_bound() == proved - coupled
        hit += rule.residual_hits() > 0
        by_draft = [sum(mass * rule.joint_kernel(x)[i].sum() for x, mass in table.items())
                    for i in range(k)]  # fmt: skip
        assert kept_by_position(rule).tolist() == by_draft
    assert hit > of_all(3)


def selection_by_enumeration(wanted, x):
    """With what probability each draft is selected, over all grades and all uniform numbers."""
    chances = [Fraction(0)] * len(x)
    times = sorted({Fraction(0), Fraction(1), *(t for t in wanted.lifetimes if t < 1)})
    for graded in product(range(len(wanted.grades)), repeat=len(x)):
        mass = prod(wanted.weights[y][j] for y, j in zip(x, graded, strict=True))
        for start, end in pairwise(times) if mass else ():
            below = range(max(graded) + 1)
            lowest = max(j for j in below if wanted.lifetimes[j] > start)
            among = [i for i, j in enumerate(graded) if j >= lowest]
            for i in among:
                chances[i] += mass * (end - start) / len(among)
    return chances


def test_each_draft_is_selected_as_often_as_the_definition_says():
    for draft, target, k, m in instances(702, 40):
        rule = PooledSelection(draft, target, k, Graded(m))
        wanted = graded_reference.Graded(draft, target, k, m)
        for x in oracles.iid_table(draft, k):
            chances = selection_by_enumeration(wanted, x)
            law = dict(zip(range(len(draft)), wanted.law, strict=True))
            accepted = [c * min(Fraction(1), target[y] / law[y]) if law[y] else Fraction(0)
                        for c, y in zip(chances, x, strict=True)]  # fmt: skip
            assert rule.joint_kernel(x)[:k].sum(axis=1).tolist() == accepted


@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_the_batch_function_accepts_what_the_rule_does(k):
    rng = np.random.default_rng(k)
    rows = rng.dirichlet(np.full(500, 0.2), size=(2, 5))
    found = batch.acceptance.pooled_selection(*rows, k)
    for draft, target, accepted in zip(*rows, found, strict=True):
        rule = PooledSelection(draft, target, k, Graded())
        coupled = rule.acceptance() - rule.residual_hits()
        # Sums of n terms, knots to the k-th power.
        assert abs(coupled - accepted) <= 4 * (k + 1) * 502 * EPS
        best = otspec.optimal_acceptance(rule.law, target).acceptance
        assert best - rule.loss_bound() - 1e-12 <= coupled <= best + 1e-12


def test_samples_are_those_of_the_kernel():
    draft, target = [0.4, 0.3, 0.2, 0.1], [0.1, 0.35, 0.15, 0.4]
    rule = PooledSelection(draft, target, 2, Graded(3))
    for seed, x in enumerate([(0, 3), (1, 2), (3, 3)]):
        certain = np.zeros((4, 4))
        certain[x] = 1.0
        found = otspec.audit_samples(
            rule.sample, otspec.Joint(certain), rule.kernel(x), enough(6_000), seed
        )
        assert found.consistent, x  # each fails with probability 1e-3 at other seeds


def test_floats_are_close_to_fractions():
    for draft, target, k, m in instances(703, 40):
        exact = PooledSelection(draft, target, k, Graded(m))
        found = PooledSelection(floats(draft), floats(target), k, Graded(m))
        limit = 8 * (k + 1) * (len(draft) + 2) * EPS
        assert np.abs(found.law_of_selection - exact.law_of_selection.astype(float)).max() <= limit
        assert abs(found.acceptance() - float(exact.acceptance())) <= limit


@pytest.mark.parametrize("count", [1, 257, 2.5, "six", None])
def test_grades_that_are_none_are_refused(count):
    with pytest.raises(ValueError, match="count must be"):
        Graded(count)
