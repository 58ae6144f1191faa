"""Texts of several steps from a verifier of drafts: the harness loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from otspec._base.arithmetic import IntArray
from otspec.conformance.cases.cases import Case, after_any_symbol, renamed
from otspec.conformance.cases.drafting import UNKNOWN, completed
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.cases.library import MOST_TEXTS, plain_cases
from otspec.conformance.evidence.statistics import (
    Statistic,
    TextsOnly,
    fine_counts,
    text_statistics,
)
from otspec.conformance.following.kernel import KernelBatches

STEPS = 2
"""How often a verifier is called for one text."""


def step_cases(kind: Kind, uneven: bool) -> list[Case]:
    """Return the case of which texts are made in steps; none if all need rows of fewer drafts.

    Parameters
    ----------
    kind : Kind
    uneven : bool
        Whether the verifier takes such rows.
    """
    return [renamed(case, "two steps") for case in plain_cases(kind, uneven)]


def step_texts(kind: Kind, case: Case) -> TextsOnly:
    """Return how much of such texts is looked at: what all steps may give, if that is not much."""
    length = 2
    while length < STEPS * kind.length and case.n ** (length + 1) <= MOST_TEXTS:
        length += 1
    return TextsOnly(length)


class StepBatches(KernelBatches):
    """Texts of which each step begins where the step before has ended."""

    calls = STEPS

    @classmethod
    def statistics(cls, kind: Kind, case: Case) -> list[Statistic]:
        """Return the laws of the first token, the first two, and so on."""
        return text_statistics(step_texts(kind, case), case)

    def __call__(self, size: int) -> IntArray:
        """Return how often each text came, which the target goes on with after the last step."""
        looked, stepped = step_texts(self.kind, self.case), after_any_symbol(self.case)
        batches = replace(self, case=stepped)
        rows, places = np.arange(size)[:, None], np.arange(self.kind.length)
        whole = max((STEPS + 1) * self.kind.length, looked.length)
        texts = np.full((size, whole), UNKNOWN, dtype=np.intp)
        known, after = np.zeros(size, dtype=np.intp), np.zeros(size, dtype=np.intp)
        for _ in range(STEPS):
            step = batches.answer(self.kind.drafted(stepped, after, self.rng)).texts
            texts[rows, known[:, None] + places] = step
            known += (step != UNKNOWN).sum(axis=1)
            after = np.minimum(texts[rows[:, 0], known - 1], self.case.n - 1) + 1
        start = np.zeros(size, dtype=np.intp)
        texts = completed(texts[:, : looked.length], self.case, start, self.rng)
        return fine_counts(looked, self.case, texts, None, start)
