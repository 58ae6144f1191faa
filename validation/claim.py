"""What a claim is, how one is declared, and what checking it returns."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from otspec._base.arithmetic import Number

if TYPE_CHECKING:
    from validation.domains import Domain
    from validation.search import Search


class Method(Enum):
    """How a claim is checked."""

    CONES = "proof by cones"
    EXACT = "exact instances"
    FLOAT = "float instances"
    SIMULATION = "simulation"


class Verdict(Enum):
    """What the check says."""

    PROVED = "proved"
    HOLDS = "holds"
    REFUTED = "refuted"


class Severity(Enum):
    """How a claim fails as printed."""

    WRONG = "wrong"
    """The result or the algorithm as printed misleads whoever uses it."""
    CONDITION = "needs a condition"
    """It holds under a condition that is not printed."""
    MISPRINT = "misprint"
    """What is meant is clear and true."""
    DEGENERATE = "degenerate"
    """It fails for 0/0, empty cases, or strictness at equality only."""


@dataclass(frozen=True)
class Evidence:
    """The claim held wherever it was checked."""

    instances: int
    """How many instances were checked."""
    worst: Number | None = None
    """The least slack of an inequality: 0 where it is attained; None with nothing to measure."""
    scope: str = ""
    """The sizes and denominators that occurred; for a simulation, its confidence."""
    random: int = 0
    """How many of the instances were random; the others are all the smallest, or all there are."""
    seed: int | None = None
    """What the random ones were drawn from."""
    proved: bool = False
    """Whether this is a proof for all instances in that scope."""

    @property
    def verdict(self) -> Verdict:
        """Proved or holds."""
        return Verdict.PROVED if self.proved else Verdict.HOLDS


@dataclass(frozen=True)
class Counterexample:
    """An instance where the claim fails."""

    instance: Mapping[str, Any]
    """Names and values: fractions, integers, strings, or tuples of them."""
    found: str
    """What is true there instead, in numbers."""
    instances: int = 0
    """How many instances held before this one, in order of size."""

    verdict = Verdict.REFUTED


Outcome = Evidence | Counterexample
Slack = Callable[..., Number | None]
"""The keywords of an instance → by how much the claim holds; None where it says nothing."""
Check = Callable[["Search"], Outcome]


class Fails(Exception):  # noqa: N818 (not an error: a finding)
    """Raised where an instance contradicts a claim, with what is true instead, in numbers."""

    def __init__(self, found: str) -> None:
        super().__init__(found)
        self.found = found


def equal(found: Any, claimed: Any, what: str = "") -> Fraction:
    """Return slack 0, or fail with both numbers if they differ."""
    if found != claimed:
        raise Fails(f"{what + ': ' if what else ''}{found}, not {claimed}")
    return Fraction(0)


def at_least(found: Number, bound: Number, what: str = "") -> Number:
    """Return the slack, or fail with both numbers if ``found`` is below ``bound``."""
    if found < bound:
        raise Fails(f"{what + ': ' if what else ''}{found}, below {bound}")
    return found - bound


def above(found: Number, bound: Number, what: str = "") -> Number:
    """Return the slack, or fail with both numbers unless ``found`` exceeds ``bound``."""
    if not found > bound:
        raise Fails(f"{what + ': ' if what else ''}{found}, not above {bound}")
    return found - bound


@dataclass(frozen=True)
class Tested:
    """A statement and its check."""

    statement: str
    """In the project's notation, as Markdown with ``$`` for formulas."""
    slack: Slack
    """Checks one instance; without a domain it is the whole check: a search → an outcome."""
    over: Domain | None = None
    """The instances."""
    method: Method = Method.EXACT

    def check(self, search: Search) -> Outcome:
        """Check the statement wherever the search looks."""
        whole: Check = self.slack  # type: ignore[assignment]
        return whole(search) if self.over is None else search.over(self.over, self.slack)


@dataclass(frozen=True)
class Corrected(Tested):
    """A statement that holds in place of one that does not."""

    severity: Severity = Severity.CONDITION
    """How the claim fails that it stands for."""
    explained: str = ""
    """Why, in a sentence or two: for those that are wrong."""


@dataclass(frozen=True)
class Claim(Tested):
    """A claim of a paper, or of this project; it says what is printed, also where that is wrong."""

    id: str = ""
    """The paper and the place, such as ``"spechub.thm4"``."""
    where: str = ""
    """Where it stands, such as "Theorem 4, appendix C.2"."""
    printed: str = ""
    """How it is printed, where that differs from the statement in more than notation."""
    corrected: Corrected | None = None
    """For a claim that fails as printed."""

    @property
    def paper(self) -> str:
        """The part of the identifier before the dot."""
        return self.id.partition(".")[0]

    @property
    def holding(self) -> Tested:
        """What is checked to hold: the correction if there is one."""
        return self.corrected or self


BOOK: dict[str, Claim] = {}
"""All claims that have been declared so far."""

Declared = TypeVar("Declared", bound=Callable[..., Any])


def claim(
    id: str,  # noqa: A002 (the name of the field)
    where: str,
    over: Domain | None = None,
    statement: str = "",
    *,
    printed: str = "",
    method: Method = Method.EXACT,
) -> Callable[[Declared], Declared]:
    """Declare that a check, whose keywords are those of the instances, is that of a claim.

    The statement is its docstring if not given; a paragraph "Printed: ..." there says how it is
    printed. See :class:`Claim` for the rest."""

    def declare(slack: Declared) -> Declared:
        said = {"": statement, "Printed": printed} if statement else paragraphs(slack)
        if id in BOOK:
            raise ValueError(f"{id} is declared twice: give one of the claims another identifier")
        told = said.get("Printed", printed)
        BOOK[id] = Claim(said[""], slack, over, method, id, where, told)
        return slack

    return declare


def corrected(
    id: str,  # noqa: A002
    severity: Severity,
    over: Domain | None = None,
    statement: str = "",
    *,
    explained: str = "",
    method: Method = Method.EXACT,
    **changed: Any,
) -> Callable[[Declared], Declared]:
    """Declare that a check is that of what holds in place of a claim that has been declared.

    Its domain is the claim's own if not given. A paragraph "Explained: ..." of the docstring is the
    explanation. With keywords besides, the claim's own check stands for both: they are what its
    parameters are instead of their defaults, and a paragraph "Corrected: ..." says what holds."""

    def declare(slack: Declared) -> Declared:
        said = {"": statement, "Explained": explained} if statement else paragraphs(slack)
        told, what = said.get("Explained", explained), said.get("Corrected", said[""])
        check = partial(slack, **changed) if changed else slack
        on = over or BOOK[id].over
        BOOK[id] = replace(BOOK[id], corrected=Corrected(what, check, on, method, severity, told))
        return slack

    return declare


LABELS = ("Printed", "Corrected", "Explained")


def paragraphs(function: Callable[..., Any]) -> dict[str, str]:
    """Return the statement in a docstring, under "", and what stands there under a label.

    A label begins a line, with or without an empty one before it."""
    said = {"": ""}
    begins = rf"\n\n|\n(?=(?:{'|'.join(LABELS)}): )"
    for paragraph in re.split(begins, inspect.cleandoc(function.__doc__ or "")):
        text = " ".join(paragraph.split())
        label, _, rest = text.partition(": ")
        if label in LABELS:
            said[label] = rest
        else:
            said[""] = f"{said['']} {text}".strip()
    return said
