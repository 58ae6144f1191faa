"""How likely each mark comes with each text, from what a verifier says and how likely."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from otspec._base.arithmetic import Array
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.kinds import Kind


def no_answers(kind: Kind, case: Case) -> Array:
    """Return chances of 0 of the cells of :func:`.statistics.fine_counts`.

    Returns
    -------
    ndarray, shape (marks, fine cells)
    """
    return np.zeros((kind.marks, case.variants * case.n**kind.length + 1))


def add_answer(
    law: Array, case: Case, variant: int, mark: int, symbols: Sequence[int], mass: float
) -> None:
    """Add the chance of an answer to those of the texts that begin with it.

    The target says what follows the verifier's token.

    Parameters
    ----------
    law : ndarray, shape (marks, fine cells)
        Changed in place.
    case : Case
    variant : int
        The pair of models.
    mark : int
    symbols : sequence of int
        What is kept and the token after it; n for a token of probability 0.
    mass : float
        The chance.
    """
    if case.n in symbols:
        law[mark, -1] += mass
        return
    texts = (law.shape[1] - 1) // case.variants
    first, width = variant * texts, texts
    for symbol in symbols:
        width //= case.n
        first += symbol * width
    law[mark, first : first + width] += mass * _continued(case, variant, symbols[-1], width)


@lru_cache(maxsize=4096)
def _continued(case: Case, variant: int, symbol: int, texts: int) -> Array:
    """Return the target's law of the texts after a symbol, of which there are so many."""
    if texts == 1:
        return np.ones(1)
    rows = [
        row * _continued(case, variant, following, texts // case.n)
        for following, row in enumerate(case.target[variant, symbol + 1])
    ]
    return np.concatenate(rows)
