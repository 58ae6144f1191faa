"""What a check consists of: a case, what is counted of it, and how its batches are made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

import numpy as np

from otspec.conformance.arrays import Form, plain
from otspec.conformance.calling import Verifier
from otspec.conformance.cases import Case, memoryless, prompted
from otspec.conformance.engines import Engine, TextEngine, TokenEngine, logits_of
from otspec.conformance.generated import CallPairs, DrawnToken, RowPairs, Texts
from otspec.conformance.kernel import KernelBatches
from otspec.conformance.kinds import Kind, Tokens
from otspec.conformance.library import ROWS, cases_of, text_cases
from otspec.conformance.statistics import Statistic
from otspec.conformance.steps import StepBatches, step_cases
from otspec.frozen import Frozen
from otspec.warping import warped

WARPINGS: tuple[dict[str, Any], ...] = (
    {"temperature": 0.6},
    {"temperature": 1.5, "top_k": 2},
    {"top_p": 0.7},
    {},
    {"top_k": 3},
    {"temperature": 2.0, "top_p": 0.8},
)
"""Options of warping, of which each case has those that an engine takes."""
CLEAR = 0.02
"""How far top-p is from where it would keep another token, and the last kept from the next."""


@dataclass(frozen=True, eq=False)
class Task(Frozen):
    """A test of a verifier on one case.

    Parameters
    ----------
    verifier : Verifier
    kind : Kind
        Of what it is given, and says.
    case : Case
        What it is given.
    law : Case
        Whose target's law its texts have: the case, but for warping.
    batches : type
        How they are made and counted.
    """

    verifier: Verifier
    kind: Kind
    case: Case
    law: Case
    batches: type[KernelBatches] = KernelBatches

    @property
    def numbers(self) -> int:
        """How many probabilities of the target a counted text takes."""
        rows = {"tokens": 1, "texts": self.kind.length}
        each = rows.get(self.kind.name, len(self.kind.parents) + 1)
        return self.case.vocabulary * each * self.batches.calls

    def statistics(self) -> list[Statistic]:
        """Return what is compared, coarse before fine."""
        return self.batches.statistics(self.kind, self.law)


def kernel_tasks(verifier: Verifier, kind: Kind, vocabulary: int) -> list[Task]:
    """Return the tasks of a verifier of drafts that are drawn here."""
    verifier.check_kind(kind)
    uneven = verifier.uneven
    cases = cases_of(kind, vocabulary, uneven)
    if not cases:
        raise ValueError(
            "verifier takes neither lengths nor a mask, and shape has more distinct drafts than "
            "any case has tokens: let it take one of them, or use a smaller shape"
        )
    return [
        *(Task(verifier, kind, case, case) for case in cases),
        *(Task(verifier, kind, case, case, StepBatches) for case in step_cases(kind, uneven)),
    ]


def engine_tasks(function: Any, form: Form, kind: Kind, vocabulary: int) -> list[Task]:
    """Return the tasks of an engine that drafts and verifies."""
    if isinstance(kind, Tokens):
        engine: Engine = TokenEngine(function, form)
        generated: Kind = DrawnToken(kind.k, kind.law)
        cases = cases_of(generated, vocabulary, uneven=False)
        alike = memoryless("one pair for all rows", *ROWS["all positive"])
    else:
        engine, generated = TextEngine(function, form), Texts(kind)
        cases = text_cases(generated.length, vocabulary)
        alike = prompted("one prompt for all rows", [(2, 1)] * 2, [(1, 2)] * 2, 1)
    tasks = [
        *(Task(engine, generated, alike, alike, batches) for batches in (RowPairs, CallPairs)),
        *(Task(engine, generated, case, case) for case in cases),
    ]
    return [
        _warped(task, engine, options)
        for task, options in zip(tasks, cycle(WARPINGS), strict=False)
    ]


def _warped(task: Task, engine: Engine, options: dict[str, Any]) -> Task:
    """Return a task with as much of warping as an engine takes, and has only one meaning."""
    most = {"top_k": task.case.vocabulary}
    taken = {
        name: min(value, most.get(name, value))
        for name, value in options.items()
        if name in engine.wanted
    }
    logits = plain(engine.form.probabilities(logits_of(task.case.target))).astype(float)
    if not _clear(logits, taken):
        taken = {name: value for name, value in taken.items() if name == "temperature"}
    # Of tokens that share a symbol's probability warping leaves other shares.
    if not taken or task.case.sizes.max() > 1:
        return task
    words = ", ".join(f"{name} {value}" for name, value in taken.items())
    name = f"{task.case.name}, {words}"
    law = replace(task.case, target=_of_logits(logits, taken), name=name)
    return replace(task, verifier=replace(engine, options=taken), law=law)


def _of_logits(logits: Any, options: dict[str, Any]) -> Any:
    heat = options.get("temperature", 1.0)
    return warped(np, logits, heat, options.get("top_k"), options.get("top_p"))


def _clear(logits: Any, options: dict[str, Any]) -> bool:
    """Return whether rounding, and the order of equal tokens, makes no difference."""
    kept = _of_logits(logits, options) > 0
    if "top_p" in options:
        for share in (options["top_p"] - CLEAR, options["top_p"] + CLEAR):
            if ((_of_logits(logits, options | {"top_p": share}) > 0) != kept).any():
                return False
    least = np.where(kept, logits, np.inf).min(axis=-1)
    return bool((np.where(kept, -np.inf, logits).max(axis=-1) < least - CLEAR).all())
