"""Tables that commands write beside what they print: the same rows."""

import json

import pytest
from command_line import complaint, run, write_trace
from pyarrow.csv import read_csv
from pyarrow.parquet import read_table

from otspec.cli.main import main

PAIR = ("1/2,3/10,1/5", "1/10,3/5,3/10")
MODELS = ("--draft", "1/2,1/2", "--target", "1/4,3/4")


def test_compare_writes_the_rows_that_it_prints(capsys, tmp_path):
    path = tmp_path / "rows.parquet"
    printed = json.loads(run(capsys, "compare", *PAIR, "-k1,2", "--json", "--table", path))
    rows = read_table(path).to_pylist()
    assert len(rows) == len(printed)
    for row, wanted in zip(rows, printed, strict=True):
        assert (row["rule"], row["drafts"], row["k"]) == tuple(list(wanted.values())[:3])
        assert [row[f"{name}_exact"] for name in ("acceptance", "gap")] == [
            wanted["acceptance"],
            wanted["gap"],
        ]


def test_where_the_table_is_is_said(capsys, tmp_path):
    path = tmp_path / "rows.csv"
    assert run(capsys, "compare", *PAIR, "--table", path).splitlines()[-1] == f"table: {path}"
    assert run(capsys, "blocks", *MODELS, "--table", path).splitlines()[-1] == f"table: {path}"


def test_trace_writes_its_means(capsys, tmp_path):
    trace, path = write_trace(tmp_path / "trace.npz"), tmp_path / "run" / "rows.csv"
    options = ("-k1,2", "--workers", 1, "--json", "--out", tmp_path / "run", "--table", path)
    means = json.loads(run(capsys, "trace", trace, *options))["means"]
    rows = read_csv(path).to_pylist()
    assert [row["acceptance"] for row in rows] == [mean["acceptance"] for mean in means]
    assert [row["gap_quantiles_0.5"] for row in rows] == [
        mean["gap_quantiles"]["0.5"] for mean in means
    ]
    lows = [mean["gap_interval"] and mean["gap_interval"][0] for mean in means]
    assert [row["gap_low"] for row in rows] == lows


def test_laws_writes_the_means_of_each_law(capsys, tmp_path):
    trace, path = write_trace(tmp_path / "trace.npz"), tmp_path / "rows.parquet"
    options = ("-k1,2", "--draft-temperature", "0.5", "--workers", 1, "--json", "--table", path)
    printed = json.loads(run(capsys, "laws", trace, *options))
    rows = read_table(path).to_pylist()
    for row, wanted in zip(rows, printed, strict=True):
        interval = wanted.pop("optimum_interval")
        above = wanted.pop("above_iid_interval")
        assert [row.pop(f"optimum_{end}") for end in ("low", "high")] == interval
        assert [row.pop(f"above_iid_{end}") for end in ("low", "high")] == above
        assert row == wanted


def test_simulate_writes_rates_as_lists(capsys, tmp_path):
    path = tmp_path / "rows.parquet"
    options = ("--tree", "2x1", "--tree", "1x1", "--rule", "recursive-rejection", "--json")
    printed = json.loads(run(capsys, "simulate", *options, "--table", path))
    rows = read_table(path).to_pylist()
    for row, wanted in zip(rows, printed, strict=True):
        assert (row["tree"], row["calls"]) == (wanted["tree"], wanted["calls"])
        length = wanted["mean_acceptance_length"]
        assert row["acceptance_length"] == length["value"]
        assert [row["acceptance_length_low"], row["acceptance_length_high"]] == length["interval"]
        rates = [rate["value"] for rate in wanted["conditional_acceptance_rate"]]
        assert row["conditional"] == rates


def test_blocks_writes_blocks_and_trees_into_one_table(capsys, tmp_path):
    path = tmp_path / "rows.parquet"
    options = ("--tree", "2x2", "--tree", "2x1", "--json", "--table", path)
    printed = json.loads(run(capsys, "blocks", *MODELS, *options))
    table = read_table(path)
    rows = table.to_pylist()
    wanted = [*printed["blocks"], *printed["trees"]]
    assert [row["expected_exact"] for row in rows] == [row["expected"] for row in wanted]
    assert [row["length"] for row in rows] == [row.get("length") for row in wanted]
    assert [row["tree"] for row in rows] == [row.get("tree") for row in wanted]
    assert table.schema.metadata[b"otspec"]


@pytest.mark.parametrize("models", [MODELS, ()], ids=["models", "bundled trace"])
def test_best_trees_are_a_table(capsys, tmp_path, models):
    path = tmp_path / "rows.parquet"
    options = (
        "--budget",
        2,
        "--widest",
        2,
        "--draft-cost",
        "0.1",
        "--target-cost",
        "1",
        "--json",
        "--table",
        path,
    )
    printed = json.loads(run(capsys, "blocks", *models, *options))
    rows = read_table(path).to_pylist()
    found = {(row["rule"], row["choice"]): row for row in rows}
    for each in printed["rules"]:
        for choice in ("best", "branching", "chain", "fastest"):
            wanted, row = each[choice], found.get((each["rule"], choice))
            assert (wanted is None) == (row is None)
            if row is not None:
                known = row["expected_exact"] or row["expected"]
                assert (row["tree"], known) == (wanted["tree"], wanted["expected"])
                assert row["seconds"] == wanted.get("seconds")
    for each in printed["dynamic"]:
        row = found[each["title"], "dynamic"]
        assert (row["tree"], row["nodes"]) == (None, each["nodes"])


COMMANDS = {"compare": PAIR, "blocks": MODELS, "trace": ("-k1",), "laws": ("-k1",), "simulate": ()}


@pytest.mark.parametrize("command", COMMANDS)
def test_tables_that_cannot_be_are_refused_before_anything_is_computed(
    capsys, tmp_path, command, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("rows.xlsx", "rows", "no/rows.csv"):
        said = complaint(capsys, command, *COMMANDS[command], "--table", name)
        assert name in said
    assert not list(tmp_path.iterdir())


def test_results_stand_if_the_table_cannot_be_written(capsys, tmp_path, monkeypatch):
    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr("otspec.cli.shared.output.write_table", full)
    assert main(["compare", *PAIR, "--table", str(tmp_path / "rows.csv")]) == 1
    printed = capsys.readouterr()
    assert "pooled selection" in printed.out
    assert printed.err == "otspec: the table was not written: no space left\n"
