"""Published lossy rules under the frontier: the picture and the table of the page."""

from pathlib import Path

import numpy as np
import pytest
from captions import caption
from matplotlib.figure import Figure

import otspec
from figures import lossy_frontier
from figures.contract import Settings
from otspec.rules.lossy import LOSSY_RULES

QUICK = Settings(quick=True)
TABLES = Path(__file__).parents[2] / "docs" / "tables"
# Sums over 49,152 tokens, each of which is off by a rounding or two.
CLOSE = 1e-12


@pytest.fixture(scope="module")
def quick(computed):
    return computed(lossy_frontier.LossyFrontier, quick=True)


def test_every_published_rule_is_in_the_table():
    sweeps = (*lossy_frontier.ON_FRONTIER, *lossy_frontier.BELOW, *lossy_frontier.TREES)
    assert {sweep.kind for sweep in sweeps} == set(LOSSY_RULES.values())
    _, _, *rows = (TABLES / "lossy_frontier_rules.md").read_text("utf-8").splitlines()
    assert [row.split(" | ")[0].strip("| ") for row in rows] == [sweep.title for sweep in sweeps]
    page = (TABLES.parent / "lossy.md").read_text("utf-8")
    for name, rule in LOSSY_RULES.items():
        assert f"| `{rule.__name__}` | `{name}` |" in page


def test_no_rule_is_above_the_frontier_and_those_of_the_line_are_on_it(quick):
    for sweep in (*lossy_frontier.ON_FRONTIER, *lossy_frontier.BELOW):
        for row in quick.rows[sweep.title]:
            most = np.minimum(1, np.array(quick.optima) + row.variation)
            assert np.abs(most - row.frontier).max() <= CLOSE
            assert (np.array(row.acceptance) <= most + CLOSE).all()
            if sweep in lossy_frontier.ON_FRONTIER:
                assert np.abs(most - row.acceptance).max() <= CLOSE
    for sweep in lossy_frontier.BELOW:
        assert quick.rows[sweep.title][0].means()[-1] > 0.05


def test_a_row_is_what_the_rule_declares(quick):
    position, pair = quick.position, list(QUICK.pairs())[quick.position]
    optimum = otspec.optimal_acceptance(otspec.IID(pair[0], 1), pair[1]).acceptance
    assert abs(quick.optima[position] - optimum) <= CLOSE
    row = quick.rows["rollback"][1]
    rule = LOSSY_RULES["rollback"](*pair, **row.setting)
    off = rule.declared_output - rule.target
    assert abs(row.variation[position] - np.abs(off).sum() / 2) <= CLOSE
    wanted = (rule.declared_output * np.log1p(off / rule.target)).sum()
    assert abs(row.divergence[position] - wanted) <= 1e-10
    assert abs(row.acceptance[position] - rule.acceptance()) <= CLOSE


def test_both_panels_have_every_rule(quick):
    figure = Figure(layout="constrained")
    axes = list(figure.subplots(1, 2))
    quick.draw(axes)
    drawn = (*lossy_frontier.ON_FRONTIER, *lossy_frontier.BELOW)
    for panel in axes:
        labels = [line.get_label() for line in panel.get_lines()]
        assert labels == ["frontier", *(sweep.title for sweep in drawn)]
    line = axes[1].get_lines()[-1]
    assert len(line.get_xdata()) == 3
    assert len(quick.numbers().rows) == 3 * len(drawn) + 1
    assert len(quick.table().rows) == len(drawn) + 1


def test_what_the_pages_say_is_in_the_table():
    _, _, *rows = (TABLES / "lossy_frontier_rules.md").read_text("utf-8").splitlines()
    wasted = {}
    for row in rows:
        title, *_, last = (cell.strip() for cell in row.strip("|").split("|"))
        wasted[title] = float(last)
    below = [wasted[sweep.title] for sweep in lossy_frontier.BELOW]
    assert (f"{min(below):.2f}", f"{max(below):.2f}") == ("0.11", "0.47")
    assert "The rules below the frontier leave 0.11 to 0.47" in caption("lossy_frontier")
    assert sum(value == 0 for value in wasted.values()) == len(wasted) - len(below)
