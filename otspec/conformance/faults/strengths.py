"""Faults with a strength, such as a temperature: at which strength what was seen is likeliest."""

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, cast

import numpy as np
from scipy.optimize import minimize_scalar

from otspec.chance import CannotFollowError
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.faults.base import Seen, joint_law
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.rules import RightRule

FIRST = 3  # a strength is fitted on so many of the simplest cases with findings, then on all
GRID = 9  # strengths that are tried first
IMPOSSIBLE = 1e12  # in place of minus the logarithm of likelihood 0


@lru_cache(maxsize=4096)
def of_strength(machine: Any, strength: float) -> type[Machine]:
    """Return a machine whose fault has another strength."""
    return cast(type[Machine], type(machine.__name__, (machine,), {"strength": strength}))


def at_likeliest_strength(
    machine: type[Machine], rule: RightRule, kind: Kind, seen: Sequence[Seen], *, marked: bool
) -> type[Machine] | None:
    """Return the machine of the likeliest strength; None if it has no strength, or fits with none.

    Cases with findings come first; the strength has to fit the first of them.
    """
    failing = [each for each in seen if each.off][:FIRST]
    if machine.strengths is None or not failing:
        return None
    least, most = map(math.log, machine.strengths)
    grid = np.linspace(least, most, GRID).tolist()
    losses = [_loss(machine, rule, kind, failing, marked, log) for log in grid]
    best = int(np.argmin(losses))
    if losses[best] >= IMPOSSIBLE:
        return None
    step, log = grid[1] - grid[0], grid[best]
    for cases in (failing, seen):
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
