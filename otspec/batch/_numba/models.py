"""The rows of a draft or a target, as rules read them: probabilities, or logits."""

from typing import Any, NamedTuple

import numpy as np

from otspec._base.compiling import HAS_NUMBA
from otspec.batch._array_api.library import Array
from otspec.batch._numba.compiled import inner_code
from otspec.batch._numba.from_logits.warping import fill_row


class Logits(NamedTuple):
    """Rows of logits, and room for one that is turned into probabilities."""

    flat: Array  # what all rows lie in: float32, or the bits of half precision
    starts: Array  # (...): where each row begins
    temperatures: Array  # (...): 0 for the first of the largest logits
    limits: Array  # (..., 3): top-k (V: none), top-p (1: none), min-p (0: none)
    steps: Array  # (4,): as `warping` numbers them
    row: Array  # (V,) of float32, the room
    seen: Array  # the same, read-only
    tops: Array  # room for the largest of each few tokens

    @property
    def dtype(self) -> np.dtype[Any]:
        """What is computed in."""
        return self.row.dtype


def row_of(model: Any, place: Any) -> tuple[Array, float]:
    """Return the row at a place, and what it is multiplied by to be probabilities.

    The model is an array of probabilities, (..., V), or :class:`Logits`, whose row is there until
    the next one is read.
    """
    return _filled(model, place) if isinstance(model, Logits) else (model[place], 1.0)


@inner_code
def _filled(model: Logits, place: Any) -> tuple[Array, float]:
    """Return a row of logits as :func:`row_of` does."""
    start, temperature = model.starts[place], model.temperatures[place]
    logits, limits = model.flat[start : start + model.row.size], model.limits[place]
    unit = fill_row(logits, temperature, limits, model.steps, model.tops, model.row)
    return model.seen, np.float64(unit)


def _row_of(model: Any, place: Any) -> Any:  # noqa: ARG001 # their types
    def given(model: Any, place: Any) -> tuple[Array, float]:
        return model[place], 1.0

    def filled(model: Any, place: Any) -> tuple[Array, float]:
        return _filled(model, place)

    return filled if isinstance(model, types.NamedTuple) else given


if HAS_NUMBA:
    from numba import types
    from numba.extending import overload

    overload(row_of)(_row_of)
