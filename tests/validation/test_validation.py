"""The frame of the validation book: claims, searches, reports and the command."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner

from otspec.cli.main import run as run_command
from validation import __main__ as command
from validation import report
from validation.claim import (
    Claim,
    Corrected,
    Counterexample,
    Evidence,
    Fails,
    Search,
    above,
    at_least,
    equal,
    law_of,
    weights_of,
)
from validation.instances import distributions, pairs, smallest_pairs
from validation.registry import CLAIMS, PAPERS
from validation.running import Finding, check_claim, check_claims

ROOT = Path(__file__).parents[2]
HALF = Fraction(1, 2)
LISTED = re.compile(r"^\| `?([a-z_]+\.[A-Za-z0-9_.+-]+)`? \|", re.MULTILINE)


def test_the_comparisons_return_slack_or_fail_with_both_numbers():
    assert equal(HALF, HALF) == 0
    assert at_least(HALF, Fraction(1, 3)) == Fraction(1, 6)
    assert above(1, HALF) == HALF
    for fails in (lambda: equal(1, 2), lambda: at_least(1, 2), lambda: above(1, 1)):
        with pytest.raises(Fails, match="1"):
            fails()


def test_a_search_counts_what_it_checked_and_keeps_the_least_slack():
    found = Search(instances=3).every(
        ({"draft": n} for n in range(10)), lambda draft: None if draft == 1 else 5 - draft
    )
    assert found == Evidence(instances=3, worst=2)


def test_a_search_stops_when_its_time_is_up():
    search = Search(seconds=1e-9)
    assert search.every(({"draft": n} for n in range(10)), lambda draft: draft).instances == 0


def test_a_counterexample_is_shrunk():
    def claim(draft, target, k):
        """Claim, wrongly, that no token has more target than half and draft together."""
        worst = max(q - p for p, q in zip(draft, target, strict=True))
        return at_least(HALF, worst) if k < 5 else None

    big = {
        "draft": law_of((3, 7, 11, 2)),
        "target": law_of((0, 1, 2, 90)),
        "k": 4,
    }
    found = Search().every([big], claim)
    assert isinstance(found, Counterexample)
    assert found.instance == {
        "draft": (Fraction(1), Fraction(0)),
        "target": (Fraction(0), Fraction(1)),
        "k": 1,
    }


def test_weights_are_the_smallest():
    assert weights_of((HALF, Fraction(1, 3), Fraction(1, 6))) == (3, 2, 1)
    assert law_of((3, 2, 1)) == (HALF, Fraction(1, 3), Fraction(1, 6))


def test_distributions_with_one_denominator_are_all_there_once():
    found = [law for denominator in (1, 2, 3, 6) for law in distributions(3, denominator)]
    # All triples of sixths: (6 + 2) choose 2.
    assert len(found) == len(set(found)) == 28
    assert all(sum(law) == 1 for law in found)


def test_the_smallest_pairs_come_by_size_and_random_ones_are_reproducible():
    def size(pair):
        return len(pair["draft"]) + sum(
            max(mass.denominator for mass in pair[name]) for name in ("draft", "target")
        )

    sizes = [size(pair) for pair in islice(smallest_pairs(3), 300)]
    assert sizes == sorted(sizes)
    first, second = (list(islice(pairs(7, enumerated=50), 100)) for _ in range(2))
    assert first == second
    assert first != list(islice(pairs(8, enumerated=50), 100))
    assert all(sum(pair["draft"]) == sum(pair["target"]) == 1 for pair in first)


def finding(outcome, corrected=None):
    """A finding about the first claim of the book."""
    identifier = next(iter(CLAIMS))
    return Finding(identifier, outcome, corrected, 0.25)


def test_reports_say_what_was_found():
    bad = Counterexample({"draft": (HALF, HALF), "k": 2}, "1/3, but claimed is 2/3", 4)
    refuted = finding(bad, Evidence(1_000, Fraction(0), "n <= 3"))
    assert "refuted; corrected: holds" in report.row(refuted)
    as_json = json.loads(json.dumps(report.as_json([refuted])))
    assert as_json[0]["counterexample"] == {"draft": "(1/2, 1/2)", "k": "2"}
    page = report.as_html([refuted])
    assert "<table>" in page
    assert "draft = (1/2, 1/2), k = 2: 1/3, but claimed is 2/3" in page
    assert "1/3, but claimed is 2/3" in report.as_errata([refuted])


def test_html_escapes_what_it_is_given():
    page = report.as_html([finding(Counterexample({"draft": "<script>"}, "a < b"))])
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_a_check_that_looked_at_nothing_is_no_evidence(monkeypatch):
    empty = Claim("beyond.nothing", "nowhere", "nothing", lambda _: Evidence(0))
    monkeypatch.setattr("validation.running.CLAIMS", {empty.id: empty})
    with pytest.raises(RuntimeError, match="no instance"):
        check_claim(empty.id, Search())


def test_several_processes_find_the_same():
    names = ["beyond.lifetimes", "beyond.prefix_iid"]
    search = Search(seconds=60, instances=20)
    alone = {each.id: each.outcome for each in check_claims(names, search)}
    together = {each.id: each.outcome for each in check_claims(names, search, jobs=2)}
    assert alone == together


def run(*arguments):
    return CliRunner().invoke(command.main, list(arguments))


def test_the_command_lists_and_checks():
    listed = run("--list", "--paper", "beyond")
    assert listed.exit_code == 0
    assert "beyond.cut" in listed.output
    checked = run("beyond.prefix_iid", "--instances", "10", "--jobs", "1")
    assert checked.exit_code == 0, checked.output
    assert "holds" in checked.output


def test_the_command_writes_pages_and_json(tmp_path):
    result = run(
        "beyond.lifetimes", "--instances", "10", "--jobs", "1", "--json",
        "--html", str(tmp_path / "page.html"), "--errata", str(tmp_path / "errata.md"),
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)[0]["verdict"] == "refuted"
    assert "Corrected" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "beyond.lifetimes" in (tmp_path / "errata.md").read_text(encoding="utf-8")


def test_a_verdict_that_is_not_the_recorded_one_ends_with_status_1(monkeypatch, tmp_path):
    record = tmp_path / "recorded.json"
    monkeypatch.setattr(command, "RECORDED", record)
    arguments = ("beyond.prefix_iid", "--instances", "10", "--jobs", "1")
    assert run(*arguments).exit_code == 1  # nothing is recorded
    assert run(*arguments, "--record").exit_code == 0
    record.write_text('{"beyond.prefix_iid": {"printed": "refuted"}}', encoding="utf-8")
    differing = run(*arguments)
    assert differing.exit_code == 1
    assert "recorded is" in differing.output


@pytest.mark.parametrize(
    "arguments",
    [("spechub.thm99",), ("--budget", "0"), ("--paper", "unknown"), ("--jobs", "0")],
)
def test_bad_input_is_refused_with_status_2(arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_bad_input_is_one_line(capsys):
    assert run_command(command.main, ["spechub.thm99"], "python -m validation") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("python -m validation: ")
    assert "'spechub.thm99' is no claim: --list names them" in error


@pytest.mark.parametrize("paper", PAPERS)
def test_every_item_of_a_paper_is_in_the_registry(paper):
    page = (ROOT / "docs" / "claims" / f"{paper}.md").read_text(encoding="utf-8")
    first_table = page.split("Left out")[0]
    listed = LISTED.findall(first_table)
    assert len(listed) == len(set(listed)) > 0
    assert set(listed) == {name for name, claim in CLAIMS.items() if claim.paper == paper}


def test_what_is_no_claim_of_a_paper_is_refused():
    claim = next(iter(CLAIMS.values()))
    with pytest.raises(ValueError, match="is no Claim"):
        CLAIMS.add("beyond.other", "text")
    for name, other in (("beyond.other", claim), ("else.one", replace(claim, id="else.one"))):
        with pytest.raises(ValueError, match="is to be named"):
            CLAIMS.add(name, other)
    with pytest.raises(ValueError, match="there is another claim named"):
        CLAIMS.add(claim.id, replace(claim))
    assert "beyond.other" not in CLAIMS


def test_every_claim_says_where_it_stands_and_has_a_recorded_verdict():
    recorded = command.recorded()
    assert set(recorded) == set(CLAIMS)
    for claim in CLAIMS.values():
        assert claim.where, claim.id
        assert claim.statement, claim.id
        refuted = recorded[claim.id]["printed"] == "refuted"
        assert not refuted or isinstance(claim.corrected, Corrected), claim.id
        if refuted:
            assert recorded[claim.id]["corrected"] in ("holds", "proved"), claim.id


def test_the_page_counts_the_recorded_verdicts_and_the_errata_have_all_that_is_refuted():
    verdicts = [found["printed"] for found in command.recorded().values()]
    page = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    holds, proved, refuted = (verdicts.count(each) for each in ("holds", "proved", "refuted"))
    told = f"Of {len(verdicts)} claims {holds} hold on every instance, {proved} are proved"
    assert told in page
    assert f"{refuted} fail as printed" in page
    errata = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    assert re.findall(r"^### (\S+):", errata, re.MULTILINE) == [
        name for name, found in command.recorded().items() if found["printed"] == "refuted"
    ]
