"""An array library, its dtypes, what the array API standard lacks, and what a rule is given."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from math import prod
from types import ModuleType
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np
from array_api_compat import array_namespace, device, is_jax_namespace, is_numpy_array

from otspec.batch._triton import kernels_on

Array: TypeAlias = Any  # an array of any library that follows the Python array API standard
# In kernels an argument without annotation is one.

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

BLOCK = 256  # tokens whose weights are added up in one number, for draws


def quietly(values: Any) -> AbstractContextManager[Any]:
    """Return a context in which no value is complained of, whatever :func:`numpy.seterr` says."""
    # A product beyond a dtype's range is meant; and the other libraries are quiet. PyTorch's
    # compiler does not look through NumPy's state, so that it is left alone where a tensor is
    # given.
    return nullcontext() if is_torch(values) else np.errstate(all="ignore")


def is_torch(values: Any) -> bool:
    """Return whether something is a tensor of PyTorch, which is not imported for that."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.Tensor)


def is_compiled(rows) -> bool:
    """Return whether PyTorch makes a graph of a call for these rows."""
    if not is_torch(rows):
        return False
    import torch

    return bool(torch.compiler.is_compiling())


_CACHED = 1 << 17
"""Numbers worked on at once on a CPU: a few such arrays of float32 fit into a core's cache."""
_LAUNCHED = 1 << 22
"""Numbers worked on at once elsewhere, so that what is made on the way stays small."""


@dataclass(frozen=True)
class Library:
    """An array library, and how to compute with it."""

    xp: Any  # the library's functions, under the names of the array API standard
    inner: Any  # the library itself, whose `minimum` and `sum` have no wrappers
    device: Any  # where new arrays go; None lets the library choose
    dtype: Any  # of whole vocabularies: float64 for float64, else float32
    wide: Any  # of a few numbers per row: float64 where the device has it
    index: Any  # of token ids
    at_once: int | None  # how many numbers to work on at once; None: all (a compiler cares for it)
    reorders: bool = False  # whether a compiler may put products in another order
    fused: ModuleType | None = None  # what starts kernels on the device: otspec.batch._triton

    @property
    def factor(self) -> float:
        """A power of two that lifts draft masses to 2⁻⁸⁵ … 2⁶⁴, so that 1 over them is in range."""
        return 2.0**512 if self.dtype == self.xp.float64 else 2.0**64

    @property
    def highest(self) -> float:
        """A power of two that caps quotients, within the range; JAX may multiply by the factor."""
        most = 2.0**1020 if self.dtype == self.xp.float64 else 2.0**126
        return most / self.factor if self.reorders else most

    def arange(self, stop: int) -> Array:
        """Return the token ids 0 to ``stop`` − 1."""
        return self.xp.arange(stop, dtype=self.index, device=self.device)

    def numbers(self, values: Sequence[int]) -> Array:
        """Return a few integers as ids, run by run: a copy to the device would wait for it."""
        return self.xp.concat(
            [
                self.xp.full((len(list(run)),), value, dtype=self.index, device=self.device)
                for value, run in groupby(values)
            ]
        )

    def widened(self, values) -> Array:
        """Return an array in the wide dtype."""
        return self._cast(values, self.wide)

    def narrowed(self, values) -> Array:
        """Return an array in the dtype of whole vocabularies."""
        return self._cast(values, self.dtype)

    def normal(self, rows) -> Array:
        """Return probabilities, for JAX without their subnormal numbers: on a CPU it has none.

        JAX may reorder products. With a subnormal mass a factor may be infinite, and times zero it
        is NaN.
        """
        if not self.reorders:
            return rows
        return self.xp.where(rows < self.xp.finfo(self.dtype).smallest_normal, 0, rows)

    def _cast(self, values, dtype: Any) -> Array:
        # To look first takes a fraction of a call that changes nothing.
        return values if values.dtype == dtype else self.xp.astype(values, dtype)

    def rounded(self, values) -> Array:
        """Return wide numbers rounded to what whole vocabularies are multiplied with."""
        return self.widened(self.narrowed(values))

    def ids(self, values) -> Array:
        """Return an array as token ids."""
        return self._cast(values, self.index)

    def full(self, shape: tuple[int, ...], value: float) -> Array:
        """Return an array of one wide number."""
        return self.xp.full(shape, value, dtype=self.wide, device=self.device)

    def take(self, values, tokens) -> Array:
        """Return the entries at token ids: (..., V), (..., m) -> (..., m), wide."""
        return self.widened(self.xp.take_along_axis(values, tokens, axis=-1))

    def quotient(self, dividend, divisor, otherwise: float = 0.0) -> Array:
        """Return dividend/divisor where the divisor is positive."""
        return self.xp.where(divisor > 0, dividend / divisor, otherwise)

    def above(self, values, bounds) -> Array:
        """Return 1 where values, narrow, are greater than bounds, else 0: narrow."""
        if is_torch(values):  # on a CPU numbers are compared several times as fast as for truth
            return sys.modules["torch"].gt(values, bounds, out=self.xp.empty_like(bounds))
        return self.narrowed(values > bounds)

    def first(self, flags) -> Array:
        """Return the index of the first true entry of the last axis; 0 if there is none."""
        flags = self.xp.astype(flags, self.xp.int8)
        return self.ids(self.xp.argmax(flags, axis=-1))

    def largest(self, values) -> Array:
        """Return the index of the largest entry of the last axis, of equal ones the first."""
        return self.ids(self.xp.argmax(values, axis=-1))

    def pick(self, values, index) -> Array:
        """Return one entry of each row: (..., m), (...) -> (...)."""
        return self.xp.take_along_axis(values, index[..., None], axis=-1)[..., 0]

    def at(self, values, place) -> Array:
        """Return one row of each matrix: (..., L, m), (...) -> (..., m)."""
        *lead, rows, size = values.shape
        matrices = prod(lead)
        flat = self.xp.reshape(values, (matrices * rows, size))
        index = self.arange(matrices) * rows + self.xp.reshape(place, (matrices,))
        return self.xp.reshape(self.xp.take(flat, index, axis=0), (*lead, size))

    def slices(self, values, *, copies: int = 1) -> Iterator[tuple[slice, int]]:
        """Yield stretches of the vocabulary, and the width of the blocks that they consist of."""
        # Every stretch is a whole number of blocks; the last one may be a single narrower block.
        # Where several copies of a stretch are held at once it is shorter.
        size = values.shape[-1]
        whole = size - size % BLOCK
        held = max(prod(values.shape[:-1]), 1) * copies * BLOCK
        step = whole if self.at_once is None else max(self.at_once // held, 1) * BLOCK
        for start in range(0, whole, max(step, 1)):
            yield slice(start, min(start + step, whole)), BLOCK
        if whole < size:
            yield slice(whole, size), size - whole

    def added(self, values, width: int) -> Array:
        """Return the sum of a stretch: (..., m) -> (...), of blocks of a width where it is long."""
        # Compilers add up all of a long row of float32 in a few numbers, which is ten times as far
        # off. So what is not cut into stretches is added up block by block, and the blocks wide.
        if self.at_once is not None:
            return self.inner.sum(values, axis=-1)
        *lead, size = values.shape
        blocks = self.inner.sum(self.xp.reshape(values, (*lead, size // width, width)), axis=-1)
        return self.xp.sum(self.widened(blocks), axis=-1)


def library_of(like) -> Library:
    """Return how to compute with the library that an array belongs to."""
    if is_torch(like):
        return _library_of_torch(like)
    if is_numpy_array(like):
        return _library_of_numpy(bool(like.dtype == np.float64))
    xp = array_namespace(like)
    info = xp.__array_namespace_info__().default_dtypes()
    dtype = xp.float64 if like.dtype == xp.float64 else xp.float32
    if is_jax_namespace(xp):  # its widest is float32 unless 64 bits are switched on
        widest, index = info["real floating"], info["integral"]
        return Library(xp, xp, None, dtype, widest, index, None, reorders=True)
    return Library(xp, xp, device(like), dtype, xp.float64, info["integral"], _LAUNCHED)


@cache
def _library_of_numpy(double: bool) -> Library:
    xp = array_namespace(np.empty(0))
    dtype = xp.float64 if double else xp.float32
    return Library(xp, xp, "cpu", dtype, xp.float64, xp.int64, _CACHED)


def _library_of_torch(like) -> Library:
    import torch  # it takes seconds, and is there already

    if torch.compiler.is_compiling():
        return _torch_library(like.device, like.dtype, at_once=None)
    return _torch_library_by(like.device, like.dtype)


@cache
def _torch_library_by(place: Any, dtype: Any) -> Library:
    library = _torch_library(place, dtype, _CACHED if place.type == "cpu" else _LAUNCHED)
    return replace(library, fused=kernels_on(place))


def _torch_library(place: Any, dtype: Any, at_once: int | None) -> Library:
    from otspec.batch._array_api import torch_functions as xp  # it imports PyTorch

    dtype = xp.float64 if dtype == xp.float64 else xp.float32
    wide = xp.float32 if place.type == "mps" else xp.float64
    return Library(xp, xp, place, dtype, wide, xp.int64, at_once)


def geometric(library: Library, chance, count: Array | float) -> Array:
    """Return 1 + r + … + r^(count−1) for r = 1 − chance: how often one tries until it happens."""
    # It is (1 − r^count)/chance, written so that nothing cancels. Where the chance is 0 it is the
    # count, which is at least 1.
    xp, less = library.xp, -chance
    with quietly(chance):
        total = xp.where(chance > 0, xp.expm1(count * xp.log1p(less)) / less, count)
        return xp.clip(total, min=1.0)


@dataclass(frozen=True)
class Problem:
    """Checked arguments of a rule."""

    library: Library
    draft: Array  # (..., V)
    target: Array  # (..., V)
    drafts: Array  # (..., k): 0 where a draft does not count
    uniforms: Array  # (..., k + 1), wide
    valid: Array | None  # (..., k): which drafts count; None if all do

    @property
    def k(self) -> int:
        """How many drafts a row has at most."""
        return int(self.drafts.shape[-1])

    def which(self) -> Array:
        """Return which drafts count, shape (..., k)."""
        xp = self.library.xp
        return xp.ones_like(self.drafts, dtype=xp.bool) if self.valid is None else self.valid

    def counted(self, flags) -> Array:
        """Return flags of the drafts, (..., k), false where a draft does not count."""
        return flags if self.valid is None else flags & self.valid

    def count(self) -> Array:
        """Return how many drafts of each row count, wide, shape (..., 1)."""
        if self.valid is None:
            return self.library.full((*self.drafts.shape[:-1], 1), float(self.k))
        return self.library.xp.sum(self.library.widened(self.valid), axis=-1, keepdims=True)

    def none(self) -> Array | None:
        """Return 1 for rows without a draft, else 0: wide, shape (...); None where all count."""
        if self.valid is None:
            return None
        return self.library.widened(~self.library.xp.any(self.valid, axis=-1))

    def drafted(self) -> Array:
        """Return the draft's probability of each draft, wide, shape (..., k)."""
        return self.library.take(self.draft, self.drafts)

    def wanted(self) -> Array:
        """Return the target's probability of each draft, wide, shape (..., k)."""
        return self.library.take(self.target, self.drafts)
