"""Pictures and reports: tried before anything is computed, drawn after the results, any name."""

import json
import os
import sys
import warnings

import numpy as np
import pytest
import trace_files as files
from command_line import complaint, run

from otspec.cli.main import main
from otspec.plots import save_acceptance_chart
from otspec.plots.canvas import drawable
from otspec.plots.pictures import gap_figure
from otspec.traces import compare
from otspec.traces.printable import printable
from otspec.traces.statistics import Statistic

NAMES = (
    "$a$",
    "$\\frac{$",
    "a_$b",
    "语言模型",
    "ぬ\U0001f600",
    "e\u0301",
    "a\x01\x1b[31m",
    "\\udcff",
)
ALIKE = ("$a$", "a_$b", "语言模型", "e\u0301", "\\udcff")
PAIR = ([0.5, 0.3, 0.2], [0.1, 0.6, 0.3])


def raw_names():
    """The names above and one that is not UTF-8, as the file system gives it."""
    return [*NAMES, os.fsdecode(b"latin\xe9")]


def each_kind_of_name():
    """The names, of which those that are like another one are for the night."""
    return [
        pytest.param(name, marks=pytest.mark.nightly if name in ALIKE else ())
        for name in raw_names()
    ]


@pytest.mark.parametrize("name", raw_names(), ids=ascii)
def test_any_title_is_drawn_without_a_warning(tmp_path, name):
    draw(name, tmp_path / "chart.png")


@pytest.mark.parametrize("name", each_kind_of_name(), ids=ascii)
@pytest.mark.parametrize("ending", ["svg", "pdf"])
def test_any_title_is_drawn_in_other_formats_without_a_warning(tmp_path, name, ending):
    draw(name, tmp_path / f"chart.{ending}")


def draw(title, path):
    save_acceptance_chart(compare(*PAIR, [1, 2]), path, title=title)
    assert path.stat().st_size > 1000


@pytest.mark.parametrize("name", each_kind_of_name(), ids=ascii)
def test_any_title_of_a_gap_chart_is_drawn_without_a_warning(tmp_path, name):
    levels = dict.fromkeys((0.05, 0.25, 0.5, 0.75, 0.95), 0.1)
    row = Statistic(
        "naive sampling", "iid", 2, acceptance=0.5, optimum=0.6, positions=3, temperature=1.0,
        draft_temperature=1.0, units=3, acceptance_interval=(0.4, 0.6), gap_interval=(0.0, 0.2),
        gap_quantiles=levels,
    )  # fmt: skip
    figure = gap_figure([row], title=name)
    assert figure is not None
    figure.savefig(tmp_path / "gaps.png")


def test_what_the_font_lacks_and_what_no_page_shows_is_escaped():
    assert drawable("αβ $x$") == "αβ $x$"
    assert drawable("语a") == "\\u8bed" + "a"
    assert printable("语a\n\udcff\ud800\x7f") == "语a\\n\\xff\\ud800\\x7f"


@pytest.mark.parametrize("name", each_kind_of_name(), ids=ascii)
def test_a_trace_of_any_name_is_computed_drawn_and_reported(capsys, tmp_path, name):
    name = os.fsdecode(name.encode("utf-8", "surrogateescape"))  # as this locale spells it
    path, out = tmp_path / f"{name}.npz", tmp_path / "out"
    np.savez(path, **files.random_pair((2, 2, 5)))
    report = out / "report.html"
    options = ["-k", "1,2", "--workers", "1", "--out", str(out), "--report", str(report)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert main(["trace", str(path), *options]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "picture: " in printed.out
    assert (out / "acceptance.png").exists()
    assert printable(name).split("<")[0][:1] in report.read_text(encoding="utf-8")


def test_charts_and_tables_of_several_temperatures(tmp_path, capsys):
    source, out = files.save_npz(tmp_path, files.random_pair()), tmp_path / "out"
    printed = run(capsys, "trace", source, "-k2", "--temperature", "0.5,2", "--out", out)
    for temperature in ("0.5", "2"):
        assert f"(T = {float(temperature)})" in printed
        assert (out / f"acceptance-T{temperature}.png").stat().st_size > 1000


def broken(*_arguments, **_options):
    raise RuntimeError("no\nink")


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize(
    ("place", "what"),
    [
        ("otspec.cli.commands.trace.write_charts", "the picture"),
        ("otspec.reports.page.save_acceptance_chart", "the picture"),
        ("otspec.reports.page.write_report", "the report"),
    ],
)
def test_results_of_a_trace_outlive_a_picture(capsys, tmp_path, monkeypatch, place, what, as_json):
    path, out = tmp_path / "trace.npz", tmp_path / "out"
    np.savez(path, **files.random_pair((2, 2, 5)))
    monkeypatch.setattr(place, broken)
    options = ["-k1", "--workers", "1", "--out", str(out), "--report", str(tmp_path / "r.html")]
    assert main(["trace", str(path), *options, *(["--json"] if as_json else [])]) == 1
    printed = capsys.readouterr()
    assert printed.err == f"otspec: {what} was not written: no ink\n"
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["positions"] == 4
    assert json.loads(printed.out) == summary if as_json else "optimum" in printed.out
    assert (tmp_path / "r.html").exists() == (what != "the report")


def test_results_of_a_comparison_outlive_a_chart(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("otspec.plots.save_acceptance_chart", broken)
    arguments = ["compare", "0.5,0.5", "0.25,0.75", "-k1", "--plot", str(tmp_path / "c.png")]
    assert main(arguments) == 1
    printed = capsys.readouterr()
    assert printed.err == "otspec: the chart was not written: no ink\n"
    assert "optimum" in printed.out


@pytest.mark.parametrize("bad", ["no/folder/x.png", "x.abc", "x", ".", "folder.png", "x.png/y.png"])
@pytest.mark.parametrize("command", ["compare", "trace"])
def test_what_cannot_be_written_is_refused_before_it_is_computed(
    capsys, tmp_path, monkeypatch, command, bad
):
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "x.png").write_text("kept", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("otspec.cli.commands.compare.compare_rules", broken)
    monkeypatch.setattr("otspec.cli.shared.run_paths.open_run", broken)
    if command == "compare":
        complaint(capsys, "compare", "0.5,0.5", "0.25,0.75", "--plot", bad)
    else:
        complaint(capsys, "trace", "--report", bad)
        if "/" in bad:
            complaint(capsys, "trace", "--report", f"{bad[:-4]}.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.png", "x.png"]
    assert (tmp_path / "x.png").read_text(encoding="utf-8") == "kept"


def test_a_missing_package_is_noticed_before_the_run_is_opened(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("otspec.cli.shared.run_paths.open_run", broken)
    monkeypatch.setitem(sys.modules, "distributed", None)
    arguments = ["trace", "--out", tmp_path / "run", "--scheduler", "tcp://127.0.0.1:1"]
    assert "pip install 'otspec[cluster]'" in complaint(capsys, *arguments)
