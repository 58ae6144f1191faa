"""Rules straight from logits, of which few are probabilities at a time, which stay in caches."""

from collections.abc import Callable
from functools import lru_cache
from math import prod
from threading import local
from typing import Any, NamedTuple

import numpy as np

from otspec._base.compiling import unwriteable
from otspec.batch._array_api.library import Array
from otspec.batch._array_api.warping import Settings
from otspec.batch._numba.from_logits.warping import FEW, warp_rows
from otspec.batch._numba.models import Logits
from otspec.warping import STEPS

_CACHED = 1 << 18
"""How many probabilities of a target are held at once, but those of one row or block at least."""
_PLAIN = {int, float, type(None)}


class Parts(NamedTuple):
    """What there is to know of the rows of a source, as :class:`Logits` has it."""

    flat: Array
    starts: Array
    temperatures: Array
    limits: Array
    steps: Array


class Source:
    """The rows of a draft or of a target that is given as logits."""

    def __init__(self, parts: Parts, width: int) -> None:
        self.parts, self.width = parts, width
        self.shape = *parts.starts.shape[1:], width
        self.size = parts.starts.size * width

    def __len__(self) -> int:
        return len(self.parts.starts)

    def __getitem__(self, which: slice) -> "Source":
        """Return some of the rows."""
        if which == slice(0, len(self)):
            return self
        flat, starts, temperatures, limits, steps = self.parts
        parts = Parts(flat, starts[which], temperatures[which], limits[which], steps)
        return Source(parts, self.width)

    def write(self, out) -> None:
        """Write the probabilities of all rows, (rows, ..., V)."""
        flat, starts, temperatures, limits, steps = self.parts
        starts, temperatures = starts.reshape(-1), temperatures.reshape(-1)
        limits, out = limits.reshape(-1, 3), out.reshape(-1, self.width)
        warp_rows(flat, starts, temperatures, limits, steps, out)

    def logits(self, which: int) -> Logits:
        """Return the rows as rules read them, with this thread's room 0 or 1 for one of them."""
        return Logits(*self.parts, *_HELD.room(self.width)[which])


def source_of(values, settings: Settings | None, axes: int) -> Source | Array | None:
    """Return the rows of logits, with one axis for the first ones; None if they do not fit.

    With no settings they are probabilities, which are returned as an array.
    """
    flags, shape = values.flags, values.shape
    evenly = flags.c_contiguous
    if not flags.aligned:
        return None
    if settings is None:
        fit = evenly and values.dtype == np.float32
        return unwriteable(values.reshape(-1, *shape[axes:])) if fit else None
    if evenly and _PLAIN.issuperset(map(type, settings[:4])):
        flat, told = unwriteable(values.reshape(-1)), _evenly(settings, shape, axes)
    else:
        laid = _laid_out(values)
        if laid is None:
            return None
        flat, told = laid[0], _told(settings, laid[1], shape, axes)
    return Source(Parts(flat, *told), shape[-1])


def _laid_out(values) -> tuple[Array, Array] | None:
    """Return what the rows lie in, and where each begins; None if one is not in one piece."""
    *lead, width = values.shape
    strides = [stride // values.itemsize for stride in values.strides]
    if min(strides) < 0 or (strides[-1] != 1 and width > 1):
        return None
    starts = np.zeros(lead, np.int64)
    for axis, stride in enumerate(strides[:-1]):
        places = stride * np.arange(lead[axis])
        starts += places.reshape(-1, *[1] * (len(lead) - axis - 1))
    span = int(starts.max()) + width
    flat = np.lib.stride_tricks.as_strided(values, (span,), (values.itemsize,), writeable=False)
    return flat, starts


@lru_cache(maxsize=16)
def _evenly(
    settings: Settings, shape: tuple[int, ...], axes: int
) -> tuple[Array, Array, Array, Array]:
    """Return what is told of rows that lie one after another, with the same settings."""
    starts = np.arange(0, prod(shape), shape[-1]).reshape(shape[:-1])
    return _told(settings, starts, shape, axes)


def _told(
    settings: Settings, starts, shape: tuple[int, ...], axes: int
) -> tuple[Array, Array, Array, Array]:
    """Return where each row begins, its temperature and its limits, and the steps."""
    *lead, width = shape
    temperatures, tops, shares, leasts = (
        _of_rows(value, tuple(lead), default)
        for value, default in zip(settings[:4], (1.0, width, 1.0, 0.0), strict=True)
    )
    limits = np.stack([np.minimum(tops, width), shares, leasts], axis=-1)
    steps = np.array([STEPS.index(step) for step in settings.order])
    rows = prod(lead[:axes]), *lead[axes:]
    parts = starts.reshape(rows), temperatures.reshape(rows), limits.reshape(*rows, 3), steps
    one, two, three, four = map(unwriteable, parts)
    return one, two, three, four


def _of_rows(value: Any, shape: tuple[int, ...], default: float) -> Array:
    """Return a setting of each row, float64."""
    if getattr(value, "ndim", 0):
        return np.broadcast_to(np.asarray(value)[..., 0], shape).astype(float)
    return np.full(shape, default if value is None else min(value, 2**60), float)


class _Rooms(local):
    """Room for two rows, which each thread keeps: to get memory anew takes as long as a reading."""

    width = 0

    def room(self, width: int) -> list[tuple[Array, Array, Array]]:
        """Return two rows of float32, the same read-only, and room for the tops of each."""
        if self.width != width:
            self.width, few = width, -(-width // FEW)
            rows = [_aligned(width) for _ in range(2)]
            self.rows = [(row, unwriteable(row), np.empty(few, np.float32)) for row in rows]
        return self.rows


_HELD = _Rooms()


def _aligned(size: int) -> Array:
    """Return room for a row of float32 that begins with a line of the cache."""
    line = 16
    room = np.empty(size + line, np.float32)
    first = -(room.__array_interface__["data"][0] // room.itemsize) % line
    return room[first : first + size]


def written(source: Source, out) -> None:
    """Write the probabilities of all rows."""
    source.write(out)


def of_sources(verify: Callable[..., None]) -> Callable[..., None]:
    """Return a rule that takes sources for its draft and target, and reads them row by row."""

    def loop(draft: Source | Array, target: Source, *others: Any) -> None:
        own = draft.logits(0) if isinstance(draft, Source) else draft
        verify(own, target.logits(1), *others)

    return loop


def in_parts(verify: Callable[..., None]) -> Callable[..., None]:
    """Return a rule that takes sources, whose rows become probabilities a few at a time."""

    def loop(draft: Source | Array, target: Source, *others: Any) -> None:
        rows = len(target)
        step = max(_CACHED * rows // target.size, 1)
        if step >= rows:
            verify(_probabilities(draft), _probabilities(target), *others)
            return
        for start in range(0, rows, step):
            here = slice(start, min(start + step, rows))
            rest = [part[here] if isinstance(part, np.ndarray) else part for part in others]
            verify(_probabilities(draft[here]), _probabilities(target[here]), *rest)

    return loop


def drafting(draw: Callable[..., None]) -> Callable[..., None]:
    """Return a drafter that takes a source, and writes the probabilities, too."""

    def loop(source: Source, uniforms, draft, found) -> None:
        step = max(_CACHED // source.width, 1)
        for start in range(0, len(source), step):
            here = slice(start, min(start + step, len(source)))
            source[here].write(draft[here])
            draw(unwriteable(draft[here]), uniforms[here], found[here])

    return loop


def _probabilities(rows: Source | Array) -> Array:
    if isinstance(rows, np.ndarray):
        return rows
    found = np.empty((len(rows), *rows.shape), np.float32)
    rows.write(found)
    return unwriteable(found)
