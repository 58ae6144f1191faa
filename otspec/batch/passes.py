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


def overlaps(library: Library, draft: Array, target: Array, scales: Array) -> Array:
    """Return Σ min(target, scale·draft) for several scales in one pass.

    Parameters
    ----------
    library : Library
    draft, target : array, shape (..., V)
    scales : array, shape (..., m)
        Wide, and :meth:`~otspec.batch.arrays.Library.rounded`.

    Returns
    -------
    array, shape (..., m)
        Wide. Sums of stretches are made in the dtype of the vocabulary, their sum in the wide one.
    """
    xp = library.xp
    scales = library.narrowed(scales)
    totals = [library.full(draft.shape[:-1], 0.0) for _ in range(scales.shape[-1])]
    for stretch, _ in library.slices(draft):
        drafted = library.narrowed(draft[..., stretch])
        wanted = library.narrowed(target[..., stretch])
        for j, total in enumerate(totals):
            smaller = xp.minimum(scales[..., j : j + 1] * drafted, wanted)
            totals[j] = total + library.widened(xp.sum(smaller, axis=-1))
    return xp.stack(totals, axis=-1)


def block_sums(library: Library, draft: Array, target: Array, *weights: Weight) -> list[Array]:
    """Return the sums of each weight over blocks of 256 tokens, in one pass.

    Returns
    -------
    list of array, shape (..., ceil(V / 256))
        Wide; one per weight.
    """
    xp = library.xp
    lead = draft.shape[:-1]
    parts: list[list[Array]] = [[] for _ in weights]
    for stretch, width in library.slices(draft):
        drafted = library.narrowed(draft[..., stretch])
        wanted = library.narrowed(target[..., stretch])
        for part, weight in zip(parts, weights, strict=True):
            blocks = xp.reshape(weight(drafted, wanted), (*lead, -1, width))
            part.append(xp.sum(blocks, axis=-1))
    return [library.widened(xp.concat(part, axis=-1)) for part in parts]


def total_of(library: Library, draft: Array, target: Array, weight: Weight) -> Array:
    """Return the sum of a weight over the vocabulary: (..., V) -> (...), wide."""
    total = library.full(draft.shape[:-1], 0.0)
    for stretch, _ in library.slices(draft):
        drafted = library.narrowed(draft[..., stretch])
        wanted = library.narrowed(target[..., stretch])
        values = library.xp.sum(weight(drafted, wanted), axis=-1)
        total = total + library.widened(values)
    return total


def the_draft(draft: Array, target: Array) -> Array:  # noqa: ARG001 # a weight
    """Return the draft itself as the weight."""
    return draft


def the_target(draft: Array, target: Array) -> Array:  # noqa: ARG001 # a weight
    """Return the target itself as the weight."""
    return target


def excess(library: Library, scale: Array) -> Weight:
    """Return the weight (target − scale·draft)₊ for a scale per row, shape (...)."""
    minimum, scale = library.xp.minimum, library.narrowed(scale)[..., None]
    # Not max(·, 0): exactly 0 where nothing is left, also if the compiler fuses the product.
    return lambda draft, target: target - minimum(target, scale * draft)
