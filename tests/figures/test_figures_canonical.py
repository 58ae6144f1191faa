"""Canonical's figure 2 and table 3 of the book."""

from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import otspec
from figures import canonical_fig2, canonical_tab3
from figures.canonical_tab3 import OPTIMUM, SAMPLING, SPECINFER, SPECTR, Acceptances
from figures.contract import Settings
from otspec.estimate import Estimate
from otspec.rules import ImportanceSampling, KSequential, RecursiveRejection

TABLES = Path(__file__).parents[2] / "docs" / "tables"
TABLE = (TABLES / "canonical_tab3.md").read_text("utf-8")
QUICK = Settings(quick=True)
THIRD, SIXTH = Fraction(1, 3), Fraction(1, 6)
PAPER = """
Optimal   0.5009 0.5226 0.5419 0.6384 0.6731 0.6962
IS        0.4933 0.5145 0.5333 0.6348 0.6691 0.6919
SpecTr    0.4889 0.5083 0.5263 0.6246 0.6560 0.6800
SpecInfer 0.4875 0.5058 0.5227 0.6202 0.6489 0.6722
"""
"""Table 3: XSum for K = 2, 3, 4, then Dolly."""


@pytest.fixture(scope="module")
def triangle(computed):
    return computed(canonical_fig2.TriangleCurves)


@pytest.fixture(scope="module")
def quick(computed):
    return computed(canonical_tab3.Acceptances, quick=True)


def theorem_3(target):
    """The optimum for two even drafts: the least of Σ_S q + (p(Sᶜ))² + 2 p(S) p(Sᶜ)."""
    sets = chain.from_iterable(combinations(range(3), size) for size in range(4))
    return min(
        sum((target[y] for y in inside), Fraction(0)) + 1 - (Fraction(len(inside)) / 3) ** 2
        for inside in sets
    )


def recursive(target):
    """Two rounds of rejection, round by round."""
    left = [max(q - THIRD, 0) for q in target]
    if not sum(left):
        return Fraction(1)
    again = [max(x / sum(left) - THIRD, 0) for x in left]
    return 1 - sum(left) * sum(again)


def k_sequential(target):
    """By bisection of 1 − (1 − β)² = ρβ, in floats."""
    q = np.array([float(x) for x in target])
    low, high = 1.0, 2.0
    for _ in range(100):
        rho = (low + high) / 2
        beta = np.minimum(1 / 3, q / rho).sum()
        low, high = (low, rho) if 1 - (1 - beta) ** 2 <= rho * beta else (rho, high)
    return 1 - (1 - np.minimum(1 / 3, q / high).sum()) ** 2


def points(data):
    for first, curves in data.curves.items():
        for q2, *found in zip(data.xs, *curves.values(), strict=False):
            yield (first, q2, 1 - first - q2), dict(zip(curves, found, strict=True))


def test_both_panels_have_the_formulas(triangle):
    assert list(triangle.curves) == [THIRD, SIXTH]
    for target, found in points(triangle):
        assert found["optimum"] == theorem_3(target)
        assert found[SPECINFER] == recursive(target)
        assert found[SPECTR] == pytest.approx(k_sequential(target), abs=1e-12)


def test_the_optimum_is_above_the_baselines(triangle):
    for target, found in points(triangle):
        assert found["optimum"] >= found[SPECTR] >= found[SPECINFER]
        even = target == (THIRD,) * 3
        assert (found["optimum"] > found[SPECTR] > found[SPECINFER]) == (not even)


def test_where_all_is_accepted_is_as_the_caption_says(triangle):
    for first, low, high in ((THIRD, "1/9", "5/9"), (SIXTH, "5/18", "5/9")):
        inside = triangle.certain(first, "optimum")
        assert (min(inside), max(inside)) == (Fraction(low), Fraction(high))
        for rule in (SPECTR, SPECINFER):
            assert triangle.certain(first, rule) == ((THIRD,) if first == THIRD else ())


def test_both_panels_carry_the_data(triangle):
    panels = Figure().subplots(1, 2)
    triangle.draw(list(panels))
    for panel, (first, curves) in zip(panels, triangle.curves.items(), strict=True):
        drawn = {line.get_label(): line for line in panel.get_lines()}
        for rule, label in canonical_fig2.NAMES.items():
            assert list(drawn[label].get_ydata()) == list(curves[rule])
            assert drawn[label].get_xdata()[-1] == 1 - first
    table = triangle.numbers()
    assert len(table.rows) == len(list(points(triangle)))
    assert table.rows[4] == (float(THIRD), 4 / 36, 1.0, *(float(x) for x in (
        triangle.curves[THIRD][SPECTR][4], triangle.curves[THIRD][SPECINFER][4],
    )))  # fmt: skip


def test_the_paper_is_copied_as_printed():
    rows = [line.split() for line in PAPER.strip().splitlines()]
    assert [name for name, *_ in rows] == list(canonical_tab3.SCHEMES.values())
    for scheme, (_, *cells) in zip(canonical_tab3.SCHEMES, rows, strict=True):
        found = [
            canonical_tab3.printed(scheme, task, k)
            for task in canonical_tab3.TASKS
            for k in canonical_tab3.KS
        ]
        assert found == cells
        assert canonical_tab3.printed_loss(scheme, "XSum", 2) == pytest.approx(
            0.5009 - float(cells[0])
        )


def test_the_letters_are_those_of_the_smallest_tree(quick):
    """A tree of two drafts keeps one of them, which is exact in the tables of trees."""
    lines = (TABLES / "spechub_tab5.md").read_text("utf-8").splitlines()
    (row,) = (line.split(" | ") for line in lines if line.startswith("| bigram | trigram | 1 | 1"))
    for scheme, column in ((SPECINFER, 4), (OPTIMUM, 8), (SAMPLING, 8)):
        assert 1 + quick.letters[scheme][0] == pytest.approx(float(row[column]), abs=5.1e-5)
    assert list(quick.letters) == list(canonical_tab3.ROWS)
    few, some, more = canonical_tab3.CUT
    for i in range(len(quick.ks)):
        for ordered in ((OPTIMUM, SPECTR, SPECINFER), (OPTIMUM, SAMPLING, more, some, few)):
            values = [quick.letters[scheme][i] for scheme in ordered]
            assert values[1:] == sorted(values[1:], reverse=True)
            assert values[0] >= values[1] - 1e-12
    assert quick.letters[SAMPLING][1] < quick.letters[OPTIMUM][1] - 0.001


def test_the_means_are_those_of_the_trace(quick):
    """With Theorem 3's extension as a minimum over all prefixes by ratio."""
    assert quick.ks == (2, 3)
    pairs = list(QUICK.pairs())
    assert quick.positions == len(pairs) == 4
    means = quick.mean["full vocabulary"]
    for i, k in enumerate(quick.ks):
        best = []
        for draft, target in pairs:
            order = np.argsort(target / draft, kind="stable")
            q, p = (np.concatenate([[0], np.cumsum(law[order])]) for law in (target, draft))
            best.append((q + 1 - p**k).min())
        assert means["optimum"][i] == pytest.approx(np.mean(best), abs=1e-12)
        for rule in (KSequential, RecursiveRejection):
            found = np.mean([rule(*pair, k).acceptance() for pair in pairs])
            assert means[rule.title][i] == pytest.approx(found, abs=1e-12)
    free = canonical_tab3.FREE["full vocabulary"]
    found = np.mean([ImportanceSampling(*pair, 2, free=free).acceptance() for pair in pairs])
    assert means[SAMPLING][0] == pytest.approx(found, abs=1e-9)


def test_tokens_without_mass_do_not_matter():
    """The warped pairs leave them out, for speed."""
    top_p = f"top-p {canonical_tab3.TOP_P}"
    pairs = list(canonical_tab3.warped(QUICK, top_p))
    whole = [pair for _, *pair in QUICK.logged().pairs(top_p=canonical_tab3.TOP_P)][: len(pairs)]
    for (draft, target), (all_draft, all_target) in zip(pairs, whole, strict=True):
        assert len(draft) < len(all_draft)
        assert draft.sum() == pytest.approx(1, abs=1e-12)
        found = otspec.optimal_acceptances(draft, target, [2])[0]
        known = otspec.optimal_acceptances(all_draft, all_target, [2])[0]
        assert found == pytest.approx(known, abs=1e-12)


def test_no_scheme_is_above_the_optimum_and_intervals_are_stated(quick):
    for warping, means in quick.mean.items():
        for scheme, values in means.items():
            assert values[0] < values[1]
            for i, value in enumerate(values):
                sampled = scheme == SAMPLING or scheme in canonical_tab3.CUT
                assert isinstance(value, Estimate) == (sampled and i == 1)
                assert value.low <= means["optimum"][i] + 1e-12
                assert quick.loss(warping, scheme, i) == pytest.approx(
                    float(means["optimum"][i]) - float(value), abs=1e-15
                )
        assert means["optimum"][0] > means[SPECTR][0] > means[SPECINFER][0]
    interval = quick.mean["full vocabulary"][SAMPLING][1]
    assert interval.confidence == 0.999  # that of each position
    assert interval.low < interval < interval.high < interval.low + 0.002


def test_the_notes_compare_orders():
    """On made-up means: the paper's own XSum, and an order in which IS falls behind."""
    paper = {
        scheme: tuple(float(canonical_tab3.printed(scheme, "XSum", k)) for k in (2, 3, 4))
        for scheme in canonical_tab3.SCHEMES
    }
    other = paper | {SAMPLING: (0.1, 0.2, 0.3)}
    first, second = canonical_tab3.FREE
    cut = dict.fromkeys(canonical_tab3.CUT, (0.1, 0.2, 0.1))
    means = {first: paper | cut, second: other | cut}
    said = Acceptances((2, 3, 4), 9, means, paper | cut).notes()
    assert [("as in the paper" in line) for line in said[-6:]] == [True] * 3 + [False] * 3
    assert "IS loses 0.63 of what SpecTr loses (paper: 0.63 and 0.26)" in said[-6]
    assert f"Ours, {second}, K = 2: Optimal > SpecTr > SpecInfer > IS" in said[-3]
    assert "9 positions" in said[0]


def test_the_whole_table_has_the_paper_s_order_with_enough_free_tokens():
    """What the caption says of top-p, for two drafts at all positions."""
    warping = f"top-p {canonical_tab3.TOP_P}"
    free = canonical_tab3.FREE[warping]
    rows = [
        canonical_tab3.acceptances(*pair, (2,), free)
        for pair in canonical_tab3.warped(Settings(), warping)
    ]
    means = [np.mean([row[scheme][0] for row in rows]) for scheme in canonical_tab3.ROWS]
    header, _, *printed = (line.split(" | ") for line in TABLE.splitlines() if line[:1] == "|")
    column = header.index(f"ours: {warping}")
    assert [f"{mean:.4f}" for mean in means] == [cells[column] for cells in printed[: len(means)]]


def test_a_quick_table_is_written_with_its_notes(tmp_path, quick):
    (file,) = quick.write(tmp_path, [])
    text = file.read_text(encoding="utf-8")
    assert "0.4933" in text
    assert "Other models" in text
