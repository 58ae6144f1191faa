"""Means of draft laws over the parts of a run: the same however it is cut, in constant memory."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pytest
import trace_files as files

from otspec.traces.draft_laws import law_means
from otspec.traces.readers import find_source
from otspec.traces.statistics import clustered_mean

TEXTS, LENGTH = 6, 5
LAWS = {"iid": ("pooled selection", "naive sampling"), "hub": ("SpecHub",)}


@pytest.fixture
def source(tmp_path):
    return find_source(str(files.save_npz(tmp_path, files.random_pair((TEXTS, LENGTH, 2)))))


def table(start, stop, numbers, without=()):
    """A part: at each position every law, the optimum first; some positions have no hub."""
    rows = []
    for position in range(start, stop):
        for law, rules in LAWS.items():
            if law == "iid" or position not in without:
                optimum, *accepted = numbers[law][position].tolist()
                for rule, value in zip(("optimum", *rules), (optimum, *accepted), strict=False):
                    rows.append((position, 0.7, 1.0, law, rule, 2, value, optimum))
    columns = "position", "temperature", "draft_temperature", "drafts", "rule", "k", "acceptance"
    return pa.table(dict(zip((*columns, "optimum"), zip(*rows, strict=True), strict=True)))


@pytest.fixture
def numbers():
    rng = np.random.default_rng(5)
    return {law: np.sort(rng.random((TEXTS * LENGTH, 3)))[:, ::-1] for law in LAWS}


@pytest.mark.parametrize("by_text", [True, False])
@pytest.mark.parametrize("cuts", [[], [LENGTH], [1, 7, 8, 9, 23], list(range(1, TEXTS * LENGTH))])
def test_means_are_the_same_however_a_run_is_cut(source, numbers, cuts, by_text):
    without = {0, 3, 8, 9, 29}
    ends = zip([0, *cuts], [*cuts, TEXTS * LENGTH], strict=True)
    parts = ((source, table(start, stop, numbers, without)) for start, stop in ends)
    found = {row.drafts: row for row in law_means(parts, by_text=by_text)}
    assert list(found) == list(LAWS)
    for law, row in found.items():
        kept = [i for i in range(TEXTS * LENGTH) if law == "iid" or i not in without]
        units = np.array(kept) // (LENGTH if by_text else 1)
        optimum, best = numbers[law][kept, 0], numbers[law][kept, 1]
        above = optimum - numbers["iid"][kept, 0]
        mean, interval = clustered_mean(optimum, units, 0.0, 1.0)
        more, more_interval = clustered_mean(above, units, -1.0, 1.0)
        assert row.positions == len(kept)
        assert (row.rule, row.acceptance) == (LAWS[law][0], pytest.approx(best.mean(), abs=1e-12))
        assert (row.optimum, row.above_iid) == pytest.approx((mean, more), abs=1e-12)
        assert row.optimum_interval == pytest.approx(interval, abs=1e-12)
        assert row.above_iid_interval == pytest.approx(more_interval, abs=1e-12)


def test_a_run_without_the_law_that_others_are_compared_with_is_refused(source, numbers):
    alone = table(0, 4, numbers)
    alone = alone.filter(pa.compute.equal(alone["drafts"], "hub"))
    with pytest.raises(ValueError, match="the run has no iid drafts: compare those, too"):
        law_means([(source, alone)], by_text=True)


@pytest.mark.parametrize("by_text", [True, False])
def test_memory_does_not_grow_with_the_positions(tmp_path, by_text):
    """The same part again and again, as of other positions of more and more texts."""
    positions = 3_000
    logits = files.random_pair((TEXTS, positions // TEXTS, 2))
    source = find_source(str(files.save_npz(tmp_path, logits)))
    rng = np.random.default_rng(6)
    part = table(0, positions, {law: rng.random((positions, 3)) for law in LAWS})

    def peak(times):
        parts = ((source, part) for _ in range(times))
        tracemalloc.start()
        law_means(parts, by_text=by_text)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1)  # imports and fills caches
    few, many = peak(3), peak(100)
    # Less than a byte for each of the positions more; an array of them has 8.
    assert many - few < 97 * positions
