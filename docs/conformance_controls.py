"""The page of negative controls, measured anew: ``python docs/conformance_controls.py``."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from otspec.conformance.faults import RULES, Fault, RightRule
from otspec.conformance.faults.controls import (
    DETECT,
    alarms,
    cases_of,
    control,
    faults_of,
    kind_of,
    seen_of,
    worst,
)
from otspec.conformance.faults.explanations import OR, explanations
from otspec.conformance.kinds import Kind

PAGE = Path(__file__).parent / "conformance_controls.md"
REPETITIONS = 200
CHECKS = 10_000
ROUNDED = 1e-12
"""Total variations below count as 0."""

INTRODUCTION = """# Known faults, and how surely they are found

`python docs/conformance_controls.py` measures what is on this page; a test measures a part of it again. A known fault is
[a part of a verifier that is replaced](conformance.md#what-it-looks-like), and every rule below is run with each of them. What such a
verifier says on a case has an exact law, so that the total variation from the target is computed, and the
counts that a check would see are drawn from that law, look by look. Drafts are three tokens, two of other laws than
i.i.d., two in a block, or the tree 2x1.
"""


@dataclass(frozen=True)
class Measured:
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
    among: bool = False
    first: bool = False

    @property
    def wrong(self) -> bool:
        """Whether it is as far off as a check has to find."""
        return self.distance >= DETECT


def measured(rule: RightRule, faults: Iterable[Fault] | None = None) -> Iterator[Measured]:
    """Yield what is measured of a rule with each fault."""
    kind = kind_of(rule)
    for fault in faults_of(kind) if faults is None else faults:
        yield _measured(fault, rule, kind)


def _measured(fault: Fault, rule: RightRule, kind: Kind) -> Measured:
    rng = np.random.default_rng(zlib.crc32(f"{fault.name}, {rule.name}".encode()))
    far = worst(fault, rule, kind)
    controls = [control(fault, rule, kind, case) for case in cases_of(kind)]
    if far.total_variation < DETECT:
        right = [control(None, rule, kind, case) for case in cases_of(kind)]
        pairs = zip(controls, right, strict=True)
        changes = any(np.abs(one.law - other.law).max() > ROUNDED for one, other in pairs)
        return Measured(fault, rule, far.case.name, far.total_variation, changes)
    found, sizes = far.runs(REPETITIONS, rng)
    at_detect, _ = far.at(DETECT).runs(REPETITIONS, rng)
    _, finding = far.run(rng)
    entries = [
        entry.split(OR) for entry in explanations(kind, seen_of(controls, rng), pipeline=True)
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
        any(fault.name in entry for entry in entries),
        bool(entries) and fault.name in entries[0],
    )


def rule_row(rule: RightRule, found: Sequence[Measured]) -> str:
    """Return the row of a rule in the table of rules."""
    wrong = [each for each in found if each.wrong]
    runs = len(wrong) * REPETITIONS
    cells = [
        rule.name,
        f"`{rule.batch}`",
        str(len(found)),
        str(len(wrong)),
        f"{sum(each.caught for each in wrong):,} of {runs:,}",
        f"{sum(each.at_detect for each in wrong):,} of {runs:,}",
        f"{sum(each.among for each in wrong)}",
        f"{sum(each.first for each in wrong)}",
    ]
    return f"| {' | '.join(cells)} |"


def fault_row(found: Sequence[Measured]) -> str:
    """Return the row of a fault in the table of a kind, from all rules in which it is wrong."""
    distances = [each.distance for each in found]
    farthest = max(found, key=lambda each: each.distance)
    first = sum(each.first for each in found)
    cells = [
        found[0].fault.name + (" (pipeline)" if found[0].fault.pipeline else ""),
        str(len(found)),
        f"{min(distances):.3f} to {max(distances):.3f}",
        f"{max(each.samples for each in found):,.0f}",
        farthest.statistic,
        "yes" if first == len(found) else f"{first} of {len(found)}",
    ]
    return f"| {' | '.join(cells)} |"


def sections(results: dict[RightRule, list[Measured]]) -> Iterator[str]:
    """Yield the lines of the page."""
    yield INTRODUCTION
    yield from _alarms()
    yield from _rules(results)
    for kind in dict.fromkeys(rule.kind for rule in results):
        yield from _faults(
            kind, [m for rule in results for m in results[rule] if rule.kind == kind]
        )
    yield from _harmless([each for found in results.values() for each in found if not each.wrong])


def _alarms() -> Iterator[str]:
    yield "## Right verifiers\n"
    yield "All right verifiers of a kind have one law of texts, that of the target. Checks with a finding,"
    yield f"of {CHECKS:,} each at `detect=0.005` and `false_alarm=1e-6`:\n"
    yield "| drafts | cases | checks with a finding |\n| --- | --- | --- |"
    rng = np.random.default_rng(21)
    for kind in dict.fromkeys(kind_of(rule) for rule in RULES):
        law = f", {kind.law}" if kind.name != "block" else ""
        words = f"{kind.name}{law}, {len(kind.parents)} drafts"
        yield f"| {words} | {len(cases_of(kind))} | {alarms(kind, CHECKS, rng)} |"
    yield ""


def _rules(results: dict[RightRule, list[Measured]]) -> Iterator[str]:
    yield "## Every rule with every fault\n"
    yield f"A fault is wrong in a rule if its total variation is {DETECT} or more on some case. It is tried"
    yield f"{REPETITIONS} times on the case on which it is worst; and as often mixed with the right rule, so that the"
    yield f"total variation is exactly {DETECT}, where a check promises to find it with probability 0.999. "
    yield "*Explained*: among the explanations of a check of all cases; *first*: as the likeliest, alone or"
    yield "with faults of the same law.\n"
    yield "| rule | batch function | faults | wrong | found | found at exactly 0.005 | explained | first |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for rule, found in results.items():
        yield rule_row(rule, found)
    wrong = [each for found in results.values() for each in found if each.wrong]
    runs = len(wrong) * REPETITIONS
    yield f"| all |  |  | {len(wrong)} | {sum(m.caught for m in wrong):,} of {runs:,} | " \
          f"{sum(m.at_detect for m in wrong):,} of {runs:,} | {sum(m.among for m in wrong)} | " \
          f"{sum(m.first for m in wrong)} |\n"  # fmt: skip


def _faults(kind: str, found: list[Measured]) -> Iterator[str]:
    yield f"## Faults of {kind}\n" if kind == "tokens" else f"## Faults of a {kind}\n"
    yield "The total variations are those of the worst case, over the rules in which the fault is wrong; samples"
    yield "are the median until it is found, in the rule that takes most.\n"
    yield "| fault | rules | total variation | samples | first statistic off | explained first |"
    yield "| --- | --- | --- | --- | --- | --- |"
    by_fault: dict[str, list[Measured]] = {}
    for each in found:
        if each.wrong:
            by_fault.setdefault(each.fault.name, []).append(each)
    for group in by_fault.values():
        yield fault_row(group)
    yield ""


def _harmless(found: list[Measured]) -> Iterator[str]:
    yield "## Faults that are none in a rule\n"
    yield f"Where a fault has a total variation below {DETECT} on all cases, it is not found. Most do not touch the rule:"
    yield "it has no residual, or one draft has no siblings. These change what a verifier says:\n"
    yield "| fault | rule | largest total variation |\n| --- | --- | --- |"
    for each in found:
        if each.changes:
            far = "0: right by another way" if each.distance < ROUNDED else f"{each.distance:.5f}"
            yield f"| {each.fault.name} | {each.rule.name} | {far} |"
    untouched = sum(not each.changes for each in found)
    yield f"\n{untouched} more pairs of a fault and a rule do not touch each other."


def written(rules: Iterable[RightRule] = RULES) -> str:
    """Return the page."""
    results = {rule: list(measured(rule)) for rule in rules}
    return "\n".join(sections(results)).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
