"""What the book computes on the letters: against the exact sums of the package."""

from dataclasses import replace

import numpy as np
import pytest

from figures.on_letters import letter_pair
from figures.ratio_bounds import CAPPED, kept_tokens
from otspec.blocks import BLOCK_RULES
from otspec.datasets import letters


def at(text):
    """Return the pair of the letters as it is after two letters, and the law that says so."""
    pair = letters(exact=False)
    context = pair.read(text)
    places = np.zeros(27**2)
    places[27 * context[0] + context[1]] = 1
    return pair, replace(letter_pair(), places=places), {context: 1.0}


@pytest.mark.parametrize("rule", BLOCK_RULES)
def test_bounds_hold_the_exact_sum_and_close_in_on_it(rule):
    pair, table, beginning = at("th")
    exact = rule(pair.draft, pair.target, 3).expected_up_to(beginning)
    wide = kept_tokens(table, rule, 3, step=0.2)
    close = kept_tokens(table, rule, 3, step=0.1)
    for value, first, second in zip(exact, wide, close, strict=True):
        slack = 1e-12
        assert first.low - slack <= second.low - slack <= value <= second.high + slack
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
