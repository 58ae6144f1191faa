"""The page of negative controls, measured anew: ``python docs/conformance_controls.py``."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from statistics import mode
from typing import NamedTuple

import numpy as np
from fault_controls import (
    DETECT,
    alarms,
    control,
    controls_of,
    kind_of,
    seen_of,
    worst,
)

from otspec.conformance.cases.generated import Texts
from otspec.conformance.cases.kinds import Block, Kind, Tokens
from otspec.conformance.faults import FAULTS, RIGHT_RULES, Fault, RightRule
from otspec.conformance.faults.base import faults_of
from otspec.conformance.faults.explanations import OR, explanations

PAGE = Path(__file__).parent / "conformance_controls.md"
REPETITIONS = 200
CHECKS = 10_000
QUICK = 16_384
"""Faults that so many samples show have no row."""
ROUNDED = 1e-12
"""Total variations below count as 0."""

INTRODUCTION = """# Known faults, and how surely they are found

This page is for those who ask how much a passed [conformance check](conformance.md) is worth. Every
rule runs with every known fault, [a part of a verifier that is
replaced](conformance.md#how-to-read-the-report). The distribution of the output is computed exactly
on each case, and what a check would see is drawn from it. There are three drafts of one token (two
for laws other than i.i.d., one for maximal coupling), blocks of two tokens, and the tree 2x1.
Faults marked *pipeline* need an engine that drafts. Those marked *steps* need several steps of it.
`python docs/conformance_controls.py` measures this page.
"""


RULES_OF = {"tokens": "{} for one token", "block": "{} for blocks", "tree": "{} for trees"}


class Measured(NamedTuple):
    """A fault in a rule: on the case on which it is worst, and over all cases."""

    fault: Fault
    rule: RightRule
    case: str
    distance: float
    changes: bool
    """Whether anything that the verifier says has another law."""
    caught: int = 0
    samples: float = 0.0
    at_detect: int = 0
    statistic: str = ""
    first: bool = False

    @property
    def wrong(self) -> bool:
        """Whether it is as far off as a check has to find."""
        return self.distance >= DETECT


def measured(rule: RightRule, faults: Iterable[Fault] | None = None) -> Iterator[Measured]:
    """Yield what is measured of a rule with each fault."""
    kind = kind_of(rule)
    for fault in faults_of(kind.name) if faults is None else faults:
        yield _measured(fault, rule, Texts(kind) if fault.machine.across else kind)


def _measured(fault: Fault, rule: RightRule, kind: Kind) -> Measured:
    rng = np.random.default_rng(zlib.crc32(f"{fault.name}, {rule.name}".encode()))
    controls = controls_of(fault, rule, kind)
    far = worst(controls)
    if far.total_variation < DETECT:
        right = [control(None, rule, kind, each.case) for each in controls]
        pairs = zip(controls, right, strict=True)
        changes = any(np.abs(one.law - other.law).max() > ROUNDED for one, other in pairs)
        return Measured(fault, rule, far.case.name, far.total_variation, changes)
    found, sizes = far.runs(REPETITIONS, rng)
    at_detect, _ = far.at(DETECT).runs(REPETITIONS, rng)
    _, finding = far.run(rng)
    entries = [
        entry.split(OR) for entry in explanations(kind, seen_of(controls, rng), pipeline=True).names
    ]
    return Measured(
        fault,
        rule,
        far.case.name,
        far.total_variation,
        True,
        int(found.sum()),
        float(np.median(sizes)),
        int(at_detect.sum()),
        finding.statistic if finding else "",
        bool(entries) and fault.name in entries[0],
    )


def row(cells: Iterable[str]) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(cells)} |"


def _tallies(found: Sequence[Measured]) -> list[str]:
    wrong = [each for each in found if each.wrong]
    runs = len(wrong) * REPETITIONS
    return [
        f"{len(found):,}",
        f"{len(wrong):,}",
        f"{runs - sum(each.caught for each in wrong):,}",
        f"{runs - sum(each.at_detect for each in wrong):,}",
        f"{sum(each.first for each in wrong):,}",
    ]


def fault_rows(found: Iterable[Measured]) -> Iterator[str]:
    """Yield the sentence and the table of the faults that take more than ``QUICK`` samples."""
    by_fault: dict[str, list[Measured]] = {}
    for each in found:
        if each.wrong:
            by_fault.setdefault(each.fault.name, []).append(each)
    slow = [group for group in by_fault.values() if max(each.samples for each in group) > QUICK]
    yield OF_FAULTS.format(all=len(by_fault), quick=len(by_fault) - len(slow), most=QUICK)
    yield from map(_fault_row, slow)


def _fault_row(found: Sequence[Measured]) -> str:
    fault = found[0].fault
    marks = " (steps)" if fault.machine.across else " (pipeline)" if fault.pipeline else ""
    samples = max(each.samples for each in found)
    distances = _range([each.distance for each in found], 3)
    return row([fault.name + marks, distances, f"{samples:,.0f}"])


def _range(distances: Sequence[float], digits: int) -> str:
    return "–".join(sorted({f"{end(distances):.{digits}f}" for end in (min, max)}))


def sections(results: dict[RightRule, list[Measured]]) -> Iterator[str]:
    """Yield the lines of the page."""
    yield INTRODUCTION
    yield from _alarms()
    yield from _rules(results)
    every = [each for found in results.values() for each in found]
    yield from fault_rows(every)
    yield from _harmless([each for each in every if not each.wrong])
    yield from shared_noise()


ALARMS = """## Right verifiers

All lossless verifiers have the same law of texts. Of {checks:,} checks of such a verifier on all
small cases, at `detect=0.005` and `false_alarm=1e-6`, {one} found something for texts of one token,
and {three} for texts of three tokens.
"""
EVERY_RULE = """## Every rule with every fault

A fault is *wrong* in a rule if its total variation is {detect} or more on some case. It is
checked {repetitions} times on its worst case, and {repetitions} times mixed with the right rule
so that the total variation is exactly {detect}, which a check finds with probability 0.999 by its
promise. *Missed* counts the checks that find nothing. *First* counts the faults that are the
likeliest explanation after one check of all cases, alone or with faults of the same law.

| rules | pairs of a rule and a fault | wrong | missed | missed at {detect} | first |
| --- | --- | --- | --- | --- | --- |"""
OF_FAULTS = """
## The hardest faults

Of the {all} faults that are wrong in some rule, {quick} are found within {most:,} samples.
The table has the others. *Total variation* is on the worst case, over the rules in which the fault
is wrong. *Samples* is how many are needed: the median in the rule that takes most.
`otspec.conformance.faults.FAULTS` says of each fault what goes wrong and what to do.

| fault | total variation | samples |
| --- | --- | --- |"""
HARMLESS = """
## Harmless faults

A check cannot find a fault whose total variation is below {detect} on all cases. In {untouched}
pairs of a fault and a rule the fault changes nothing. These faults change what a verifier returns,
but hardly its distribution:

| fault | rules | largest total variation |
| --- | --- | --- |"""


OF_NOISE = """
## Faults of shared noise

An engine that claims [the same text for the same
seed](conformance_kinds.md#the-same-seed-the-same-text) must give the text of plain decoding.
Each of these faults is found for all kinds that can have it; those marked *pipeline* need several
steps. The cure of most: {usual}.
"""


def shared_noise() -> Iterator[str]:
    """Yield the list of faults of engines that promise the same text for the same seed."""
    faults = [fault for fault in FAULTS.values() if fault.same_seed]
    usual = mode(fault.fix for fault in faults)
    yield OF_NOISE.format(usual=usual)
    for fault in faults:
        yield f"- {fault.name}{' (pipeline)' if fault.pipeline else ''}"


def _alarms() -> Iterator[str]:
    kinds: tuple[Kind, ...] = (Tokens(3), Block.of_length(2))
    one, three = (alarms(kind, CHECKS, np.random.default_rng(21)) for kind in kinds)
    yield ALARMS.format(checks=CHECKS, one=one, three=three)


def _rules(results: dict[RightRule, list[Measured]]) -> Iterator[str]:
    yield EVERY_RULE.format(detect=DETECT, repetitions=REPETITIONS)
    for name, words in RULES_OF.items():
        of_kind = [found for rule, found in results.items() if kind_of(rule).name == name]
        yield row([words.format(len(of_kind)), *_tallies(list(chain.from_iterable(of_kind)))])
    yield row(["all", *_tallies(list(chain.from_iterable(results.values())))])


def _harmless(found: list[Measured]) -> Iterator[str]:
    yield HARMLESS.format(detect=DETECT, untouched=sum(not each.changes for each in found))
    harmless: dict[str, list[Measured]] = {}
    for each in found:
        if each.changes:
            harmless.setdefault(each.fault.name, []).append(each)
    for name, group in harmless.items():
        right = all(each.distance < ROUNDED for each in group)
        far = "0" if right else _range([each.distance for each in group], 5)
        names = ", ".join(each.rule.name for each in group)
        yield row([name, names if len(group) < 4 else f"{len(group)} rules", far])


def written(rules: Iterable[RightRule] = RIGHT_RULES) -> str:
    """Return the page."""
    results = {rule: list(measured(rule)) for rule in rules}
    return "\n".join(sections(results)).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
