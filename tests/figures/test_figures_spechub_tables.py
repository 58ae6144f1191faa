"""The tables redrawn from SpecHub: the numbers, and what is printed beside them."""

from fractions import Fraction
from itertools import combinations, permutations, product
from math import inf
from pathlib import Path

import numpy as np
import pytest
from captions import caption

from figures import spechub_tab1, spechub_tab4
from figures.contract import Settings
from figures.spechub_tab1 import FIRST, HUB, RRS, RRSW, SECOND, TEMPERATURES
from figures.spechub_tab4 import METHODS, NORMAL, PRINTED, UNIFORM, ToyExperiment
from otspec.rules import RecursiveRejectionWithoutReplacement
from validation.spechub import appendix_d as toy
from validation.spechub.tables import ROWS

COLDEST = (0.1, 0.7)
TREES = Path(__file__).parents[2] / "docs" / "tables" / "spechub_tab5.md"


@pytest.fixture(scope="module")
def experiment(computed):
    return computed(spechub_tab4.ToyExperiment)


@pytest.fixture(scope="module")
def measured(computed):
    return computed(spechub_tab1.DraftAcceptance)


@pytest.fixture(scope="module")
def small_trace(tmp_path_factory):
    """Two texts of two tokens over six, on which everything can be enumerated."""
    rng = np.random.default_rng(4)
    path = tmp_path_factory.mktemp("trace") / "small.npz"
    logits = rng.standard_normal((2, 2, 3, 6))
    np.savez(path, draft_logits=logits[0], target_logits=logits[1])
    return path


def softmax(logits):
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


def test_the_printed_values_are_the_papers():
    assert {tuple(map(float, key)): row for key, row in toy.TABLE4.items()} == PRINTED
    assert METHODS == toy.METHODS
    for row in ROWS:
        if row.table <= 2:
            column, temperature = row.table - 1, float(row.temperature)
            assert row.tree == spechub_tab1.MODELS[column]
            for rule, value in ((RRS, row.rrs), (RRSW, row.rrsw), (HUB, row.spechub)):
                assert Fraction(str(SECOND[temperature, rule][column])) == value
    assert len(SECOND) == 9
    # Table 3, column by column: SpecHub, then RRSw.
    for temperature, jf68m, jf160m in (
        (0.3, (0.4921, 0.4498), (0.5578, 0.5465)),
        (0.6, (0.4842, 0.4821), (0.5632, 0.5587)),
        (1.0, (0.4248, 0.4418), (0.5130, 0.5257)),
    ):
        for rule, *values in zip((HUB, RRSW), jf68m, jf160m, strict=True):
            assert FIRST[temperature, rule] == tuple(values)


def test_the_acceptances_are_those_of_independent_formulas():
    for logits, setting in product(spechub_tab4.LOGITS, PRINTED):
        pairs = list(spechub_tab4.random_pairs(logits, setting, 3))
        draft, target = (np.array(side) for side in zip(*pairs, strict=True))
        found = np.array([spechub_tab4.acceptances(*pair) for pair in pairs])
        for method, column in zip(METHODS, found.T, strict=True):
            wanted = toy.FORMULAS[method](draft, target)
            assert np.allclose(column, wanted, rtol=0, atol=1e-12)


def test_the_optima_are_the_least_cuts():
    draft, target = np.random.default_rng(6).dirichlet(np.ones(5), 2)
    same = {(x, y): draft[x] * draft[y] for x, y in product(range(5), repeat=2)}
    distinct = {
        (x, y): draft[x] * draft[y] / (1 - draft[x]) for x, y in permutations(range(5), 2)
    }  # fmt: skip
    subsets = [set(each) for size in range(6) for each in combinations(range(5), size)]
    found = dict(zip(METHODS, spechub_tab4.acceptances(draft, target), strict=True))
    for method, table in (("OTM", same), ("OTMw", distinct)):
        cuts = [
            sum(target[y] for y in inside)
            + 1
            - sum(mass for x, mass in table.items() if set(x) <= inside)
            for inside in subsets
        ]
        assert abs(found[method] - min(cuts)) < 1e-12


def test_the_pairs_are_the_papers():
    for logits in spechub_tab4.LOGITS:
        for temperature, similarity in PRINTED:
            setting = (temperature, similarity)
            for draft, target in spechub_tab4.random_pairs(logits, setting, 2):
                assert len(draft) == len(target) == 50
                of_target = temperature * np.log(target)
                other = (temperature * np.log(draft) - similarity * of_target) / (1 - similarity)
                spreads = [np.ptp(of_target), np.ptp(other)]
                if logits == UNIFORM:
                    assert max(spreads) < 1
                else:
                    assert min(spreads) > 2
    first, again = (
        list(spechub_tab4.random_pairs(NORMAL, COLDEST, count)) for count in (1, 2)
    )  # fmt: skip
    assert (first[0][0] == again[0][0]).all()


def test_all_printed_values_agree_with_normal_logits_and_hardly_one_with_uniform(experiment):
    away = {key: abs(experiment.away(key)) for key in experiment.values}
    assert len(away) == 60
    assert all(len(values) == 100 for values in experiment.values.values())
    assert sum(away[key] <= 3 for key in away if key[0] == NORMAL) == 30
    assert sum(away[key] <= 3 for key in away if key[0] == UNIFORM) == 1
    assert round(away[UNIFORM, COLDEST, "RRS"]) == 19
    how, normal, uniform, ranking = experiment.notes()
    assert "100 pairs" in how
    assert "30 of 30" in normal
    assert "1 of 30" in uniform
    assert "19 standard errors" in uniform
    gain, error = experiment.difference(COLDEST, "SpecHub", "OTMw")
    assert f"{gain:+.4f} ± {error:.4f}" in ranking
    assert abs(gain) < 2 * error  # a hundred pairs do not decide
    assert round(PRINTED[COLDEST][4] - PRINTED[COLDEST][3], 4) == 0.0057


def test_no_rule_is_above_its_optimum(experiment):
    for logits, setting in product(spechub_tab4.LOGITS, PRINTED):
        of = {
            method: np.array(experiment.values[logits, setting, method]) for method in METHODS
        }  # fmt: skip
        assert (of["OTM"] >= of["RRS"] - 1e-12).all()
        assert (of["OTMw"] >= of["RRSw"] - 1e-12).all()
        assert (of["RRSw"] >= of["RRS"] - 1e-12).all()


def test_the_rows_of_table_4(experiment):
    table = experiment.numbers()
    assert len(table.rows) == 30
    for row in table.rows:
        setting = (float(row[0]), float(row[1]))
        assert row[3] == PRINTED[setting][METHODS.index(row[2])]
        for start, logits in ((4, UNIFORM), (9, NORMAL)):
            values = np.array(experiment.values[logits, setting, row[2]])
            mean, error, difference, shown, within = row[start : start + 5]
            assert abs(mean - values.mean()) < 1e-12
            assert abs(error - values.std(ddof=1) / 10) < 1e-12
            assert abs(difference - (row[3] - mean)) < 1e-12
            assert within == ("yes" if abs(difference) <= 3 * error else "no")
            if "beyond" not in shown:
                assert abs(float(shown) - difference / error) < 0.051
    assert "beyond -1000" in table.as_markdown()


def test_a_mean_without_an_error_is_not_divided_by_it():
    sure = ToyExperiment({(UNIFORM, COLDEST, "RRS"): (1.0, 1.0)})
    assert sure.away((UNIFORM, COLDEST, "RRS")) == -inf
    assert spechub_tab4._shown(-inf) == "beyond -1000"


def test_acceptance_by_position_is_enumerated_on_a_small_trace(small_trace):
    settings = Settings(trace=str(small_trace))
    data = spechub_tab1.DraftAcceptance.compute(settings)
    logged = settings.logged()
    for temperature in TEMPERATURES:
        for i, place in enumerate(np.ndindex(2, 3)):
            p, q = (
                softmax(logits[place] / temperature)
                for logits in (logged.draft_logits, logged.target_logits)
            )
            first = np.minimum(p, q)
            left = (q - first).sum()
            wanted = (q - first) / left
            second = left * np.minimum(wanted, p).sum()
            close(data.by_draft[temperature, RRS][i], (first.sum(), second))
            second = 0
            for x in range(6):
                offered = np.where(np.arange(6) == x, 0, p / (1 - p[x]))
                second += (p[x] - first[x]) * np.minimum(wanted, offered).sum()
            close(data.by_draft[temperature, RRSW][i], (first.sum(), second))
            close(data.by_draft[temperature, HUB][i], literal_hub(p, q))


def literal_hub(p, q):
    """SpecHub's plan: others from (x, a), then (a, x); the hub from (a, x), then (x, a)."""
    hub = int(np.argmax(p))
    last, first = p.copy(), p[hub] * p / (1 - p[hub])
    last[hub] = first[hub] = 0
    others = np.where(np.arange(len(q)) == hub, 0, q)
    as_first = np.minimum(others, last)
    as_second = np.minimum(others - as_first, first)
    hub_first = min(q[hub], (first - as_second).sum())
    hub_second = min(q[hub] - hub_first, (last - as_first).sum())
    return as_first.sum() + hub_first, as_second.sum() + hub_second


def close(found, wanted):
    assert np.allclose(found, wanted, rtol=0, atol=1e-12)


def test_no_rule_accepts_a_first_draft_more_often_than_the_overlap(measured):
    for temperature in TEMPERATURES:
        overlap = [np.minimum(*pair).sum() for pair in Settings().pairs(temperature)]
        close(measured.values(temperature, RRS, 0), overlap)
        close(measured.values(temperature, RRSW, 0), overlap)
        assert (measured.values(temperature, HUB, 0) <= np.array(overlap) + 1e-12).all()


def test_what_the_caption_says_of_tables_1_to_3(measured):
    for temperature in TEMPERATURES:
        means = [measured.values(temperature, rule, 1).mean() for rule in (RRS, RRSW, HUB)]
        assert means == sorted(means)
        for column in (0, 1):
            printed = [SECOND[temperature, rule][column] for rule in (RRS, RRSW, HUB)]
            assert printed == sorted(printed)
    gains = {T: measured.gain(T, HUB, RRSW, 1) for T in TEMPERATURES}
    assert "RRS < RRSw < SpecHub" in caption("spechub_tab1")
    assert all(1 <= mean / error < 2.5 for mean, error in gains.values())
    lost = -measured.gain(1.0, HUB, RRSW, 0)[0]
    assert gains[1.0][0] / 2 < lost < gains[1.0][0]


def test_the_letters_are_those_of_the_smallest_tree(measured):
    """A tree of two drafts keeps either, which is exact in the tables of trees."""
    lines = TREES.read_text(encoding="utf-8").splitlines()
    (row,) = (line.split(" | ") for line in lines if line.startswith("| bigram | trigram | 1 | 1"))
    for rule, column in ((RRS, 4), (RRSW, 6), (HUB, 7)):
        either = measured.at_random_place(1.0, rule, 2)
        assert 1 + either == pytest.approx(float(row[column]), abs=5.1e-5)


def test_the_rows_of_tables_1_to_3(measured, tmp_path):
    table = measured.numbers()
    assert len(table.rows) == 27
    for name, temperature, rule, mean, error, at_random, *printed in table.rows:
        which = ("first", "second", "either").index(name)
        values = measured.values(float(temperature), rule, which)
        assert abs(mean - values.mean()) < 1e-12
        assert abs(error - values.std(ddof=1) / len(values) ** 0.5) < 1e-12
        key = (float(temperature), rule)
        assert at_random == measured.at_random_place(*key, which)
        if which < 2:
            assert tuple(printed) == (FIRST, SECOND)[which].get(key, ("", ""))
        elif rule != RRS:
            close(printed, np.add(FIRST[key], SECOND[key]))
    assert len(measured.notes()) == 5


def test_quick_tables(tmp_path, computed):
    for item in (spechub_tab1.DraftAcceptance, ToyExperiment):
        (file,) = computed(item, quick=True).write(tmp_path, [])
        assert file.suffix == ".md"
        assert file.read_text(encoding="utf-8").count("\n- ") >= 4


def test_the_exact_acceptance_does_not_need_the_papers_simulation():
    draft, target = next(spechub_tab4.random_pairs(NORMAL, COLDEST, 1))
    rule = RecursiveRejectionWithoutReplacement(draft, target, 2)
    estimate = rule.estimate(1_000, seed=2).probability
    assert estimate.low <= rule.acceptance() <= estimate.high
