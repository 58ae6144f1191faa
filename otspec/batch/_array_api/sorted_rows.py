"""The optimum for i.i.d. drafts by a sort, where sums do not decide (Theory, 1 and 2)."""

from otspec.batch._array_api.library import Array, Library


def acceptance(library: Library, draft, target, k: int) -> Array:
    """Return 1 + min over prefixes A by ascending q/p of q(A) − P(all inside A): (...)."""
    xp = library.xp
    values, nothing, _ = _prefixes(library, draft, target, k)
    return xp.min(xp.concat([values, nothing + 1], axis=-1), axis=-1)


def best_scale(library: Library, draft, target, k: int) -> Array:
    """Return k p(A)^(k−1) of the prefix A that is best: (...)."""
    xp = library.xp
    values, _, outside = _prefixes(library, draft, target, k)
    best = library.pick(outside, library.largest(-values))
    return float(k) * xp.exp(float(k - 1) * xp.log1p(-best))


def _prefixes(library: Library, draft, target, k: int) -> tuple[Array, Array, Array]:
    """Return 1 + q(A) − P(all inside A) of each prefix A, zeros, and the draft mass outside."""
    xp = library.xp
    drafted = library.widened(draft)
    ratio = library.quotient(library.widened(target), drafted, otherwise=float("inf"))
    order = xp.argsort(ratio, axis=-1)
    # From the other end: the mass outside a prefix.
    outside = xp.cumulative_sum(
        xp.take_along_axis(drafted, xp.flip(order, axis=-1), axis=-1), axis=-1
    )
    wanted = xp.cumulative_sum(library.take(target, order), axis=-1)
    nothing = xp.zeros_like(wanted[..., :1])
    outside = xp.concat([xp.flip(outside, axis=-1), nothing], axis=-1)
    wanted = xp.concat([nothing, wanted], axis=-1)
    outside = xp.minimum(outside, nothing + 1)
    inside = xp.exp(float(k) * xp.log1p(-outside))
    return 1 + wanted - inside, nothing, outside
