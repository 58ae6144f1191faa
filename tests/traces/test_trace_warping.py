"""Draft and target warped apart: the values, traces, commands on logs, and what the report says."""

import json

import numpy as np
import pytest
import trace_files as files
from command_line import complaint, run, write_trace
from matplotlib.figure import Figure
from pyarrow.parquet import read_table

from otspec.logged import compare_on_blocks
from otspec.plots import temperatures
from otspec.plots.pictures import temperature_figure
from otspec.plots.positions import best_below, largest_counts
from otspec.reports.findings import restrictions_of, warpings_document
from otspec.traces import Warp, Warping, compare, load_trace, warp
from otspec.traces.statistics import Statistic
from otspec.traces.summary import TemperaturePair, by_temperatures
from otspec.warping import ORDERS

TARGET = {"temperature": 0.6, "top_k": 12, "min_p": 0.02, "order": "temperature-last"}
DRAFT = {"temperature": 1.3, "top_k": 12, "top_p": 0.9, "order": "temperature-last"}
OPTIONS = [
    "--temperature", "0.6", "--top-k", "12", "--min-p", "0.02", "--order", "temperature-last",
    "--draft-temperature", "1.3", "--draft-top-p", "0.9", "--draft-min-p", "0",
]  # fmt: skip


# What is done to each side


def test_what_is_not_given_of_the_draft_is_as_the_targets():
    alike = Warping(0.5, top_k=3)
    assert alike.of("draft") == alike.of("target") == Warp(0.5, top_k=3)
    apart = Warping(0.5, top_k=3, draft=Warp(min_p=0.1))
    assert (apart.of("target"), apart.of("draft")) == (Warp(0.5, top_k=3), Warp(min_p=0.1))
    assert apart == Warping(0.5, top_k=3, draft=Warp(min_p=0.1)) != alike
    assert hash(apart) != hash(alike)
    assert Warp(order="joint") == Warp(order=ORDERS["joint"]) == Warp(order=list(ORDERS["joint"]))


def test_a_warp_says_what_it_does():
    assert str(Warping()) == "T = 1"
    assert str(Warp(0.6, top_k=50, top_p=0.95, order="joint")) == (
        "T = 0.6, top-k = 50, top-p = 0.95, joint"
    )
    assert str(Warping(2, draft=Warp(min_p=0.1))) == "T = 2; draft T = 1, min-p = 0.1"
    assert Warp().idle
    assert not any(warp.idle for warp in (Warp(0.5), Warp(top_k=9), Warp(top_p=1), Warp(min_p=0)))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"temperature": 0}, "temperature is 0: it must be positive"),
        ({"top_k": 0}, "top_k must be at least 1"),
        ({"top_p": 0}, "top_p is 0: it must be above 0"),
        ({"min_p": 2}, "min_p is 2: it must be at least 0"),
        ({"order": "last"}, "order is 'last': it must be one of temperature-first, "),
        ({"normalize": 1}, "normalize is 1: it must be True or False"),
        ({"draft": {"temperature": 1}}, "it must be a Warp, or None"),
    ],
)
def test_options_out_of_range_are_refused(options, says):
    with pytest.raises(ValueError, match=says):
        Warping(**options)


def test_what_models_are_restricted_to_is_said_of_the_draft_if_apart():
    document = warpings_document(
        [Warping(t, top_k=9, draft=Warp(0.5, top_p=0.8, order="joint")) for t in (1, 2)]
    )
    assert document["temperature"] == [1, 2]
    assert document["draft"]["temperature"] == 0.5
    assert restrictions_of(document) == [
        ("top-k", 9),
        ("draft top-k", "none"),
        ("draft top-p", 0.8),
    ]


# Traces


def test_pairs_and_blocks_are_warped_apart(tmp_path):
    trace = load_trace(write_trace(tmp_path / "trace.npz", draft_tokens=np.ones((2, 2), int)))
    warping = Warping(**TARGET, draft=Warp(**DRAFT))
    for place, draft, target in trace.pairs(warping):
        assert (draft == warp(trace.draft_logits[place], **DRAFT)).all()
        assert (target == warp(trace.target_logits[place], **TARGET)).all()
    for text, block in enumerate(trace.blocks(warping)):
        assert (block.draft[1] == warp(trace.draft_logits[text, 1], **DRAFT)).all()
        assert (block.target[1] == warp(trace.target_logits[text, 1], **TARGET)).all()
    with pytest.raises(ValueError, match="warping is given beside other options"):
        trace.pairs(warping, top_k=2)
    with pytest.raises(ValueError, match=r"warping is .* it must be a Warping"):
        trace.pairs(Warp(0.5))


# Commands


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return files.save_npz(tmp_path_factory.mktemp("warped"), files.random_pair((4, 2, 30)))


def test_a_run_is_of_distributions_that_are_warped_apart(source, capsys, tmp_path):
    out = tmp_path / "out"
    printed = run(capsys, "trace", source, "-k", "2", *OPTIONS, "--out", out, "--workers", 1)
    assert printed.startswith(
        "Mean acceptance over 8 positions (T = 0.6, draft T = 1.3, top-k 12, min-p 0.02, "
        "draft top-p 0.9, draft min-p 0.0, order temperature-last)"
    )
    table = read_table(out / "positions").to_pylist()
    assert {(row["temperature"], row["draft_temperature"]) for row in table} == {(0.6, 1.3)}
    trace = load_trace(source)
    pairs = trace.pairs(Warping(**TARGET, draft=Warp(**DRAFT)))
    wanted = [row for _, *pair in pairs for row in compare(*pair, [2], ("iid",))]
    found = [row for row in table if row["drafts"] == "iid"]
    assert [row["acceptance"] for row in found] == [float(row.acceptance) for row in wanted]
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert {name: summary[name] for name in TARGET} == TARGET
    assert summary["draft"] == DRAFT | {"min_p": 0.0}
    assert {row["draft_temperature"] for row in summary["means"]} == {1.3}


def test_each_temperature_of_the_draft_meets_each_of_the_target(source, capsys, tmp_path):
    out, options = tmp_path / "out", ("--temperature", "0.5,1", "--draft-temperature", "1,2")
    printed = run(capsys, "trace", source, "-k1", "--drafts", "iid", *options, "--out", out)
    for heat in ("T = 0.5, draft T = 1.0", "T = 1.0", "T = 0.5, draft T = 2.0"):
        assert f"({heat})" in printed
    marks = {path.name for path in out.glob("*.png")}
    assert marks == {f"acceptance-T{mark}.png" for mark in
                     ("0.5-draft1", "1", "0.5-draft2", "1-draft2")}  # fmt: skip
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert (summary["temperature"], summary["draft"]["temperature"]) == ([0.5, 1.0], [1.0, 2.0])
    places = {(row["temperature"], row["draft_temperature"]) for row in summary["means"]}
    assert places == {(0.5, 1.0), (1.0, 1.0), (0.5, 2.0), (1.0, 2.0)}


def test_laws_say_what_the_models_are_restricted_to(source, capsys):
    options = ("-k1", "--drafts", "iid", "--top-k", 3, "--draft-top-k", 5)
    printed = run(capsys, "laws", source, *options)
    assert "means over 8 positions, top-k 3, draft top-k 5" in printed


def test_blocks_of_a_file_are_looked_at_through_a_warping(capsys, tmp_path):
    path = write_trace(tmp_path / "trace.npz", draft_tokens=np.ones((2, 2), int))
    printed = run(capsys, "blocks", path, "-L1", "--temperature", 0.6, "--draft-top-p", 0.9)
    assert "trace.npz (T = 0.6; draft T = 0.6, top-p = 0.9)" in printed
    logged = list(load_trace(path).blocks(Warping(0.6, draft=Warp(0.6, top_p=0.9))))
    document = json.loads(
        run(capsys, "blocks", path, "-L1", "--temperature", 0.6, "--draft-top-p", 0.9, "--json")
    )
    expected = [row.expected for row in compare_on_blocks(logged, [1])]
    assert [row["expected"] for row in document["blocks"]] == expected
    said = complaint(capsys, "blocks", path, "--temperature", "0.6,1")
    assert "take one number each" in said
    models = ("--draft", "1/2,1/2", "--target", "1/4,3/4")
    assert "is for logs" in complaint(capsys, "blocks", *models, "--min-p", 0.1)


def test_a_pair_of_logits_has_a_temperature_for_the_draft(capsys):
    logits = ("0,1,2", "2,1,0", "--logits", "-k1", "--json")
    found = json.loads(run(capsys, "accept", *logits, "--temperature", 2, "--draft-temperature", 3))
    draft, target = warp([0, 1, 2], temperature=3), warp([2, 1, 0], temperature=2)
    assert found["results"][0]["acceptance"] == pytest.approx(
        np.minimum(draft, target).sum(), abs=1e-15
    )
    said = complaint(capsys, "accept", "0.5,0.5", "1,0", "--draft-temperature", 2)
    assert "--draft-temperature 2.0 needs --logits" in said


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--min-p", "2"], "min_p is 2.0: it must be at least 0 and at most 1"),
        (["--draft-min-p", "-1"], "--draft-min-p is -1.0"),
        (["--draft-top-p", "0"], "--draft-top-p is 0.0: it must be above 0"),
        (["--draft-top-k", "0"], "--draft-top-k must be at least 1"),
        (["--temperature", "1,0"], "temperature is 0.0"),
        (["--draft-temperature", "1,nan"], "--draft-temperature is nan"),
        (["--order", "top-k"], "'--order': 'top-k' is not one of 'temperature-first'"),
    ],
)
def test_options_of_commands_are_refused_by_name(source, capsys, options, says):
    for command in ("trace", "laws"):
        assert says in complaint(capsys, command, source, "-k1", *options)


# The report


def statistic(rule, heat, acceptance, drafts="iid", k=2):
    return Statistic(
        rule=rule, drafts=drafts, k=k, acceptance=acceptance, optimum=0.8, positions=9,
        temperature=heat[0], draft_temperature=heat[1], units=9, acceptance_interval=(0.1, 0.9),
        gap_interval=(0.0, 0.5), gap_quantiles={},
    )  # fmt: skip


def rows_at(*heats):
    for heat in heats:
        yield statistic("optimum", heat, 0.8)
        yield statistic("k-sequential", heat, 0.75 - heat[0] / 8)
        yield statistic("naive sampling", heat, 0.3)
        yield statistic("pooled selection", heat, 0.8)


def lines(axes):
    return {line.get_label(): tuple(map(tuple, line.get_data())) for line in axes.lines}


def test_lines_of_rules_if_the_draft_is_as_warm_as_the_target():
    axes = temperatures(rows_at((1.0, 1.0), (0.5, 0.5)), Figure().add_subplot())
    assert lines(axes)["k-sequential"] == ((0.5, 1.0), (0.6875, 0.625))
    assert list(lines(axes)) == ["optimum", "k-sequential", "naive sampling", "pooled selection"]
    assert axes.get_xlabel() == "temperature"


def test_lines_of_draft_temperatures_if_these_are_apart():
    heats = [(target, draft) for draft in (2.0, 0.5) for target in (0.5, 1.0)]
    axes = temperatures(rows_at(*heats), Figure().add_subplot())
    assert lines(axes) == {
        f"{rule}, draft T = {draft:g}": ((0.5, 1.0), values)
        for draft in (0.5, 2.0)
        for rule, values in (("optimum", (0.8, 0.8)), ("k-sequential", (0.6875, 0.625)))
    }
    assert axes.get_xlabel() == "temperature of the target"
    assert best_below([row for row in rows_at((1.0, 1.0)) if row.acceptance == 0.8]) is None


def test_each_law_has_a_panel_with_its_most_drafts():
    rows = [
        *rows_at((1.0, 1.0), (0.5, 0.5)),
        *(statistic("optimum", (t, t), 0.9, law, k) for t in (0.5, 1.0)
          for law, k in (("hub", 2), ("top", 1), ("top", 4), ("without-replacement", 3))),
    ]  # fmt: skip
    figure = temperature_figure(rows, title="of all")
    titles = ["iid, k = 2", "hub, k = 2", "top, k = 4", "without-replacement, k = 3"]
    assert [axes.get_title() for axes in figure.axes] == titles
    assert list(largest_counts(rows)) == [("iid", 2), ("hub", 2), ("top", 4),
                                          ("without-replacement", 3)]  # fmt: skip
    assert temperature_figure(list(rows_at((1.0, 1.0))), title="of one") is None
    assert list(by_temperatures(rows)) == [TemperaturePair(1.0, 1.0), TemperaturePair(0.5, 0.5)]
    assert (str(TemperaturePair(1.0, 0.6)), TemperaturePair(1.0, 0.6).mark) == (
        "T = 1.0, draft T = 0.6",
        "T1-draft0.6",
    )


def test_the_report_says_what_the_temperatures_change(source, capsys, tmp_path):
    out, options = tmp_path / "report.html", ("--temperature", "0.5,1", "--draft-temperature", "1")
    laws = ("--drafts", "iid", "--drafts", "hub")
    document = json.loads(run(capsys, "trace", source, "-k2", *laws, *options, "--report", out,
                              "--json"))  # fmt: skip
    page = out.read_text(encoding="utf-8")
    section = page[page.index("What is gained") : page.index("<h2>All rules at T = 0.5, draft")]
    assert section.count("<tr>") == 1 + 2 * 2
    optima = [mean["acceptance"] for mean in document["means"] if mean["rule"] == "optimum"]
    assert len(optima) == 2 * 2
    assert all(f'<td data-name="optimum">{100 * most:.1f}%' in section for most in optima)
    for heat in ("T = 0.5, draft T = 1.0", "T = 1.0"):
        assert section.count(f'<td data-name="at" class="words">{heat}</td>') == 2
    run(capsys, "trace", source, "-k2", *laws, "--report", out)
    assert "T = 0.5" not in out.read_text(encoding="utf-8")
