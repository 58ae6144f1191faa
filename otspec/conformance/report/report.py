"""What a conformance check found."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from otspec._base import Array, Frozen, IntArray, Shown, as_choice, as_flag, as_path, write_text
from otspec.conformance.evidence.evidence import Requirement
from otspec.conformance.report.document import document_of
from otspec.conformance.report.rendering import as_html, as_markdown, as_text
from otspec.estimate import Estimate

OUTCOMES = ("passed", "failed", "undecided")
"""What comes out of a check: undecided if nothing is wrong as far as was looked, and that was less
far than was asked for, or if the verifier raised and no answer of it is wrong."""


@dataclass(frozen=True)
class Finding(Frozen):
    """What is wrong on one case.

    Parameters
    ----------
    case : str
        Its name.
    statistic : str
        The first statistic that is off, such as ``law of the output``.
    reason : str
        In words.
    observed, expected : tuple of float
        The law of that statistic, as seen and as a correct verifier has it; empty for what is
        impossible.
    evidence : float
        The logarithm of the evidence; infinite for what is impossible.
    looks_like : tuple of str
        Known faults that explain what was seen, the likeliest first.
    perhaps : bool
        Whether there are several of them, or one that does not explain all cases.
    traceback : str or None
        Of what the verifier raised, if it did.
    labels : tuple of str
        What each entry of those laws is, such as ``text (0, 2)``.
    """

    case: str
    statistic: str
    reason: str
    observed: tuple[float, ...] = ()
    expected: tuple[float, ...] = ()
    evidence: float = float("inf")
    looks_like: tuple[str, ...] = ()
    perhaps: bool = False
    traceback: str | None = field(default=None, repr=False)
    labels: tuple[str, ...] = field(default=(), repr=False)

    @property
    def judged(self) -> bool:
        """Whether this is about what the verifier answers: False where it raised instead."""
        return self.statistic != "call"

    @property
    def total_variation(self) -> float:
        """Between what was seen and what is right; positive also for a correct verifier."""
        pairs = zip(self.observed, self.expected, strict=True)
        return sum(abs(seen - right) for seen, right in pairs) / 2


@dataclass(frozen=True, eq=False)
class Tried(Frozen):
    """What was seen on one case.

    Parameters
    ----------
    case : str
        Its name.
    needs : Requirement
        Of the test: what it finds, and from which evidence on a verifier is wrong.
    size : int
        How many rows were verified.
    evidence : float
        The logarithm of the evidence against the verifier.
    counts : ndarray of int, shape (marks, fine cells)
        How often the verifier said each mark with each text.
    expected : ndarray, shape (cells,)
        The law of the statistic that is tested.
    accepted : Estimate or None
        How much was accepted on average: the probability that a draft of one token is, or how
        many tokens of a block or a tree are kept. None if the verifier does not tell.
    optimum : float or None
        The most that can be accepted of these drafts on average, where it is known.
    asked : float
        The total variation that was to be found.
    rows_needed : int
        How many rows find it for sure; a correct verifier mostly needs half of them.
    numbers : int
        How many probabilities of the target each row took.
    seconds : float
        How long all rows took.
    short : bool
        Whether there were too few rows to find what was to be found.
    """

    case: str
    needs: Requirement
    size: int
    evidence: float
    counts: IntArray
    expected: Array
    accepted: Estimate | None = None
    optimum: float | None = None
    asked: float = 1.0
    rows_needed: int = 0
    numbers: int = 0
    seconds: float = 0.0
    short: bool = False

    @property
    def detectable(self) -> float:
        """The total variation that was found with probability 0.999."""
        return self.needs.detect


@dataclass(frozen=True)
class Report(Shown):
    """What a conformance check says of a verifier.

    Parameters
    ----------
    kind, mode : str
        As they were asked for.
    findings : tuple of Finding
        What is wrong, case by case.
    cases : tuple of Tried
    false_alarm : float
        The probability that a correct verifier has findings.
    notes : tuple of str
        What a reader should know, and is no finding.
    verifier : str
        What was checked, by name.
    unit : int
        How many probabilities of the target one of the budget is.
    same_seed : bool
        Whether texts were compared with those of plain decoding, by equality.
    require : float
        The total variation that had to be found on each case.
    settings : mapping
        Kind, mode and seed, and what else was asked for that is no default.
    """

    kind: str
    mode: str
    findings: tuple[Finding, ...]
    cases: tuple[Tried, ...]
    false_alarm: float
    notes: tuple[str, ...] = ()
    verifier: str = "a verifier"
    unit: int = 1
    same_seed: bool = False
    require: float = 1.0
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def outcome(self) -> str:
        """One of :data:`OUTCOMES`."""
        if self.findings:
            return "undecided" if self.raises else "failed"
        unseen = any(tried.short for tried in self.cases) or self.detectable > self.require
        return "undecided" if unseen else "passed"

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong, and each case was looked at as closely as was asked for."""
        return self.outcome == "passed"

    @property
    def budget_needed(self) -> int:
        """The budget that is enough to find on each case what was to be found."""
        numbers = sum(tried.rows_needed * tried.numbers for tried in self.cases)
        return -(-numbers // self.unit)

    @property
    def seconds_needed(self) -> float:
        """How long that takes at most, at the pace of this check; infinite if nothing was run."""
        if any(tried.rows_needed and not tried.size for tried in self.cases):
            spent = sum(tried.size * tried.numbers for tried in self.cases)
            seconds = sum(tried.seconds for tried in self.cases)
            return self.budget_needed * self.unit * seconds / spent if spent else float("inf")
        return sum(it.rows_needed * it.seconds / it.size for it in self.cases if it.size)

    @property
    def raises(self) -> bool:
        """Whether all that the verifier does wrong is to raise, so that nothing could be judged."""
        return bool(self.findings) and not any(finding.judged for finding in self.findings)

    @property
    def detectable(self) -> float:
        """The total variation that would have been found on each case, with probability 0.999."""
        return max((tried.detectable for tried in self.cases), default=1.0)

    def __str__(self) -> str:
        return self.text()

    def document(self) -> dict[str, Any]:
        """Return the report as a document that JSON can hold; ``version`` is that of its form."""
        return document_of(self)

    def text(self, *, cases: bool = False) -> str:
        """Return the report for a terminal or a log.

        Parameters
        ----------
        cases : bool
            Whether to list all cases, also those where nothing is wrong.
        """
        return as_text(self.document(), as_flag(cases, "cases"))

    def markdown(self) -> str:
        """Return the report as a page of Markdown."""
        return as_markdown(self.document())

    def html(self) -> str:
        """Return the report as an HTML file that needs nothing else."""
        return as_html(self.document())

    def save(self, path: str | Path) -> None:
        """Write the report to a file, in the form that its ending names: see :data:`FORMS`.

        Raises
        ------
        ValueError
            Another ending, or no path.
        OSError
            The file cannot be written.
        """
        place = as_path(path)
        form = FORMS[as_choice(place.suffix, "the ending of path", FORMS)]
        write_text(place, form(self))


FORMS: dict[str, Callable[[Report], str]] = {  # by the ending of the file
    ".html": Report.html,
    ".md": Report.markdown,
    ".txt": lambda report: report.text(cases=True),
    ".json": lambda report: json.dumps(report.document(), indent=2) + "\n",
}
