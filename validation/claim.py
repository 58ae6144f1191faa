"""What a claim is, and what checking it returns: evidence, or a counterexample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from time import monotonic
from typing import Any

from otspec.arithmetic import Number


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


@dataclass(frozen=True)
class Evidence:
    """The claim held wherever it was checked.

    Parameters
    ----------
    instances : int
        How many instances were checked.
    worst : float, Fraction or None
        The least slack of an inequality that is claimed: 0 where it is attained. None where
        there is nothing to measure.
    scope : str
        What the evidence covers, such as "n <= 4, k <= 3"; for a simulation, its confidence.
    proved : bool
        Whether this is a proof for all instances in that scope.
    """

    instances: int
    worst: Number | None = None
    scope: str = ""
    proved: bool = False

    @property
    def verdict(self) -> Verdict:
        """Proved or holds."""
        return Verdict.PROVED if self.proved else Verdict.HOLDS


@dataclass(frozen=True)
class Counterexample:
    """An instance where the claim fails.

    Parameters
    ----------
    instance : mapping
        Names and values: fractions, integers, strings, or tuples of them.
    found : str
        What is true there instead, in numbers.
    instances : int
        How many instances held before this one, in order of size.
    """

    instance: Mapping[str, Any]
    found: str
    instances: int = 0

    verdict = Verdict.REFUTED


Outcome = Evidence | Counterexample


class Fails(Exception):  # noqa: N818 (not an error: a finding)
    """Raised where an instance contradicts a claim.

    Parameters
    ----------
    found : str
        What is true instead, in numbers.
    """

    def __init__(self, found: str) -> None:
        super().__init__(found)
        self.found = found


def equal(found: Any, claimed: Any, what: str = "") -> Fraction:
    """Return slack 0, or fail with both numbers if they differ."""
    if found != claimed:
        raise Fails(f"{what + ': ' if what else ''}{found}, but claimed is {claimed}")
    return Fraction(0)


def at_least(found: Number, bound: Number, what: str = "") -> Number:
    """Return the slack, or fail with both numbers if ``found`` is below ``bound``."""
    if found < bound:
        raise Fails(f"{what + ': ' if what else ''}{found}, which is below {bound}")
    return found - bound


def above(found: Number, bound: Number, what: str = "") -> Number:
    """Return the slack, or fail with both numbers unless ``found`` exceeds ``bound``."""
    if not found > bound:
        raise Fails(f"{what + ': ' if what else ''}{found}, which is not above {bound}")
    return found - bound


@dataclass
class Search:
    """How long to look, and from which seed.

    Parameters
    ----------
    seconds : float
        After this long no new instance is begun.
    instances : int
        How many instances are enough.
    seed : int
    """

    seconds: float = 5.0
    instances: int = 1_000
    seed: int = 0
    _began: float = field(default_factory=monotonic, init=False, repr=False)

    def every(
        self,
        instances: Iterable[Mapping[str, Any]],
        slack: Callable[..., Number | None],
        *,
        scope: str = "",
    ) -> Outcome:
        """Check a claim on one instance after the other, the smallest first.

        Parameters
        ----------
        instances : iterable of mapping
            The keyword arguments of ``slack``.
        slack : callable
            Returns by how much the claim holds; ``None`` where the claim says nothing. Raises
            :class:`Fails` where it does not hold (:func:`equal`, :func:`at_least` and
            :func:`above` do).
        scope : str
            For the evidence.
        """
        checked, worst = 0, None
        for instance in instances:
            if checked >= self.instances or monotonic() - self._began > self.seconds:
                break
            try:
                found = slack(**instance)
            except Fails as failure:
                return Counterexample(dict(instance), failure.found, checked)
            if found is not None:
                checked += 1
                worst = found if worst is None else min(worst, found)
        return Evidence(checked, worst, scope)


Check = Callable[[Search], Outcome]


@dataclass(frozen=True)
class Corrected:
    """A statement that holds in place of one that does not.

    Parameters
    ----------
    statement : str
        In the project's notation, as Markdown.
    check : callable
    method : Method
    """

    statement: str
    check: Check
    method: Method = Method.EXACT


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, or of this project.

    Parameters
    ----------
    id : str
        The paper and the place, such as ``"spechub.thm4"``.
    where : str
        Where it stands, such as "Theorem 4, appendix C.2".
    statement : str
        What is claimed, in the project's notation, as Markdown with ``$`` for formulas; it says
        what is printed, also where that is wrong.
    check : callable
        Checks ``statement``.
    method : Method
    printed : str
        How it is printed, where that differs from ``statement`` in more than notation.
    corrected : Corrected, optional
        For a claim that fails as printed.
    """

    id: str
    where: str
    statement: str
    check: Check
    method: Method = Method.EXACT
    printed: str = ""
    corrected: Corrected | None = None

    @property
    def paper(self) -> str:
        """The part of the identifier before the dot."""
        return self.id.partition(".")[0]
