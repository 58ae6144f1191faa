"""The exact law of what a verifier says on a case, by every way through it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast

import numpy as np

from otspec._base.arithmetic import Array
from otspec.chance import LEAST, Branch, law_of
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.evidence.fine_laws import add_answer, no_answers
from otspec.conformance.faults.machine import Machine, Setting, Told
from otspec.conformance.faults.rules import RightRule

MOST_WAYS = 20_000
"""The most ways through a verifier that are followed on one case."""


def joint_law(machine: type[Machine], rule: RightRule, kind: Kind, case: Case) -> Array:
    """Return how likely each mark is with each text, shape (marks, fine cells).

    Parameters
    ----------
    machine : type
        :class:`Machine`, or a fault in it.
    rule : RightRule
    kind : Kind
    case : Case

    Returns
    -------
    ndarray
        As :func:`otspec.conformance.evidence.statistics.fine_counts` counts: the target says what
        follows the verifier's token.

    Raises
    ------
    CannotFollowError
        There are more than :data:`MOST_WAYS` ways through the verifier.
    """
    return _joint_law(cast(Any, machine), rule, kind, case)


@lru_cache(maxsize=16384)
def _joint_law(machine: Any, rule: RightRule, kind: Kind, case: Case) -> Array:
    setting = Setting.of(kind, case)
    law = no_answers(kind, case)
    for variant in range(case.variants):

        def run(chance: Branch, variant: int = variant) -> Told:
            return rule.run(machine(setting, variant, chance))

        for told, mass in law_of(run, least=LEAST, most=MOST_WAYS).items():
            add_answer(law, case, variant, told.mark, told.text, float(mass))
    law /= case.variants
    law.flags.writeable = False
    return law


def total_variation(law: Array, right: Array) -> float:
    """Return the total variation between two laws of texts, whatever the marks."""
    return float(np.abs(law.sum(axis=0) - right).sum() / 2)


def right_law(kind: Kind, case: Case) -> Array:
    """Return the law of fine cells that the target has."""
    return np.append(case.texts(kind.length).ravel() / case.variants, 0.0)
