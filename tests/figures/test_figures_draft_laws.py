"""Which draft law is best: the optima that are compared, and the numbers that the page prints."""

import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

import otspec
from figures import draft_laws
from figures.contract import Settings
from otspec.drafts import LAWS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "draft_laws.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([\d.]+) \| ([\d.]+) \| `([a-z-]+)` \|(.*)\|$", re.MULTILINE)


@pytest.fixture(scope="module")
def quick():
    return draft_laws.DraftLaws.compute(Settings(quick=True))


def printed():
    """(temperature of the draft, of the target, law) → what the page prints for each k."""
    return {
        (float(draft), float(target), law): [cell.strip() for cell in cells.split("|")]
        for draft, target, law, cells in ROW.findall(PAGE)
    }


def test_the_page_has_a_row_for_every_law_and_temperature():
    places = [(p, q) for p in draft_laws.TEMPERATURES for q in draft_laws.TEMPERATURES]
    assert list(printed()) == [(*place, law) for place in places for law in draft_laws.COLOURS]
    assert set(draft_laws.COLOURS) == set(LAWS)


def test_the_page_prints_the_means_that_are_computed():
    of_draft, of_target = place = 1.0, 0.6
    pairs = list(Settings().pairs(of_target, of_draft))
    assert f"{len(pairs)} positions" in PAGE
    found = draft_laws.optima_of(pairs, draft_laws.KS)
    rows = printed()
    for law in draft_laws.COLOURS:
        means = [found.get((law, k)) for k in draft_laws.KS]
        shown = ["" if values is None else f"{np.mean(values):.4f}" for values in means]
        assert rows[(*place, law)] == shown


def test_temperatures_of_draft_and_target_are_apart():
    trace = otspec.datasets.load_smollm2()
    for name, value in (("draft", 0.5), ("target", 2.0)):
        (_, *pair) = next(iter(trace.pairs(temperature=2.0, draft_temperature=0.5)))
        scaled = getattr(trace, f"{name}_logits")[0, 0].astype(float) / value
        wanted = np.exp(scaled - scaled.max())
        assert np.abs(pair[name == "target"] - wanted / wanted.sum()).max() < 1e-15
    with pytest.raises(ValueError, match="draft_temperature is 0"):
        trace.pairs(draft_temperature=0)


def test_top_drafts_do_not_depend_on_the_temperature_of_the_draft(quick):
    for (_, of_target, law, k), values in quick.optima.items():
        if law == "top":
            assert quick.optima[0.3, of_target, law, k] == values


def test_intervals_are_those_of_the_t_distribution():
    values = [0.1, 0.4, 0.3, 0.2]
    wanted = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert draft_laws.interval(values, 0.0) == pytest.approx((0.25, *wanted), abs=1e-12)
    assert draft_laws.interval([0.0, 1.0], 0.0) == (0.5, 0.0, 1.0)


def test_every_law_is_drawn_and_has_its_numbers(quick):
    figure = Figure()
    axes = list(figure.subplots(3, 3).flat)
    quick.draw(axes)
    for panel, place in zip(axes, sorted({key[:2] for key in quick.optima}), strict=True):
        lines = {line.get_label(): line for line in panel.get_lines()}
        assert list(lines) == list(draft_laws.COLOURS)
        for law, line in lines.items():
            means = [
                np.mean(values) for key, values in quick.optima.items() if key[:3] == (*place, law)
            ]
            assert np.abs(np.array(line.get_ydata()) - means).max() < 1e-15
    rows = quick.numbers().rows
    assert len(rows) == len(quick.optima) == 9 * (2 * 4 + 1)
    for *_, law, _, mean, low, high, above, _, _ in rows:
        assert 0 <= low <= mean <= high <= 1
        assert above == 0 or law != "top"
