"""SpecTr's figures 5 and 6 and tables 1 and 4 of the book."""

import re
from fractions import Fraction

import numpy as np
import pytest
from matplotlib.figure import Figure

from figures import spectr_fig5, spectr_fig6, spectr_tab1
from figures.contract import Settings
from figures.writing import write
from otspec.blocks import DraftSelection, TokenVerify, random_pair
from otspec.closed_forms import bernoulli_acceptance, uniform_acceptance
from otspec.estimate import Estimate
from otspec.rules import KSequential, PooledSelection, RecursiveRejection

QUICK = Settings(quick=True)
K_SEQ, ROUNDS, POOLED = (
    rule.title for rule in (KSequential, RecursiveRejection, PooledSelection)
)  # fmt: skip


@pytest.fixture(scope="module")
def uniform():
    return spectr_fig5.UniformCurves.compute(Settings())


@pytest.fixture(scope="module")
def rounds():
    return spectr_fig6.MultiRoundCurves.compute(Settings())


@pytest.fixture(scope="module")
def toy():
    """Both tables without the simulated row's full number of blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spectr_tab1, "BLOCKS", 50)
        return spectr_tab1.BlockEfficiencies.compute(Settings())


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


def test_one_sequence_has_the_closed_form(toy):
    """Token verification keeps the i-th token with probability (1 − d)^i."""
    for (models, count, length), row in toy.exact().items():
        if count == 1:
            d = spectr_tab1.DIVERGENCES[models]
            for value in row.efficiency.values():
                expected = sum((1 - d) ** i for i in range(length + 1))
                assert value == pytest.approx(expected, abs=1e-12)
    pair = random_pair(3, "43/100", np.random.default_rng(0))
    exact = TokenVerify(*pair, 4).efficiency()
    assert exact == sum(Fraction(57, 100) ** i for i in range(5))
    found = toy.exact()["table 4, 6M", 1, 4].efficiency[K_SEQ]
    assert found == pytest.approx(float(exact), abs=1e-12)


@pytest.mark.parametrize(("rule", "title"), [(KSequential, K_SEQ), (PooledSelection, POOLED)])
def test_two_sequences_are_those_of_the_definition(toy, rule, title):
    """Two drafts that agree go on together, one alone is verified as a single draft."""
    draft, target = random_pair(3, 0.43, np.random.default_rng(spectr_tab1.SEED))

    def kept(text, count, left):
        if left == 0:
            return 0.0
        made = rule(draft(text), target(text), count)
        total, p = 0.0, draft(text)
        for x in np.ndindex(*(3,) * count):
            for y in set(x):
                chance = np.prod(p[list(x)]) * made.kernel(x)[y]
                total += chance * (1 + kept((y,), x.count(y), left - 1))
        return total

    value = toy.exact()["table 4, 6M", 2, 4].efficiency[title]
    assert value == pytest.approx(1 + kept((), 2, 4), abs=1e-12)


def test_efficiency_rises_and_selecting_optimally_pays(toy):
    rows = toy.exact()
    assert len(rows) == 28
    for title in (None, K_SEQ, POOLED):
        assert spectr_tab1.rises(toy, title, "K")
        assert spectr_tab1.rises(toy, title, "L")
    for (models, count, length), row in rows.items():
        slack = 1e-12
        assert row.efficiency[POOLED] >= row.efficiency[K_SEQ] - slack
        assert (row.efficiency[POOLED] > row.efficiency[K_SEQ] + slack) == (count > 1)
        assert row.efficiency[POOLED] <= length + 1
        single = rows[models, 1, length].efficiency[K_SEQ]
        assert (row.efficiency[K_SEQ] > single + slack) == (count > 1)


def test_the_simulated_row_has_its_interval(toy):
    row = toy.rows[-1]
    assert not row.exact
    assert all(isinstance(value, Estimate) for value in row.efficiency.values())
    cells = toy.numbers().rows[-1]
    assert cells[5] == spectr_tab1.MANY_TOKENS
    assert "99.9%" in cells[7]
    pair = random_pair(3, 0.43, np.random.default_rng(0))
    known = DraftSelection(*pair, "8x1x1x1", KSequential)
    assert toy.exact()["table 4, 6M", 8, 4].efficiency[K_SEQ] == known.efficiency()


def test_the_notes_answer_the_question(toy):
    said = " ".join(toy.notes())
    assert "Other models" in said
    assert "paper 1.29 to 1.38 times" in said
    assert "paper 1.33 to 1.40 times" in said
    assert said.count("in K: yes, in L: yes") == 3


def test_quick_items_are_written(tmp_path):
    for item in (
        spectr_fig5.UniformCurves, spectr_fig6.MultiRoundCurves, spectr_tab1.BlockEfficiencies
    ):  # fmt: skip
        files = write(item, QUICK, tmp_path, ["png"])
        assert [file.stat().st_size > 0 for file in files] == [True, True]
    assert "not computed" not in (tmp_path / "spectr_tab1.md").read_text(encoding="utf-8")
