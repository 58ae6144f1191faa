"""The commands: what they print, what they write, and one line for whatever is wrong."""

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from command_line import complaint, run, write_trace
from pyarrow.parquet import read_table

import otspec
from otspec.cli.main import main

DRAFT, TARGET = "1/2,3/10,1/5", "1/10,3/5,3/10"
PNG = b"\x89PNG\r\n"


def test_accept_exact_prints_fractions(capsys):
    printed = run(capsys, "accept", "0.5,0.3,0.2", "0.1,0.6,0.3", "-k", "2", "--exact")
    assert "17/20" in printed


def test_accept_json_is_exact(capsys):
    document = json.loads(run(capsys, "accept", DRAFT, TARGET, "-k", "1,2", "--json"))
    assert [Fraction(row["acceptance"]) for row in document["results"]] == [
        Fraction(3, 5),
        Fraction(17, 20),
    ]
    assert [row["cut"] for row in document["results"]] == [[0], [0]]


@pytest.mark.parametrize(
    ("draft", "target", "acceptance"),
    [
        ("1/2,1/2", "0,1", "3/4"),
        ("0,1", "1/2,1/2", "1/2"),
        ("1/2,1/2", "ones.json", "3/4"),
        ("halves.json", "0, 1", "3/4"),
        ("1,0", "0,1", 0.0),
        ("3,1", "1,3", 0.6875),
        ("3,1", "1/4,3/4", "11/16"),
        ("0.5,0.5", "0,1", 0.75),
        ("0.5,0.5", "ones.json", 0.75),
        ("weights.csv", "1/4,3/4", "11/16"),
    ],
)
def test_integers_are_exact_beside_fractions_only(
    capsys, tmp_path, monkeypatch, draft, target, acceptance
):
    """At k = 2 with at most one token that the target has more of: target(A) + 1 - draft(A)^2."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("ones.json", "[0, 1]"), ("halves.json", '["1/2", "1/2"]')):
        Path(name).write_text(text, encoding="utf-8")
    Path("weights.csv").write_text("3,1", encoding="utf-8")
    weights = ["--normalize"] if {"3,1", "weights.csv"} & {draft} else []
    printed = run(capsys, "accept", draft, target, *weights, "--json")
    assert json.loads(printed)["results"][0]["acceptance"] == acceptance


def test_an_integer_beyond_floats_is_exact_beside_fractions(capsys):
    """The target has more of token 0 alone: target(1) + 1 - draft(1)^2, as above."""
    large = 10**400
    printed = run(capsys, "accept", "1/3,2/3", f"{large},1", "--normalize", "--json")
    found = Fraction(json.loads(printed)["results"][0]["acceptance"])
    assert found == Fraction(1, large + 1) + 1 - Fraction(2, 3) ** 2


def test_logits_that_are_integers_are_floats(capsys):
    printed = run(capsys, "accept", "0,0", "0,0", "--logits", "--json")
    assert json.loads(printed)["results"][0]["acceptance"] == 1.0


@pytest.mark.parametrize(
    ("drafts", "law"),
    [
        ("iid", otspec.IID([0.6, 0.3, 0.1], 2)),
        ("without-replacement", otspec.WithoutReplacement([0.6, 0.3, 0.1], 2)),
        ("hub", otspec.Hub([0.6, 0.3, 0.1])),
        ("top-plus-one", otspec.TopPlusOne([0.6, 0.3, 0.1], 2)),
        ("top", otspec.TopK([0.6, 0.3, 0.1], 2)),
    ],
)
def test_accept_knows_every_law(capsys, drafts, law):
    printed = run(
        capsys, "accept", "0.6,0.3,0.1", "0.1,0.2,0.7", "-k", "2", "--drafts", drafts, "--json"
    )
    acceptance = json.loads(printed)["results"][0]["acceptance"]
    assert acceptance == otspec.optimal_acceptance(law, [0.1, 0.2, 0.7]).acceptance


def test_accept_takes_logits_and_weights(capsys):
    logits = np.log([0.5, 0.3, 0.2])
    printed = run(
        capsys, "accept", ",".join(map(str, logits)), "0,0,0", "--logits", "--json", "-k1"
    )
    # Σ min(p, 1/3); the softmax and the text of the logits round at the 16th digit.
    assert json.loads(printed)["results"][0]["acceptance"] == pytest.approx(
        1 / 3 + 0.5, abs=4 * np.finfo(float).eps
    )
    printed = run(capsys, "accept", "5,3,2", "1,6,3", "--normalize", "--exact", "--json")
    assert json.loads(printed)["results"][0]["acceptance"] == "17/20"


def test_accept_temperature_divides_logits(capsys):
    arguments = ["--logits", "--json", "-k1"]
    cold = run(capsys, "accept", "2,0", "0,2", "--temperature", "2", *arguments)
    assert cold == run(capsys, "accept", "1,0", "0,1", *arguments)


def test_a_long_cut_and_a_long_fraction_are_cut_short(capsys):
    # Distinct primes as weights, so that nothing cancels.
    draft = "2,3,5,7,11,13,17,19,23,29,31"
    target = "1,1,1,1,1,1,1,1,1,1,97"
    printed = run(capsys, "accept", draft, target, "--normalize", "--exact", "-k", "8")
    assert re.search(r"\d{3}…\d{3}/\d{3}…\d{3} \(\d+ digits\)", printed)
    printed = run(capsys, "accept", target, draft, "--normalize", "--exact", "-k", "1")
    assert "{10}" in printed
    printed = run(capsys, "accept", draft, target, "--normalize", "-k", "1")
    assert "0, 1, 2, 3, 4, 5, 6, 7, … 10 tokens}" in printed


def test_compare_lists_every_rule_with_its_gap(capsys):
    rows = json.loads(run(capsys, "compare", DRAFT, TARGET, "-k", "1,2", "--json"))
    for row in rows:
        gap = Fraction(row["optimum"]) - Fraction(row["acceptance"])
        assert Fraction(row["gap"]) == gap >= 0
    found = {(row["rule"], row["k"]): row["acceptance"] for row in rows}
    assert found["recursive rejection", 2] == "4/5"
    assert found["maximal coupling", 1] == "3/5"
    assert ("maximal coupling", 2) not in found
    assert found["SpecHub", 2] == "1"


def test_compare_can_be_restricted_to_one_law(capsys):
    rows = json.loads(run(capsys, "compare", DRAFT, TARGET, "-k2", "--drafts", "hub", "--json"))
    assert [row["rule"] for row in rows] == ["optimum", "SpecHub"]


EVERY_RULE = (
    "K-sequential, recursive rejection, importance sampling, naive sampling, pooled selection and "
    "shared noise (lists)"
)
PRICE = "The output of some rules does not depend on the drafts. Their gaps in percentage points: "


@pytest.mark.parametrize(
    ("pair", "drafts", "clauses"),
    [
        (
            (DRAFT, TARGET),
            "iid",
            [
                "85.0% can be accepted (iid drafts)",
                "Importance sampling and pooled selection attain it",
                "The best of the other rules, k-sequential, accepts 81.5%",
            ],
        ),
        (
            (DRAFT, TARGET),
            "without-replacement",
            [
                "100.0% can be accepted (without-replacement drafts)",
                "Pooled selection (distinct) attains it",
                "The best of the other rules, shared noise, accepts 96.1%",
            ],
        ),
        ((DRAFT, TARGET), "hub", ["100.0% can be accepted (hub drafts)", "SpecHub attains it"]),
        (
            (DRAFT, TARGET),
            "top-plus-one",
            [
                "100.0% can be accepted (top-plus-one drafts)",
                "Coupling of the drawn draft attains it",
            ],
        ),
        (
            ("1,0", "1,0"),
            "iid",
            ["100.0% can be accepted (iid drafts)", f"{EVERY_RULE} attain it"],
        ),
    ],
)
def test_compare_says_what_attains_the_optimum(capsys, pair, drafts, clauses):
    printed = run(capsys, "compare", *pair, "-k", "2", "--drafts", drafts)
    meant = "".join(f"{clause}.\n" for clause in clauses)
    assert f"\n\nWith k = 2, at most {meant}" in printed


def test_compare_says_what_an_output_costs_that_no_draft_changes(capsys):
    """.85 - .489 and .85 - .766 of i.i.d. drafts, 1 - .961 of distinct ones (Theory, 33)."""
    *_, price = run(capsys, "compare", DRAFT, TARGET, "-k", "2").splitlines()
    assert price == (
        f"{PRICE}naive sampling 36.1 (iid), shared noise (lists) 8.4 (iid), shared noise 3.9 "
        "(without-replacement) and target-only verification 0.0 (top)."
    )
    without = run(capsys, "compare", DRAFT, TARGET, "-k", "2", "--rule", "naive-sampling")
    assert PRICE not in without


def test_rules_are_shown_by_acceptance_the_best_ones_by_default(capsys):
    best, every = (
        run(capsys, "compare", DRAFT, TARGET, "-k2", *all_of) for all_of in ([], ["--all"])
    )
    (first, _), (second, _) = (printed.split("\n\n") for printed in (best, every))
    *rows, more = first.splitlines()
    assert more == "(--all shows 4 more)"
    assert rows == second.splitlines()[:9]
    document = json.loads(run(capsys, "compare", DRAFT, TARGET, "-k2", "--json"))
    accepted = [float(re.findall(r"\d\.\d{4}", line)[0]) for line in second.splitlines()[1:]]
    assert accepted == sorted(accepted, reverse=True)
    assert len(accepted) == sum(row["rule"] != "optimum" for row in document) == 12
    # Rules that are named are all shown, and ties stand in the order of the table of rules.
    named = run(capsys, "compare", "1/3,2/3", "2/3,1/3", "-k1,2", *["--rule=k-sequential"] * 9)
    assert "--all" not in named
    assert [line.split()[0] for line in named.splitlines()[:3]] == ["k", "1", "2"]


def test_rules_are_compared_by_name(capsys):
    printed = run(
        capsys, "compare", DRAFT, TARGET, "-k2", "--drafts=iid", "--rule=gumbel-lists", "--json"
    )
    assert [row["rule"] for row in json.loads(printed)] == ["optimum", "shared noise (lists)"]
    for command in (["compare", DRAFT, TARGET, "-k2"], ["trace", "-k2"], ["laws", "-k2"]):
        said = complaint(capsys, *command, "--drafts=hub", "--rule=target-only")
        assert "target-only verifies top drafts, which are not compared: add the law top" in said


def test_trace_says_what_attains_the_optimum(capsys, tmp_path):
    path = write_trace(tmp_path / "trace.npz")
    *_, optimum, attaining, best, price, certain = run(
        capsys, "trace", path, "-k", "2,1"
    ).splitlines()
    assert optimum.startswith("With 1 i.i.d. draft, a draft is accepted with mean probability ")
    coupled = "K-sequential, recursive rejection, importance sampling, maximal coupling"
    assert attaining == f"{coupled} and pooled selection attain it."
    assert best.startswith("The best of the other rules, shared noise (lists), reaches ")
    assert price.startswith(f"{PRICE}naive sampling ")
    assert "shared noise" in price
    assert certain.startswith(
        "If the 2 texts are a random sample, the mean optimum with 1 i.i.d. draft over "
    )
    same = np.zeros((1, 1), np.float16)
    np.savez(path, draft_logits=same, target_logits=same)
    assert run(capsys, "trace", path, "-k", "1").endswith(
        "mean probability 100.0% at best.\n"
        f"{coupled}, naive sampling, pooled selection and shared noise (lists) attain it.\n"
        f"{PRICE}naive sampling 0.0 (iid), shared noise (lists) 0.0 (iid) and shared noise 0.0 "
        "(without-replacement).\n"
        "One position gives no interval.\n"
    )


@pytest.mark.parametrize("drafts", [[], ["--drafts", "hub"], ["--drafts", "without-replacement"]])
def test_compare_draws_a_chart(capsys, tmp_path, drafts):
    chart = tmp_path / "rules.png"
    printed = run(capsys, "compare", DRAFT, TARGET, "-k", "2", "--plot", chart, *drafts)
    assert f"chart: {chart}" in printed
    assert chart.read_bytes().startswith(PNG)


def test_trace_writes_what_it_computed(capsys, tmp_path):
    path = write_trace(tmp_path / "trace.npz")
    out = tmp_path / "results"
    document = json.loads(run(capsys, "trace", path, "-k", "1,2,4", "--out", out, "--json"))
    assert json.loads((out / "summary.json").read_text(encoding="utf-8")) == document
    assert (out / "acceptance.png").read_bytes().startswith(PNG)
    rows = read_table(out / "positions").to_pylist()
    trace = otspec.traces.load_trace(path)
    for position, (_, draft, target) in enumerate(trace.pairs()):
        optimum = [
            row["acceptance"]
            for row in rows
            if (row["position"], row["rule"], row["drafts"]) == (position, "optimum", "iid")
        ]
        assert optimum == otspec.optimal_acceptances(draft, target, [1, 2, 4]).tolist()
    for mean in document["means"]:
        values = [
            row["acceptance"]
            for row in rows
            if (row["rule"], row["drafts"], row["k"]) == (mean["rule"], mean["drafts"], mean["k"])
        ]
        assert len(values) == mean["positions"] == 6
        # Both are sums of six numbers below 1.
        assert mean["acceptance"] == pytest.approx(sum(values) / 6, abs=6 * np.finfo(float).eps)


def test_trace_reads_the_bundled_trace_by_default(capsys):
    document = json.loads(run(capsys, "trace", "-k", "1", "--json"))
    assert (document["positions"], document["vocabulary"]) == (24, 49152)
    assert document["independent"] == "texts"


def test_trace_options_reach_the_distributions(capsys, tmp_path):
    path = write_trace(tmp_path / "trace.npz")
    greedy = json.loads(run(capsys, "trace", path, "-k", "1", "--top-k", "1", "--json"))
    trace = otspec.traces.load_trace(path)
    agree = np.mean(trace.draft_logits.argmax(-1) == trace.target_logits.argmax(-1))
    assert greedy["means"][0]["acceptance"] == agree
    assert (greedy["top_k"], greedy["top_p"], greedy["temperature"]) == (1, None, 1.0)


def test_no_progress_bar_into_a_pipe(capsys, tmp_path):
    assert main(["trace", str(write_trace(tmp_path / "trace.npz")), "-k", "1"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", ["accept", "compare", "trace"])
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_has_an_example(capsys, command, option):
    printed = run(capsys, command, option)
    assert printed.startswith(f"Usage: otspec {command}")
    assert f"Example: otspec {command}" in printed


def test_help_lists_the_commands_and_version_is_one_line(capsys):
    assert run(capsys) == run(capsys, "--help")
    for command in ("accept", "compare", "trace"):
        assert f"  {command}  " in run(capsys)
    assert run(capsys, "--version") == f"otspec, version {otspec.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["accept"], "Missing argument 'DRAFT'"),
        (["accept", "0.5,0.5", "1"], "draft has 2 tokens and target has 1"),
        (["accept", "0.5,0.6", "1,0"], "sums to 1.1"),
        (["accept", "0.5,0.6", "1,0"], "--normalize"),
        (["accept", "1/2,1/2", "0.5,0.5"], "(or add --exact)"),
        (["accept", "5,3", "1,0"], "draft[0] is 5.0"),
        (["accept", "5,3", "1,0"], "--logits"),
        (["accept", "nan,1", "1,0"], "draft[0] is nan"),
        (["accept", "1/0,1", "1,0"], "'1/0'"),
        (["accept", "a,b", "1,0"], "draft[0] is 'a'"),
        (["accept", "abc", "1,0"], "neither numbers"),
        (["accept", "", "1,0"], "neither numbers"),
        (["accept", "draft.txt", "1,0"], "neither numbers"),
        (["accept", "0.5,,0.5", "1,0"], "draft[1] is ''"),
        (["accept", "0.5,0.5", "1,0", "-k", "0"], "positive integers"),
        (["accept", "0.5,0.5", "1,0", "-k", "two"], "positive integers"),
        (["accept", "0.5,0.5", "1,0", "-k", "1,,2"], "positive integers"),
        (["accept", "0.5,0.5", "1,0", "-k", "3", "--drafts", "hub"], "come in pairs"),
        (["accept", "0.5,0.5", "1,0", "-k", "3", "--drafts", "without-replacement"], "2 tokens"),
        (["accept", "0.5,0.5", "1,0", "--drafts", "urn"], "'urn' is not one of"),
        (["accept", "0.5,0.5", "1,0", "--exakt"], "--exact"),
        (["accept", "0.5,0.5", "1,0", "--logits", "--exact"], "exclude each other"),
        (["accept", "0.5,0.5", "1,0", "--temperature", "2"], "--logits"),
        (["accept", "0.5,0.5", "1,0", "--logits", "--temperature", "0"], "temperature is 0"),
        (["accept", "0.5,0.5", "1,0", "--logits", "--temperature", "x"], "not a valid float"),
        (["accept", "inf,0", "1,0", "--logits"], "draft[0] is inf"),
        (["compare", "1,0", "1,0", "-k", "3", "--drafts", "hub"], "no hub drafts with k = 3"),
        (["compare", "1,0", "1,0", "--plot", "no/such/folder.png"], "there is no folder"),
        (["compare", "1,0", "1,0", "--plot", "chart.abc"], "Format 'abc' is not supported"),
        (["trace", "no.npz"], "no such file"),
        (["trace", "trace.txt"], "unknown file type: a trace is .npy, .npz, .safetensors, .zarr"),
        (["trace", "draft.npy"], "DRAFT.npy+TARGET.npy"),
        (["trace", "--resume"], "--resume needs --out"),
        (["trace", "--resume", "--overwrite", "--out", "run"], "exclude each other"),
        (["trace", "--temperature", "1,x"], "'1,x' is no list of numbers"),
        (["trace", "--top-k", "0"], "top_k must be at least 1, got 0"),
        (["trace", "--top-p", "1.5"], "top_p is 1.5"),
        (["trace", "--temperature", "-1"], "temperature is -1"),
        (["trace", "--temperature", "nan"], "temperature is nan"),
        (["trace", "-k", "99999999"], "positive integers"),
        (["tracee"], "No such command 'tracee'"),
    ],
)
def test_bad_input_is_one_line_that_names_the_fix(capsys, monkeypatch, tmp_path, arguments, says):
    monkeypatch.chdir(tmp_path)
    assert says in complaint(capsys, *arguments)


def test_an_output_folder_that_cannot_be_made_is_one_line(capsys, tmp_path):
    occupied = tmp_path / "file"
    occupied.touch()
    assert "file" in complaint(capsys, "trace", "--out", occupied / "below")
