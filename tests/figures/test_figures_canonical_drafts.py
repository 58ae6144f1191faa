"""Canonical's figures 3 and 4 of the book."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from figures import canonical_fig3
from figures.canonical_fig3 import (
    DIFFERENT,
    EQUAL,
    LETTERS,
    SAMPLING,
    SINGLE,
    SPECINFER,
    SPECTR,
    TRACE,
    DraftTemperatures,
)
from figures.contract import Settings
from figures.on_letters import Warping, letter_pair
from otspec.rules import PooledSelection
from otspec.traces.comparison import OPTIMUM

QUICK = Settings(quick=True)


@pytest.fixture(scope="module")
def quick(computed):
    return computed(DraftTemperatures, quick=True)


def at(quick, models, drafts, rule):
    return quick.means[models, drafts][rule][0]


def test_the_order_of_the_rules(quick):
    for models in (LETTERS, TRACE):
        values = [
            at(quick, models, EQUAL, rule).value for rule in (OPTIMUM, SPECTR, SPECINFER, SINGLE)
        ]
        assert values == sorted(values, reverse=True)
    assert at(quick, TRACE, EQUAL, SAMPLING).value > at(quick, TRACE, EQUAL, SINGLE).value
    best = at(quick, LETTERS, DIFFERENT, OPTIMUM).value
    assert best > at(quick, LETTERS, DIFFERENT, SPECINFER).value


def test_equal_drafts_are_selected_by_pools(quick):
    """The optimum, from the law of the selected draft of the best rule."""
    pair = letter_pair(Warping(draft_temperature=1.4))
    which = np.flatnonzero(pair.places)[::20]
    rows = [(*row, canonical_fig3.of_equal((row[0], *row), exact=True)) for row in
            zip(pair.draft[which], pair.target[which], strict=True)]  # fmt: skip
    for draft, target, accepted in rows:
        best = float(PooledSelection(draft, target, 2).acceptance())
        assert accepted[OPTIMUM] == pytest.approx(best, abs=1e-12)
        assert accepted[OPTIMUM] >= accepted[SPECTR] - 1e-12
        assert accepted[SPECTR] >= accepted[SPECINFER] - 0.05


def test_different_drafts_of_one_temperature_are_equal_ones():
    pair = letter_pair()
    for row in np.flatnonzero(pair.places)[:5]:
        place = pair.draft[row], pair.draft[row], pair.target[row]
        equal = canonical_fig3.of_equal(place, exact=True)
        different = canonical_fig3.of_different(place, exact=True)
        for rule in (OPTIMUM, SPECINFER, SINGLE):
            assert different[rule] == pytest.approx(equal[rule], abs=1e-12)


def test_what_the_caption_says_of_the_second_draft(quick):
    assert round(at(quick, LETTERS, DIFFERENT, OPTIMUM).value, 3) == 0.784
    optimum, rejection = (at(quick, LETTERS, EQUAL, rule).value for rule in (OPTIMUM, SPECINFER))
    assert round(optimum - rejection, 3) == 0.066
    single = at(quick, LETTERS, EQUAL, SINGLE).value
    assert round(rejection - single, 2) == 0.12


def test_the_picture_and_the_numbers_are_complete(quick):
    panels = list(Figure().subplots(2, 2).flat)
    quick.draw(panels)
    for panel, lines in zip(panels, quick.means.values(), strict=True):
        drawn = {line.get_label(): float(line.get_ydata()[0]) for line in panel.lines}
        assert drawn == {rule: means[0].value for rule, means in lines.items()}
    rows = quick.numbers().rows
    assert len(rows) == sum(map(len, quick.means.values()))
    assert {row[5] for row in rows if row[0] == LETTERS} == {"exact"}
