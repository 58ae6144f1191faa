"""Recursive rejection of drafts of different models: its law, and the order of the models."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import oracles
import pytest
from instances import EPS, floats, fractions, pair
from searching import enough, of_all

import otspec
from otspec.rules import RecursiveRejection, RecursiveRejectionIndependent

KINDS = ("dense", "sparse", "tied", "proportional", "undrafted", "equal", "disjoint", "certain")


def instances(count, seed=881):
    """One to three drafts of their own and a target, over 1 to 4 tokens."""
    rng = np.random.default_rng(seed)
    for index in range(enough(count)):
        n, k, kind = 1 + index % 4, 1 + index % 3, KINDS[index % len(KINDS)]
        first, target = pair(rng, n, kind)
        yield [first, *(pair(rng, n, kind)[index % 2] for _ in range(k - 1))], target


def accepted(drafts, target):
    table = oracles.independent_table(drafts)
    return oracles.acceptance(table, oracles.model_by_model_kernel(drafts, target))


def test_it_is_the_algorithm_as_it_is_written():
    partly = 0
    for drafts, target in instances(160):
        table = oracles.independent_table(drafts)
        rule = RecursiveRejectionIndependent(otspec.Independent(drafts), target)
        kernel = oracles.model_by_model_kernel(drafts, target)
        rows = {x: rule.kernel(x).tolist() for x in table}
        assert rows == {x: kernel(x) for x in table}
        assert oracles.output(table, rows.__getitem__, len(target)) == list(target)
        assert rule.acceptance() == oracles.acceptance(table, kernel)
        assert rule.acceptance() <= oracles.optimum(table, target)
        assert (
            rule.acceptance() == rule.accepted().by_token.sum() == rule.accepted().by_position.sum()
        )
        joint = {x: rule.joint_kernel(x).tolist() for x in table}
        by_draft = oracles.accepted_by_draft(table, joint.__getitem__, len(drafts))
        assert rule.accepted().by_position.tolist() == by_draft
        assert by_draft == oracles.by_position(table, joint.__getitem__, len(drafts))
        partly += 0 < rule.acceptance() < 1
    assert partly > of_all(60)


def test_the_best_order_is_the_best_of_all():
    changed = 0
    for drafts, target in instances(90, seed=882):
        rule = RecursiveRejectionIndependent(otspec.Independent(drafts), target)
        found = {
            order: accepted([drafts[i] for i in order], target)
            for order in permutations(range(len(drafts)))
        }
        best = rule.best_order()
        assert found[best] == max(found.values())
        assert rule.in_order(best).acceptance() == found[best]
        assert best == next(order for order in found if found[order] == found[best])
        changed += best != tuple(range(len(drafts)))
    assert changed > of_all(10)


def test_equal_drafts_are_recursive_rejection():
    for drafts, target in instances(40, seed=883):
        one, k = drafts[0], len(drafts)
        for law in (otspec.IID(one, k), otspec.Independent([one] * k)):
            rule = RecursiveRejectionIndependent(law, target)
            plain = RecursiveRejection(one, target, k)
            assert rule.acceptance() == plain.acceptance()
            assert rule.accepted().by_token.tolist() == plain.accepted().by_token.tolist()
            assert rule.accepted().by_position.tolist() == plain.accepted().by_position.tolist()


def test_floats_are_near_the_fractions():
    for drafts, target in instances(40, seed=884):
        exact = RecursiveRejectionIndependent(otspec.Independent(drafts), target)
        rule = RecursiveRejectionIndependent(
            otspec.Independent([floats(draft) for draft in drafts]), floats(target)
        )
        # Each round subtracts, adds up and multiplies numbers up to 1, four of them at most.
        assert abs(rule.acceptance() - float(exact.acceptance())) <= 40 * EPS
        assert otspec.audit(rule).lossless


def test_full_vocabularies_have_a_formula():
    rows = np.random.default_rng(7).dirichlet(np.full(20_000, 0.1), size=4)
    law = otspec.Independent(rows[:3])
    rule = RecursiveRejectionIndependent(law, rows[3])
    estimate = rule.estimate(300, seed=1).probability
    assert estimate.low <= rule.acceptance() <= estimate.high  # fails with probability 1e-3
    assert rule.in_order(rule.best_order()).acceptance() >= rule.acceptance()


@pytest.mark.parametrize(
    ("law", "says"),
    [
        (
            otspec.WithoutReplacement([0.5, 0.5], 2),
            "draft_law is WithoutReplacement: recursive rejection goes from one independent draft",
        ),
        (otspec.IID([0.5, 0.5], 1_001), "k is 1001: RecursiveRejectionIndependent is computed"),
    ],
)
def test_unusable_laws_are_refused(law, says):
    with pytest.raises(ValueError, match=says):
        RecursiveRejectionIndependent(law, [0.25, 0.75])


def test_orders_are_those_of_the_drafts():
    law = otspec.Independent([fractions("1/2", "1/2"), fractions("1/8", "7/8")])
    rule = RecursiveRejectionIndependent(law, fractions("1/4", "3/4"))
    with pytest.raises(ValueError, match="it must hold each draft from 0 to 1 exactly once"):
        rule.in_order([0, 0])
    many = RecursiveRejectionIndependent(otspec.IID([0.5, 0.5], 8), [0.25, 0.75])
    with pytest.raises(ValueError, match="k is 8: all orders are tried, of at most 7 drafts"):
        many.best_order()
