"""What a verifier says: its parts by name, and tokens as symbols."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from otspec._base.arithmetic import IntArray
from otspec._base.coerce import as_array
from otspec.conformance.cases.cases import Case


class Answer(NamedTuple):
    """What a verifier says, in symbols; n stands for a token that is none of them."""

    texts: IntArray
    """Shape (size, T); after the token −1, for what the target is still to draw."""
    marks: IntArray | None
    """The accepted draft, the kept length or the kept node, from 0; None if it is not told."""


class ImpossibleError(Exception):
    """A verifier says something that no right one says."""


def named(answer: Any, names: tuple[str, ...], least: int = 2) -> Mapping[str, Any]:
    """Return the parts of an answer by name: attributes, keys, or a tuple in this order."""
    if isinstance(answer, Mapping) and set(names[:least]) <= set(answer):
        return answer
    if all(hasattr(answer, name) for name in names):
        return {name: getattr(answer, name) for name in names}
    parts = answer if isinstance(answer, tuple) else (answer,)
    if not least <= len(parts) <= len(names):
        raise ValueError(f"the verifier returned {len(parts)} values: return {' and '.join(names)}")
    return dict(zip(names, parts, strict=False))


def integers(values: Any, shape: tuple[int, ...], name: str) -> IntArray:
    """Return an array of integers of a shape.

    Raises
    ------
    ImpossibleError
        Some are NaN.
    ValueError
        Another type or shape.
    """
    array = as_array(values, f"what the verifier returned as {name}")
    if array.dtype.kind == "f" and np.isnan(array).any():
        rows = int(np.isnan(array).reshape(len(array), -1).any(axis=1).sum()) if array.ndim else 1
        raise ImpossibleError(f"it returns NaN as {name} in {rows:,} of {shape[0]:,} rows")
    if [length for length in array.shape if length != 1] == [each for each in shape if each != 1]:
        # One more axis of length 1 changes nothing; one less may have lost the axis of rows.
        array = array.reshape(shape) if array.ndim > len(shape) else array
    if array.dtype.kind not in "iu" or array.shape != shape:
        raise ValueError(
            f"the verifier returned {name} of type {array.dtype} and shape {array.shape}: it must "
            f"be integers of shape {shape}"
        )
    return array.astype(np.intp)


def symbols_of(tokens: IntArray, case: Case) -> IntArray:
    """Return the symbols of tokens; n for a token that is none.

    Raises
    ------
    ImpossibleError
        A token that the vocabulary does not have.
    """
    outside = (tokens < 0) | (tokens >= case.vocabulary)
    if outside.any():
        raise ImpossibleError(
            f"it returns token {int(tokens[outside][0])}, of a vocabulary of {case.vocabulary:,}, "
            f"in {int(outside.sum()):,} of {len(tokens):,} rows"
        )
    return case.symbols[tokens]
