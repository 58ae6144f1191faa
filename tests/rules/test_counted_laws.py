"""How many drafts are the accepted token (Theory, 15): formulas against enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
import pytest
from each_case import each
from instances import floats, pairs

from otspec.blocks import DraftSelection
from otspec.blocks.trees.verifiers import nodes
from otspec.models import memoryless, random_pair
from otspec.rules import (
    Bins,
    Fewest,
    KSequential,
    MaximalCoupling,
    NaiveSampling,
    NotExactError,
    PooledSelection,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
)
from otspec.rules.pooled import draft_counts


def inflated(draft, target, k):
    """K-Seq with a ρ above ρ*, whose residual may hit a draft."""
    return KSequential(draft, target, k, rho=Fraction(k) if type(draft) is tuple else float(k))


def fewest(draft, target, k):
    return PooledSelection(draft, target, k, Fewest())


RULES = {
    "recursive": RecursiveRejection,
    "k-sequential": KSequential,
    "inflated": inflated,
    "naive": NaiveSampling,
    "pooled": PooledSelection,
    "fewest": fewest,
}


def enumerated(rule, draft, k):
    """The law of the output and of how many of the drafts equal it, tuple by tuple."""
    law: dict[tuple[int, int], Fraction] = {}
    for x in product(range(len(draft)), repeat=k):
        mass = prod((draft[token] for token in x), start=Fraction(1))
        if mass:
            for y, chance in enumerate(rule.kernel(x)):
                law[y, x.count(y)] = law.get((y, x.count(y)), 0) + mass * chance
    return law


@each("name", RULES)
@each(("n", "k", "count"), [(1, 3, 2), (2, 2, 24), (3, 1, 24), (3, 2, 24),
                                               (2, 4, 16), (3, 3, 16), (4, 2, 16)])  # fmt: skip
def test_formulas_are_every_tuple_and_kernel(name, n, k, count):
    for draft, target in pairs(1_900 + 10 * n + k, count, n, fewest=n):
        rule = RULES[name](draft, target, k)
        found = rule.accepted().counted
        wanted = enumerated(rule, draft, k)
        assert found.accepted.shape == (k, n)
        for y in range(n):
            assert found.rejected[y] == wanted.get((y, 0), 0)
            assert [found.accepted[c - 1, y] for c in range(1, k + 1)] == [
                wanted.get((y, c), 0) for c in range(1, k + 1)
            ]
        assert (found.accepted.sum(axis=0) + found.rejected).tolist() == list(target)
        assert found.accepted.sum(axis=0).tolist() == rule.accepted().by_token.tolist()
        rounded = RULES[name](floats(draft), floats(target), k).accepted().counted
        assert rounded.accepted.dtype == rounded.rejected.dtype == np.float64
        assert rounded.accepted == pytest.approx(found.accepted.astype(float), abs=1e-13)
        assert rounded.rejected == pytest.approx(found.rejected.astype(float), abs=1e-13)


def test_one_draft_is_counted_once():
    for draft, target in pairs(1_950, 24, 3):
        rule = MaximalCoupling(draft, target)
        found = rule.accepted().counted
        assert found.accepted.tolist() == [[min(a, b) for a, b in zip(draft, target, strict=True)]]
        assert (found.accepted[0] + found.rejected).tolist() == list(target)


@pytest.mark.parametrize("name", RULES)
def test_many_drafts_at_full_vocabulary_add_up(name):
    rng = np.random.default_rng(1_951)
    draft, target = rng.dirichlet(np.ones(300), 2)
    found = RULES[name](draft, target, 20).accepted().counted
    assert (found.accepted >= 0).all()
    assert found.accepted.sum(axis=0) + found.rejected == pytest.approx(target, abs=1e-12)


def test_rules_without_a_formula_say_so():
    pair = ["1/2", "1/2"], ["1/4", "3/4"]
    for rule in (
        RecursiveRejectionWithoutReplacement(*pair, 2),
        PooledSelection(*pair, 2, Bins(1)),
    ):
        with pytest.raises(NotExactError, match="no formula for how often it is drafted"):
            _ = rule.accepted().counted
    with pytest.raises(NotExactError, match="takes long"):
        _ = RecursiveRejection(*pair, 5_000).accepted().counted
    with pytest.raises(NotExactError, match="takes long"):
        _ = PooledSelection([0.5, 0.5], [0.25, 0.75], 50_000).accepted().counted


@pytest.mark.parametrize("rule", [RecursiveRejection, KSequential, PooledSelection, NaiveSampling])
def test_eight_sequences_of_eight_letters_are_exact(rule):
    """Of 27^8 tuples at a node, and of 27^64 texts, none is looked at."""
    weights = np.random.default_rng(1_952).integers(0, 40, (2, 27))
    rows = [[Fraction(int(w), int(row.sum())) for w in row] for row in weights]
    tree = "8" + "x1" * 7
    exact = DraftSelection(*map(memoryless, rows), tree, rule).expected()
    assert type(exact) is Fraction
    close = DraftSelection(*(memoryless(floats(tuple(row))) for row in rows), tree, rule)
    assert close.expected() == pytest.approx(float(exact), abs=1e-12)


def test_a_formula_needs_no_tuples(monkeypatch):
    draft, target = random_pair(3, "1/3", np.random.default_rng(1_953), order=0)
    for rule in (RecursiveRejection, KSequential, PooledSelection, NaiveSampling):
        tree = DraftSelection(draft, target, "2x2", rule)
        wanted = sum(outcome.mass * len(outcome.accepted) for outcome in tree.outcomes())
        with monkeypatch.context() as limited:
            limited.setattr(nodes, "TUPLE_LIMIT", 0)
            again = DraftSelection(draft, target, "2x2", rule)
            assert again.expected() == wanted
            with pytest.raises(ValueError, match="too many for an exact sum"):
                list(again.outcomes())


def test_groups_are_counted_together_or_one_by_one(monkeypatch):
    for draft, target in pairs(1_960, 6, 5):
        together = PooledSelection(draft, target, 3).accepted().counted.accepted
        with monkeypatch.context() as limited:
            limited.setattr(draft_counts, "MOST_AT_ONCE", 1)
            alone = PooledSelection(draft, target, 3).accepted().counted.accepted
        assert alone.tolist() == together.tolist()


def test_of_a_thousand_drafts_floats_are_in_range():
    # Some draft is b but for 2⁻ᵏ. Half of the time one of the b's is selected, else any draft, so
    # that a is selected with probability 1/4.
    k = 1_100
    accepted = PooledSelection([0.5, 0.5], [0.25, 0.75], k).accepted()
    any_of_all = np.array([float(Fraction(comb(k - 1, c - 1), 2**k)) for c in range(1, k + 1)])
    of_its_own = np.array([float(Fraction(comb(k, c), 2**k)) for c in range(1, k + 1)])
    wanted = np.stack([any_of_all, any_of_all + of_its_own], axis=1) / 2
    near = {"rtol": 8 * k * np.finfo(float).eps, "atol": 1e-290}
    np.testing.assert_allclose(accepted.counted.accepted.astype(float), wanted, **near)
    # Draft i is the first a: then each later one is a or b. Likewise for b.
    first = 0.5 ** np.arange(1, k + 1)
    later = np.arange(k)[::-1] / 2
    positions = first * ((1 + later) / k + 1 / 2)
    found = accepted.by_position.astype(float)
    np.testing.assert_allclose(found, positions, **near)


@pytest.mark.parametrize("rule", [RecursiveRejection, KSequential, PooledSelection, NaiveSampling])
@pytest.mark.parametrize("branching", ["2x1x1", "1x2x1", "2x2"])
def test_models_that_remember_are_summed_from_the_last_depth(rule, branching):
    rng = np.random.default_rng(1_961)
    for order in (1, 2):
        tree = DraftSelection(*random_pair(2, "1/3", rng, order=order), branching, rule)
        wanted = sum(outcome.mass * len(outcome.accepted) for outcome in tree.outcomes())
        assert tree.expected() == wanted
