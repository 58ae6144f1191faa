"""The figures book: every item computes, is written with its numbers, and is in the gallery."""

import csv
import json
from pathlib import Path

import pytest
from searching import by_day

import figures.__main__ as command
from figures import MODULES
from figures.contract import Item, Numbers, Picture, Settings, Table
from figures.registry import ITEMS, item, named_item
from figures.writing import PROVENANCE, write, write_computed
from otspec.cli.main import run
from otspec.version import __version__

ROOT = Path(__file__).parents[2]
GALLERY = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
LONG = ("canonical_tab1", "canonical_tab3", "cutting_drafts", "spectr_tab1")
"""Those that take seconds, also if quick; a module of its own tests each."""
FORMATS = {"png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF", "svg": b"<?xml"}


def figures(*arguments):
    return run(command.main, list(arguments), "python -m figures")


@pytest.mark.parametrize("name", by_day(list(ITEMS), [name for name in ITEMS if name not in LONG]))
def test_every_item_is_written_with_its_numbers(name, tmp_path, computed):
    each = computed(named_item(name), quick=True)
    files = write_computed(each, Settings(quick=True), tmp_path, ["png"])
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
    # An empty picture is smaller.
    assert all(file.stat().st_size > (5_000 if file.suffix == ".png" else 0) for file in files)
    assert each.name == name
    assert each.title
    assert each.source


@pytest.mark.parametrize("name", ITEMS)
def test_every_item_is_in_the_gallery(name):
    assert f"(figure-{name})=" in GALLERY
    if issubclass(named_item(name), Picture):
        picture = f"pictures/{name}.png"
        assert f"]({picture})" in GALLERY
        assert (ROOT / "docs" / picture).read_bytes().startswith(FORMATS["png"])


def test_pictures_come_in_three_formats_and_do_not_change(tmp_path):
    picture = named_item("spechub_fig9").compute(Settings(quick=True))
    for ending, magic in FORMATS.items():
        first = picture.save(tmp_path / f"first.{ending}").read_bytes()
        assert first.startswith(magic)
        assert picture.save(tmp_path / f"second.{ending}").read_bytes() == first


def test_a_second_run_replaces_the_line_of_its_item(tmp_path):
    for quick in (True, False):
        write(named_item("spectr_fig4"), Settings(quick=quick), tmp_path, [])
    write(named_item("pooled_barriers"), Settings(), tmp_path, [])
    text = (tmp_path / PROVENANCE).read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert [(line["item"], line["quick"]) for line in lines] == [
        ("pooled_barriers", False),
        ("spectr_fig4", False),
    ]


def test_the_command_lists_and_writes(tmp_path, capsys):
    assert figures("--list") == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in ITEMS)
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
    assert numbers.as_markdown() == (
        "| rule | k | acceptance |\n| --- | --- | --- |\n"
        "| optimum | 2 | 0.8500 |\n| naive | 2 | 0.0000 |\n"
    )
    with pytest.raises(ValueError, match="has not one cell for each"):
        Numbers(("rule",), (("optimum", 2),))


def test_every_item_is_registered_in_its_own_module_in_the_order_of_tables():
    assert list(ITEMS) == list(MODULES)
    for name, each in ITEMS.items():
        assert each.__module__ == f"figures.{name}"
        assert issubclass(each, Picture) != issubclass(each, Table)


def test_what_is_no_item_is_refused():
    with pytest.raises(ValueError, match="is no subclass of Item"):
        ITEMS.add("other", int)
    with pytest.raises(ValueError, match="there is another item named 'spectr_fig4'"):
        item("spectr_fig4", "ours")(type("Other", (Table,), {}))
    with pytest.raises(TypeError, match="has no class variable sede"):
        item("other", "ours", sede=1)(type("Other", (Item,), {}))
    assert "other" not in ITEMS
