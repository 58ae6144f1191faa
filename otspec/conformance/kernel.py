"""Handing drafts to a verifier: the harness draws them, the verifier verifies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from otspec.arithmetic import IntArray
from otspec.auditing.foreign import attempt
from otspec.conformance.calling import Randomness, Verifier
from otspec.conformance.cases import Case
from otspec.conformance.kinds import UNKNOWN, Answer, ImpossibleError, Kind, Sample, completed
from otspec.conformance.statistics import Looked, fine_counts
from otspec.conformance.trial import FaultError
from otspec.frozen import Frozen

STEPS = 2
"""How often a verifier is called for one text by :class:`StepBatches`."""


@dataclass(frozen=True, eq=False)
class KernelBatches(Frozen):
    """Batches of drafts of one case, verified and completed.

    Parameters
    ----------
    verifier : Verifier
    kind : Kind
    case : Case
    randomness : Randomness
        Of the verifier.
    rng : numpy.random.Generator
        Of the drafts, and of what follows the token.
    looked : Looked
        What is counted.
    """

    verifier: Verifier
    kind: Kind
    case: Case
    randomness: Randomness
    rng: np.random.Generator
    looked: Looked

    between: ClassVar[str] = ""
    """What the two halves of a counted text belong to, if they are two texts."""

    def __call__(self, size: int) -> IntArray:
        """Return how often each mark came with each text.

        Raises
        ------
        FaultError
            The verifier raises something, or says what no right one says.
        ValueError
            Its answers have another form than a verifier's.
        """
        sample = self.kind.draw(self.case, size, self.rng)
        answer = self.answer(sample)
        texts = completed(answer.texts, self.case, sample.variants, self.rng)
        return fine_counts(self.looked, self.case, texts, answer.marks, sample.variants)

    def answer(self, sample: Sample) -> Answer:
        """Return what the verifier says of drafts; raises as a call does."""
        answer, crash = attempt(self.verifier, self.kind, self.case, sample, self.randomness)
        if crash is not None:
            raise FaultError("call", f"the verifier {crash.what}", crash.traceback)
        try:
            return self.kind.read(answer, self.case, sample)
        except ImpossibleError as error:
            raise FaultError("impossible", str(error)) from error


class StepBatches(KernelBatches):
    """Texts of several steps: the harness drafts from where the step before has ended."""

    def __call__(self, size: int) -> IntArray:
        """Return how often each text came, as it goes on after the first step."""
        stepped = _from_any_symbol(self.case)
        batches = KernelBatches(
            self.verifier, self.kind, stepped, self.randomness, self.rng, self.looked
        )
        rows, places = np.arange(size)[:, None], np.arange(self.kind.length)
        texts = np.full((size, (STEPS + 1) * self.kind.length), UNKNOWN, dtype=np.intp)
        known, after = np.zeros(size, dtype=np.intp), np.zeros(size, dtype=np.intp)
        for _ in range(STEPS):
            step = batches.answer(self.kind.drafted(stepped, after, self.rng)).texts
            texts[rows, known[:, None] + places] = step
            known += (step != UNKNOWN).sum(axis=1)
            after = np.minimum(texts[rows[:, 0], known - 1], self.case.n - 1) + 1
        start = np.zeros(size, dtype=np.intp)
        whole = completed(texts[:, : self.looked.length], self.case, start, self.rng)
        return fine_counts(self.looked, self.case, whole, None, start)


def _from_any_symbol(case: Case) -> Case:
    """Return a case of as many pairs as there are last symbols of a text, and none."""
    draft, target = (
        np.stack([np.concatenate([row[None], table[1:]]) for row in table])
        for table in (case.draft[0], case.target[0])
    )
    return replace(case, draft=draft, target=target)
