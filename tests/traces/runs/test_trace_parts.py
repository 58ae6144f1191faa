"""Parts of runs: each says what it holds, and damage is never averaged in."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import trace_files as files
from command_line import complaint, run

from otspec.cli.main import main
from otspec.traces import Warping
from otspec.traces.readers import find_source
from otspec.traces.runs import work
from otspec.traces.runs.work import Chunk, Label, Settings, read_part, write_part

LABEL = Label("0123456789abcdef" * 4, "trace.npz", 0, 6)


@pytest.fixture
def table(tmp_path):
    source = find_source(str(files.save_npz(tmp_path, files.random_pair())))
    return Settings((1, 2), ("iid",), (Warping(),)).table_of(Chunk(0, source, 0, 6))


@pytest.fixture
def part(table, tmp_path):
    path = tmp_path / "part.parquet"
    write_part(table, LABEL, path)
    return path


def refuse(path):
    with pytest.raises(ValueError, match=r"cannot use .*part\.parquet: ") as told:
        read_part(path, LABEL)
    return str(told.value)


def test_what_was_written_is_read_by_this_and_by_other_readers(table, part):
    assert read_part(part, LABEL).equals(table)
    assert pq.read_table(part, page_checksum_verification=True).equals(table)
    metadata = pq.read_metadata(part).metadata
    assert metadata[b"otspec source"] == b"trace.npz"
    assert metadata[b"otspec positions"] == b"0 to 5"


def test_the_same_table_makes_the_same_bytes(table, part):
    before = part.read_bytes()
    write_part(table, LABEL, part)
    assert part.read_bytes() == before


def test_every_flip_of_a_bit_is_noticed(part):
    whole = part.read_bytes()
    rng = np.random.default_rng(16)
    for place in rng.choice(8 * len(whole), 700, replace=False):
        content = bytearray(whole)
        content[place // 8] ^= 1 << place % 8
        part.write_bytes(content)
        refuse(part)
    part.write_bytes(whole)
    read_part(part, LABEL)


def test_what_is_cut_short_or_longer_is_noticed(part):
    whole = part.read_bytes()
    rng = np.random.default_rng(17)
    for length in (0, 4, len(whole) - 1, *rng.integers(len(whole), size=100)):
        part.write_bytes(whole[:length])
        refuse(part)
    for more in (b"\0", whole, b"PAR1"):
        part.write_bytes(whole + more)
        refuse(part)
        part.write_bytes(more + whole)
        refuse(part)


@pytest.mark.parametrize(
    ("label", "says"),
    [
        (Label("0" * 64, "trace.npz", 0, 6), "its run is 0123"),
        (Label(LABEL.run, "other.npz", 0, 6), "its source is trace.npz, not other.npz"),
        (Label(LABEL.run, "trace.npz", 6, 12), "its positions is 0 to 5, not 6 to 11"),
        (Label(LABEL.run, "trace.npz", 0, 5), "its positions is 0 to 5, not 0 to 4"),
    ],
)
def test_a_part_with_another_label_is_refused(part, label, says):
    with pytest.raises(ValueError, match=says):
        read_part(part, label)


def test_a_part_of_another_schema_is_refused(table, part, monkeypatch):
    monkeypatch.setattr(work, "SCHEMA", 4)
    write_part(table, LABEL, part)
    monkeypatch.undo()
    assert f"its schema is 4, not {work.SCHEMA}" in refuse(part)


def test_files_of_others_have_no_seal(table, part):
    pq.write_table(table.replace_schema_metadata({"otspec schema": "1"}), part)
    assert "another program or version wrote it" in refuse(part)
    pq.write_table(pa.table({"otspec-sha256": ["otspec-sha256:" + "0" * 64]}), part)
    assert "it was damaged" in refuse(part)
    part.unlink()
    refuse(part)
    part.mkdir()
    refuse(part)


@pytest.mark.parametrize("name", ["0" * 64, "wörter 日本", "\udcff", "a\nb", "", "x" * 5000])
def test_any_name_of_a_source_fits_into_a_label(table, tmp_path, name):
    label = Label(LABEL.run, name, 0, 6)
    write_part(table, label, tmp_path / "part.parquet")
    read_part(tmp_path / "part.parquet", label)


# Runs


@pytest.fixture
def finished(tmp_path, capsys):
    """A finished run of three parts, and the arguments that resume it."""
    source, out = files.save_npz(tmp_path, files.random_pair()), tmp_path / "out"
    arguments = ["trace", source, "-k1", "--chunk", 2, "--workers", 1, "--out", out]
    run(capsys, *arguments)
    return out, [str(each) for each in [*arguments, "--resume"]]


def contents(out):
    found = {path.name: path.read_bytes() for path in (out / "positions").iterdir()}
    return found, json.loads((out / "summary.json").read_text(encoding="utf-8"))


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def copy_first(path):
    shutil.copy(path.with_name("part-000000.parquet"), path)


def swap_two(path):
    other, kept = path.with_name("part-000002.parquet"), path.with_name("kept")
    path.rename(kept)
    other.rename(path)
    kept.rename(other)


def link_to_nothing(path):
    path.unlink()
    path.symlink_to("nowhere")


@pytest.mark.parametrize(
    ("damage", "parts_hit"),
    [
        (flip, 1),
        (copy_first, 1),
        (swap_two, 2),
        (link_to_nothing, 1),
        (lambda path: path.write_bytes(b""), 1),
        (lambda path: path.write_bytes(b"PAR1"), 1),
    ],
)
def test_unusable_parts_are_named_and_computed_again(finished, capsys, damage, parts_hit):
    out, resume = finished
    expected = contents(out)
    damage(out / "positions" / "part-000001.parquet")
    assert main(resume) == 0
    told = capsys.readouterr().err.splitlines()
    assert len(told) == parts_hit
    for line in told:
        assert line.startswith("otspec: computing positions ")
        assert ".parquet: " in line
    assert contents(out) == expected
    assert run(capsys, *resume)
    assert capsys.readouterr().err == ""


def test_parts_of_another_run_are_not_averaged_in(finished, tmp_path, capsys):
    out, resume = finished
    expected = contents(out)
    others = tmp_path / "others"
    others.mkdir()
    other_source = files.save_npz(others, files.random_pair(seed=1))
    for number, options in enumerate((["-k1"], ["-k", "1,2"], ["-k1", "--temperature", "0.5"])):
        source = other_source if options == ["-k1"] else resume[1]
        foreign = tmp_path / str(number)
        run(capsys, "trace", source, *options, "--chunk", 2, "--workers", 1, "--out", foreign)
        for path in (foreign / "positions").iterdir():
            shutil.copy(path, out / "positions")
        assert main(resume) == 0
        assert len(capsys.readouterr().err.splitlines()) == 3
        assert contents(out) == expected


def test_damage_while_the_run_goes_on_is_named(tmp_path, capsys, monkeypatch):
    source, out = files.save_npz(tmp_path, files.random_pair()), tmp_path / "out"

    def compute_and_damage(opened, *_):
        opened.compute(workers=1)
        flip(out / "positions" / "part-000000.parquet")

    monkeypatch.setattr("otspec.cli.shared.run_paths.compute", compute_and_damage)
    told = complaint(capsys, "trace", source, "-k1", "--out", out)
    assert "part-000000.parquet: it was damaged since it was written; use --resume" in told


def test_files_beside_the_parts_are_refused(finished, capsys):
    out, resume = finished
    for name in ("part-000003.parquet", "part-000000 (copy).parquet", "notes.txt", ".hidden"):
        beside = out / "positions" / name
        shutil.copy(out / "positions" / "part-000000.parquet", beside)
        told = complaint(capsys, *resume)
        assert f"{beside} is no part of the run: remove it" in told
        beside.unlink()
    assert run(capsys, *resume)


def test_a_run_of_an_earlier_version_is_refused(finished, capsys):
    out, resume = finished
    made_with = out / "run.json"
    for document, says in (
        (
            json.loads(made_with.read_text(encoding="utf-8")) | {"schema": 1},
            "version 1 of its files",
        ),
        ({}, "version None of its files"),
        ([], "says nothing of a run"),
        ("{", "cannot read"),
        ("[" * 100_000, "cannot read"),
        ("", "cannot read"),
    ):
        text = document if isinstance(document, str) else json.dumps(document)
        made_with.write_text(text, encoding="utf-8")
        told = complaint(capsys, *resume)
        assert says in told
        assert "--overwrite" in told
    assert run(capsys, *resume[:-1], "--overwrite")


def test_all_parts_of_a_run_are_read_as_one_table(finished):
    out, _ = finished
    table = pq.read_table(out / "positions")
    assert sorted(set(table["position"].to_pylist())) == list(range(6))
