"""Statistics over runs: means to the last digits, and intervals that cover."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest
import trace_files as files
from command_line import run
from scipy import stats
from searching import enough

from otspec.traces import compare, load_trace, summarize
from otspec.traces.readers import find_source
from otspec.traces.statistics import QUANTILES, statistics_of, texts_of

TEXTS, LENGTH, RUNS = 12, 10, enough(2000)
RARE = 1e-6
"""How often a right test of coverage may fail."""


@pytest.fixture
def source(tmp_path):
    return find_source(str(files.save_npz(tmp_path, files.random_pair((TEXTS, LENGTH, 2)))))


def parts(source, acceptance, cuts, present=None):
    """Tables of one rule with acceptances of shape (runs, positions); each run is one k."""
    runs, positions = acceptance.shape
    for start, stop in zip([0, *cuts], [*cuts, positions], strict=True):
        position, k = np.meshgrid(np.arange(start, stop), 1 + np.arange(runs), indexing="ij")
        values = acceptance[:, start:stop].T
        keep = slice(None) if present is None else present[start:stop].repeat(runs)
        columns = {
            "position": position.ravel(),
            "temperature": np.ones(position.size),
            "draft_temperature": np.ones(position.size),
            "drafts": np.full(position.size, "iid"),
            "rule": np.full(position.size, "rule"),
            "k": k.ravel().astype(np.int32),
            "acceptance": values.ravel(),
            "optimum": np.ones(position.size),
        }
        yield source, pa.table({name: column[keep] for name, column in columns.items()})


def correlated(rng, spread=0.03):
    """Acceptances of mean 0.5 that share a part in each text."""
    of_texts = rng.normal(scale=spread, size=(RUNS, TEXTS, 1))
    of_positions = rng.normal(scale=spread, size=(RUNS, TEXTS, LENGTH))
    return (0.5 + of_texts + of_positions).reshape(RUNS, -1)


def covering(rows, truth=0.5):
    return sum(row.acceptance_interval[0] <= truth <= row.acceptance_interval[1] for row in rows)


def limits(share):
    """Counts among the runs that a right interval leaves about once in a million times."""
    return stats.binom.ppf([RARE / 2, 1 - RARE / 2], RUNS, share)


def test_intervals_by_text_cover_as_often_as_they_say(source):
    acceptance = correlated(np.random.default_rng(1))
    # Normal texts of equal length: the t interval is exact.
    low, high = limits(0.95)
    rows = statistics_of(parts(source, acceptance, [7, 10, 35, 99]), by_text=True)
    assert {row.units for row in rows} == {TEXTS}
    assert low <= covering(rows) <= high
    gaps = sum(row.gap_interval[0] <= 0.5 <= row.gap_interval[1] for row in rows)
    assert gaps == covering(rows)
    # Positions that share a part are fewer than they look.
    careless = statistics_of(parts(source, acceptance, [7]), by_text=False)
    assert {row.units for row in careless} == {TEXTS * LENGTH}
    assert covering(careless) < low


def test_intervals_by_position_cover_when_positions_are_independent(source):
    acceptance = np.random.default_rng(2).normal(0.5, 0.05, size=(RUNS, TEXTS * LENGTH))
    low, high = limits(0.95)
    assert low <= covering(statistics_of(parts(source, acceptance, [50]), by_text=False)) <= high


def test_intervals_cover_when_texts_have_different_lengths(source):
    rng = np.random.default_rng(3)
    lengths = rng.integers(4, LENGTH + 1, size=TEXTS)
    present = (np.arange(LENGTH) < lengths[:, None]).ravel()
    rows = statistics_of(parts(source, correlated(rng), [7, 64], present), by_text=True)
    # Linearized, and so not exact: of the order of 1/12 narrower at such different lengths.
    narrower = 2 * stats.t.sf(11 / 12 * stats.t.ppf(0.975, TEXTS - 1), TEXTS - 1)
    assert limits(1 - narrower)[0] <= covering(rows) <= limits(0.95)[1]


def test_how_a_run_is_cut_does_not_matter(source):
    acceptance = correlated(np.random.default_rng(4))[:20]
    whole = statistics_of(parts(source, acceptance, []), by_text=True)
    torn = statistics_of(parts(source, acceptance, range(1, 120)), by_text=True)
    for one, other in zip(whole, torn, strict=True):
        rows = acceptance[one.k - 1]
        assert one.acceptance == pytest.approx(math.fsum(rows) / 120, abs=1e-15)
        assert other.acceptance == pytest.approx(one.acceptance, abs=1e-15)
        assert other.acceptance_interval == pytest.approx(one.acceptance_interval, abs=1e-14)
        means = rows.reshape(TEXTS, LENGTH).mean(axis=1)
        expected = stats.t.interval(0.95, TEXTS - 1, means.mean(), stats.sem(means))
        assert one.acceptance_interval == pytest.approx(expected, abs=1e-14)


def test_quantiles_of_the_gap_are_those_of_the_positions(source):
    acceptance = correlated(np.random.default_rng(5))[:5]
    for row in statistics_of(parts(source, acceptance, [31]), by_text=True):
        expected = np.quantile(1 - acceptance[row.k - 1], QUANTILES, method="inverted_cdf")
        # Half of a step of the histogram.
        assert list(row.gap_quantiles.values()) == pytest.approx(expected, abs=0.5001e-4)


def test_constant_values_have_an_interval_of_no_width(source):
    row = statistics_of(parts(source, np.full((1, 120), 0.3), [9]), by_text=True)[0]
    assert row.acceptance_interval == (0.3, 0.3)


def test_one_unit_has_no_interval(tmp_path, capsys):
    path = files.save_npz(tmp_path, files.random_pair((1, 20)))
    means = json.loads(run(capsys, "trace", path, "-k1", "--json"))["means"]
    assert [mean["acceptance_interval"] for mean in means] == [None] * len(means)
    assert "One position gives no interval." in run(capsys, "trace", path, "-k1")


def test_means_are_those_of_single_positions_whatever_the_chunks(tmp_path, capsys):
    paths = [tmp_path / f"{name}.npz" for name in ("one", "two")]
    for seed, path in enumerate(paths):
        np.savez(path, **files.random_pair((2, 3, 50), seed=seed))
    expected = {}
    for temperature in (0.7, 1.3):
        positions = [
            compare(draft, target, [1, 2, 3], ["iid", "without-replacement", "hub"])
            for path in paths
            for _, draft, target in load_trace(path).pairs(temperature=temperature)
        ]
        for row in summarize(positions):
            expected[temperature, row.rule, row.drafts, row.k] = row
    for chunk in (1, 4, 100):
        document = json.loads(
            run(capsys, "trace", *paths, "-k1,2,3", "--temperature", "0.7,1.3",
                "--chunk", chunk, "--workers", 1, "--json")
        )  # fmt: skip
        assert (document["positions"], document["independent"]) == (12, "texts")
        found = {(m["temperature"], m["rule"], m["drafts"], m["k"]): m for m in document["means"]}
        assert found.keys() == expected.keys()
        for place, row in expected.items():
            mean = found[place]
            assert mean["acceptance"] == pytest.approx(row.acceptance, abs=1e-12)
            assert mean["optimum"] == pytest.approx(row.optimum, abs=1e-12)
            assert (mean["positions"], mean["units"]) == (row.positions, 4)


def test_texts_are_counted_over_all_sources(source):
    assert texts_of([source, source]) == 2 * TEXTS
