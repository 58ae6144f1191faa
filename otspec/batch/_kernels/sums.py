"""Passes over the vocabulary: sums that every rule is made of.

A pass goes over stretches of the vocabulary that fit into the cache, all rows at once, so that
an expression of several steps costs hardly more than reading its inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from otspec.batch._kernels.library import Array, Library

Weight: TypeAlias = Callable[[Array, Array], Array]
"""Turns draft and target, (..., m) each, into the weights of the same m tokens."""


def overlaps(library: Library, draft: Array, target: Array, scales: Array) -> Array:
    """Return Σ min(target, scale·draft) for several scales in one pass.

    Parameters
    ----------
    library : Library
    draft, target : array, shape (..., V)
    scales : array, shape (..., m)
        Wide, and :meth:`~otspec.batch._kernels.library.Library.rounded`.

    Returns
    -------
    array, shape (..., m)
        Wide.
    """
    weights = [common(library, scales[..., j]) for j in range(scales.shape[-1])]
    return library.xp.stack(totals(library, draft, target, *weights), axis=-1)


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


def totals(library: Library, draft: Array, target: Array, *weights: Weight) -> list[Array]:
    """Return the sums of each weight over the vocabulary, in one pass.

    Returns
    -------
    list of array, shape (...)
        Wide; one per weight. Sums of stretches are made in the dtype of the vocabulary, their sum
        in the wide one.
    """
    xp = library.xp
    parts: list[list[Array]] = [[] for _ in weights]
    for stretch, _ in library.slices(draft):
        drafted = library.narrowed(draft[..., stretch])
        wanted = library.narrowed(target[..., stretch])
        for part, weight in zip(parts, weights, strict=True):
            part.append(library.inner.sum(weight(drafted, wanted), axis=-1))
    return [xp.sum(library.widened(xp.stack(part, axis=-1)), axis=-1) for part in parts]


def the_draft(draft: Array, target: Array) -> Array:  # noqa: ARG001 # a weight
    """Return the draft itself as the weight."""
    return draft


def the_target(draft: Array, target: Array) -> Array:  # noqa: ARG001 # a weight
    """Return the target itself as the weight."""
    return target


def common(library: Library, scale: Array | None = None, lift: float = 1.0) -> Weight:
    """Return the weight min(target, scale·lift·draft) for a scale per row, shape (...).

    Without a scale it is min(target, draft). A lift other than 1 is
    :attr:`~otspec.batch._kernels.library.Library.lift`, where a scale alone may be out of range.
    """
    minimum: Weight = library.inner.minimum
    if scale is None:
        return minimum
    scale = library.narrowed(scale)[..., None]
    return lambda draft, target: minimum(_product(scale, draft, lift), target)


def _product(scale: Array, draft: Array, lift: float) -> Array:
    if lift == 1:
        return scale * draft
    product = draft * lift
    product *= scale  # in place, since fresh memory takes longer than the product
    return product


def excess(library: Library, scale: Array, lift: float = 1.0) -> Weight:
    """Return the weight (target − scale·lift·draft)₊ for a scale per row, shape (...)."""
    kept = common(library, scale, lift)
    # Not max(·, 0): exactly 0 where nothing is left, also if the compiler fuses the product.
    return lambda draft, target: target - kept(draft, target)
