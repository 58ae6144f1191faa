"""Several --draft: one draft of each of several models, on the command line."""

import json
from fractions import Fraction

import numpy as np
import pytest
from command_line import complaint, run

import otspec
from otspec.cli.shared import different_models

FIRST, SECOND, TARGET = "1/2,3/10,1/5", "1/5,1/5,3/5", "1/10,3/5,3/10"
MODELS = ("--draft", FIRST, "--draft", SECOND, TARGET)
DECIMALS = ("--draft", "0.5,0.3,0.2", "--draft", "0.2,0.2,0.6", "0.1,0.6,0.3")
ROWS = [[Fraction(cell) for cell in row.split(",")] for row in (FIRST, SECOND, TARGET)]


def best():
    return otspec.optimal_acceptance(otspec.Independent(ROWS[:2]), ROWS[2])


def test_accept_prints_the_optimum_and_its_cut(capsys):
    printed = run(capsys, "accept", *MODELS)
    assert "2       0.840000 = 21/25  {0, 2}" in printed
    assert (
        "With one draft of each of 2 models, a draft is accepted with probability 84.0%" in printed
    )


@pytest.mark.parametrize("more", [(), ("--exact",)])
def test_accept_json_is_what_the_library_says(capsys, more):
    document = json.loads(run(capsys, "accept", *DECIMALS, *more, "--json"))
    assert (document["drafts"], document["n"]) == ("independent", 3)
    (row,) = document["results"]
    found = best()
    if more:
        assert Fraction(row["acceptance"]) == Fraction(row["at_most"]) == found.acceptance
    else:
        eps = float(np.finfo(float).eps)
        assert row["at_most"] == pytest.approx(float(found.acceptance), abs=8 * eps)
    assert (row["k"], row["cut"]) == (2, list(found.cut))


def test_compare_shows_every_rule_exactly(capsys):
    rows = json.loads(run(capsys, "compare", *MODELS, "--json"))
    assert {row["drafts"] for row in rows} == {"independent"}
    assert {row["k"] for row in rows} == {2}
    found = {row["rule"]: (Fraction(row["acceptance"]), Fraction(row["gap"])) for row in rows}
    law = otspec.Independent(ROWS[:2])
    rejection = otspec.rules.RecursiveRejectionIndependent(law, ROWS[2]).acceptance()
    assert found == {
        "optimum": (best().acceptance, 0),
        "priority mixture": (best().acceptance, 0),
        "recursive rejection (best order 1, 2)": (rejection, best().acceptance - rejection),
    }


def test_compare_shows_the_given_and_the_best_order(capsys):
    law = otspec.Independent([[0.2, 0.2, 0.6], [0.5, 0.3, 0.2]])
    rule = otspec.rules.RecursiveRejectionIndependent(law, [0.1, 0.6, 0.3])
    assert rule.best_order() == (1, 0)
    printed = run(
        capsys, "compare", "--draft", "0.2,0.2,0.6", "--draft", "0.5,0.3,0.2", "0.1,0.6,0.3"
    )
    given, turned = rule.acceptance(), rule.in_order((1, 0)).acceptance()
    assert f"recursive rejection (order 1, 2)       independent      {given:.4f}" in printed
    assert f"recursive rejection (best order 2, 1)  independent      {turned:.4f}" in printed
    assert "Priority mixture attains it" in printed


def test_one_model_is_draft(capsys):
    given = ["-k", "1,3", "--drafts", "without-replacement", "--exact"]
    named = run(capsys, "accept", "--draft", FIRST, TARGET, *given)
    assert named == run(capsys, "accept", FIRST, TARGET, *given)
    given = ["-k", "2", "--json"]
    named = run(capsys, "compare", "--draft", FIRST, TARGET, *given)
    assert named == run(capsys, "compare", FIRST, TARGET, *given)


def test_files_and_large_vocabularies_give_an_interval(capsys, tmp_path):
    rows = np.random.default_rng(4).dirichlet(np.full(3_000, 0.02), size=4)
    np.save(tmp_path / "rows.npy", rows)
    files = [f"{tmp_path}/rows.npy:{i}" for i in range(4)]
    arguments = [part for name in files[:3] for part in ("--draft", name)] + files[3:]
    (row,) = json.loads(run(capsys, "accept", *arguments, "--json"))["results"]
    assert 0 <= row["at_most"] - row["acceptance"] <= different_models.GAP
    law = otspec.Independent(rows[:3])
    bound = otspec.optimum.cut_bound(law, rows[3], row["cut"])
    assert row["at_most"] == pytest.approx(bound, abs=law.accuracy)
    printed = run(capsys, "accept", *arguments)
    assert "The cut proves the second number, and a priority mixture accepts the first." in printed
    compared = json.loads(run(capsys, "compare", *arguments, "--json"))
    (mixture,) = (found for found in compared if found["rule"] == "priority mixture")
    low, high = mixture["interval"]
    assert row["acceptance"] <= low <= mixture["acceptance"] <= high <= row["at_most"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("accept", "--draft", FIRST, "--draft", SECOND), "Missing argument 'TARGET'"),
        (("accept", FIRST), "Missing argument 'TARGET'"),
        (("accept",), "Missing argument 'DRAFT'"),
        (("accept", *MODELS, TARGET), "stand beside --draft: write each model after a --draft"),
        (("accept", *MODELS, "-k", "2"), "-k is for one DRAFT, and there are several --draft"),
        (("compare", *MODELS, "--drafts", "iid"), "--drafts is for one DRAFT, and there are"),
        (("compare", *MODELS, "--plot", "x.png"), "leave --plot out"),
        (("accept", "--draft", "1,0", "--draft", "0.5,0.6", "1,0"), "draft 2 sums to 1.1, not 1"),
        (("accept", "--draft", "1,0", "--draft", "1,0,0", "1,0"), "draft 1 has 2 tokens and draft"),
        (("accept", "--draft", "0.5,0.5", "--draft", "1/2,1/2", "1,0"), "(or add --exact)"),
        (("solve", "--draft", FIRST, TARGET), "No such option"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, says):
    assert says in complaint(capsys, *arguments)


def test_exact_models_over_many_tokens_are_refused(capsys):
    row = ",".join(["1/200"] * 200)
    says = complaint(capsys, "accept", "--draft", row, "--draft", row, row)
    assert "exact results for 2 models over 200 tokens take minutes: use decimals" in says
