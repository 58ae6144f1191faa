"""What the book computes on the letters: against the exact sums of the package."""

from dataclasses import replace

import numpy as np
import pytest

from figures.on_letters import LetterTrees, letter_pair
from figures.ratio_bounds import CAPPED, kept_tokens
from otspec import optimal_acceptances
from otspec.blocks import BLOCK_RULES, DraftSelection
from otspec.datasets import letters
from otspec.rules import RecursiveRejection, RecursiveRejectionWithoutReplacement, SpecHub


def at(text):
    """Return the pair of the letters as it is after two letters, and the law that says so."""
    pair = letters(exact=False)
    context = pair.read(text)
    places = np.zeros(27**2)
    places[27 * context[0] + context[1]] = 1
    return pair, replace(letter_pair(), places=places), {context: 1.0}


@pytest.mark.parametrize("rule", BLOCK_RULES.values())
def test_bounds_hold_the_exact_sum_and_close_in_on_it(rule):
    pair, table, beginning = at("th")
    exact = rule(pair.draft, pair.target, 3).expected_up_to(beginning)
    wide = kept_tokens(table, rule, 3, step=0.2)
    close = kept_tokens(table, rule, 3, step=0.1)
    for value, first, second in zip(exact, wide, close, strict=True):
        slack = 1e-12
        assert first.low - slack <= second.low
        assert second.low - slack <= value <= second.high + slack
        assert second.high <= first.high + slack
        assert second.high - second.low < 0.004
        if CAPPED[rule] is None:
            assert second.low == pytest.approx(value, abs=slack)


def test_the_letters_are_a_table_of_their_models():
    table, pair = letter_pair(), letters()
    for text in ("th", "e ", "zz"):
        first, second = pair.read(text)
        row = 27 * first + second
        assert table.draft[row] == pytest.approx(pair.draft((first, second)).astype(float))
        assert table.target[row] == pytest.approx(pair.target((first, second)).astype(float))
        assert table.places[row] == pytest.approx(
            float(pair.target.contexts().get((first, second), 0))
        )
        assert table.following[row].tolist() == [27 * second + token for token in range(27)]
    masses = np.arange(27.0**3).reshape(-1, 27)
    stepped = np.zeros(27**2)
    np.add.at(stepped, table.following.ravel(), masses.ravel())
    assert table.step(masses) == pytest.approx(stepped)


@pytest.mark.parametrize(
    ("rule", "tree", "merge"),
    [
        (RecursiveRejection, "2x1x1", True),
        (RecursiveRejection, "2x2", True),
        (RecursiveRejection, "2x2x1", False),
        (RecursiveRejectionWithoutReplacement, "3x2", True),
        (SpecHub, "2x2x2", True),
    ],
)
def test_trees_keep_what_the_package_says(rule, tree, merge):
    pair, table, beginning = at("th")
    selection = DraftSelection(pair.draft, pair.target, tree, rule, merge)
    calls = LetterTrees(table, rule, merge).tokens_per_call(selection.branching)
    assert calls == pytest.approx(1 + selection.expected_after(beginning), abs=1e-12)


def test_many_distinct_drafts_are_simulated():
    """They accept more than fewer, and at most what the best rule does."""
    table = letter_pair()
    few = replace(table, draft=table.draft[:4], target=table.target[:4], places=table.places[:4])
    trees = LetterTrees(few, RecursiveRejectionWithoutReplacement)
    found = {k: trees.accepted(k).sum(axis=(1, 2)) for k in (3, 8, 16)}
    assert trees.accepted(8).shape == (4, 1, 27)
    assert (found[3] < found[8]).all()
    assert (found[8] < found[16]).all()
    for k, values in found.items():
        rows = zip(few.draft, few.target, strict=True)
        best = [optimal_acceptances(*row, [k], law="without-replacement")[0] for row in rows]
        assert (values <= np.array(best) + 0.01).all()
