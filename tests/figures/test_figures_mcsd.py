"""MCSD's figures 3 and 5 of the book, and the record of positions that they are drawn from."""

import numpy as np
import pytest
from captions import caption
from matplotlib.figure import Figure
from recursive_rejection_reference import accepted_of_independent

import otspec
from figures import long_positions, mcsd_fig3
from figures.contract import Settings
from figures.long_positions import BEST, KS, POOLED, RRS, RRSW, column, of_each_text
from figures.long_trace import record, recorded
from otspec.rules import RecursiveRejectionWithoutReplacement
from otspec.traces import Trace, load_trace
from validation.mcsd.tables import TABLES, lines


@pytest.fixture(scope="module")
def curves(computed):
    return computed(mcsd_fig3.AcceptanceCurves, quick=True)


@pytest.fixture(scope="module")
def kept():
    return recorded(long_positions.RECORD)


@pytest.fixture(scope="module")
def pairs():
    """The bundled positions, which are the first texts of the record."""
    return list(of_each_text(Settings().logged()))


def test_the_printed_values_are_the_papers():
    rates = {line["row"]: tuple(map(float, line["values"][0])) for line in lines(TABLES["rates"])}
    assert len(mcsd_fig3.PRINTED) == 8
    for (draft, target, data), both in mcsd_fig3.PRINTED.items():
        for temperature, values in enumerate(both):
            row = rates[f"{draft} {target} {temperature}"]
            assert values == (row[:2] if data == "Alpaca" else row[3:5])


def test_one_position_of_each_text_is_chosen_by_its_number():
    logits = np.log(np.arange(1.0, 25.0)).reshape(4, 3, 2)
    found = [target.tolist() for _, target in of_each_text(Trace(logits, logits))]
    rows = np.exp(logits)[[0, 1, 2, 3], [0, 1, 2, 0]]
    np.testing.assert_allclose(found, rows / rows.sum(axis=1, keepdims=True), atol=1e-14)
    assert len(list(of_each_text(Trace(logits[0], logits[0])))) == 3


def test_the_record_has_a_column_for_each_temperature_and_number(kept):
    assert list(kept) == [column(temperature, k) for temperature in (0, 1) for k in KS]
    for rules in kept.values():
        assert list(rules) == [RRS, RRSW, POOLED, BEST]
        assert {len(values) for values in rules.values()} == {96}
    assert record(kept) == long_positions.RECORD.read_text(encoding="utf-8")


def test_the_record_is_of_the_long_trace(kept, long_trace_path):
    chosen = of_each_text(load_trace(long_trace_path))
    for name, rules in long_positions.computed([next(chosen), next(chosen)]).items():
        for title, values in rules.items():
            assert values == pytest.approx(kept[name][title][:2], abs=1e-7)


def test_the_record_begins_with_the_bundled_positions(kept, pairs):
    for text, (draft, target) in enumerate(pairs[:6]):
        for k in KS:
            found = {rule: values[text] for rule, values in kept[column(1, k)].items()}
            wanted = accepted_of_independent(draft, target, k).sum()
            assert found[RRS] == pytest.approx(wanted, abs=1e-7)
            best = otspec.optimal_acceptance(otspec.IID(draft, k), target).acceptance
            assert found[POOLED] == pytest.approx(best, abs=1e-7)
            assert found[RRSW] <= found[BEST] + 0.02
        exact = RecursiveRejectionWithoutReplacement(draft, target, 2).acceptance()
        assert kept[column(1, 2)][RRSW][text] == pytest.approx(exact, abs=1e-7)


def test_argmax_looks_among_the_likeliest_drafts(kept, pairs):
    for text, (draft, target) in enumerate(pairs):
        order = np.argsort(-draft, kind="stable").tolist()
        rank = 1 + order.index(int(np.argmax(target)))
        for k in KS:
            found = kept[column(0, k)]
            assert found[RRSW][text] == found[BEST][text] == (rank <= k)
            assert found[RRS][text] == found[POOLED][text] == (rank == 1)


def test_a_trace_of_ones_own_is_computed(tmp_path):
    logits = np.random.default_rng(3).standard_normal((2, 3, 2, 80))
    path = tmp_path / "own.npz"
    np.savez(path, draft_logits=logits[0], target_logits=logits[1])
    data = mcsd_fig3.AcceptanceCurves.compute(Settings(quick=True, trace=str(path)))
    assert data.texts == 3
    own = load_trace(path)
    wanted = [np.minimum(*pair).sum() for pair in of_each_text(own)]
    assert data.trace[1, RRS][0][0] == pytest.approx(np.mean(wanted), abs=1e-12)


def test_the_rules_come_in_their_order(curves):
    for values in (curves.letters, curves.trace):
        firsts = {key: np.array(row).reshape(len(row), -1)[:, 0] for key, row in values.items()}
        for row in firsts.values():
            assert np.all(np.diff(row) >= -1e-12)
        for temperature in (0, 1):
            rows = [firsts[temperature, rule] for rule in (RRS, RRSW, BEST)]
            assert np.all(np.diff(rows, axis=0) >= -1e-12)


def test_what_the_caption_says_of_acceptance(curves):
    said = caption("mcsd_fig3")
    trace = [mean for mean, _ in curves.trace[1, RRSW]]
    one, _, four, *_, before, last = trace
    assert f"from {one:.2f} to {four:.2f} on the trace" in said
    printed = [high - low for _, (low, high) in mcsd_fig3.PRINTED.values()]
    assert f"(the paper's pairs: by {min(printed):.2f} to {max(printed):.2f})" in said
    assert f"gains {last - before:.2f} on the trace" in said
    exact = mcsd_fig3.on_letters(1, RRS, (1,))
    assert f"from {exact[0]:.2f} to 0.86 on the letters" in said


def test_the_curves_are_drawn(curves):
    panels = list(Figure().subplots(2, 2).flat)
    curves.draw(panels)
    for number, panel in enumerate(panels):
        temperature = number % 2
        by_label = {line.get_label(): tuple(line.get_ydata()) for line in panel.lines}
        for rule in (RRS, RRSW):
            if number < 2:
                assert by_label[rule] == curves.letters[temperature, rule]
            else:
                means = tuple(mean for mean, _ in curves.trace[temperature, rule])
                assert by_label[rule] == means
        thin = [tuple(line.get_ydata()) for line in panel.lines if line.get_color() == "#AAAAAA"]
        assert thin == [both[temperature] for both in mcsd_fig3.PRINTED.values()]
    assert len(curves.numbers().rows) == 6 * 2 + 6 * 7 + 8 * 4
