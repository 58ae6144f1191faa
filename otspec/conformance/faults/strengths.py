"""Faults with a strength, such as a temperature: at which strength what was seen is likeliest."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, cast

import numpy as np
from scipy.optimize import minimize_scalar

from otspec.chance import CannotFollowError
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.faults.base import joint_law
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.rules import RightRule
from otspec.conformance.faults.seen import Seen

FITTED = 3
"""Cases with findings, the simplest, on which the strength is found."""
IMPOSSIBLE = 1e12
"""Stands for minus the logarithm of a likelihood 0."""


@lru_cache(maxsize=4096)
def of_strength(machine: Any, strength: float) -> type[Machine]:
    """Return a machine whose fault has another strength."""
    return cast(type[Machine], type(machine.__name__, (machine,), {"strength": strength}))


def at_likeliest_strength(
    machine: type[Machine], rule: RightRule, kind: Kind, seen: Sequence[Seen]
) -> type[Machine] | None:
    """Return the machine of the likeliest strength.

    Parameters
    ----------
    seen : sequence of Seen
        Those with findings first. On the simplest of them the strength has to fit.

    Returns
    -------
    type or None
        None if the fault has no strength, or fits with none.
    """
    failing = [each for each in seen if each.off][:FITTED]
    if machine.strengths is None or not failing:
        return None
    loss = partial(_loss, machine, rule, kind, failing)
    bounds = np.log(machine.strengths)
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-7})
    if found.fun >= IMPOSSIBLE:
        return None
    made = of_strength(machine, float(np.exp(found.x)))
    law = joint_law(made, rule, kind, failing[0].case)
    return None if failing[0].likelihood(law) is None else made


def _loss(
    machine: type[Machine], rule: RightRule, kind: Kind, seen: Sequence[Seen], log: float
) -> float:
    made, total = of_strength(machine, float(np.exp(log))), 0.0
    for each in seen:
        try:
            total -= each.logarithm(joint_law(made, rule, kind, each.case))
        except CannotFollowError:
            return IMPOSSIBLE
    return min(total, IMPOSSIBLE)
