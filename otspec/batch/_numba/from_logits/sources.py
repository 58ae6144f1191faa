"""Rules straight from logits: a few rows at a time become probabilities, which stay in caches."""

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from otspec._base.compiling import unwriteable
from otspec.batch._array_api.library import Array
from otspec.batch._array_api.warping import Settings
from otspec.batch._numba.from_logits.warping import GIVEN, warp_rows
from otspec.warping import STEPS

_CACHED = 1 << 18
"""How many probabilities of a target are held at once, but those of one row or block at least."""
_PLAIN = {int, float, type(None)}
_KNOWN = Settings(temperature=GIVEN)  # the settings of rows that are probabilities already


_NONE = np.empty(0)


class Parts(NamedTuple):
    """What machine code takes of the rows of a source."""

    flat: Array  # what all rows lie in: float32, or the bits of half precision
    starts: Array  # (...): where each row begins
    temperatures: Array  # (...): 0 for the first of the largest logits, GIVEN for probabilities
    limits: Array  # (..., 3): top-k (V: none), top-p (1: none), min-p (0: none)
    steps: Array  # (4,): as `truncation` numbers them


class Source:
    """The rows of a draft or of a target: logits, or probabilities that are ``known``."""

    def __init__(self, parts: Parts, width: int, known: Array | None = None) -> None:
        self.parts, self.width, self.known = parts, width, known
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
        return Source(parts, self.width, None if self.known is None else self.known[which])

    def write(self, out, units=_NONE) -> None:
        """Write the probabilities of all rows, (rows, V), or what has the units that it writes."""
        warp_rows(self.parts.flat, *self._settings(), self.parts.steps, out, units)

    def _settings(self) -> tuple[Array, Array, Array]:
        """Return where each row begins, its temperature and its limits, on one axis."""
        _, starts, temperatures, limits, _ = self.parts
        if starts.ndim == 1:  # which NumPy finds out more slowly
            return starts, temperatures, limits
        return starts.reshape(-1), temperatures.reshape(-1), limits.reshape(-1, 3)

    def rows(self, units) -> Array:
        """Return what :meth:`write` writes, or the probabilities that are known."""
        if self.known is not None:
            return self.known
        out = np.empty((len(self), *self.shape), np.float32)
        self.write(out if out.ndim == 2 else out.reshape(-1, self.width), units)
        return unwriteable(out)

    def reader(self, most: int) -> Callable[[int, int, Array], Array]:
        """Return what reads entries from one to another, at most so many, into the same room."""
        if self.known is not None:
            known = self.known
            return lambda start, end, _: known[start:end]
        flat, steps = self.parts.flat, self.parts.steps
        starts, temperatures, limits = self._settings()
        each = self.size // (len(self) * self.width)
        out = _aligned(most * each, self.width)
        shown = unwriteable(out).reshape(most, *self.shape)

        def read(start: int, end: int, units) -> Array:
            here = slice(start * each, end * each)
            rows = out[: (end - start) * each]
            warp_rows(flat, starts[here], temperatures[here], limits[here], steps, rows, units)
            return shown[: end - start]

        return read


def source_of(values, settings: Settings | None, axes: int) -> Source | None:
    """Return the rows of an array, with one axis for the first ones; None if they do not fit."""
    flags, known, shape = values.flags, settings is None, values.shape
    evenly = flags.c_contiguous
    if not flags.aligned or (known and not (evenly and values.dtype == np.float32)):
        return None
    settings = _KNOWN if settings is None else settings
    if evenly and _PLAIN.issuperset(map(type, settings[:4])):
        flat, told = unwriteable(values.reshape(-1)), _evenly(settings, shape, axes)
    else:
        laid = _laid_out(values)
        if laid is None:
            return None
        flat, told = laid[0], _told(settings, laid[1], shape, axes)
    parts = Parts(flat, *told)
    width = shape[-1]
    return Source(parts, width, flat.reshape(*parts.starts.shape, width) if known else None)


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


def _aligned(rows: int, width: int) -> Array:
    """Return room for rows of float32 that begins with a line of the cache."""
    line = 16
    room = np.empty(rows * width + line, np.float32)
    first = -(room.__array_interface__["data"][0] // room.itemsize) % line
    return room[first : first + rows * width].reshape(rows, width)


def written(source: Source, out) -> None:
    """Write the probabilities of all rows."""
    source.write(out)


def in_parts(verify: Callable[..., None], *, with_units: bool = False) -> Callable[..., None]:
    """Return a rule that takes sources for its draft and target, a few rows at a time."""

    def loop(draft: Source, target: Source, *others: Any) -> None:
        rows = len(target)
        step = min(max(_CACHED * rows // target.size, 1), rows)
        own, its = units = np.empty((2, step if with_units else 0))
        if draft.known is not None:
            own[:] = 1
        more = (units,) if with_units else ()
        if step == rows:
            verify(draft.rows(own), target.rows(its), *others, *more)
            return
        drafted, wanted = draft.reader(step), target.reader(step)
        for start in range(0, rows, step):
            end = min(start + step, rows)
            rest = [part[start:end] if isinstance(part, np.ndarray) else part for part in others]
            verify(drafted(start, end, own), wanted(start, end, its), *rest, *more)

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


def of_sources(verify: Callable[..., None]) -> Callable[..., None]:
    """Return a loop of machine code that takes the parts of two sources."""

    def loop(draft: Source, target: Source, *others: Any) -> None:
        verify(*draft.parts, *target.parts, target.width, *others)

    return loop
