"""Greedy multi-path block verification: its law, E[τ] and order, against enumerated paths."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from block_models import capped_mass, model_pairs, within
from instances import EPS
from programs import verified

from otspec.auditing import audit_blocks
from otspec.blocks import (
    TREE_VERIFIERS,
    BlockVerification,
    DraftSelection,
    FirstHighestPath,
    GreedyMultiPath,
    TokenTree,
    as_shape,
)
from otspec.blocks.base import enumerated_expected
from otspec.blocks.trees.verifiers import greedy_multi_path
from otspec.blocks.trees.verifiers.greedy_multi_path import GreatestPath
from otspec.models import EndingModel, TableModel, memoryless, random_pair
from otspec.rules import NotExactError, PooledSelection
from validation.models import LanguageModel

HALF = Fraction(1, 2)
COIN, BIASED = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
SIZES = {
    (2, 1, 1): 24, (2, 1, 2): 60, (2, 1, 3): 60, (2, 2, 1): 24, (2, 2, 2): 80, (2, 2, 3): 60,
    (2, 3, 1): 16, (2, 3, 2): 40, (2, 3, 3): 3, (3, 3, 1): 8,
    (3, 1, 1): 24, (3, 1, 2): 60, (3, 1, 3): 40, (3, 2, 1): 16, (3, 2, 2): 24,
}  # fmt: skip
"""(n, L, K) → how many pairs of models."""


def rank(target, draft, text, token):
    """What tokens are compared by after a text, written down without the package."""
    drafted, wanted = draft(text)[token], target(text)[token]
    return (wanted / drafted if drafted else -1), token


def chosen_by_enumeration(target, draft, length, paths):
    """The law of the greatest of K paths, from all K-tuples of paths."""
    law = {}
    for tuples in product(draft.blocks(length).items(), repeat=paths):
        mass = Fraction(1)
        for _, chance in tuples:
            mass *= chance
        ranks = {
            path: [rank(target, draft, path[:i], token) for i, token in enumerate(path)]
            for path, _ in tuples
        }
        best = max(ranks, key=ranks.get)
        law[best] = law.get(best, 0) + mass
    return law


def model_of(law, n):
    """The language model whose texts have this law; zeros after texts that have no mass."""

    def mass(text):
        return sum((m for path, m in law.items() if path[: len(text)] == text), Fraction(0))

    def rule(text):
        whole = mass(text)
        return tuple(mass((*text, x)) / whole if whole else Fraction(0) for x in range(n))

    return LanguageModel(rule, n)


@pytest.mark.parametrize(("n", "length", "paths"), SIZES)
def test_paths_are_chosen_by_the_closed_form_and_e_tau_is_enumerated(n, length, paths):
    for case in model_pairs(810, n, length, SIZES[n, length, paths]):
        rule = GreedyMultiPath(*case.exact, paths=paths, length=length)
        target, draft = case.literal
        law = chosen_by_enumeration(target, draft, length, paths)
        assert dict(rule.chosen.texts(length)) == law
        expected = rule.expected()
        assert type(expected) is Fraction
        assert expected == capped_mass(target, model_of(law, n), length)
        assert expected == enumerated_expected(rule)
        if paths == 1:
            single = BlockVerification(*case.exact, length)
            assert expected == single.expected()
            for block, _ in single.draft.texts(length):
                assert (rule.chosen.mass(block), rule._verified.kept(block).tolist()) == (
                    single.draft.mass(block),
                    single.kept(block).tolist(),
                )


@pytest.mark.parametrize(("n", "length", "paths"), SIZES)
def test_texts_are_the_target_s_exactly(n, length, paths):
    for case in model_pairs(811, n, length, SIZES[n, length, paths]):
        report = audit_blocks(
            GreedyMultiPath(*case.exact, paths=paths, length=length), optimum=False
        )
        assert report.lossless
        assert report.total_variation == 0


def test_there_are_at_least_five_hundred_models():
    assert sum(SIZES.values()) >= 500


@pytest.mark.parametrize(("n", "length", "paths"), [(2, 1, 2), (2, 1, 3), (3, 1, 2), (2, 2, 2)])
def test_no_more_is_kept_than_by_the_best_coupling(n, length, paths):
    gaps = [
        audit_blocks(GreedyMultiPath(*case.exact, paths=paths, length=length)).gap
        for case in model_pairs(812, n, length, 10)
    ]
    assert min(gaps) == 0
    assert max(gaps) > 0


def test_where_both_models_agree_more_paths_keep_less():
    kept = [GreedyMultiPath(COIN, COIN, paths=paths, length=1).expected() for paths in (1, 2, 3)]
    assert kept == [1, Fraction(3, 4), Fraction(5, 8)]
    report = audit_blocks(GreedyMultiPath(COIN, COIN, paths=2, length=1))
    assert (report.lossless, report.expected, report.optimum) == (True, Fraction(3, 4), 1)


def test_it_is_above_and_below_pooled_selection_depth_by_depth():
    def both(draft, target):
        tree = (2, 1, 1)
        pooled = DraftSelection(draft, target, tree, PooledSelection)
        return GreedyMultiPath(draft, target, paths=2, length=3).expected(), pooled.expected()

    greedy, pooled = both(COIN, BIASED)
    assert (greedy, pooled) == (Fraction(21, 8), Fraction(83, 32))
    assert greedy > pooled
    greedy, pooled = both(COIN, COIN)
    assert greedy < pooled == 3


@pytest.mark.parametrize(("n", "length", "paths"), [(2, 3, 3), (3, 2, 8), (4, 2, 100)])
def test_floats_agree_with_fractions_to_rounding(n, length, paths):
    rng = np.random.default_rng(813)
    for _ in range(12):
        exact = [
            TableModel({(): row, **{(x,): other for x in range(n)}}) for row, other in _rows(rng, n)
        ]
        floats = [TableModel(_in_floats(model, n)) for model in exact]
        expected = GreedyMultiPath(*exact, paths=paths, length=length).expected()
        found = GreedyMultiPath(*floats, paths=paths, length=length)
        # Each power is a product of K numbers off by 4 L roundings, and K of them add up.
        limit = 8 * (paths + 4) * length**2 * (4 + n**length) * EPS
        assert abs(found.expected() - expected) <= limit
        for depth in range(length):
            for text, _ in found.draft.texts(depth):
                assert abs(found.chosen(text).sum() - 1) <= 8 * (paths + 4) * length * EPS


def _rows(rng, n):
    """Weights of a draft and a target whose quotients are all different, also in floats."""
    while True:
        rows = rng.integers(1, 1_000, (2, 2, n))
        if all(len(set(ratio)) == n for ratio in (rows[1] / rows[0]).tolist()):
            laws = [[[Fraction(int(w), int(r.sum())) for w in r] for r in side] for side in rows]
            return laws[0], laws[1]


def _in_floats(model, n):
    return {text: [float(p) for p in model(text)] for text in [(), *((x,) for x in range(n))]}


def test_nothing_cancels_where_a_token_is_next_to_impossible():
    draft, target = [1 - 2.0**-60, 2.0**-60], [0.25, 0.75]
    greatest = GreatestPath(memoryless(draft), memoryless(target), 3)
    assert greatest(())[1] == 3 * 2.0**-60  # 1 − (1 − 2⁻⁶⁰)³ would be 0
    exact = GreatestPath(
        memoryless([1 - Fraction(1, 2**60), Fraction(1, 2**60)]), memoryless(["1/4", "3/4"]), 3
    )
    assert exact(())[1] == 1 - (1 - Fraction(1, 2**60)) ** 3
    assert abs(greatest((1,))[1] / float(exact((1,))[1]) - 1) <= 16 * EPS


def test_ties_go_to_the_larger_token():
    greatest = GreatestPath(COIN, COIN, 2)
    assert greatest(()).tolist() == [Fraction(1, 4), Fraction(3, 4)]
    assert greatest.order(()).tolist() == [0, 1]


def test_samples_have_the_frequencies_of_the_outcomes():
    size, rng = 2_000, np.random.default_rng(814)
    draft, target = random_pair(3, 0.4, np.random.default_rng(0))
    rule = GreedyMultiPath(draft, target, paths=3, length=2)
    law = {outcome.accepted: outcome.mass for outcome in rule.outcomes()}
    counts: dict = {}
    for _ in range(size):
        kept = rule.sample(rng).accepted
        counts[kept] = counts.get(kept, 0) + 1
    assert within(counts, law, size)


def test_a_drafted_tree_is_verified_by_its_greatest_path():
    rule, rng = GreedyMultiPath(COIN, BIASED, paths=2, length=2), np.random.default_rng(0)
    drafted = TokenTree.of_branching("2x1"), (0, 1, 1, 0)
    kept = {verified(rule, drafted, rng).accepted for _ in range(50)}
    assert kept == {(1, 0), (1,)}


def test_after_beginnings_the_mean_is_of_the_rule_after_each():
    draft, target = random_pair(2, "1/3", np.random.default_rng(2), order=1)
    rule = GreedyMultiPath(draft, target, paths=2, length=2)
    law = {(0,): Fraction(1, 3), (1,): Fraction(2, 3)}
    each = [
        GreedyMultiPath(draft.after(x), target.after(x), paths=2, length=2).expected() for x in law
    ]
    assert rule.expected_after(law) == each[0] / 3 + 2 * each[1] / 3
    assert rule.expected_after({(): 1}) == rule.expected()


@pytest.mark.parametrize("name", ["paths", "length"])
def test_numbers_that_are_none_are_refused(name):
    for wrong in (0, -1, 1.5, True, "2", 10**6):
        with pytest.raises(ValueError, match=name):
            GreedyMultiPath(COIN, BIASED, **{"paths": 2, "length": 2, name: wrong})


@pytest.mark.parametrize("draft_ends", [True, False])
def test_paths_end_with_the_targets_text(draft_ends):
    draft, target = memoryless(["1/2", "1/3", "1/6"]), memoryless(["1/4", "1/4", "1/2"])
    ending = EndingModel(target, [0])
    rule = GreedyMultiPath(EndingModel(draft, [0]) if draft_ends else draft, ending, "2x1")
    report = audit_blocks(rule, optimum=False)
    assert report.lossless
    assert report.expected == rule.expected() == Fraction(1591, 1296)
    assert rule.expected() < GreedyMultiPath(draft, target, "2x1").expected()
    rng = np.random.default_rng(815)
    kept = {rule.sample(rng).accepted for _ in range(200)}
    assert (0,) in kept
    assert not any(text[0] == 0 for text in kept if len(text) == 2)


def test_the_public_code_is_lossy_where_ratios_tie():
    report = audit_blocks(FirstHighestPath(COIN, COIN, "2"), 1)
    assert (report.lossless, report.witness, report.error) == (False, (0,), Fraction(1, 6))
    assert report.texts == {(0,): Fraction(2, 3), (1,): Fraction(1, 3)}
    assert audit_blocks(FirstHighestPath(COIN, COIN, "1x1")).lossless
    assert audit_blocks(FirstHighestPath(COIN, BIASED, "2x1")).lossless  # no ties
    assert FirstHighestPath not in TREE_VERIFIERS.values()


def test_a_tree_stands_for_its_paths():
    rule = GreedyMultiPath(COIN, BIASED, "3x1")
    assert (rule.paths, rule.length) == (3, 2)
    assert rule.tree == GreedyMultiPath(COIN, BIASED, paths=3, length=2).tree
    assert rule.with_tree("2x1").expected() == Fraction(15, 8)
    for tree in ("2x2", "1x2", "[[]][]"):
        assert not GreedyMultiPath.serves(as_shape(tree))
        with pytest.raises(ValueError, match="such as 4x1x1"):
            GreedyMultiPath(COIN, BIASED, tree)
    with pytest.raises(ValueError, match="leave out paths and length"):
        GreedyMultiPath(COIN, BIASED, "2x1", paths=2, length=2)
    with pytest.raises(ValueError, match="tree is None"):
        GreedyMultiPath(COIN, BIASED)
    with pytest.raises(ValueError, match="length must be an integer, got None"):
        GreedyMultiPath(COIN, BIASED, paths=2)


def test_too_many_texts_are_refused_by_number(monkeypatch):
    monkeypatch.setattr(greedy_multi_path, "TEXT_LIMIT", 7)
    with pytest.raises(NotExactError, match=r"8 texts of 3 tokens over 2 are too many"):
        GreedyMultiPath(COIN, BIASED, "2x1x1x1").expected()


def test_the_public_code_keeps_what_its_choice_and_its_law_make():
    """Two fair coins: 0 is first with 1/2 and kept for sure, 1 with (1/2)/(3/4)."""
    assert FirstHighestPath(COIN, COIN, "2").expected() == Fraction(1, 2) * (1 + Fraction(2, 3))
    assert FirstHighestPath(COIN, COIN, "1").expected() == 1
    assert FirstHighestPath(COIN, BIASED, "1").expected() == sum(map(min, COIN(()), BIASED(())))
    # Ratios 1/2, 1 and 1: 1/4, 5/16, 7/16 are said, 1/4, 3/8, 3/8 chosen; of token 1 4/5 is kept.
    three = memoryless(["1/2", "1/4", "1/4"]), memoryless(["1/4", "1/4", "1/2"])
    report = audit_blocks(FirstHighestPath(*three, "2"), 1)
    assert report.expected == Fraction(5, 8) + Fraction(3, 8) * Fraction(4, 5)
    assert [report.texts[token,] for token in range(3)] == [
        Fraction(1, 4), Fraction(3, 10), Fraction(9, 20)
    ]  # fmt: skip
