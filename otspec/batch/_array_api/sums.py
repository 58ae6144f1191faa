"""Passes over the vocabulary, in stretches that fit into the cache: sums that rules are made of."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from otspec.batch._array_api.library import Array, Library

Weight: TypeAlias = Callable[[Array, Array], Array]
"""Turns draft and target, (..., m) each, into the weights of the same m tokens.

The weights that rules draw from are values, which kernels for a device can read.
"""


def overlaps(library: Library, draft, target, scales) -> Array:
    """Return Σ min(target, scale·draft) for rounded scales, in one pass: (..., m), wide."""
    if library.fused is not None and library.fused.takes(library, draft, target):
        return library.fused.overlaps(library, draft, target, scales)
    scales = library.narrowed(scales)
    columns = (scales[..., j : j + 1] for j in range(scales.shape[-1]))
    parts = _added(library, draft, target, *(Common(library, scale) for scale in columns))
    return library.widened(library.xp.stack(parts, axis=-1))


def split(library: Library, draft, target, scale) -> tuple[Array, Array]:
    """Return the draft's mass where target > scale·draft, and the target's elsewhere."""
    # (..., V), (..., V), (...) -> (...), (...), wide. The scale is `rounded`.
    narrow = library.narrowed(scale)[..., None]
    outside, rest = totals(
        library,
        draft,
        target,
        lambda p, q: p * library.above(q, narrow * p),
        lambda p, q: q * (1 - library.above(q, narrow * p)),
    )
    return outside, rest


def block_sums(library: Library, draft, target, *weights: Weight) -> list[Array]:
    """Return the sums of each weight over blocks of 256 tokens in one pass, wide."""
    if library.fused is not None and library.fused.takes(library, draft, target, *weights):
        return library.fused.block_sums(library, draft, target, *weights)
    parts: list[list[Array]] = [[] for _ in weights]
    for drafted, wanted, width in _stretches(library, draft, target):
        for part, weight in zip(parts, weights, strict=True):
            blocks = in_blocks(library, weight(drafted, wanted), width)
            part.append(library.inner.sum(blocks, axis=-1))
    return [
        library.widened(part[0] if len(part) == 1 else library.xp.concat(part, axis=-1))
        for part in parts
    ]


def in_blocks(library: Library, values, width: int) -> Array:
    """Return a stretch cut into blocks: (..., m) -> (..., m / width, width)."""
    *lead, size = values.shape
    return library.xp.reshape(values, (*lead, size // width, width))


def totals(library: Library, draft, target, *weights: Weight) -> list[Array]:
    """Return the sums of each weight over the vocabulary, (...) and wide, in one pass."""
    if library.fused is not None and library.fused.takes(library, draft, target, *weights):
        return library.fused.totals(library, draft, target, *weights)
    return [library.widened(part) for part in _added(library, draft, target, *weights)]


def _added(library: Library, draft, target, *weights: Weight) -> list[Array]:
    """Return the sums of each weight over the vocabulary, narrow if it is one stretch."""
    xp = library.xp
    parts: list[list[Array]] = [[] for _ in weights]
    for drafted, wanted, width in _stretches(library, draft, target):
        for part, weight in zip(parts, weights, strict=True):
            part.append(library.added(weight(drafted, wanted), width))
    return [
        part[0] if len(part) == 1 else xp.sum(library.widened(xp.stack(part, axis=-1)), axis=-1)
        for part in parts
    ]


def _stretches(library: Library, draft, target) -> Iterator[tuple[Array, Array, int]]:
    """Yield stretches of both, narrow, and the width of the blocks that they consist of."""
    for stretch, width in library.slices(draft):
        # A look at all of an array takes as long as a step of the computation.
        whole = stretch.stop - stretch.start == draft.shape[-1]
        drafted = library.narrowed(draft if whole else draft[..., stretch])
        if target is draft:
            yield drafted, drafted, width
        else:
            yield drafted, library.narrowed(target if whole else target[..., stretch]), width


@dataclass(frozen=True)
class Terms:
    """What a weight is made of, for kernels that read it."""

    kind: str  # draft, target, common, scaled, line (BrokenLine) or light (Light)
    numbers: tuple[Array, ...] = ()  # (..., 1) each, narrow; the share of a mixture comes first
    factor: float = 1.0
    excess: bool = False  # whether the weight is what that leaves of the target
    mixed: bool = False  # whether that is then mixed with the target


class KnownWeight(ABC):
    """A weight that tells what it is made of; equal to itself alone.

    PyTorch's compiler, of some releases, asks for the hash before the weight has its fields.
    """

    @abstractmethod
    def __call__(self, draft, target) -> Array:
        """Return what the weight is of the same tokens of both."""

    @abstractmethod
    def terms(self) -> Terms:
        """Return what it is made of."""


@dataclass(frozen=True, eq=False)
class One(KnownWeight):
    """The weight that is one of the two itself: ``draft`` or ``target``."""

    name: str

    def __call__(self, draft, target) -> Array:
        return draft if self.name == "draft" else target

    def terms(self) -> Terms:
        """Return what it is made of."""
        return Terms(self.name)


the_draft = One("draft")
the_target = One("target")


@dataclass(frozen=True, eq=False)
class Common(KnownWeight):
    """The weight min(target, scale·factor·draft); without a scale min(target, draft)."""

    library: Library
    scale: Array | None = None  # (..., 1), narrow
    factor: float = 1.0  # Library.factor where a scale alone may be out of range

    def __call__(self, draft, target) -> Array:
        if self.scale is None:
            return self.library.inner.minimum(draft, target)
        if self.factor == 1:
            return self.library.inner.minimum(self.scale * draft, target)
        product = draft * self.factor
        product *= self.scale  # in place, since fresh memory takes longer than the product
        return self.library.inner.minimum(product, target)

    def terms(self) -> Terms:
        """Return what it is made of."""
        if self.scale is None:
            return Terms("common")
        return Terms("scaled", (self.scale,), self.factor)


@dataclass(frozen=True, eq=False)
class BrokenLine(KnownWeight):
    """The weight min(target, start·draft + rise·target, top·draft); numbers (..., 1), narrow."""

    library: Library
    start: Array
    rise: Array
    top: Array

    def __call__(self, draft, target) -> Array:
        minimum = self.library.inner.minimum
        law = minimum(self.start * draft + self.rise * target, self.top * draft)
        return minimum(target, law)

    def terms(self) -> Terms:
        """Return what it is made of."""
        return Terms("line", (self.start, self.rise, self.top))


@dataclass(frozen=True, eq=False)
class Excess(KnownWeight):
    """What another weight leaves of the target: exactly 0 where nothing is left."""

    kept: Common | BrokenLine

    def __call__(self, draft, target) -> Array:
        return target - self.kept(draft, target)

    def terms(self) -> Terms:
        """Return what it is made of."""
        return replace(self.kept.terms(), excess=True)


@dataclass(frozen=True, eq=False)
class Mixture(KnownWeight):
    """The weight share·target + (1 − share)·rest, with a share per row, (..., 1), narrow."""

    share: Array
    rest: KnownWeight

    def __call__(self, draft, target) -> Array:
        rest = self.rest(draft, target)
        return rest + self.share * (target - rest)

    def terms(self) -> Terms:
        """Return what it is made of."""
        rest = self.rest.terms()
        return replace(rest, numbers=(self.share, *rest.numbers), mixed=True)


def common(library: Library, scale: Array | None = None, factor: float = 1.0) -> Common:
    """Return the weight min(target, scale·factor·draft) for a scale per row, shape (...)."""
    return Common(library, None if scale is None else library.narrowed(scale)[..., None], factor)


def excess(library: Library, scale, factor: float = 1.0) -> Excess:
    """Return the weight (target − scale·factor·draft)₊ for a scale per row, shape (...)."""
    return Excess(common(library, scale, factor))
