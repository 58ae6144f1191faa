"""A report as text, Markdown, HTML and JSON says the same, and shows foreign text as text."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from otspec.conformance import Finding, Report, Tried, check
from otspec.conformance.evidence.evidence import requirement
from otspec.conformance.report.report import FORMS
from otspec.display import card_of

NEEDS = requirement(3, 0.05, 1e-6, 0.0)
CASE = (np.array([[9, 0, 0]]), np.array([0.5, 0.5, 0.0]))
HOSTILE = "<b>`x`|\n\x1b[2J"


def tried(name, evidence=-1.5, rows=100):
    counts, law = np.array([[rows, 0, 0]]), np.array([0.5, 0.5, 0.0])
    return Tried(name, NEEDS, rows, evidence, counts, law)


CASES = (tried("plain"), tried("crashing", 0.0, 0), tried("impossible", float("inf")))
OFF = Finding(
    "plain", "law of the output", "token 0 is too frequent", (0.75, 0.25, 0.0), (0.5, 0.5, 0.0),
    30.0, ("residual not renormalized",), labels=("token 0", "token 1", "another"),
)  # fmt: skip
CRASH = Finding("crashing", "call", HOSTILE, traceback=f"Traceback\n  {HOSTILE}\nKeyError: 1")
REPORT = Report(
    "block", "kernel", (OFF, CRASH, Finding("impossible", "call", HOSTILE)), CASES, 1e-6,
    ("a note with <tags>",), "my.verify",
)  # fmt: skip
PASSED = Report("tokens", "pipeline", (), CASES[:1], 1e-6)


class Balanced(HTMLParser):
    """The tags of a page, which have to be closed in the order in which they are opened."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, _attributes):
        self.seen.append(tag)
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_document_is_json_and_holds_everything():
    document = json.loads(json.dumps(REPORT.document(), allow_nan=False))
    assert (document["format"], document["version"]) == ("otspec-conformance-report", 2)
    assert (document["passed"], document["verifier"]) == (False, "my.verify")
    assert [case["evidence"] for case in document["cases"]] == [-1.5, 0.0, None]
    first, second, _ = document["findings"]
    assert first["total_variation"] == 0.25
    assert first["cells"][0] == {"cell": "token 0", "seen": 0.75, "right": 0.5}
    assert first["looks_like"] == ["residual not renormalized"]
    assert second["evidence"] is None
    assert second["total_variation"] is None
    assert second["traceback"] == CRASH.traceback


def test_the_verdict_comes_first_and_says_what_was_found_out():
    assert REPORT.text().startswith(
        "failed: the verifier is wrong on 1 of 3 cases, and raises on 2; where it raises, its "
        "output could not be judged; it looks like: residual"
    )
    crashed = replace(REPORT, findings=(CRASH,))
    assert crashed.text().startswith("undecided: the verifier raises on 1 of 3 cases; where it")
    assert (crashed.outcome, crashed.passed, REPORT.raises) == ("undecided", False, False)
    assert "raises on 1 case" in card_of(crashed).title
    assert PASSED.text().startswith("passed: the output was found to differ from the target on")
    assert "a total variation of 0.05 is found" in PASSED.text()
    assert "probability 0.999" in PASSED.text()


def test_green_means_looked_at_as_closely_as_is_required():
    assert replace(PASSED, require=0.05).outcome == "passed"
    far = replace(PASSED, require=0.01)
    assert (far.outcome, far.passed) == ("undecided", False)
    first, *_ = far.text().splitlines()
    assert "not looked at closely enough" in first
    assert "on 1 of them a total variation of 0.01 is not found for sure" in first
    assert "a total variation of 0.05 is found on each" in first
    assert "Pass detect=0.01 and coarse=0.01, or less." in far.text()
    assert json.loads(json.dumps(far.document()))["required"] == 0.01
    # What is wrong is wrong, however closely was looked.
    assert replace(REPORT, require=0.01).outcome == "failed"


def test_a_verifier_that_raises_everywhere_may_be_of_another_kind():
    crashes = [
        Finding(case.case, "call", f"the verifier fails with IndexError: index {i} is off")
        for i, case in enumerate(CASES)
    ]
    text = replace(REPORT, findings=tuple(crashes)).text()
    assert text.startswith(
        "undecided: the verifier raises on all of 3 cases: is kind 'block' right"
    )
    assert text.count("IndexError") == 1
    assert "plain (and 2 more cases): the call fails" in text


@pytest.mark.parametrize(
    ("raising", "count", "words"),
    [
        (1, 1, "1 of 1 case; where"), (2, 2, "all of 2 cases: is kind 'block' right"),
        (1, 2, "1 of 2 cases; where"), (2, 3, "2 of 3 cases; where"),
    ],
)  # fmt: skip
def test_another_kind_is_asked_for_where_all_of_several_cases_raise(raising, count, words):
    crashes = tuple(Finding(case.case, "call", "fails") for case in CASES[:raising])
    text = replace(REPORT, findings=crashes, cases=CASES[:count]).text()
    assert text.startswith(f"undecided: the verifier raises on {words}")


def test_the_power_names_half_of_the_cases_and_the_worst():
    weak = requirement(3, 0.3, 1e-6, 0.0)
    one = Tried("weak", weak, 9, 0.0, *CASE)
    several = Report("tokens", "kernel", (), (*CASES, one), 1e-6)
    assert "0.05 is found on 3 of them and one of 0.3 on 1, with" in several.text()
    many = [Tried("", requirement(3, d / 20, 1e-6, 0.0), 9, 0.0, *CASE) for d in range(1, 8)]
    several = Report("tokens", "kernel", (), tuple(many), 1e-6)
    assert "0.2 is found on half of them and one of 0.35 on each" in several.text()
    empty = Report("tokens", "kernel", (), (), 1e-6)
    assert "nothing is found" in empty.text()


def test_columns_of_numbers_are_aligned_to_the_right_below_their_names():
    lines = REPORT.text(cases=True).splitlines()
    names = next(line for line in lines if line.startswith("case "))
    ends = [names.index(name) + len(name) for name in ("rows", "detectable", "accepted")]
    for line in lines[lines.index(names) + 1 :][: len(REPORT.cases)]:
        assert all(line[end - 1] != " " and line[end : end + 2].strip() == "" for end in ends)


def test_a_case_that_was_looked_at_too_little_is_no_pass():
    """The three outcomes, with what the third one takes."""
    short = replace(
        CASES[0], asked=0.01, rows_needed=4_000, numbers=3, seconds=0.5, short=True, size=100
    )
    long = replace(CASES[0], case="long", asked=0.05, rows_needed=50, numbers=2, seconds=0.1)
    undecided = Report("tokens", "kernel", (), (short, long), 1e-6)
    assert [REPORT.outcome, PASSED.outcome, undecided.outcome] == ["failed", "passed", "undecided"]
    assert [REPORT.passed, PASSED.passed, undecided.passed] == [False, True, False]
    assert undecided.budget_needed == 4_000 * 3 + 50 * 2
    assert undecided.seconds_needed == pytest.approx(4_000 * 0.5 / 100 + 50 * 0.1 / 100)
    assert replace(undecided, unit=5).budget_needed == 2_420
    document = undecided.document()
    assert document["needed"] == {"budget": 12_100, "seconds": undecided.seconds_needed}
    assert [case["short"] for case in document["cases"]] == [True, False]
    for text in (undecided.text(), undecided.markdown(), undecided.html()):
        assert "undecided: not looked at closely enough; the output was found" in text
        assert "budget=12100 is enough, which takes 20 seconds at most at this pace" in text
        assert "is found where 0.01 was asked for" in text
    assert 'class="undecided"' in undecided.html()
    assert re.search(r"^plain +100 .*short$", undecided.text(cases=True), re.M)
    # A case of which nothing was looked at has the pace of the others, or none.
    none = replace(short, size=0, seconds=0.0)
    assert Report("tokens", "kernel", (), (none,), 1e-6).seconds_needed == float("inf")
    assert "which takes" not in Report("tokens", "kernel", (), (none,), 1e-6).text()
    both = Report("tokens", "kernel", (), (none, replace(short, seconds=1.0)), 1e-6)
    assert both.seconds_needed == pytest.approx(24_000 * 1.0 / 300)


def test_what_was_followed_exactly_is_certain():
    exact = requirement(3, 1e-3, 1e-6, 0.0)
    case = Tried("followed", replace(exact, detect=2e-9), 0, 0.0, *CASE)
    printed = Report("tokens", "exact", (), (case,), 1e-6).text(cases=True)
    assert "a total variation of 2e-09 is found on each, for certain" in printed
    assert re.search(r"^followed +- +2e-09 +- ", printed, re.MULTILINE)


def test_the_text_is_what_is_printed():
    assert str(REPORT) == REPORT.text()
    assert "wrong from" not in REPORT.text()
    assert re.search(
        r"^impossible +100 +0.0500 +- +13.8 +- +- +wrong$", REPORT.text(cases=True), re.M
    )
    printed = REPORT.text()
    assert "\nplain: law of the output\n" in printed
    assert "looks like: residual not renormalized" in printed
    assert "correct verifier shows as much with probability 9.4e-14" in printed
    assert "\ncrashing (and 1 more cases): the call fails" in printed
    assert "   | KeyError: 1" in printed
    assert "Note: a note with <tags>" in printed
    assert "docs/engines.md" in printed
    assert "docs/engines.md" not in PASSED.text()
    assert all(line.isprintable() for line in printed.splitlines())


def test_the_page_is_well_formed_and_foreign_text_is_text():
    parser = Balanced()
    parser.feed(REPORT.html())
    assert parser.open == []
    assert parser.seen.count("table") == 2
    assert "b" not in parser.seen
    assert "\x1b" not in REPORT.html()
    assert "What to do" in REPORT.html()
    assert 'class="passed"' in PASSED.html()
    assert "What to do" not in PASSED.html()


def test_tables_of_markdown_have_as_many_cells_in_each_row():
    for report in (REPORT, PASSED):
        tables = re.findall(r"(?:^\|.*\|\n)+", report.markdown(), re.MULTILINE)
        assert len(tables) == 1 + (report is REPORT)
        for table in tables:
            counts = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
            assert len(counts) == 1
    prose = re.sub(r"~~~~text.*?~~~~", "", REPORT.markdown(), flags=re.DOTALL)
    assert re.search(r"(?<!\\)[<`]", prose) is None


def test_only_the_cells_that_are_off_the_most_are_shown():
    law = tuple(np.full(40, 1 / 40).tolist())
    seen = (2 / 40, 0.0, *law[2:])
    finding = Finding("plain", "law of the text", "off", (*seen, 0.0), (*law, 0.0), 20.0)
    page = Report("tokens", "kernel", (finding,), CASES, 1e-6).markdown()
    assert "| cell 0 | 0.050000 | 0.025000 | +0.025000 |" in page
    assert "cell 20" not in page


@pytest.mark.parametrize("ending", FORMS)
def test_a_report_is_saved_in_the_form_of_its_ending(tmp_path, ending):
    path = tmp_path / f"report{ending}"
    REPORT.save(path)
    assert path.read_text("utf-8") == FORMS[ending](REPORT)


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"the ending of path is '\.pdf'"):
        REPORT.save(tmp_path / "report.pdf")


class Engine:
    def __call__(self, drafts):
        return drafts[:, 0]


@pytest.mark.parametrize(
    ("verifier", "name"),
    [(Engine(), "Engine"), (Engine().__call__, "Engine.__call__")],
    ids=["instance", "method"],
)
def test_a_report_says_what_was_checked(verifier, name):
    seen = []
    report = check(
        verifier,
        shape=1,
        budget=50,
        vocabulary=8,
        entries=9,
        progress=lambda *done: seen.append(done),
    )
    assert report.verifier == f"{__name__}.{name}"
    assert seen == [(done, len(report.cases)) for done in range(1, len(report.cases) + 1)]
