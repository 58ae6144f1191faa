"""Handing drafts to a verifier: the harness draws them, the verifier verifies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from otspec.arithmetic import IntArray
from otspec.auditing.foreign import attempt
from otspec.conformance.answers import ImpossibleError
from otspec.conformance.calling import Randomness, Verifier, copied, written
from otspec.conformance.cases import Case
from otspec.conformance.kinds import Kind
from otspec.conformance.statistics import fine_counts
from otspec.conformance.trial import FaultError
from otspec.frozen import Frozen

PROBE = 64
"""Rows of the batch after which is looked what a verifier writes to."""


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
    marked : bool
        Whether the verifier has to tell what it accepts.
    """

    verifier: Verifier
    kind: Kind
    case: Case
    randomness: Randomness
    rng: np.random.Generator
    marked: bool = False

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
        given = self.verifier.given(self.kind, self.case, sample, self.randomness)
        answer, crash = attempt(self.verifier, given)
        if crash is not None:
            raise FaultError("call", f"the verifier {crash.what}", crash.traceback)
        try:
            read = self.kind.read(answer, self.case, sample)
        except ImpossibleError as error:
            raise FaultError("impossible", str(error)) from error
        if read.marks is None and self.marked:
            raise ValueError("rule says what is accepted: return the accepted index with the token")
        texts = self.kind.completed(read, self.case, sample, self.rng)
        return fine_counts(self.kind, self.case, texts, read.marks, sample.variants)


def written_to(verifier: Verifier, kind: Kind, case: Case, seed: int) -> list[str]:
    """Return the names of the arrays that a verifier writes to; none if it fails."""
    rng = np.random.default_rng(seed)
    sample = kind.draw(case, PROBE, rng)
    given = verifier.given(kind, case, sample, verifier.randomness(seed))
    before = copied(given)
    _, crash = attempt(verifier, given)
    return [] if crash is not None else written(before, given)
