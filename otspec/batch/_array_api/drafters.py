"""Drafts by inversion, from wide uniform numbers, (..., k): i.i.d., distinct, SpecHub's two."""

from otspec.batch._array_api.inversion import draw, locate, without
from otspec.batch._array_api.library import Array, Library
from otspec.batch._array_api.spechub import find_hub
from otspec.batch._array_api.sums import block_sums, the_draft


def iid(library: Library, draft, uniforms) -> Array:
    """Draw independent drafts: (..., k)."""
    (blocks,) = block_sums(library, draft, draft, the_draft)
    drawn = [
        draw(library, draft, draft, the_draft, blocks, uniforms[..., i])
        for i in range(uniforms.shape[-1])
    ]
    return library.xp.stack(drawn, axis=-1)


def without_replacement(library: Library, draft, uniforms) -> Array:
    """Draw distinct drafts in turn: (..., k)."""
    k = uniforms.shape[-1]
    (blocks,) = block_sums(library, draft, draft, the_draft)
    drawn: list[Array] = []
    excluded = None
    for i in range(k):
        drawn.append(draw(library, draft, draft, the_draft, blocks, uniforms[..., i], excluded))
        excluded = library.xp.stack(drawn, axis=-1)
        blocks = without(library, draft, draft, the_draft, blocks, excluded)
    return excluded


def spechub(library: Library, draft, uniforms) -> Array:
    """Draw the token off the hub and the hub, in either order: (..., 2)."""
    xp = library.xp
    hub = find_hub(library, draft)
    at_hub = hub.token[..., None]
    other = draw(library, draft, draft, the_draft, hub.blocks, uniforms[..., 1], at_hub)
    other = xp.where(hub.others > 0, other, hub.token)
    order = xp.stack([hub.others, hub.mass], axis=-1)
    hub_first, _ = locate(library, order, uniforms[..., 0])
    last = xp.stack([other, hub.token], axis=-1)
    first = xp.stack([hub.token, other], axis=-1)
    return xp.where((hub_first == 1)[..., None], first, last)


def top(library: Library, values, k: int) -> Array:
    """Return the tokens of the k largest values, (..., k), of equal ones the first."""
    order = library.xp.argsort(values, axis=-1, descending=True, stable=True)
    return library.ids(order[..., :k])
