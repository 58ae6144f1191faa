"""Two known faults at once, where no single one explains what was seen."""

from collections.abc import Iterator, Sequence

import numpy as np

from otspec.conformance.cases.kinds import Kind
from otspec.conformance.faults.base import Fault, Seen, law_or_none
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.rules import RightRule

ALONE = 4  # most cases with findings, the simplest, that one of two faults may explain
MOST = 10  # most pairs of fault and rule to which a second fault is added
AND = " together with "  # between two faults


def two_faults(
    kind: Kind, seen: Sequence[Seen], faults: Sequence[tuple[Fault, RightRule]]
) -> list[str]:
    """Return pairs of faults that explain all cases, the one that shows by itself first."""
    best, named = -np.inf, ""
    for first, rule in _alone(kind, seen, faults):
        for second in dict.fromkeys(fault for fault, other in faults if other is rule):
            machine = both(first.machine, second.machine)
            fit = None if machine is None else _likelihood(machine, rule, kind, seen)
            if fit is not None and fit > best:
                best, named = fit, f"{first.name}{AND}{second.name}"
    return [named] if named else []


def both(one: type[Machine], other: type[Machine]) -> type[Machine] | None:
    """Return a machine with two faults; None if both replace the same part."""
    if _parts(one) & _parts(other):
        return None
    return type("Both", (one, other), {})


def _parts(machine: type[Machine]) -> set[str]:
    names: set[str] = set()
    for owner in machine.__mro__:
        if owner is Machine:
            break
        names |= {name for name in vars(owner) if not name.startswith("_")}
    return names


def _alone(
    kind: Kind, seen: Sequence[Seen], faults: Sequence[tuple[Fault, RightRule]]
) -> Iterator[tuple[Fault, RightRule]]:
    """Yield the faults that explain some case, or its first token, by themselves, most first."""
    failing = [each for each in seen if each.off][:ALONE]
    scores = []
    for fault, rule in faults:
        score = 0
        for each in failing:
            law = law_or_none(fault.machine, rule, kind, each.case)
            right = law_or_none(Machine, rule, kind, each.case)
            if law is None or right is None:
                break
            score += 2 * (each.likelihood(law) is not None)
            score += each.first_fits(law) and not each.first_fits(right)
        scores.append(score)
    for place in sorted(range(len(faults)), key=lambda place: -scores[place])[:MOST]:
        if scores[place]:
            yield faults[place]


def _likelihood(
    machine: type[Machine], rule: RightRule, kind: Kind, seen: Sequence[Seen]
) -> float | None:
    """Return the logarithm of the likelihood of all that was seen, None where it does not fit."""
    total = 0.0
    for each in seen:
        law = law_or_none(machine, rule, kind, each.case)
        fit = None if law is None else each.likelihood(law)
        if fit is None:
            return None
        total += fit
    return total
