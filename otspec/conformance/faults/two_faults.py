"""Faults of another strength, or two at once, where no known one explains what was seen."""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, cast

import numpy as np
from scipy.optimize import minimize_scalar

from otspec.chance import CannotFollowError
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.faults.base import Fault, Seen, joint_law, law_or_none
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
            machine = both(first.machine, second.machine)  # type: ignore[arg-type]
            fit = None if machine is None else fit_of(machine, rule, kind, seen)
            if fit is not None and fit[0] > best:
                best, named = fit[0], f"{first.name}{AND}{second.name}"
    return [named] if named else []


@lru_cache(maxsize=4096)
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


def fit_of(
    machine: type[Machine],
    rule: RightRule,
    kind: Kind,
    seen: Iterable[Seen],
    *,
    marked: bool = False,
    forgiven: int = 0,
) -> tuple[float, int] | None:
    """Return the logarithm of the likelihood, and how many cases misfit; None if too many do."""
    total, misfits = 0.0, 0
    for each in seen:
        law = law_or_none(machine, rule, kind, each.case)
        if law is None:
            return None
        fit = each.likelihood(law, marked=marked)
        total += fit or 0.0
        misfits += fit is None
        if misfits > forgiven:
            return None
    return total, misfits


FIRST = 3  # cases with findings, the simplest, on which a strength is looked for first
GRID = 9  # strengths that are tried first
IMPOSSIBLE = 1e12  # in place of minus the logarithm of likelihood 0


@lru_cache(maxsize=4096)
def of_strength(machine: Any, strength: float) -> type[Machine]:
    """Return a machine whose fault has another strength."""
    return cast(type[Machine], type(machine.__name__, (machine,), {"strength": strength}))


def at_likeliest_strength(
    machine: type[Machine], rule: RightRule, kind: Kind, seen: Sequence[Seen], *, marked: bool
) -> type[Machine] | None:
    """Return the machine of the likeliest strength; None if it has none, or fits with none."""
    # Cases with findings come first; the strength has to fit the first of them.
    failing = [each for each in seen if each.off][:FIRST]
    between = machine.strengths
    if between is None or not failing:
        return None
    # Most faults fit the simplest case with no strength, which is soon seen.
    one = failing[:1]
    if _likeliest(machine, between, rule, kind, one, one, marked=marked) is None:
        return None
    return _likeliest(machine, between, rule, kind, failing, seen, marked=marked)


def _likeliest(
    machine: type[Machine],
    between: tuple[float, float],
    rule: RightRule,
    kind: Kind,
    failing: Sequence[Seen],
    seen: Sequence[Seen],
    *,
    marked: bool,
) -> type[Machine] | None:
    """Look for a strength on a grid on cases with findings, then near it, and then on all."""
    least, most = map(math.log, between)
    grid = np.linspace(least, most, GRID).tolist()
    losses = [_loss(machine, rule, kind, failing, marked, log) for log in grid]
    best = int(np.argmin(losses))
    if losses[best] >= IMPOSSIBLE:
        return None
    step, log = grid[1] - grid[0], grid[best]
    for cases in (failing, seen) if len(seen) > len(failing) else (failing,):
        bounds = max(log - step, grid[0]), min(log + step, grid[-1])
        loss = partial(_loss, machine, rule, kind, cases, marked)
        log = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-6}).x
        made = of_strength(machine, math.exp(log))
        law = joint_law(made, rule, kind, failing[0].case)
        if failing[0].likelihood(law, marked=marked) is None:
            return None
        step = step / 4
    return made


def _loss(
    machine: type[Machine],
    rule: RightRule,
    kind: Kind,
    seen: Sequence[Seen],
    marked: bool,
    log: float,
) -> float:
    made, total = of_strength(machine, math.exp(log)), 0.0
    for each in seen:
        try:
            total -= each.logarithm(joint_law(made, rule, kind, each.case), marked=marked)
        except CannotFollowError:
            return IMPOSSIBLE
    return min(total, IMPOSSIBLE)
