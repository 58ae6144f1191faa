"""Passes over the vocabulary, in stretches that fit into the cache: sums that rules are made of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from otspec.batch._array_api.library import Array, Library

Weight: TypeAlias = Callable[[Array, Array], Array]
"""Turns draft and target, (..., m) each, into the weights of the same m tokens."""


def overlaps(library: Library, draft, target, scales) -> Array:
    """Return Σ min(target, scale·draft) for rounded scales, in one pass: (..., m), wide."""
    if library.fused is not None and library.fused.takes(library, draft, target):
        return library.fused.overlaps(library, draft, target, scales)
    scales = library.narrowed(scales)
    minimum = library.inner.minimum

    def common_at(scale: Array) -> Weight:
        return lambda draft, target: minimum(scale * draft, target)

    columns = (scales[..., j : j + 1] for j in range(scales.shape[-1]))
    parts = _added(library, draft, target, *map(common_at, columns))
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


def block_figures(library: Library, draft) -> tuple[Array, Array]:
    """Return the sums, wide, and the maxima of blocks of 256 tokens, in one pass."""
    xp = library.xp
    sums, highest = [], []
    for stretch, width in library.slices(draft):
        blocks = in_blocks(library, library.narrowed(draft[..., stretch]), width)
        sums.append(xp.sum(blocks, axis=-1))
        highest.append(xp.max(blocks, axis=-1))
    return library.widened(xp.concat(sums, axis=-1)), xp.concat(highest, axis=-1)


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


@dataclass(frozen=True, eq=False)
class KnownWeight:
    """A weight that is told by its kind and numbers, which kernels read; equal to itself alone.

    ``draft`` and ``target`` are these; ``common`` is min(target, draft), ``scaled`` (s) is
    min(target, s·factor·draft), ``line`` (start, rise, top) is min(target, start·draft +
    rise·target, top·draft), and ``light`` (edge, s) is min(target, s·draft)·factor where the draft
    is at most the edge, else 0.
    """

    # PyTorch's compiler, of some releases, asks for the hash before the weight has its fields.
    kind: str
    library: Library | None = None
    numbers: tuple[Array, ...] = ()  # (..., 1) each, narrow
    factor: float = 1.0  # Library.factor where a scale alone may be out of range
    excess: bool = False  # whether it is what that leaves of the target: exactly 0 where nothing is
    share: Array | None = None  # of share·target + (1 − share)·that, (..., 1), narrow

    def __call__(self, draft, target) -> Array:
        weight = self._kept(draft, target)
        if self.excess:
            weight = target - weight
        return weight if self.share is None else weight + self.share * (target - weight)

    def _kept(self, draft, target) -> Array:
        if self.library is None:
            return draft if self.kind == "draft" else target
        minimum = self.library.inner.minimum
        if self.kind == "scaled":
            if self.factor == 1:
                return minimum(self.numbers[0] * draft, target)
            product = draft * self.factor
            product *= self.numbers[0]  # in place: fresh memory takes longer than the product
            return minimum(product, target)
        if self.kind == "line":
            start, rise, top = self.numbers
            return minimum(target, minimum(start * draft + rise * target, top * draft))
        if self.kind == "common":
            return minimum(draft, target)
        (edge, scale), xp = self.numbers, self.library.xp
        light = xp.where(draft <= edge, draft, xp.zeros_like(draft)) * self.factor
        return minimum(scale * light, target * self.factor)


the_draft = KnownWeight("draft")
the_target = KnownWeight("target")


def common(
    library: Library, scale: Array | None = None, factor: float = 1.0, *, excess: bool = False
) -> KnownWeight:
    """Return the weight min(target, scale·factor·draft) for a scale per row, shape (...)."""
    if scale is None:
        return KnownWeight("common", library, excess=excess)
    return KnownWeight("scaled", library, (library.narrowed(scale)[..., None],), factor, excess)


def excess(library: Library, scale, factor: float = 1.0) -> KnownWeight:
    """Return the weight (target − scale·factor·draft)₊ for a scale per row, shape (...)."""
    return common(library, scale, factor, excess=True)
