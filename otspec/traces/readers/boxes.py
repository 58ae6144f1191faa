"""Ranges of positions as boxes: what is read of an array with several position axes."""

from __future__ import annotations

import math
from collections.abc import Iterator

Box = tuple[slice, ...]


def boxes_of(shape: tuple[int, ...], start: int, stop: int) -> Iterator[Box]:
    """Split a range of flattened positions into the fewest boxes of the axes.

    Parameters
    ----------
    shape : tuple of int
        No axis is empty; without axes there is one position.
    start, stop : int

    Yields
    ------
    tuple of slice
        In order; the positions in a box are in order too.

    Examples
    --------
    >>> list(boxes_of((2, 3), 1, 6))
    [(slice(0, 1, None), slice(1, 3, None)), (slice(1, 2, None), slice(0, 3, None))]
    """
    if len(shape) < 2:
        yield tuple(slice(start, stop) for _ in shape)
        return
    inner = math.prod(shape[1:])
    (first, skipped), (last, left) = divmod(start, inner), divmod(stop, inner)
    if first == last:
        yield from _within(shape, first, skipped, left)
        return
    if skipped:
        yield from _within(shape, first, skipped, inner)
        first += 1
    if first < last:
        yield (slice(first, last), *(slice(0, length) for length in shape[1:]))
    if left:
        yield from _within(shape, last, 0, left)


def _within(shape: tuple[int, ...], index: int, start: int, stop: int) -> Iterator[Box]:
    for box in boxes_of(shape[1:], start, stop):
        yield (slice(index, index + 1), *box)
