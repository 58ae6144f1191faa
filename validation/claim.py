"""What a claim is, and what checking it returns: evidence, or a counterexample."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
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
    """The claim held wherever it was checked."""

    instances: int
    """How many instances were checked."""
    worst: Number | None = None
    """The least slack of an inequality that is claimed: 0 where it is attained. None where there
    is nothing to measure."""
    scope: str = ""
    """What the evidence covers, such as "n <= 4, k <= 3"; for a simulation, its confidence."""
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


@dataclass(frozen=True)
class Search:
    """How long to look, and from which seed."""

    seconds: float = 5.0
    """After this long a check begins no new instance."""
    instances: int = 1_000
    """How many instances are enough."""
    seed: int = 0

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
        began, checked, worst = monotonic(), 0, None
        for instance in instances:
            if checked >= self.instances or monotonic() - began > self.seconds:
                break
            try:
                found = slack(**instance)
            except Fails as failure:
                return _shrunk(dict(instance), failure.found, slack, checked)
            if found is not None:
                checked += 1
                worst = found if worst is None else min(worst, found)
        return Evidence(checked, worst, scope)


def _shrunk(
    instance: dict[str, Any], found: str, slack: Callable[..., Number | None], checked: int
) -> Counterexample:
    """Simplify a failing instance step by step while it fails."""
    progress = True
    while progress:
        progress = False
        for simpler in simpler_instances(instance):
            try:
                slack(**simpler)
            except Fails as failure:
                instance, found, progress = simpler, failure.found, True
                break
            except (ValueError, LookupError, ZeroDivisionError):  # not what the check takes
                continue
    return Counterexample(instance, found, checked)


def simpler_instances(instance: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield instances with fewer drafts or tokens, or smaller weights; all well-founded.

    Tuples of fractions that sum to 1 are distributions over one vocabulary; what else there is
    stays as it is.
    """
    laws = {name: weights_of(value) for name, value in instance.items() if is_law(value)}
    if isinstance(instance.get("k"), int) and instance["k"] > 1:
        yield {**instance, "k": instance["k"] - 1}
    sizes = {len(weights) for weights in laws.values()}
    for token in range(max(sizes) if len(sizes) == 1 else 0):
        fewer = {name: (*w[:token], *w[token + 1 :]) for name, w in laws.items()}
        if all(map(sum, fewer.values())):
            yield instance | {name: law_of(weights) for name, weights in fewer.items()}
    for name, weights in laws.items():
        for i, weight in enumerate(weights):
            for smaller in sorted({0, 1, weight // 2, weight - 1} & set(range(weight))):
                changed = (*weights[:i], smaller, *weights[i + 1 :])
                if sum(changed):
                    yield {**instance, name: law_of(changed)}


def is_law(value: Any) -> bool:
    """Whether a value of an instance is an exact distribution."""
    return (
        isinstance(value, tuple)
        and all(isinstance(each, Fraction) for each in value)
        and sum(value) == 1
    )


def weights_of(law: tuple[Fraction, ...]) -> tuple[int, ...]:
    """Return the smallest whole numbers in proportion to a distribution."""
    common = math.lcm(*(each.denominator for each in law))
    return tuple(int(each * common) for each in law)


def law_of(weights: tuple[int, ...]) -> tuple[Fraction, ...]:
    """Return the distribution in proportion to whole numbers."""
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


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
