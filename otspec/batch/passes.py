"""Passes over the vocabulary: sums that every rule is made of.

A pass goes over stretches of the vocabulary that fit into the cache, all rows at once, so that
an expression of several steps costs hardly more than reading its inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from otspec.batch.arrays import Array, Library

Weight: TypeAlias = Callable[[Array, Array], Array]
"""Turns draft and target, (..., m) each, into the weights of the same m tokens."""


def overlaps(
    library: Library, draft: Array, target: Array, scales: Array, lift: float = 1.0
) -> Array:
    """Return Σ min(target, scale·lift·draft) for several scales in one pass.

    Parameters
    ----------
    library : Library
    draft, target : array, shape (..., V)
    scales : array, shape (..., m)
        Wide, and :meth:`~otspec.batch.arrays.Library.rounded`.
    lift : float
        :attr:`~otspec.batch.arrays.Library.lift` where a scale may be beyond the dtype's range.

    Returns
    -------
    array, shape (..., m)
        Wide. Sums of stretches are made in the dtype of the vocabulary, their sum in the wide one.
    """
    xp, inner = library.xp, library.inner
    scales = library.narrowed(scales)
    columns = [scales[..., j : j + 1] for j in range(scales.shape[-1])]
    parts: list[list[Array]] = [[] for _ in columns]
    for stretch, _ in library.slices(draft):
        drafted = lifted(library.narrowed(draft[..., stretch]), lift)
        wanted = library.narrowed(target[..., stretch])
        for part, scale in zip(parts, columns, strict=True):
            part.append(inner.sum(inner.minimum(scale * drafted, wanted), axis=-1))
    return xp.stack([_added(library, part) for part in parts], axis=-1)


def block_sums(library: Library, draft: Array, target: Array, *weights: Weight) -> list[Array]:
    """Return the sums of each weight over blocks of 256 tokens, in one pass.

    Returns
    -------
    list of array, shape (..., ceil(V / 256))
        Wide; one per weight.
    """
    xp, inner = library.xp, library.inner
    parts: list[list[Array]] = [[] for _ in weights]
    for stretch, width in library.slices(draft):
        drafted = library.narrowed(draft[..., stretch])
        wanted = library.narrowed(target[..., stretch])
        for part, weight in zip(parts, weights, strict=True):
            part.append(inner.sum(in_blocks(library, weight(drafted, wanted), width), axis=-1))
    return [library.widened(xp.concat(part, axis=-1)) for part in parts]


def in_blocks(library: Library, values: Array, width: int) -> Array:
    """Return a stretch cut into blocks: (..., m) -> (..., m / width, width)."""
    *lead, size = values.shape
    return library.xp.reshape(values, (*lead, size // width, width))


def total_of(library: Library, draft: Array, target: Array, weight: Weight) -> Array:
    """Return the sum of a weight over the vocabulary: (..., V) -> (...), wide."""
    parts = []
    for stretch, _ in library.slices(draft):
        drafted = library.narrowed(draft[..., stretch])
        wanted = library.narrowed(target[..., stretch])
        parts.append(library.inner.sum(weight(drafted, wanted), axis=-1))
    return _added(library, parts)


def _added(library: Library, parts: list[Array]) -> Array:
    """Return the sum of sums of stretches, added up in the wide dtype."""
    return library.xp.sum(library.widened(library.xp.stack(parts, axis=-1)), axis=-1)


def the_draft(draft: Array, target: Array) -> Array:  # noqa: ARG001 # a weight
    """Return the draft itself as the weight."""
    return draft


def the_target(draft: Array, target: Array) -> Array:  # noqa: ARG001 # a weight
    """Return the target itself as the weight."""
    return target


def excess(library: Library, scale: Array, lift: float = 1.0) -> Weight:
    """Return the weight (target − scale·lift·draft)₊ for a scale per row, shape (...)."""
    minimum, scale = library.inner.minimum, library.narrowed(scale)[..., None]
    # Not max(·, 0): exactly 0 where nothing is left, also if the compiler fuses the product.
    return lambda draft, target: target - minimum(target, scale * lifted(draft, lift))


def lifted(draft: Array, lift: float) -> Array:
    """Return lift·draft, a power of two times it: exact."""
    return draft if lift == 1 else draft * lift
