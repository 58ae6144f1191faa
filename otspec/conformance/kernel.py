"""Handing drafts to a verifier: the harness draws them, the verifier verifies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from otspec.arithmetic import IntArray
from otspec.auditing.foreign import attempt
from otspec.conformance.calling import Randomness, Verifier
from otspec.conformance.cases import Case
from otspec.conformance.kinds import ImpossibleError, Kind
from otspec.conformance.statistics import fine_counts
from otspec.conformance.trial import FaultError
from otspec.frozen import Frozen


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
    """

    verifier: Verifier
    kind: Kind
    case: Case
    randomness: Randomness
    rng: np.random.Generator

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
        answer, crash = attempt(self.verifier, self.kind, self.case, sample, self.randomness)
        if crash is not None:
            raise FaultError("call", f"the verifier {crash.what}", crash.traceback)
        try:
            read = self.kind.read(answer, self.case, sample)
        except ImpossibleError as error:
            raise FaultError("impossible", str(error)) from error
        texts = self.kind.completed(read, self.case, sample, self.rng)
        return fine_counts(self.kind, self.case, texts, read.marks, sample.variants)
