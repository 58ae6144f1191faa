"""What was seen on a case, compared with the laws of known faults."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from otspec._base.arithmetic import Array, IntArray
from otspec._base.frozen import Frozen
from otspec.conformance.cases.cases import Case
from otspec.conformance.evidence.evidence import Evidence, Requirement

MISFIT = 1e-6
"""The probability with which the fault that is there is taken for none on one case."""


@dataclass(frozen=True, eq=False)
class Seen(Frozen):
    """What was seen on one case."""

    case: Case
    counts: IntArray  # (marks, fine cells)
    needs: Requirement  # of the test of the case
    off: bool  # whether there is a finding
    # What else the case may have been: an engine drafts from warped logits or not
    other: Case | None = None

    def read_as(self, *, other: bool) -> Seen:
        """Return what was seen with the case as it may have been."""
        return replace(self, case=self.other) if other and self.other is not None else self

    def likelihood(self, law: Array, *, marked: bool = False) -> float | None:
        """Return the logarithm of the likelihood, None where a law does not fit.

        Parameters
        ----------
        law : ndarray, shape (marks, fine cells)
        marked : bool
            Whether marks are compared, too.
        """
        evidence, counts = self._compared(law, marked)
        return None if evidence.wrong(counts) else self.logarithm(law, marked=marked)

    def logarithm(self, law: Array, *, marked: bool = False) -> float:
        """Return the logarithm of the likelihood, however badly a law fits."""
        evidence, counts = self._compared(law, marked)
        with np.errstate(divide="ignore"):  # without rounding a cell may be impossible
            logs = np.log(evidence.expected)
        return float((counts[counts > 0] * logs[counts > 0]).sum())

    def _compared(self, law: Array, marked: bool) -> tuple[Evidence, IntArray]:
        axis = () if marked else (0,)
        evidence = self._evidence(law.sum(axis=axis).ravel())
        return evidence, self.counts.sum(axis=axis).ravel()

    def first_fits(self, law: Array) -> bool:
        """Return whether a law of the first token fits, whatever follows."""
        return not self._evidence(self._first(law)).wrong(self._first(self.counts))

    def _first(self, cells: Array) -> Array:
        texts = cells.sum(axis=0)
        each = texts[:-1].reshape(self.case.variants * self.case.n, -1).sum(axis=1)
        return np.append(each, texts[-1])

    def _evidence(self, expected: Array) -> Evidence:
        return Evidence(expected, replace(self.needs, false_alarm=MISFIT))
