"""SpecHub's figures 1, 7 and 8 of the book, and the records of trees on the long trace."""

import numpy as np
import pytest
from captions import caption
from matplotlib.figure import Figure

from figures import long_trees
from figures.contract import Settings
from figures.long_trace import record, recorded
from figures.spechub_fig7 import BEST, HUB, LEVELS, POOLED, PRINTED, RRS, RRSW, BinaryTrees
from otspec.traces import load_trace

RECORDS = (long_trees.BINARY, long_trees.BEST, long_trees.TWO_LEVELS)


@pytest.fixture(scope="module")
def trees(computed):
    return computed(BinaryTrees, quick=True)


@pytest.mark.parametrize("which", RECORDS)
def test_a_record_has_its_trees_and_rules(which):
    kept = recorded(which.path)
    assert tuple(kept) == which.trees
    for rules in kept.values():
        assert list(rules) == [rule.title for rule in which.rules]
        assert {len(values) for values in rules.values()} == {96}
    assert record(kept) == which.path.read_text(encoding="utf-8")


@pytest.mark.parametrize("which", RECORDS)
def test_the_records_are_of_the_long_trace(which, long_trace_path):
    blocks = list(load_trace(long_trace_path).blocks())
    kept = recorded(which.path)
    for tree, rules in long_trees.computed(blocks[:2], which).items():
        for title, values in rules.items():
            assert values == pytest.approx(kept[tree][title][:2], abs=1e-7)


def test_a_trace_of_ones_own_is_computed():
    block = next(Settings().logged().blocks())
    small = long_trees.BINARY._replace(trees=("2", "2x2"))
    kept = long_trees.computed([block], small)
    assert list(kept) == ["2", "2x2"]
    for rule in small.rules:
        expected = float(block.expected_of_tree("2x2", rule))
        assert kept["2x2"][rule.title] == pytest.approx((expected,), abs=1e-12)


def test_the_order_is_the_paper_s_on_both(trees):
    for levels in LEVELS:
        printed = [PRINTED[levels, rule] for rule in (RRS, RRSW, HUB)]
        assert printed == sorted(printed)
    for i in range(len(LEVELS)):
        letters = [trees.letters[rule][i] for rule in (RRS, RRSW, HUB, POOLED, BEST)]
        assert letters == sorted(letters)
        trace = [trees.trace[rule][i][0] for rule in (RRS, RRSW, HUB, POOLED, BEST)]
        assert i == 0 or trace == sorted(trace)


def test_the_paper_s_smallest_tree_is_one_level():
    """Its batch efficiency is one and the acceptances of both drafts, as in tables 1 and 3."""
    for rule, first, second in ((RRSW, 0.4418, 0.1140), (HUB, 0.4248, 0.1660)):
        assert PRINTED[1, rule] == pytest.approx(1 + first + second, abs=0.01)


def test_what_the_caption_says(trees):
    said = caption("spechub_fig7")
    assert f"{trees.letters[BEST][-1]:.2f} and {trees.trace[BEST][-1][0]:.2f}" in said
    assert f"({trees.letters[HUB][-1] - trees.letters[RRSW][-1]:.2f} against 0.17)" in said


def test_the_picture_shows_every_rule(trees):
    panels = list(Figure().subplots(1, 3))
    trees.draw(panels)
    for panel in panels:
        assert len(panel.lines) == 5
    assert np.allclose(panels[1].lines[0].get_ydata(), [mean for mean, _ in trees.trace[RRS]])
    rows = trees.numbers().rows
    assert len(rows) == len(PRINTED) + 5 * (4 + 1 + 4)
