"""The frame of the validation book: claims, searches, reports and the command."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import count, islice
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from otspec.cli.main import run as run_command
from validation import __main__ as command
from validation import pages, report
from validation.claim import (
    BOOK,
    Claim,
    Counterexample,
    Evidence,
    Fails,
    Severity,
    above,
    at_least,
    claim,
    corrected,
    equal,
)
from validation.domains import (
    Domain,
    cases,
    distributions,
    given,
    law_of,
    pairs,
    smallest_pairs,
    weights_of,
)
from validation.registry import CLAIMS, PAPERS
from validation.running import Finding, check_claim, check_claims
from validation.search import Search

ROOT = Path(__file__).parents[2]
WRITE = "run: python -m validation.pages"
HALF = Fraction(1, 2)
LISTED = re.compile(r"^\| `?([a-z_]+\.[A-Za-z0-9_.+-]+)`? \|", re.MULTILINE)


def test_the_comparisons_return_slack_or_fail_with_both_numbers():
    assert equal(HALF, HALF) == 0
    assert at_least(HALF, Fraction(1, 3)) == Fraction(1, 6)
    assert above(1, HALF) == HALF
    for fails in (lambda: equal(1, 2), lambda: at_least(1, 2), lambda: above(1, 1)):
        with pytest.raises(Fails, match="1"):
            fails()


TEN = given(*({"size": n} for n in range(10)))


def test_a_search_counts_what_it_checked_and_keeps_the_least_slack():
    found = Search(instances=3).over(TEN, lambda size: None if size == 1 else 5 - size)
    assert found == Evidence(instances=3, worst=2, scope="size <= 3")


def test_a_search_stops_when_its_time_is_up():
    assert Search(seconds=1e-9).over(TEN, lambda size: size).instances == 0


def test_half_of_what_a_search_sees_is_random_also_if_its_time_is_up_before(monkeypatch):
    found = Search(instances=40).over(pairs(), lambda **_: 0)
    assert (found.instances, found.random, found.seed) == (40, 20, 0)
    monkeypatch.setattr("validation.search.monotonic", count().__next__)  # a second for each look
    found = Search(seconds=40, instances=100_000).over(pairs(), lambda **_: 0)
    assert 15 <= found.random <= found.instances - 15 <= 25


def test_a_domain_that_ends_early_is_filled_up_with_random_instances():
    few = Domain(lambda: [{"k": 1}], lambda _: ({"k": 5} for _ in count()))
    found = Search(instances=10).over(few, lambda k: k)
    assert (found.instances, found.random, found.scope) == (10, 9, "k <= 5")


def test_choices_of_a_domain_come_each_or_one_in_turn():
    two = given({"k": 1}, {"k": 2})
    assert [*two.each(rho=lambda k: [*range(k)]).small()] == [
        {"k": 1, "rho": 0}, {"k": 2, "rho": 0}, {"k": 2, "rho": 1},
    ]  # fmt: skip
    assert [one["name"] for one in two.one(name="ab").small()] == ["a", "b"]
    assert [*two.where(lambda k: k > 1).small()] == [{"k": 2}]
    assert [*two.of(lambda k: {"k": 10 * k}).small()] == [{"k": 10}, {"k": 20}]


def test_evidence_tells_sizes_and_denominators():
    found = Search(instances=300).over(cases(n=3, k=(2, 3), random_n=5), lambda **_: 0)
    scope = re.fullmatch(r"2 <= k <= 3, n <= 5, denominators <= (\d+)", found.scope)
    assert int(scope[1]) > 60


def test_a_counterexample_is_shrunk():
    def wrong(draft, target, k):
        """Claim, wrongly, that no token has more target than half and draft together."""
        worst = max(q - p for p, q in zip(draft, target, strict=True))
        return at_least(HALF, worst) if k < 5 else None

    big = {
        "draft": law_of((3, 7, 11, 2)),
        "target": law_of((0, 1, 2, 90)),
        "k": 4,
    }
    found = Search().over(given(big), wrong)
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

    def some(seed):
        return list(islice(pairs().random(np.random.default_rng(seed)), 100))

    first = some(7)
    assert first == some(7)
    assert first != some(8)
    assert all(sum(pair["draft"]) == sum(pair["target"]) == 1 for pair in first)


@pytest.fixture
def declared():
    """Claims of a test, which the book forgets afterwards."""
    known = dict(BOOK)
    yield BOOK
    for name in set(BOOK) - set(known):
        del BOOK[name]


def test_a_claim_is_declared_by_its_check(declared):
    @claim("beyond.test", "nowhere", TEN)
    def check(size):
        r"""All $n$
        are small.

        Printed: All are
        tiny.
        """
        return at_least(5, size)

    @corrected("beyond.test", Severity.WRONG, TEN)
    def check_of_twenty(size):
        """All are below 20.

        Explained: They are not small. Use 20.
        """
        return above(20, size)

    found = declared["beyond.test"]
    assert (found.statement, found.printed) == ("All $n$ are small.", "All are tiny.")
    assert found.check(Search()).found == "5, below 6"
    assert found.corrected.explained == "They are not small. Use 20."
    assert found.holding.check(Search()).worst == 11
    assert check(3) == 2
    assert check_of_twenty(1) == 19
    with pytest.raises(ValueError, match="declared twice"):
        claim("beyond.test", "nowhere", TEN, "Other.")(check)


def first_of(severity):
    """The first claim that fails like this."""
    return next(
        name for name, each in CLAIMS.items()
        if each.corrected and each.corrected.severity is severity
    )  # fmt: skip


def finding(outcome, corrected=None, severity=Severity.WRONG):
    """A finding about the first claim of the book that fails like this."""
    return Finding(first_of(severity), outcome, corrected, 0.25)


def test_reports_say_what_was_found():
    bad = Counterexample({"draft": (HALF, HALF), "k": 2}, "1/3, not 2/3", 4)
    refuted = finding(bad, Evidence(1_000, Fraction(0), "n <= 3", 500, 7))
    assert "refuted (wrong); corrected: holds" in report.row(refuted)
    as_json = json.loads(json.dumps(report.as_json([refuted])))
    assert as_json[0]["counterexample"] == {"draft": "(1/2, 1/2)", "k": "2"}
    assert as_json[0]["severity"] == "wrong"
    page = report.as_html([refuted])
    assert "<table>" in page
    assert "Holds on 1,000 instances: n &lt;= 3." in page
    assert "draft = (1/2, 1/2), k = 2: 1/3, not 2/3" in page
    other = finding(bad, Evidence(5), Severity.MISPRINT)
    errata = report.as_errata([other, refuted])
    wrong, tables = errata.split("## Misprints")
    assert f"### {refuted.id}:" in wrong
    assert CLAIMS[refuted.id].corrected.explained in wrong
    assert "Holds on 1,000" not in wrong
    assert f"| `{other.id}` |" in tables
    rows = [line for line in tables.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} == {5}
    assert "1/3, not 2/3" not in tables
    errata = report.as_errata([finding(bad, Evidence(5), Severity.CONDITION)])
    rows = [line for line in errata.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} == {6}
    assert "1/3, not 2/3" in errata


def test_html_escapes_what_it_is_given():
    page = report.as_html([finding(Counterexample({"draft": "<script>"}, "a < b"), Evidence(1))])
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_a_check_that_looked_at_nothing_is_no_evidence(monkeypatch):
    empty = Claim("nothing", lambda _: Evidence(0), id="beyond.nothing", where="nowhere")
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
    name = first_of(Severity.WRONG)
    result = run(
        name, "--jobs", "1", "--json",
        "--html", str(tmp_path / "page.html"), "--errata", str(tmp_path / "errata.md"),
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)[0]["verdict"] == "refuted"
    assert "Instead" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert name in (tmp_path / "errata.md").read_text(encoding="utf-8")


def test_a_verdict_that_is_not_the_recorded_one_ends_with_status_1(monkeypatch, tmp_path):
    record = tmp_path / "recorded.json"
    monkeypatch.setattr(command, "RECORDED", record)
    arguments = ("beyond.prefix_iid", "--instances", "10", "--jobs", "1")
    assert run(*arguments).exit_code == 1  # nothing is recorded
    assert run(*arguments, "--record").exit_code == 0
    known = json.loads(record.read_text(encoding="utf-8"))
    assert known["search"] == {"seed": 0, "instances": 10, "seconds": 5.0}
    known["verdicts"]["beyond.prefix_iid"]["printed"] = "refuted"
    record.write_text(json.dumps(known), encoding="utf-8")
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
    assert list(recorded) == list(CLAIMS)
    for each in CLAIMS.values():
        assert each.where, each.id
        assert each.statement, each.id
        refuted = recorded[each.id]["printed"] == "refuted"
        assert refuted == (each.corrected is not None), each.id
        if refuted:
            assert recorded[each.id]["corrected"] in ("holds", "proved"), each.id


def test_what_is_wrong_is_explained_in_few_sentences_and_the_project_s_own_claims_hold():
    for each in CLAIMS.values():
        if each.corrected is not None:
            assert each.paper != "beyond", each.id
            sentences = re.findall(r"[.:?](?: |$)", each.corrected.explained)
            wrong = each.corrected.severity is Severity.WRONG
            assert (1 <= len(sentences) <= 3) == wrong, each.id
            assert bool(each.corrected.explained) == wrong, each.id


def test_the_pages_have_the_recorded_verdicts():
    assert pages.COUNTS.read_text(encoding="utf-8") == pages.counts(), WRITE
    for paper in PAPERS:
        page = (ROOT / "docs" / "claims" / f"{paper}.md").read_text(encoding="utf-8")
        assert page == pages.with_verdicts(page), WRITE


def test_the_errata_have_all_that_is_refuted():
    found = {name: each["printed"] for name, each in command.recorded().items()}
    errata = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    named = re.findall(r"^(?:### (\S+):|\| `(\S+)` \|)", errata, re.MULTILINE)
    refuted = {name for name, verdict in found.items() if verdict == "refuted"}
    assert {one or other for one, other in named} == refuted
    assert len(named) == len(refuted)
