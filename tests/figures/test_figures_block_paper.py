"""Block's figure 2 and tables 2 to 4 of the book."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from captions import GALLERY
from matplotlib.figure import Figure

from figures import block_fig2, block_tab2, long_trace, means
from figures.block_tab2 import PREPRINT, PUBLISHED, TOKEN, gain
from figures.contract import Settings
from otspec.blocks import BLOCK_RULES
from otspec.blocks.trees.token_tree import as_text
from otspec.logged import compare_on_blocks
from otspec.logged.comparison import mean_and_error
from otspec.traces import load_trace

QUICK = Settings(quick=True)
PAPER = {
    8: """
        LM1B 3.226 3.299 +2.253 0.462 0.453 -1.941
        WebQA 3.445 3.524 +2.284 0.434 0.425 -1.974
        PIQA 3.389 3.485 +2.826 0.441 0.430 -2.468
        ShareGPT 3.346 3.439 +2.786 0.446 0.435 -2.437
        XSum 3.510 3.590 +2.282 0.426 0.418 -1.964
        GSM8K 3.900 3.957 +1.479 0.386 0.381 -1.195
        WMT-DeEn 3.179 3.255 +2.412 0.469 0.459 -2.106
    """,
    4: """
        LM1B 2.781 2.788 +0.274 0.427 0.426 -0.119
        WebQA 2.902 2.915 +0.460 0.410 0.409 -0.304
        PIQA 2.887 2.893 +0.211 0.412 0.412 -0.054
        ShareGPT 2.845 2.862 +0.587 0.418 0.416 -0.419
        XSum 2.949 2.967 +0.615 0.404 0.402 -0.439
        GSM8K 3.145 3.169 +0.777 0.380 0.378 -0.587
        WMT-DeEn 2.748 2.753 +0.166 0.432 0.432 -0.024
    """,
    6: """
        LM1B 3.080 3.116 +1.152 0.434 0.430 -0.927
        WebQA 3.261 3.296 +1.065 0.411 0.407 -0.828
        PIQA 3.223 3.252 +0.894 0.415 0.412 -0.691
        ShareGPT 3.188 3.216 +0.902 0.420 0.417 -0.683
        XSum 3.326 3.363 +1.110 0.403 0.400 -0.860
        GSM8K 3.592 3.662 +1.926 0.375 0.369 -1.623
        WMT-DeEn 3.032 3.066 +1.125 0.440 0.436 -0.901
    """,
}
"""The rows of tables 2, 3 and 4, with the wall-clock times that the book leaves out."""


@pytest.fixture(scope="module")
def kept(computed):
    return computed(block_fig2.KeptTokens)


@pytest.fixture(scope="module")
def traced(computed):
    return computed(block_tab2.TokenAndBlock, quick=True)


def binomial(trials, chance):
    return [comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(trials + 1)]


def common(first, second):
    """Return 1 − d_TV of two laws."""
    return sum(map(min, first, second))


def published_sum(p, q, length):
    """Σ a(s) with a(sx) = min(a(s) q(x), p(s) p(x)), text by text."""
    total, level = Fraction(0), [(Fraction(1), Fraction(1))]
    for _ in range(length):
        level = [
            (min(a * large, drafted * small), drafted * small)
            for a, drafted in level
            for large, small in ((q, p), (1 - q, 1 - p))
        ]
        total += sum(a for a, _ in level)
    return total


def test_both_curves_of_the_paper_have_its_formulas_from_1(kept):
    """The paper's sums start at 0, with a first term of 1: that is the token after the block."""
    q = block_fig2.TARGET
    for p, curves in kept.curves.items():
        for i, length in enumerate(kept.xs):
            alike = common([p, 1 - p], [q, 1 - q])
            assert curves[TOKEN][i] == sum(alike**ell for ell in range(1, length + 1))
            terms = [common(binomial(ell, p), binomial(ell, q)) for ell in range(length + 1)]
            assert terms[0] == 1
            assert curves[PREPRINT][i] == sum(terms[1:])
            if length <= 6:
                assert curves[PUBLISHED][i] == published_sum(p, q, length)


def test_the_curves_are_ordered_and_their_distance_grows(kept):
    for curves in kept.curves.values():
        token, published, preprint = (np.array(curves[rule.title]) for rule in BLOCK_RULES.values())
        assert token[0] == published[0] == preprint[0]
        assert (token[1:] < published[1:]).all()
        assert (published[1:] < preprint[1:]).all()
        assert (np.diff(preprint - token) > 0).all()
        assert (np.diff(published - token) > 0).all()


def test_what_the_caption_says_of_figure_2(kept):
    for p, token, published, preprint in (
        (Fraction(1, 4), 1.00, 1.82, 2.52),
        (Fraction(1, 2), 2.83, 4.41, 5.49),
        (Fraction(9, 10), 4.55, 5.58, 6.43),
    ):
        found = [round(float(kept.curves[p][rule.title][-1]), 2) for rule in BLOCK_RULES.values()]
        assert found == [token, published, preprint]


def test_every_panel_carries_its_data(kept):
    panels = Figure().subplots(1, 3)
    kept.draw(list(panels))
    for panel, curves in zip(panels, kept.curves.values(), strict=True):
        drawn = {line.get_label(): list(line.get_ydata()) for line in panel.get_lines()}
        assert drawn == {rule: list(values) for rule, values in curves.items()}
        low, high = panel.get_ylim()
        assert all(low <= value <= high for values in curves.values() for value in values)
    table = kept.numbers()
    assert len(table.rows) == 3 * len(kept.xs)
    assert table.rows[1] == (0.25, 2, 0.75, 0.875, 1.0)


def test_the_paper_is_copied_as_printed():
    assert block_tab2.PRINTED.keys() == PAPER.keys() == block_tab2.TABLES.keys()
    for length, text in PAPER.items():
        rows = [line.split() for line in text.strip().splitlines()]
        assert block_tab2.PRINTED[length] == {name: tuple(cells[:3]) for name, *cells in rows}


@pytest.fixture(scope="module")
def bundled():
    return list(Settings().logged().blocks())


def test_the_record_has_the_bundled_blocks_among_those_of_96_texts(bundled):
    kept, _ = long_trace.kept_by_block(Settings())
    assert list(kept) == list(range(1, 9))
    found = long_trace.computed(bundled)
    for length, rules in kept.items():
        for title, values in rules.items():
            assert len(values) == 96
            close = pytest.approx(found[length][title], abs=1e-8)  # eight digits are recorded
            assert values[24:26] == close
    assert long_trace.record(kept) == long_trace.RECORD.read_text(encoding="utf-8")


def test_trees_of_the_bundled_blocks_are_as_recorded(bundled):
    kept = long_trace.kept_by_tree(Settings())
    assert list(kept) == [as_text(tree) for tree in long_trace.SEQUENCES]
    for tree, rules in kept.items():
        assert list(rules) == [rule.title for rule in long_trace.TREE_RULES]
        if tree in ("1x1x1x1", "4x1x1x1"):
            for rule in long_trace.TREE_RULES:
                found = [float(block.expected_of_tree(tree, rule)) for block in bundled]
                assert len(rules[rule.title]) == 96
                assert rules[rule.title][24:26] == pytest.approx(found, abs=1e-8)


def test_the_records_are_of_the_long_trace(long_trace_path):
    blocks = list(load_trace(long_trace_path).blocks())
    for path, found in (
        (long_trace.RECORD, long_trace.computed(blocks)),
        (long_trace.TREES, long_trace.computed_trees(blocks)),
    ):
        assert long_trace.record(found) == path.read_text(encoding="utf-8")


def test_the_means_are_those_of_the_blocks(traced, bundled):
    kept = long_trace.computed(bundled)
    for row in compare_on_blocks(bundled, [4, 6, 8]):
        assert long_trace.compared(kept, row.length)[row.rule] == row
    for found in traced.means.values():
        token, published, preprint = (found[rule.title].expected for rule in BLOCK_RULES.values())
        assert token <= published <= preprint


def test_improvements_and_their_errors(traced):
    for length, better in traced.improvements.items():
        means = traced.means[length]
        for rule, each in better.items():
            ratio = means[rule].efficiency / means[TOKEN].efficiency
            assert each.percent == pytest.approx(100 * (ratio - 1), abs=1e-10)
    # Two blocks of 1 and 3 tokens become 1 and 4: 25 %, residuals -1/4 and 1/4 over 2.
    found = block_tab2.improvement([1.0, 3.0], [1.0, 4.0])
    assert found.percent == pytest.approx(25)
    assert found.error == pytest.approx(100 * 0.25 / 2)
    assert np.isnan(block_tab2.improvement([1.0], [2.0]).error)
    assert block_tab2.improvement([1.0, 2.0], [2.0, 4.0]).error == pytest.approx(0)


def test_the_error_is_that_of_resampled_blocks():
    """Against the bootstrap, on many made-up blocks."""
    rng = np.random.default_rng(1)
    token = 1 + rng.random(400)
    other = token * 1.1 + 0.2 * rng.random(400)
    picks = rng.integers(400, size=(4_000, 400))
    ratios = 100 * other[picks].mean(axis=1) / token[picks].mean(axis=1)
    found = block_tab2.improvement(token.tolist(), other.tolist())
    assert found.error == pytest.approx(ratios.std(), rel=0.06)


def test_the_table_has_the_paper_s_rows_and_ours(traced):
    table = traced.numbers()
    ours = [row for row in table.rows if row[2] == "ours"]
    assert [row[1] for row in ours] == [8, 8, 4, 4, 6, 6]
    assert len(table.rows) == 3 * (7 + 2)
    for row in ours[::2]:
        bounds = traced.letters[row[1]]
        assert row[4] == 1 + bounds[TOKEN].low == 1 + bounds[TOKEN].high
        assert row[6] == 1 + bounds[PREPRINT].middle
        assert row[12] == gain(bounds, PUBLISHED).middle
    for row in ours[1::2]:
        assert row[4] == traced.means[row[1]][TOKEN].efficiency
        assert row[8] == traced.improvements[row[1]][PREPRINT].percent
        assert row[12] == traced.improvements[row[1]][PUBLISHED].percent
    said = " ".join(traced.notes())
    assert "Other models" in said
    assert "paper 0.17 to 0.78 %" in said
    assert said.count("Letters: yes") == 2


def test_shorter_blocks_have_the_lengths_that_fit(tmp_path):
    rng = np.random.default_rng(0)
    for length, fits in ((5, {4}), (3, set())):
        logits = rng.normal(size=(2, 3, length + 1, 6))
        tokens = rng.integers(6, size=(3, length))
        path = tmp_path / "short.npz"
        np.savez(path, draft_logits=logits[0], target_logits=logits[1], draft_tokens=tokens)
        given = Settings(quick=True, trace=str(path))
        if not fits:
            with pytest.raises(ValueError, match="blocks of 3 tokens"):
                block_tab2.TokenAndBlock.compute(given)
            continue
        data = block_tab2.TokenAndBlock.compute(given)
        assert data.means.keys() == fits
        assert len(data.numbers().rows) == 3 * 8 + 1
        assert data.notes()


def test_the_gains_are_as_the_caption_says(traced):
    assert f"*the long trace* has {traced.blocks} drafted blocks" in GALLERY.read_text("utf-8")
    for length, published, preprint in ((4, 6, 12), (6, 11, 20), (8, 14, 27)):
        bounds = traced.letters[length]
        assert 0 < traced.improvements[length][PUBLISHED].percent < published + 1
        assert traced.improvements[length][PREPRINT].percent < preprint
        assert round(gain(bounds, PUBLISHED).middle) == published
        assert round(gain(bounds, PREPRINT).middle) == preprint
        for rule in (PUBLISHED, PREPRINT):
            assert 0 < bounds[rule].high - bounds[rule].low < 0.01


def test_an_interval_is_that_of_the_t_distribution():
    """Of four values 12.706 is exchanged for 3.182 standard errors; one value has none."""
    values = [1.0, 2.0, 2.0, 3.0]
    mean, error = mean_and_error(values)
    low, high = map(float, means.mean_in_words(values)[1].split(" to "))
    assert (low + high) / 2 == pytest.approx(mean)
    assert (high - low) / 2 == pytest.approx(3.1824 * error, abs=1e-3)
    assert means.in_words(1.0, float("nan"), 1) == "unknown"
    assert means.radius(1.0, 2) == pytest.approx(12.7062, abs=1e-4)


def test_a_quick_table_is_written_with_the_means_of_the_paper(tmp_path, traced):
    (file,) = traced.write(tmp_path, [])
    assert "+2.253" in file.read_text(encoding="utf-8")
