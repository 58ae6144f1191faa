"""A finished run as a table: all its parts, proved whole, from the folder alone."""

import json
import shutil
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
import trace_files as files

from otspec.traces import Warping, compare, load_trace, read_run
from otspec.traces.readers import find_source
from otspec.traces.runs import Settings, open_run
from otspec.traces.runs.run import Run
from otspec.traces.runs.work import SCHEMA

KS, LAWS = (1, 2), ("iid", "hub")
SHAPES = ((2, 3, 5), (4, 5))
LAST = "part-000004.parquet"


@pytest.fixture
def sources(tmp_path):
    paths = [tmp_path / f"{name}.npz" for name in "ba"]  # the order of the run counts
    for seed, (path, shape) in enumerate(zip(paths, SHAPES, strict=True)):
        np.savez(path, **files.random_pair(shape, seed=seed))
    return [find_source(str(path)) for path in paths]


def settings_of(ks=KS):
    """Return what a run compares."""
    return Settings(ks, LAWS, (Warping(),))


@pytest.fixture
def folder(tmp_path, sources):
    with open_run(tmp_path / "run", sources, settings_of(), chunk=2) as run:
        run.compute(workers=1)
    return tmp_path / "run"


def rows_of(table):
    return [tuple(row.values()) for row in table.to_pylist()]


def test_the_table_is_what_compare_says_position_by_position(folder, sources):
    wanted = [
        (source.name, position, row.drafts, row.rule, row.k, row.acceptance, row.optimum)
        for source in sources
        for position, (_, draft, target) in enumerate(load_trace(source.name).pairs())
        for row in compare(draft, target, KS, LAWS)
    ]
    columns = ["source", "position", "drafts", "rule", "k", "acceptance", "optimum"]
    assert rows_of(read_run(folder).to_arrow().select(columns)) == wanted


def test_pandas_and_polars_have_the_same_rows(folder):
    run = read_run(folder)
    wanted = rows_of(run.to_arrow())
    assert run.to_polars().rows() == wanted
    assert list(run.to_pandas().itertuples(index=False, name=None)) == wanted
    assert run.scan().collect().rows() == wanted
    assert str(run.to_pandas().dtypes["rule"]) == "category"
    assert [table.num_rows for table in run.tables()] == [len(wanted) // 5] * 5


def test_the_metadata_name_the_run_and_its_sources(folder, sources):
    run = read_run(folder)
    metadata = run.to_arrow().schema.metadata
    assert metadata[b"run"].decode() == run.run
    assert metadata[b"source"].decode() == ", ".join(source.name for source in sources)


def damage(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_damaged_part_is_named(folder):
    damage(folder / "positions" / LAST)
    with pytest.raises(ValueError, match=rf"cannot use .*{LAST}: it was damaged since"):
        read_run(folder, unfinished=True)


def test_a_part_that_is_damaged_later_is_named_when_it_is_read(folder):
    run = read_run(folder)
    damage(folder / "positions" / LAST)
    with pytest.raises(ValueError, match=rf"cannot use .*{LAST}: it was damaged since"):
        run.to_pandas()


def test_a_copied_part_is_named(folder):
    shutil.copy(folder / "positions" / LAST, folder / "positions" / "part-000009.parquet")
    with pytest.raises(ValueError, match=r"hold the same positions: remove the copy"):
        read_run(folder)


def test_a_part_of_another_run_is_named(folder, tmp_path, sources):
    with open_run(tmp_path / "other", sources, settings_of((1,)), chunk=2) as run:
        run.compute(workers=1)
    shutil.copy(tmp_path / "other" / "positions" / LAST, folder / "positions" / LAST)
    with pytest.raises(ValueError, match=rf"{LAST}: it is a part of another run"):
        read_run(folder)


def test_a_table_that_others_wrote_is_named(folder):
    pq.write_table(pq.read_table(folder / "positions" / LAST), folder / "positions" / "x.parquet")
    with pytest.raises(ValueError, match=r"cannot use .*x\.parquet: it has no seal"):
        read_run(folder)


def test_an_unfinished_run_is_read_if_that_is_wanted(folder):
    whole = read_run(folder).to_arrow()
    (folder / "positions" / LAST).unlink()
    (folder / "positions" / ".part-000004.parquet.1f.partial").write_bytes(b"half")
    with pytest.raises(ValueError, match=r"results of 8 of 10 positions: finish .*unfinished=True"):
        read_run(folder)
    assert read_run(folder, unfinished=True).to_arrow().equals(whole[: len(whole) * 4 // 5])


def test_a_folder_without_results_is_refused(folder, tmp_path):
    with pytest.raises(ValueError, match=r"holds no run: name the folder that --out was given"):
        read_run(tmp_path)
    shutil.rmtree(folder / "positions")
    with pytest.raises(ValueError, match="holds a run without results"):
        read_run(folder, unfinished=True)


@pytest.mark.parametrize(
    ("said", "told"),
    [("{", "not JSON|cannot"), ("[]", "nothing of a run"), ('{"schema": 1}', "another version"),
     (f'{{"schema": {SCHEMA}}}', "says nothing of sources"),
     (f'{{"schema": {SCHEMA}, "sources": [1]}}', "says nothing of sources")],
)  # fmt: skip
def test_what_a_run_was_made_with_must_be_told(folder, said, told):
    (folder / "run.json").write_text(said, encoding="utf-8")
    with pytest.raises(ValueError, match=told):
        read_run(folder)


def test_settings_that_were_changed_leave_no_part(folder):
    path = folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"chunk": 3}), "utf-8")
    with pytest.raises(ValueError, match="it is a part of another run"):
        read_run(folder)


def test_lazy_frames_need_polars(folder, monkeypatch):
    run = read_run(folder)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ValueError, match=r"scan needs the package polars: pip install"):
        run.scan()


def test_a_run_of_ones_own_is_read_as_it_is_written(folder, sources):
    with open_run(folder, sources, settings_of(), chunk=2, resume=True) as run:
        assert isinstance(run, Run)
        tables = [table for _, table in run.tables()]
    assert tables == list(read_run(folder).tables())
