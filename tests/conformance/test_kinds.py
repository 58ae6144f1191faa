"""What a verifier says is read as it is meant, and what no right one says is told."""

import numpy as np
import pytest

from otspec.batch import Verified, VerifiedBlock, VerifiedTree
from otspec.conformance.cases.cases import ImpossibleError, embedded, memoryless, remembering
from otspec.conformance.cases.drafting import Sample, completed
from otspec.conformance.cases.kinds import Block, Tokens, Tree

CASE = embedded(memoryless("a", (1, 1, 2), (1, 2, 1)), 10, [9, 0, 4])
"""Symbols 0, 1 and 2 are the tokens 9, 0 and 4."""


def sample(*drafts, there=None):
    """A row for each list of symbols."""
    symbols = np.array(drafts)
    there = np.ones_like(symbols, dtype=bool) if there is None else np.array(there, dtype=bool)
    return Sample(np.zeros(len(symbols), dtype=int), symbols, CASE.places[symbols], there)


def rows(*values):
    return np.array(values)


def test_tokens_alone_or_with_the_accepted_draft():
    drafts = sample([0, 1], [2, 2], [1, 0])
    alone = Tokens(2).read(rows(9, 4, 7), CASE, drafts)
    assert alone.texts.tolist() == [[0], [2], [3]]  # 7 is no symbol
    assert alone.marks is None
    token, index = rows(0, 4, 4), rows(1, 1, -1)
    for answer in (
        (token, index),
        Verified(token, index >= 0, index),
        {"token": token, "index": index},
    ):
        read = Tokens(2).read(answer, CASE, drafts)
        assert read.texts.tolist() == [[1], [2], [2]]
        # The second row accepts the second of two equal drafts, which counts as the first.
        assert read.marks.tolist() == [2, 1, 0]


@pytest.mark.parametrize("answer", [(rows(2), rows(0)), VerifiedBlock(rows(2), rows(0))])
def test_a_kept_length_and_the_token_after_it(answer):
    read = Block.of_length(3).read(answer, CASE, sample([0, 2, 1]))
    assert read.texts.tolist() == [[0, 2, 1, -1]]
    assert read.marks.tolist() == [2]


def test_one_more_axis_of_length_1_is_no_other_shape():
    read = Tokens(2).read((rows([9], [4]), rows([-1], [0])), CASE, sample([0, 1], [2, 2]))
    assert (read.texts.tolist(), read.marks.tolist()) == ([[0], [2]], [0, 1])
    with pytest.raises(ValueError, match=r"shape \(2, 2\): it must be integers of shape \(2,\)"):
        Tokens(2).read(rows([9, 4], [4, 9]), CASE, sample([0, 1], [2, 2]))


def test_emitted_tokens():
    drafts = sample([0, 2], [1, 1], [2, 0])
    emitted = rows([9, 4, 0], [4, -1, -1], [4, 0, -1])
    read = Block.of_length(2).read(emitted, CASE, drafts)
    assert read.texts.tolist() == [[0, 2, 1], [2, -1, -1], [2, 1, -1]]
    assert read.marks.tolist() == [2, 0, 1]


def test_a_kept_node_and_the_token_after_it():
    tree = Tree((-1, -1, 0, 1))
    drafts = sample([0, 1, 2, 0], [0, 1, 2, 0], [0, 1, 2, 0])
    answer = VerifiedTree(rows(3, -1, 0), rows(2, 0, 1), rows(4, 9, 0))
    read = tree.read(answer, CASE, drafts)
    assert read.texts.tolist() == [[1, 0, 2], [0, -1, -1], [0, 1, -1]]
    assert read.marks.tolist() == [4, 0, 1]
    assert tree.kept == (0, 1, 1, 2, 2)
    assert (tree.length, tree.marks) == (3, 5)


BLOCK, FEWER = Block.of_length(2), [[1, 0], [1, 1]]


@pytest.mark.parametrize(
    ("kind", "answer", "why"),
    [
        (Tokens(2), rows(-1, 0), "token -1, of a vocabulary of 10, in 1 of 2 rows"),
        (Tokens(2), rows(10, 10), "token 10, of a vocabulary of 10, in 2 of 2 rows"),
        (Tokens(2), rows(np.nan, 0.0), "NaN as token in 1 of 2 rows"),
        (Tokens(2), (rows(9, 9), rows(0, 2)), "accepts draft 2, of 2"),
        (Tokens(2), (rows(9, 9), rows(1, 0)), "accepts draft 1, of 1"),
        (Tokens(2), (rows(9, 9), rows(-2, 0)), "accepts draft -2"),
        (Tokens(2), (rows(4, 9), rows(0, 0)), "not the draft that it accepts"),
        (BLOCK, (rows(2, 0), rows(0, 0)), "keeps 2 of 1 drafts"),
        (BLOCK, (rows(0, -1), rows(0, 0)), "keeps -1 of 2 drafts"),
        (BLOCK, (rows(0, np.nan), rows(0, 0)), "NaN as length"),
        (BLOCK, rows([-1, -1, -1], [0, -1, -1]), "no token in some row"),
        (BLOCK, rows([9, -1, 0], [0, -1, -1]), "a gap"),
        (BLOCK, rows([9, -1, -1], [9, 4, 0]), r"emits \[9, 4, 0\] for drafts \[9, 0\]"),
        (BLOCK, rows([0, 4, -1], [0, -1, -1]), r"emits \[0, 4, -1\] for drafts \[9, 0\]"),
        (Tree((-1, 0)), (rows(2, 0), rows(0, 0)), "keeps node 2, of 2"),
        (Tree((-1, 0)), (rows(1, 0), rows(0, 0)), "not drafted"),
    ],
)
def test_what_no_right_verifier_says_is_told(kind, answer, why):
    with pytest.raises(ImpossibleError, match=why):
        kind.read(answer, CASE, sample([0, 1], [0, 1], there=FEWER))


@pytest.mark.parametrize(
    ("kind", "answer", "why"),
    [
        (Tokens(2), rows(1.0, 2.0), "token of type float64"),
        (Tokens(2), rows([1, 2], [2, 1]), r"shape \(2, 2\)"),
        (Tokens(2), (rows(1, 2), rows(True, False)), "flags"),
        (Tokens(2), (rows(1, 2), rows(0, 0), rows(0, 0)), "3 values"),
        (Tokens(2), (), "0 values"),
        (Tokens(2), {"index": rows(0, 0)}, "token of type object"),
        (BLOCK, rows(1, 2), "1 values"),
        (BLOCK, rows([1, 2], [1, 2]), r"shape \(2, 3\)"),
        (Tree((-1, 0)), (rows(0, 0), None), "token of type object"),
    ],
)
def test_answers_of_another_form_are_refused(kind, answer, why):
    with pytest.raises(ValueError, match=why):
        kind.read(answer, CASE, sample([0, 1], [0, 1]))


def test_texts_are_completed_by_the_target():
    table = ((1, 1), (1, 3), (1, 0))
    case = remembering("a table", table, table)
    size = 20_000
    texts = np.full((size, 3), -1)
    texts[:, 0] = 0
    complete = completed(texts, case, np.zeros(size, dtype=int), np.random.default_rng(0))
    assert (complete[:, 0] == 0).all()
    # After 0 comes 1 with probability 3/4, and after 1 always 0.
    second = complete[:, 1]
    assert abs(second.mean() - 0.75) < 6 * np.sqrt(0.75 * 0.25 / size)
    assert (complete[second == 1, 2] == 0).all()
    assert (texts[:, 1:] == -1).all()  # what was read stays


def test_arrays_are_the_rows_along_the_drafts():
    table = ((1, 1), (1, 3), (3, 1))
    other = ((3, 1), (1, 1), (1, 3))
    case = remembering("a table", table, other)
    drafts = sample([0, 1], [1, 1])
    arrays = Block.of_length(2).arrays(case, drafts)
    assert arrays["draft"].tolist() == [[[0.5, 0.5], [0.25, 0.75]], [[0.5, 0.5], [0.75, 0.25]]]
    assert arrays["target"].tolist() == [
        [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]],
        [[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]],
    ]
    tree = Tree((-1, -1)).arrays(case, drafts)
    assert tree["draft"].tolist() == [
        [[0.5, 0.5], [0.25, 0.75], [0.75, 0.25]],
        [[0.5, 0.5], [0.75, 0.25], [0.75, 0.25]],
    ]
    assert Tokens(2).arrays(case, drafts)["target"].tolist() == [[0.75, 0.25]] * 2


def test_kinds_by_default():
    assert Block() == Block.of_length(2)
    assert Block().parents == (-1, 0)
    assert Tokens() == Tokens(3, "iid")
    assert Tree() == Tree((-1, -1, 0, 0, 1), "iid")
    assert (Tokens(2).length, Tokens(2).marks, Block().length, Block().marks) == (1, 3, 3, 3)
