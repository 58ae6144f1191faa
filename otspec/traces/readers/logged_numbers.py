"""What logged numbers are, and the distribution that is sampled from where they were logged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from otspec.arithmetic import Array
from otspec.distributions import Distribution, as_distribution
from otspec.traces.warping import warp

KINDS = ("logits", "log_probabilities", "probabilities")
"""What the numbers of a source may be; arrays are called ``draft_`` or ``target_`` and the kind."""


@dataclass(frozen=True)
class Warping:
    """What is done to both models before they are compared; see :func:`otspec.traces.warp`.

    Parameters
    ----------
    temperature : float
        Of both, or of the target if the draft has one of its own.
    top_k : int, optional
    top_p : float, optional
    normalize : bool
        Scale probabilities to sum 1.
    draft_temperature : float, optional
        Of the draft.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    normalize: bool = False
    draft_temperature: float | None = None

    def of(self, side: str) -> Warping:
        """Return what is done to one of the two models, ``"draft"`` or ``"target"``."""
        if side == "target" or self.draft_temperature is None:
            return self
        return replace(self, temperature=self.draft_temperature)

    def distribution(self, row: Array, kind: str, name: str) -> Distribution:
        """Return what is sampled from where these numbers were logged.

        Parameters
        ----------
        row : ndarray of float, shape (n,)
        kind : str
            One of :data:`KINDS`.
        name : str
            What error messages call the row.

        Raises
        ------
        ValueError
            As :func:`otspec.traces.warp`; or probabilities that are no distribution.
        """
        if kind == "probabilities":
            row = as_distribution(row, name, normalize=self.normalize)
            if (self.temperature, self.top_k, self.top_p) == (1.0, None, None):
                return row
            with np.errstate(divide="ignore"):
                row = np.log(row)
        return warp(
            row, temperature=self.temperature, top_k=self.top_k, top_p=self.top_p, name=name
        )


def check_logged(names: Sequence[str], draft: tuple[int, ...], target: tuple[int, ...]) -> None:
    """Refuse shapes of two arrays that are not logged at the same positions, one at least.

    Parameters
    ----------
    names : sequence of str
        What messages call the two arrays.
    draft, target : tuple of int

    Raises
    ------
    ValueError
    """
    if draft != target:
        raise ValueError(
            f"{names[0]} has shape {draft} and {names[1]} {target}: both models must be logged at "
            "the same positions"
        )
    if len(draft) < 2 or math.prod(draft) == 0:
        raise ValueError(
            f"{names[0]} has shape {draft}: it must be (..., n) with at least one position and "
            "one token"
        )


def check_tokens(name: str, shape: tuple[int, ...], dtype: str, logged: tuple[int, ...]) -> None:
    """Refuse an array that does not hold the tokens that were drawn along logged positions.

    Parameters
    ----------
    name : str
        What messages call the array.
    shape : tuple of int
    dtype : str
    logged : tuple of int
        The shape of the numbers of each model.

    Raises
    ------
    ValueError
    """
    lengths = [length for length in (logged[-2] - 1, logged[-2]) if length]
    wanted = [(*logged[:-2], length) for length in lengths]
    if np.dtype(dtype).kind not in "iu" or shape not in wanted:
        raise ValueError(
            f"{name} has type {np.dtype(dtype)} and shape {shape} beside models of shape {logged}: "
            f"it must hold integers, of shape {' or '.join(map(str, wanted))}"
        )
