"""The figures book: every item computes, is written with its numbers, and is in the gallery."""

import csv
import json
from pathlib import Path

import pytest

import figures.__main__ as command
from figures.contract import Numbers, Settings
from figures.registry import NAMES, item
from figures.writing import PROVENANCE, as_markdown, save, write
from otspec.cli.main import run
from otspec.version import __version__

ROOT = Path(__file__).parents[2]
GALLERY = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
FORMATS = {"png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF", "svg": b"<?xml"}


def figures(*arguments):
    return run(command.main, list(arguments), "python -m figures")


@pytest.mark.parametrize("name", NAMES)
def test_every_item_is_written_with_its_numbers(name, tmp_path):
    each = item(name)
    files = write(each, Settings(quick=True), tmp_path, ["png"])
    with (tmp_path / f"{name}.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    assert len(rows) >= 2
    assert len({len(row) for row in rows}) == 1
    (line,) = (tmp_path / PROVENANCE).read_text(encoding="utf-8").splitlines()
    provenance = json.loads(line)
    assert (provenance["item"], provenance["version"]) == (name, __version__)
    assert provenance["seed"] == each.seed
    assert (provenance["input"] == "none") == (not each.traced)
    assert provenance["files"] == [file.name for file in files]
    assert all(file.stat().st_size > 0 for file in files)
    assert each.name == name
    assert each.title
    assert each.source


@pytest.mark.parametrize("name", NAMES)
def test_every_item_is_in_the_gallery(name):
    assert f"(figure-{name})=" in GALLERY
    if item(name).draw is not None:
        picture = f"pictures/{name}.png"
        assert f"]({picture})" in GALLERY
        assert (ROOT / "docs" / picture).read_bytes().startswith(FORMATS["png"])


def test_pictures_come_in_three_formats_and_do_not_change(tmp_path):
    each = item("spectr_fig4")
    data = each.compute(Settings(quick=True))
    for ending, magic in FORMATS.items():
        first = save(each, data, tmp_path / f"first.{ending}").read_bytes()
        assert first.startswith(magic)
        assert save(each, data, tmp_path / f"second.{ending}").read_bytes() == first


def test_a_second_run_replaces_the_line_of_its_item(tmp_path):
    for quick in (True, False):
        write(item("spectr_fig4"), Settings(quick=quick), tmp_path, [])
    write(item("pooled_barriers"), Settings(), tmp_path, [])
    text = (tmp_path / PROVENANCE).read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert [(line["item"], line["quick"]) for line in lines] == [
        ("pooled_barriers", False),
        ("spectr_fig4", False),
    ]


def test_the_command_lists_and_writes(tmp_path, capsys):
    assert figures("--list") == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in NAMES)
    out = tmp_path / "deep" / "folder"
    assert figures("spectr_fig4", "--out", str(out), "--format", "svg, pdf", "--quick") == 0
    printed = capsys.readouterr().out.split()
    assert sorted(Path(file).name for file in printed) == [
        "spectr_fig4.csv",
        "spectr_fig4.pdf",
        "spectr_fig4.svg",
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["spectr_fig99"], "there is no item 'spectr_fig99': see python -m figures --list"),
        (["--format", "gif"], "--format holds 'gif': use pdf, png, svg"),
        (["acceptance_gap", "--trace", "none.npz"], "none.npz: no such file"),
        (["--quickly"], "No such option"),
    ],
)
def test_what_cannot_be_done_is_one_line(arguments, says, tmp_path, capsys):
    out = ["--out", str(tmp_path)]
    assert figures(*arguments, *out) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.err.count("\n") == 1


def test_tables_are_shown_in_markdown():
    numbers = Numbers(("rule", "k", "acceptance"), (("optimum", 2, 0.85), ("naive", 2, -1e-9)))
    assert as_markdown(numbers) == (
        "| rule | k | acceptance |\n| --- | --- | --- |\n"
        "| optimum | 2 | 0.8500 |\n| naive | 2 | 0.0000 |\n"
    )
    with pytest.raises(ValueError, match="has not one cell for each"):
        Numbers(("rule",), (("optimum", 2),))


def test_a_table_has_no_picture(tmp_path):
    tables = [name for name in NAMES if item(name).draw is None]
    for name in tables[:1]:
        with pytest.raises(ValueError, match="is a table and has no picture"):
            save(item(name), None, tmp_path / "table.png")
