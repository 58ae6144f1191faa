"""SpecTr's figures 5 and 6 and tables 1 and 4 of the book."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from figures import spectr_fig5, spectr_fig6, spectr_tab1
from figures.contract import Settings
from figures.long_trace import kept_by_block
from figures.on_letters import LetterTrees, letter_pair
from otspec.blocks import TokenVerification
from otspec.closed_forms import bernoulli_acceptance, uniform_acceptance
from otspec.datasets import letters
from otspec.rules import KSequential, PooledSelection, RecursiveRejection

QUICK = Settings(quick=True)
TABLE = (Path(__file__).parents[2] / "docs" / "tables" / "spectr_tab1.md").read_text("utf-8")
K_SEQ, ROUNDS, POOLED = (
    rule.title for rule in (KSequential, RecursiveRejection, PooledSelection)
)  # fmt: skip


@pytest.fixture(scope="module")
def uniform(computed):
    return computed(spectr_fig5.UniformCurves)


@pytest.fixture(scope="module")
def rounds(computed):
    return computed(spectr_fig6.MultiRoundCurves)


@pytest.fixture(scope="module")
def table(computed):
    return computed(spectr_tab1.BlockEfficiencies, quick=True)


def multi_round(b, k):
    """Acceptance of multi-round rejection on Ber(1/4) and Ber(b), round by round."""
    p, q, left = Fraction(1, 4), Fraction(b), Fraction(1)
    for _ in range(k):
        rest = [max(q - p, 0), max((1 - q) - (1 - p), 0)]
        missed = sum(rest)
        if missed == 0:
            return Fraction(1)
        left *= missed
        q = rest[0] / missed
    return 1 - left


def binary_k_seq(b, k):
    """Acceptance of k-Seq on Ber(1/4) and Ber(b) by bisection of its equation, in floats."""
    p, q = np.array([0.75, 0.25]), np.array([1 - float(b), float(b)])
    low, high = 1.0, float(k)
    for _ in range(200):
        rho = (low + high) / 2
        beta = np.minimum(p, q / rho).sum()
        low, high = (low, rho) if 1 - (1 - beta) ** k <= rho * beta else (rho, high)
    beta = np.minimum(p, q / high).sum()
    return 1 - (1 - beta) ** k


def test_figure_5_has_the_closed_form_exactly(uniform):
    assert all(spectr_fig5.TOKENS % size == 0 for size in uniform.curves)
    for size, lines in uniform.curves.items():
        ratio = Fraction(spectr_fig5.TOKENS, size)
        for k, found, sequential in zip(
            uniform.xs, lines["optimum"], lines[K_SEQ], strict=True
        ):  # fmt: skip
            assert found == uniform_acceptance(ratio, k) == 1 - (1 - 1 / ratio) ** k
            assert sequential == found


def test_figure_5_rises_to_1(uniform):
    for size, lines in uniform.curves.items():
        best = lines["optimum"]
        assert (np.diff(best) > 0).all() if size < spectr_fig5.TOKENS else set(best) == {1}
    assert max(uniform.curves) == spectr_fig5.TOKENS


def test_figure_6_has_the_closed_forms(rounds):
    assert list(rounds.curves) == [Fraction(1, 10), Fraction(3, 4), Fraction(1)]
    for b, curves in rounds.curves.items():
        for i, k in enumerate(rounds.xs):
            assert curves["optimum"][i] == bernoulli_acceptance("1/4", b, k)
            assert curves[ROUNDS][i] == multi_round(b, k)
            assert curves[K_SEQ][i] == pytest.approx(binary_k_seq(b, k), abs=1e-12)


def test_figure_6_is_in_the_order_that_its_caption_claims(rounds):
    for b, curves in rounds.curves.items():
        for i, k in enumerate(rounds.xs):
            best, sequential, other = (curves[rule][i] for rule in ("optimum", K_SEQ, ROUNDS))
            if k == 1 or b == 1:
                assert best == other
                assert sequential == pytest.approx(best, abs=1e-12)
            else:
                assert best > sequential > other


def test_lines_carry_the_data(uniform, rounds):
    axes = Figure().add_subplot()
    uniform.draw([axes])
    drawn = [list(line.get_ydata()) for line in axes.get_lines()]
    for size in uniform.curves:
        assert drawn.count(list(uniform.curves[size]["optimum"])) == 2
    panels = Figure().subplots(1, 3)
    rounds.draw(list(panels))
    for panel, curves in zip(panels, rounds.curves.values(), strict=True):
        lines = {line.get_label(): list(line.get_ydata()) for line in panel.get_lines()}
        assert lines == {rule: list(values) for rule, values in curves.items()}


def test_numbers_of_the_figures(uniform, rounds):
    table = uniform.numbers()
    assert len(table.rows) == len(uniform.curves) * len(uniform.xs)
    assert table.rows[-1] == (8, 16, *(float(uniform.curves[8]["optimum"][15]),) * 2)
    table = rounds.numbers()
    assert table.columns[2:] == ("optimum", K_SEQ, ROUNDS)
    assert table.rows[11][:3] == (0.75, 2, 11 / 16)


def test_the_paper_is_copied_as_printed():
    """Against the rows of the paper's tables, in its order."""
    first = """Speculative 1 4 2.4 SpecTr 8 4 3.1 Speculative 1 8 2.9 SpecTr 8 8 4.0"""
    fourth = {
        "2M": "1 4 1.86±0.02 2 4 2.07±0.01 4 4 2.32±0.00 8 4 2.56±0.01 "
        "1 8 1.91±0.01 2 8 2.15±0.01 4 8 2.41±0.00 8 8 2.68±0.01",
        "6M": "1 4 2.21±0.01 2 4 2.43±0.01 4 4 2.74±0.01 8 4 2.99±0.02 "
        "1 8 2.33±0.01 2 8 2.61±0.02 4 8 2.96±0.03 8 8 3.27±0.02",
        "20M": "1 4 2.71±0.01 2 4 2.96±0.00 4 4 3.28±0.02 8 4 3.49±0.03 "
        "1 8 3.12±0.02 2 8 3.48±0.04 4 8 3.85±0.05 8 8 4.15±0.04",
    }
    printed = {"table 1, PaLM 2 Gecko": first}
    printed |= {f"table 4, {size}": rows for size, rows in fourth.items()}
    for models, text in printed.items():
        rows = re.findall(r"(\d) (\d) (\d\.\S+)", text)
        found = {(int(k), int(length)): value for k, length, value in rows}
        assert spectr_tab1.PRINTED[models] == found
    assert spectr_tab1.PRINTED.keys() == printed.keys()


def test_one_sequence_is_token_verification(table):
    pair = letters(exact=False)
    places = {text: float(chance) for text, chance in pair.target.contexts().items()}
    for (draft, _), found in table.letters.items():
        kept = TokenVerification(getattr(pair, draft), pair.target, 8).expected_up_to(places)
        for length in (4, 8):
            assert found[1, length] == pytest.approx(1 + kept[length - 1], abs=1e-12)
    kept, _ = kept_by_block(QUICK)
    for found in table.trace.values():
        alone = [1 + each for each in kept[4][TokenVerification.title]]
        assert found[1, 4] == pytest.approx(alone, abs=2e-8)  # eight digits are recorded


@pytest.fixture(scope="module")
def printed_table():
    """What the page has in the column of k-sequential on the letters: (K, L) → tokens per call."""
    rows = [line.split(" | ") for line in TABLE.splitlines() if line[:1] == "|"]
    column = rows[0].index(f"letters, bigram: {K_SEQ}")
    numbers = (row[0].strip("| ") for row in rows)
    return {
        (int(k), int(row[1])): float(row[column])
        for k, row in zip(numbers, rows, strict=True)
        if k.isdigit()
    }


def test_the_page_prints_what_is_computed_of_two_sequences(table, printed_table):
    found = table.letters["bigram", K_SEQ]
    assert found.keys() == {(k, length) for k, length in printed_table if k <= 2}
    for place, value in found.items():
        assert value == pytest.approx(printed_table[place], abs=5.1e-5)


@pytest.mark.nightly
def test_the_page_prints_what_is_computed_of_eight_sequences(printed_table):
    trees = LetterTrees(letter_pair(), KSequential, merge=True)
    for place, printed in printed_table.items():
        value = trees.tokens_per_call(spectr_tab1.sequences(*place))
        assert value == pytest.approx(printed, abs=5.1e-5)


def test_eight_sequences_gain_what_they_do_in_the_paper(printed_table):
    """As the caption says: k-sequential on the letters is within the range of table 4."""
    calls = {place: value for place, value in printed_table.items() if place[0] in (1, 8)}
    found = [spectr_tab1.gain(calls, length) for length in (4, 8)]
    assert [round(factor, 2) for factor in found] == [1.38, 1.41]
    for length, expected in ((4, [1.29, 1.38]), (8, [1.33, 1.40])):
        numbers = [
            {place: float(cell.split("±")[0]) for place, cell in printed.items()}
            for printed in spectr_tab1.PRINTED.values()
        ]
        factors = [spectr_tab1.gain(each, length) for each in numbers]
        assert [round(min(factors), 2), round(max(factors), 2)] == expected


def test_what_rises_and_what_is_best(table):
    for found in table.columns().values():
        assert spectr_tab1.rises(found, 0)
        assert spectr_tab1.rises(found, 1)
    assert not spectr_tab1.rises({(1, 4): 2.0, (2, 4): 2.0}, 0)
    sequential, pooled = (table.letters["bigram", title] for title in (K_SEQ, POOLED))
    for place in ((2, 4), (2, 8)):
        assert pooled[place] > sequential[place] > table.letters["unigram", K_SEQ][place]
    assert spectr_tab1.gain(sequential, 4) is None


def test_the_rows_are_those_of_the_paper(table):
    found = table.numbers()
    assert [row[:2] for row in found.rows] == [(1, 4), (2, 4), (1, 8), (2, 8)]
    assert found.rows[1][2:6] == ("", "2.07±0.01", "2.43±0.01", "2.96±0.00")
    assert found.rows[1][6] == table.letters["unigram", K_SEQ][2, 4]
    said = " ".join(table.notes())
    assert "Other models" in said
    assert said.count("Yes, for all of them") == 2
    assert "paper, table 4, 20M 1.29" in said
