"""Passes over the vocabulary: sums that every rule is made of.

A pass goes over stretches of the vocabulary that fit into the cache, all rows at once, so that
an expression of several steps costs hardly more than reading its inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from otspec.batch._kernels.library import Array, Library

Weight: TypeAlias = Callable[[Array, Array], Array]
"""Turns draft and target, (..., m) each, into the weights of the same m tokens.

The weights that rules draw from are values, which kernels for a device can read.
"""


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


@dataclass(frozen=True)
class Common:
    """The weight min(target, scale·lift·draft); without a scale min(target, draft).

    Parameters
    ----------
    library : Library
    scale : array, shape (..., 1), optional
        Narrow.
    lift : float
        1, or :attr:`~otspec.batch._kernels.library.Library.lift` where a scale alone may be out of
        range.
    """

    library: Library
    scale: Array | None = None
    lift: float = 1.0

    def __call__(self, draft: Array, target: Array) -> Array:
        """Return what the weight is of the same tokens of both."""
        if self.scale is None:
            return self.library.inner.minimum(draft, target)
        if self.lift == 1:
            return self.library.inner.minimum(self.scale * draft, target)
        product = draft * self.lift
        product *= self.scale  # in place, since fresh memory takes longer than the product
        return self.library.inner.minimum(product, target)


@dataclass(frozen=True)
class BrokenLine:
    """The weight min(target, start·draft + rise·target, top·draft).

    Parameters
    ----------
    library : Library
    start, rise, top : array, shape (..., 1)
        Narrow.
    """

    library: Library
    start: Array
    rise: Array
    top: Array

    def __call__(self, draft: Array, target: Array) -> Array:
        """Return what the weight is of the same tokens of both."""
        minimum = self.library.inner.minimum
        law = minimum(self.start * draft + self.rise * target, self.top * draft)
        return minimum(target, law)


@dataclass(frozen=True)
class Excess:
    """What another weight leaves of the target.

    Not max(·, 0): exactly 0 where nothing is left, also if the compiler fuses the product.
    """

    kept: Common | BrokenLine

    def __call__(self, draft: Array, target: Array) -> Array:
        """Return what the weight is of the same tokens of both."""
        return target - self.kept(draft, target)


@dataclass(frozen=True)
class Mixture:
    """The weight share·target + (1 − share)·rest, with a share per row, (..., 1), narrow."""

    share: Array
    rest: Weight

    def __call__(self, draft: Array, target: Array) -> Array:
        """Return what the weight is of the same tokens of both."""
        return self.share * target + (1 - self.share) * self.rest(draft, target)


def common(library: Library, scale: Array | None = None, lift: float = 1.0) -> Common:
    """Return the weight min(target, scale·lift·draft) for a scale per row, shape (...)."""
    return Common(library, None if scale is None else library.narrowed(scale)[..., None], lift)


def excess(library: Library, scale: Array, lift: float = 1.0) -> Excess:
    """Return the weight (target − scale·lift·draft)₊ for a scale per row, shape (...)."""
    return Excess(common(library, scale, lift))
