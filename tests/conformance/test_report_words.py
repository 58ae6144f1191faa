"""Every line of a report, and every number in its words, on reports that are made up."""

import numpy as np
import pytest
from test_report_forms import CASES, CRASH, OFF, PASSED, REPORT, tried

from otspec.conformance import Finding, Report, Tried
from otspec.conformance.evidence.evidence import requirement
from otspec.conformance.report.certificate import Certificate, _facts
from otspec.conformance.report.document import _distance, _duration, _power
from otspec.conformance.report.rendering import _cells
from otspec.conformance.report.rendering import _distance as short_distance
from otspec.estimate import Estimate

NEEDS = requirement(3, 0.05, 1e-6, 0.0)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.5, "2 seconds"), (1.99, "2 seconds"), (2.6, "3 seconds"), (119.4, "119 seconds"),
     (120, "2 minutes"), (200, "3 minutes"), (7_199, "120 minutes"), (7_200, "2 hours"),
     (36_000, "10 hours")],
)  # fmt: skip
def test_a_duration_is_in_its_largest_unit_of_two_or_more(seconds, words):
    assert _duration(seconds) == words


@pytest.mark.parametrize(
    ("distance", "long", "short"),
    [(1.0, "nothing", "nothing"), (1.5, "nothing", "nothing"),
     (0.12345, "a total variation of 0.123", "0.1235"),
     (1e-4, "a total variation of 0.0001", "0.0001"),
     (9.4e-5, "a total variation of 9.4e-05", "9e-05")],
)  # fmt: skip
def test_distances_in_words(distance, long, short):
    assert (_distance(distance), short_distance(distance)) == (long, short)


def report_of(*detectable, size=9):
    cases = [
        Tried("", requirement(3, each, 1e-6, 0.0), size, 0.0, np.array([[9, 0, 0]]), np.ones(3) / 3)
        for each in detectable
    ]
    return Report("tokens", "kernel", (), tuple(cases), 1e-6)


@pytest.mark.parametrize(
    ("detectable", "words"),
    [
        ((), "nothing is found on each"),
        ((0.1, 0.1), "a total variation of 0.1 is found on each"),
        ((0.3, 0.1, 0.1), "a total variation of 0.1 is found on 2 of them and one of 0.3 on 1"),
        ((0.1, 1.0), "a total variation of 0.1 is found on 1 of them and nothing surely on 1"),
        ((0.1, 0.2, 0.3, 0.4, 0.5), ("a total variation of 0.1 is found on 1 of them, one of 0.2 "
         "on 1, one of 0.3 on 1, one of 0.4 on 1 and one of 0.5 on 1")),
        ((0.6, 0.1, 0.2, 0.3, 0.4, 0.5),
         "a total variation of 0.3 is found on half of them and one of 0.6 on each"),
        ((0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.0),
         "a total variation of 0.4 is found on half of them and nothing surely on some"),
    ],
)  # fmt: skip
def test_what_would_have_been_found(detectable, words):
    sure = "with probability 0.999 each" if detectable else "for certain"
    assert _power(report_of(*detectable)) == f"{words}, {sure}"
    assert _power(report_of(*detectable, size=0)) == f"{words}, for certain"
    assert report_of(*detectable).detectable == max(detectable, default=1.0)


TEXT = """\
failed: the verifier is wrong on 1 of 2 cases, and raises on 1; where it raises, its output could \
not be judged; it looks like: residual not renormalized (a correct verifier fails with probability \
1e-06 at most)

plain: law of the output
   token 0 is too frequent
   total variation between what was seen and what is right: 0.2500
   a correct verifier shows as much with probability 9.4e-14 at most
   looks like: residual not renormalized

crashing: the call fails
   KeyError
   | Traceback
   | KeyError: 1

case        rows  detectable  log evidence  wrong from  accepted  optimum
plain     12,345      0.0500          -1.5        13.8    0.7500   0.8000  wrong
crashing       -      0.0500             -        13.8         -        -  wrong

Note: a note

What to do:
- Take the first finding: its case is small enough to follow by hand.
- Call the check again with the same seed: it draws the same drafts.
- The page docs/engines.md says what each finding means and what to do about it.
"""
MARKDOWN = """\
# Conformance of my.verify: kind block, mode kernel

**failed: the verifier is wrong on 1 of 2 cases, and raises on 1; where it raises, its output \
could not be judged; it looks like: residual not renormalized (a correct verifier fails with \
probability 1e-06 at most)**

## plain: law of the output

- token 0 is too frequent
- total variation between what was seen and what is right: 0.2500
- a correct verifier shows as much with probability 9.4e-14 at most
- looks like: residual not renormalized

| cell | seen | right | difference |
| --- | ---: | ---: | ---: |
| token 0 | 0.750000 | 0.500000 | +0.250000 |
| token 1 | 0.250000 | 0.500000 | -0.250000 |

## crashing: the call fails

- KeyError

~~~~text
Traceback
KeyError: 1
~~~~

## Notes

- a note

## What to do

- Take the first finding: its case is small enough to follow by hand.
- Call the check again with the same seed: it draws the same drafts.
- The page docs/engines.md says what each finding means and what to do about it.

## Cases

| case | rows | detectable | log evidence | wrong from | accepted | optimum |  |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| plain | 12,345 | 0.0500 | -1.5 | 13.8 | 0.7500 | 0.8000 | wrong |
| crashing | - | 0.0500 | - | 13.8 | - | - | wrong |
"""


def test_every_line_of_a_report():
    counts, law = np.array([[12_345, 0, 0]]), np.array([0.5, 0.5, 0.0])
    accepted = Estimate(0.75, 0.7, 0.8, 0.95, 100)
    case = Tried("plain", NEEDS, 12_345, -1.5, counts, law, accepted, 0.8)
    crash = Finding("crashing", "call", "KeyError", traceback="Traceback\nKeyError: 1")
    cases, findings = (case, tried("crashing", 0.0, 0)), (OFF, crash)
    found = Report("block", "kernel", findings, cases, 1e-6, ("a note",), "my.verify")
    assert found.text(cases=True).splitlines() == TEXT.splitlines()
    assert found.text() == TEXT.replace(TEXT[TEXT.index("\ncase  ") : TEXT.index("\nNote")], "")
    assert found.markdown().splitlines() == MARKDOWN.splitlines()
    first, second = found.document()["cases"]
    assert first == {
        "case": "plain", "rows": 12_345, "rows_needed": 0, "asked": 1.0, "detectable": 0.05,
        "short": False, "evidence": -1.5, "threshold": NEEDS.threshold, "accepted": 0.75,
        "optimum": 0.8,
    }  # fmt: skip
    assert (second["accepted"], second["optimum"]) == (None, None)
    said = {key: found.document()[key] for key in ("required", "missed", "needed", "detectable")}
    assert said == {"required": 1.0, "missed": 0.001, "needed": None, "detectable": 0.05}


def test_a_cell_that_is_neither_seen_nor_right_is_not_shown_and_twelve_are():
    law = [{"cell": f"{i}", "seen": i / 100, "right": 0.0} for i in range(15)]
    shown = _cells({"cells": law})
    assert [cell for cell, *_ in shown] == [f"{i}" for i in range(14, 2, -1)]
    assert shown[0] == ("14", "0.140000", "0.000000", "+0.140000")
    assert _cells({"cells": [{"cell": "0", "seen": 0.0, "right": 0.25}]}) == [
        ("0", "0.000000", "0.250000", "-0.250000")
    ]


def test_evidence_for_a_verifier_is_no_chance_above_one():
    fine = Finding("plain", "law", "off", (0.5,), (0.5,), evidence=-3.0)
    text = Report("block", "kernel", (fine,), CASES, 0.0).text()
    assert "shows as much with probability 1.0e+00 at most" in text
    assert "(a correct verifier never fails)" in text


def test_the_facts_of_a_certificate():
    several = Report("tokens", "kernel", (), (*CASES, *report_of(0.3, 1.0, 1.0).cases), 1e-6)
    facts = dict(_facts(Certificate(several).document()))
    found = facts["detectable total variation, and on how many cases"]
    assert found == "0.05 on 3, 0.3 on 1, nothing surely on 2"
    assert facts["cases"] == "6"
    assert facts["texts"] == "227"  # 100, none and 100, and three times 9
    assert facts["a correct verifier fails with probability"] == "1e-06 at most"
    assert facts["file"] == facts["commit"] == "not known"
    assert (
        "nothing"
        not in dict(_facts(Certificate(PASSED).document()))[
            "detectable total variation, and on how many cases"
        ]
    )


def test_what_raises_and_what_is_wrong():
    assert (OFF.judged, CRASH.judged) == (True, False)
    assert OFF.total_variation == 0.25
    assert Finding("", "law", "").evidence == float("inf")
    assert (REPORT.raises, Report("", "", (CRASH,), CASES, 0).raises, PASSED.raises) == (
        False, True, False
    )  # fmt: skip
    assert Report("tokens", "kernel", (), (), 1e-6).detectable == 1.0
    # Of several findings the cause that is named most often is the first.
    other = Finding("impossible", "law", "off", looks_like=("another",), perhaps=True)
    again = Finding("crashing", "law", "off", looks_like=("another",), perhaps=True)
    assert "; perhaps it is: another (" in Report("", "", (OFF, other, again), CASES, 0).text()
