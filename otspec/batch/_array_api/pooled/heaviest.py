"""The heaviest tokens of each row, without a sort of the vocabulary."""

from dataclasses import dataclass

from otspec.batch._array_api.library import BLOCK, Array, Library
from otspec.batch._array_api.sums import in_blocks

_PARTS = 16
"""How many tokens of the chosen blocks are in one part, of which the largest are looked into."""


@dataclass(frozen=True)
class Heavy:
    """The tokens that are heavier than the one after the heaviest of a given number.

    ``drafted``, ``wanted``, shape (..., h): their draft and target masses, wide and by descending
    draft; 0 for places of light tokens. ``border``, shape (..., 1): the draft mass up to which
    tokens are light, wide. ``light``, shape (...): the draft mass of all light tokens, a sum of
    them alone. ``blocks``, shape (..., ceil(V / 256)): the block sums of the whole draft.
    """

    drafted: Array
    wanted: Array
    border: Array
    light: Array
    blocks: Array


def heavy_tokens(library: Library, draft: Array, target: Array, number: int) -> Heavy:
    """Return the tokens heavier than the one after the ``number`` heaviest, if there is one.

    They are in the blocks of the largest maxima, and so they are within these blocks.
    """
    xp = library.xp
    sums, highest = _block_figures(library, draft)
    most = min(number + 1, draft.shape[-1])
    blocks, others = _largest(library, highest, most)
    ids = _flat(library, blocks[..., :, None] * BLOCK + library.arange(BLOCK))
    # A part has every place that leaves the same rest.
    width = ids.shape[-1] // _PARTS
    masses = _masses(library, draft, ids)
    parts = xp.reshape(masses, (*masses.shape[:-1], _PARTS, width))
    chosen = _largest(library, xp.max(parts, axis=-2), most)[0]
    places = _flat(library, chosen[..., :, None] + width * library.arange(_PARTS))
    best = _largest(library, xp.take_along_axis(masses, places, axis=-1), most)[0]
    places = xp.take_along_axis(places, best, axis=-1)
    tokens = xp.clip(xp.take_along_axis(ids, places, axis=-1), max=draft.shape[-1] - 1)
    found = xp.clip(library.take(masses, places), min=0.0)
    border = found[..., -1:] if draft.shape[-1] > number else xp.zeros_like(found[..., -1:])
    drafted = xp.where(found > border, found, xp.zeros_like(found))
    near = library.widened(masses)
    near = xp.where((near > 0) & (near <= border), near, xp.zeros_like(near))
    light = xp.sum(near, axis=-1) + xp.sum(xp.take_along_axis(sums, others, axis=-1), axis=-1)
    last = min(number, most)
    own = library.take(target, tokens)[..., :last]
    return Heavy(drafted[..., :last], own, border, light, sums)


def _block_figures(library: Library, draft: Array) -> tuple[Array, Array]:
    """Return the sums, wide, and the maxima of blocks of 256 tokens, in one pass."""
    xp = library.xp
    sums, highest = [], []
    for stretch, width in library.slices(draft):
        blocks = in_blocks(library, library.narrowed(draft[..., stretch]), width)
        sums.append(xp.sum(blocks, axis=-1))
        highest.append(xp.max(blocks, axis=-1))
    return library.widened(xp.concat(sums, axis=-1)), xp.concat(highest, axis=-1)


def _flat(library: Library, values: Array) -> Array:
    *lead, rows, columns = values.shape
    return library.xp.reshape(values, (*lead, rows * columns))


def _masses(library: Library, draft: Array, ids: Array) -> Array:
    """Return the draft at token ids, −1 beyond the vocabulary."""
    xp = library.xp
    last = draft.shape[-1] - 1
    inside = ids <= last
    tokens = xp.where(inside, ids, xp.full_like(ids, last))
    found = library.narrowed(xp.take_along_axis(draft, tokens, axis=-1))
    return xp.where(inside, found, xp.full_like(found, -1.0))


def _largest(library: Library, values: Array, number: int) -> tuple[Array, Array]:
    """Return the places of the largest values, in descending order, and those of the others."""
    order = library.ids(library.xp.argsort(values, axis=-1, descending=True))
    number = min(number, values.shape[-1])
    return order[..., :number], order[..., number:]
