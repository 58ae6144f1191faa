"""Tables as files: what is read is what was written, or the old file."""

import pyarrow as pa
import pytest
from pyarrow.csv import read_csv
from pyarrow.ipc import open_file
from pyarrow.parquet import read_table

from otspec import blocks, models, traces
from otspec.frames import Rows, check_ending, write_table
from otspec.frames.rows import WRITERS
from otspec.rules import RecursiveRejection

MODELS = models.memoryless(["1/2", "1/2"]), models.memoryless(["1/4", "3/4"])
EXACT = (["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"])
ENDINGS = list(WRITERS)


def test_parquet_and_arrow_keep_all(tmp_path):
    table = blocks.sweep(*MODELS, 4, 2, RecursiveRejection).to_arrow()
    write_table(table, tmp_path / "rows.parquet")
    write_table(table, str(tmp_path / "rows.arrow"))
    with pa.OSFile(str(tmp_path / "rows.arrow")) as stream:
        arrow = open_file(stream).read_all()
    for read in (read_table(tmp_path / "rows.parquet"), arrow):
        assert read.equals(table)
        assert read.schema.metadata.items() >= table.schema.metadata.items()
        assert read.schema.field("efficiency").metadata.items() >= {b"unit": b"tokens"}.items()


def test_csv_has_the_same_numbers(tmp_path):
    table = traces.compare(*EXACT, [1, 2]).to_arrow()
    write_table(table, tmp_path / "rows.csv")
    read = read_csv(tmp_path / "rows.csv")
    for name in ("rule", "k", "acceptance", "gap"):
        assert read[name].to_pylist() == table[name].to_pylist()
    assert read["acceptance_low"].null_count == len(read)


def test_csv_writes_lists_with_blanks(tmp_path):
    rows = blocks.sweep(*MODELS, 2, 2, RecursiveRejection)
    write_table(rows.to_arrow(), tmp_path / "rows.csv")
    read = read_csv(tmp_path / "rows.csv")
    assert read["branching"].to_pylist() == ["2 1", "1 2"]
    assert read["name"].to_pylist() == ["2x1", "1x2"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_tables_without_rows_are_written(tmp_path, ending):
    write_table(Rows((), blocks.Configuration).to_arrow(), tmp_path / f"none{ending}")
    assert (tmp_path / f"none{ending}").stat().st_size > 0


@pytest.mark.parametrize("name", ["rows", "rows.xlsx", "parquet", ".csv", "rows.csv.gz"])
def test_other_endings_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match=r"end its name with \.parquet or \.arrow or \.csv$"):
        write_table(traces.compare(*EXACT, [1]).to_arrow(), tmp_path / name)
    with pytest.raises(ValueError, match="is to be a table"):
        check_ending(name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_cannot_be_written_leaves_the_old_file(tmp_path, ending, monkeypatch):
    path = tmp_path / f"rows{ending}"
    path.write_text("old", encoding="utf-8")
    monkeypatch.setitem(WRITERS, ending, lambda _, stream: stream.write(b"half") and 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_table(traces.compare(*EXACT, [1]).to_arrow(), path)
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]
