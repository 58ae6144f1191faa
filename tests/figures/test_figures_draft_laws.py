"""Which draft law is best: the optima that are compared, and the numbers that the page prints."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

import otspec
from figures import draft_laws
from figures.contract import Numbers, Settings
from otspec.drafts import LAWS

TABLES = Path(__file__).parents[2] / "docs" / "tables"
PLACE = (1.0, 0.6)


@pytest.fixture(scope="module")
def quick(computed):
    return computed(draft_laws.DraftLaws, quick=True)


def printed(name):
    """What a table of the page says it is of, and its rows."""
    about, _, table = (TABLES / f"draft_laws_{name}.md").read_text("utf-8").partition("\n\n")
    _, _, *rows = [
        tuple(cell.strip() for cell in row.strip("|").split("|")) for row in table.splitlines()
    ]
    return about, rows


def optima():
    """(temperature of the draft, of the target, law) → the printed optima by k, rule and gap."""
    return {
        (float(of_draft), float(of_target), law.strip("`")): cells
        for of_draft, of_target, law, *cells in printed("optima")[1]
    }


def optimum(place, law, k):
    return float(optima()[(*place, law)][draft_laws.KS.index(k)])


def test_the_page_has_a_row_for_every_law_and_temperature():
    places = [(p, q) for p in draft_laws.TEMPERATURES for q in draft_laws.TEMPERATURES]
    assert list(optima()) == [(*place, law) for place in places for law in draft_laws.COLORS]
    assert set(draft_laws.COLORS) == set(draft_laws.BEST) == set(LAWS)
    assert {law: rule.law_class.name for law, rule in draft_laws.BEST.items()} == {
        law: law for law in LAWS
    }


def test_the_page_prints_what_is_computed():
    item = draft_laws.DraftLaws.at(Settings(), [PLACE])
    for name, table in item.tables().items():
        about, rows = printed(name)
        assert about == item.about, "run: make gallery"
        place = tuple(map(str, PLACE))
        computed = Numbers(table.columns, table.rows).as_markdown().splitlines()[2:]
        shown = [tuple(cell.strip() for cell in row.strip(" |\n").split("|")) for row in computed]
        wanted = [row for row in rows if row[:2] == place]
        assert [tuple(filter(None, row)) for row in shown] == [
            tuple(filter(None, row)) for row in wanted
        ]


def test_the_best_rules_attain_the_optima():
    assert {cells[-1] for cells in optima().values()} == {"0.0000"}


def test_what_the_page_says_is_in_its_tables():
    for place in {place[:2] for place in optima()}:
        of_draft, of_target = place
        # From four drafts on: distinct ones unless the draft is warmer than the target; if it is,
        # of four the likeliest and one that is drawn.
        best = "top-plus-one" if of_draft > of_target else "without-replacement"
        for k in (4,) if of_draft > of_target else (4, 8, 16):
            others = [law for law in LAWS if law != "hub"]
            assert optimum(place, best, k) == max(optimum(place, law, k) for law in others)
    # The likeliest tokens win where the target is cold and the draft is not, and lose to both
    # kinds of drawn ones where both are warm.
    assert optimum((1.0, 0.3), "top", 2) > optimum((1.0, 0.3), "without-replacement", 4)
    assert optimum((0.3, 1.0), "top", 16) > optimum((0.3, 1.0), "iid", 16)
    assert optimum((1.0, 1.0), "top", 16) < optimum((1.0, 1.0), "iid", 16)


def test_no_other_rule_is_better(quick):
    pairs = [pair for _, *pair in islice(otspec.datasets.load_smollm2().pairs(), 1)]
    for (law, k), ((best, accepted),) in draft_laws.found_at(pairs, (1, 2)).items():
        rows = otspec.traces.compare(*pairs[0], [k], [law])
        most = max(row.acceptance for row in rows if row.rule != "optimum")
        assert most <= accepted + 1e-10 <= best + 2e-10


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


def test_intervals_take_texts_as_independent():
    values = [0.1, 0.4, 0.3, 0.2]
    keys = {
        (1.0, 1.0, law, 1): tuple(np.array(values) * part)
        for law, part in (("iid", 1), ("top", 0.5))
    }
    single = draft_laws.DraftLaws(keys, keys, (0, 0, 0, 0))
    wanted = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert single.mean((1.0, 1.0, "iid", 1)) == pytest.approx((0.25, *wanted), abs=1e-12)
    paired = draft_laws.DraftLaws(keys, keys, (0, 0, 1, 1))
    sums = np.array([0.125, 0.125])  # of halves, by text
    wanted = stats.t.interval(0.95, 1, sums.mean(), stats.sem(sums) or 1e-300)
    assert paired.mean((1.0, 1.0, "iid", 1), "top") == pytest.approx((0.125, *wanted), abs=1e-12)


def test_what_is_fitted_on_one_half_is_measured_on_the_other():
    rows = {
        (1.0, 1.0, "iid", 2): (0.1, 0.2, 0.3, 0.4),
        (1.0, 1.0, "without-replacement", 2): (0.5, 0.1, 0.5, 0.2),
        (0.3, 1.0, "top", 2): (0.0, 0.6, 0.2, 0.8),
    }
    item = draft_laws.DraftLaws(rows, rows, (0, 1, 2, 3))
    (row,) = item.fitted().rows
    assert row[:4] == ("1.0", 2, "`without-replacement`, T = 1", "`top`, T = 0.3")
    # Texts 1 and 3 have the law of texts 0 and 2, and these the law of the others.
    chosen = np.array([0.0, 0.1, 0.2, 0.2])
    assert row[4] == pytest.approx(chosen.mean())
    for gain, law in zip(row[5:], ("iid", "without-replacement"), strict=True):
        differences = chosen - rows[1.0, 1.0, law, 2]
        low, high = stats.t.interval(0.95, 3, differences.mean(), stats.sem(differences))
        assert gain == draft_laws.shown((differences.mean(), max(low, -1.0), high))


def test_every_law_is_drawn_and_has_its_numbers(quick):
    figure = Figure()
    axes = list(figure.subplots(3, 3).flat)
    quick.draw(axes)
    for panel, place in zip(axes, sorted({key[:2] for key in quick.optima}), strict=True):
        lines = {line.get_label(): line for line in panel.get_lines()}
        assert list(lines) == list(draft_laws.COLORS)
        for law, line in lines.items():
            means = [
                np.mean(values) for key, values in quick.optima.items() if key[:3] == (*place, law)
            ]
            assert np.abs(np.array(line.get_ydata()) - means).max() < 1e-15
    rows = quick.numbers().rows
    assert len(rows) == len(quick.optima) == 9 * (2 * 4 + 1)
    for *_, law, _, mean, low, high, _, short, above_iid, _, _, above_top, _, _ in rows:
        assert 0 <= low <= mean <= high <= 1
        assert abs(short) < 1e-10
        assert above_iid == 0 or law != "iid"
        assert above_top == 0 or law != "top"
