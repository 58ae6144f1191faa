"""The numbers that an advice keeps of logged texts, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from instances import fractions

from otspec.advice.evaluation.choices import CHAIN_RULES, NO_DRAFT, Candidate
from otspec.advice.evaluation.numbers import DraftedTexts
from otspec.advice.on_texts import TextEvidence
from otspec.blocks import as_shape
from otspec.blocks.trees.shapes import LEAF
from otspec.logged.chances import Asked
from otspec.rules import PooledSelection, RecursiveRejection


def test_a_rule_is_asked_once_for_all_its_numbers_of_drafts():
    """Of the first draft min(1/2, q) is accepted; where 0 was rejected, the second may be 1."""
    draft, target = (np.array(row) for row in (fractions("1/2", "1/2"), fractions("1/4", "3/4")))
    nested = Asked(RecursiveRejection, (1, 2))
    assert (nested.counts, nested.nested) == ([2], True)
    assert nested.at(1, draft, target, 0.5).tolist() == [[0.75, 0.125], [1, 0.25]]
    assert nested.at(0, draft, target, 0.5).tolist() == [[0.75, 0.125], [0.5, 0]]
    each = Asked(PooledSelection, (1, 2, 3))
    assert (each.counts, each.nested) == ([1, 2, 3], False)
    assert each.at(0, draft, target, 1.0).shape == (2, 6)


def test_numbers_are_split_by_the_number_of_drafts():
    rows = np.arange(18).reshape(9, 2)
    found = Asked(PooledSelection, (2, 3, 4)).split(rows)
    assert {k: each[:, 0].tolist() for k, each in found.items()} == {
        2: [0, 2], 3: [4, 6, 8], 4: [10, 12, 14, 16]
    }  # fmt: skip


TEXTS = DraftedTexts(
    clusters=np.array([7, 3, 7]),
    lengths=np.array([1, 3, 2]),
    asked=(Asked(RecursiveRejection, (1, 2)),),
    # How likely the first and the second draft are kept, and are the logged token, at six positions
    answers=(np.array([[[0.5] * 6, [0.25] * 6], [[0.4] * 6, [0.1, 0.1, 0.2, 0.3, 0.1, 0.1]]]),),
    beside=np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.2, 0.4, 0.6, 0.8, 1.0, 1.2]]),
)


def test_texts_lie_one_after_the_other_and_may_depend_on_each_other():
    assert TEXTS.starts.tolist() == [0, 1, 4]
    token, block = (rule.name for rule in CHAIN_RULES)
    chains = [Candidate(NO_DRAFT, "", "", LEAF)] + [
        Candidate(rule, "", "iid", as_shape((1,) * length))
        for rule, length in [(token, 1), (token, 2), (block, 2), (block, 3)]
    ]
    tokens, calls = TEXTS.outcomes(chains)
    assert tokens == pytest.approx(
        np.array([[1, 1.1, 1.1, 1.2, 1.2], [1, 1.2, 1.5, 2, 2.8], [1, 1.5, 2.1, 3.2, 3.2]])
    )
    assert calls.tolist() == [[1] * 5] * 3
    clusters, tokens, calls = TEXTS.by_cluster(chains)
    assert clusters.tolist() == [3, 7]
    assert tokens == pytest.approx(np.array([[1, 1.2, 1.5, 2, 2.8], [2, 2.6, 3.2, 4.4, 4.4]]))
    assert calls.tolist() == [[1] * 5, [2] * 5]


def test_trees_are_followed_along_their_text():
    """Of 2 drafts .75; then of one more .5 below each that was kept, or nothing at the end."""
    shapes = [as_shape("2"), as_shape("2x1"), as_shape("1x2")]
    trees = [Candidate(RecursiveRejection.name, "", "iid", shape) for shape in shapes]
    tokens, _ = TEXTS.outcomes(trees)
    first, second, third = tokens
    assert first == pytest.approx([1.75, 1.75, 1.5])  # there is no second level
    assert second == pytest.approx([1.75, 1.75 + 0.5 * 0.5, 1.5 + 0.4 * 0.75])
    assert third == pytest.approx([1.75, 1.75 + 0.5 * 0.5, 1.5 + 0.4 * 0.75])


def test_the_mean_chances_of_all_texts_are_by_position_and_never_below_0():
    """The weight of an end token may be more than what is kept there: nothing goes on then."""
    asked = Asked(PooledSelection, (1, 2))
    first = {1: np.array([[0.5, 0.75]]), 2: np.array([[0.5, 0.5], [0.25, 0]])}
    second = {1: np.array([[0.75]]), 2: np.array([[1.0], [0]])}
    ended = {1: np.array([[0.5, -2.25]]), 2: np.array([[0.5, -2.5], [0.25, 0]])}
    parts = [
        SimpleNamespace(lengths=np.array([1, 1]), kept=lambda: [(asked, first, ended)]),
        SimpleNamespace(lengths=np.array([1]), kept=lambda: [(asked, second, second)]),
    ]
    chances = TextEvidence(lambda: parts)._means[PooledSelection.name]
    assert {k: each.tolist() for k, each in chances.kept.items()} == {
        1: [[2 / 3]], 2: [[2 / 3], [0.25 / 3]]
    }  # fmt: skip
    assert {k: each.tolist() for k, each in chances.led.items()} == {
        1: [[[0]]], 2: [[[0]], [[0.25 / 3]]]
    }  # fmt: skip
    assert (chances.start.tolist(), chances.following.tolist()) == ([1], [[0]])
    assert (chances.widths, chances.nested) == ((1, 2), False)
