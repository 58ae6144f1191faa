"""Graded pools of distinct drafts: their masses and law (Beyond, prop. 6 and 7)."""

from dataclasses import dataclass

from otspec.batch._array_api.library import Array, Library
from otspec.batch._array_api.pooled.barriers import ascending, descending
from otspec.batch._array_api.pooled.clock_masses import all_below
from otspec.batch._array_api.pooled.graded_pools import LOWEST, GradedPools, best_pools
from otspec.batch._array_api.pooled.heaviest import Heavy, heavy_tokens
from otspec.batch._array_api.sums import KnownWeight, Terms, totals

HEAVY = 32
"""How many tokens are looked at one by one."""


@dataclass(frozen=True)
class RingPools:
    """The pools, and what the choice of a draft needs of them.

    ``law``: with the law of the selected draft. ``above``, shape (..., m + 2): the draft mass above
    each knot, lifted; where next to nothing is above, to its own digits.
    """

    law: GradedPools
    heavy: Heavy
    above: Array


def ring_pools(
    library: Library,
    draft: Array,
    target: Array,
    count: Array,
    k: int,
    grades: int,
    number: int = HEAVY,
) -> RingPools:
    """Return the pools with the best law that they allow; ``number`` tokens are heavy.

    The count is (..., 1).
    """
    xp = library.xp
    count = xp.clip(count, min=1.0)
    heavy = heavy_tokens(library, draft, target, number)
    at = _grades(library, heavy, count, k, grades)
    above, inside = _knots(library, draft, target, heavy, at, count, k)
    return RingPools(best_pools(library, at, above, inside, library.lift), heavy, above)


def _grades(library: Library, heavy: Heavy, count: Array, k: int, grades: int) -> Array:
    """Return t_0 = 0 and t_1 = 1/2 to t_m in equal steps: (..., m + 1), wide and rounded.

    t_m = Σ 1/(1 − s_i) for i = 0 to k − 1, s_i the mass of the i heaviest heavy tokens: no token
    is drafted more often than that times its draft mass. It is kept in the range of the dtype.
    """
    xp = library.xp
    light = heavy.light[..., None]
    up_to = xp.flip(xp.concat([heavy.drafted, light], axis=-1), axis=-1)
    left = xp.flip(xp.cumulative_sum(up_to, axis=-1), axis=-1)
    # From the most heavy tokens on, what is left is light.
    index = xp.clip(library.arange(k), max=heavy.drafted.shape[-1])
    left = xp.take(left, index, axis=-1)
    times = library.quotient(left[..., :1], left * library.lift) * library.lift
    times = xp.where(count > library.widened(library.arange(k)), times, 0.0)
    highest = xp.clip(xp.sum(times, axis=-1, keepdims=True), 1.0, library.highest)
    steps = library.widened(library.arange(grades)) / (grades - 1)
    positive = library.rounded(LOWEST + (highest - LOWEST) * steps)
    return xp.concat([0 * highest, positive], axis=-1)


def _knots(
    library: Library,
    draft: Array,
    target: Array,
    heavy: Heavy,
    at: Array,
    count: Array,
    k: int,
) -> tuple[Array, Array]:
    """Return the lifted draft mass above each knot, and G: (..., m + 2) each."""
    xp, lift = library.xp, library.lift
    light = light_overlaps(library, draft, target, heavy.border, at)
    masses = heavy.drafted[..., None, :] * lift
    offered = at[..., None] * masses
    kept = xp.minimum(offered, heavy.wanted[..., None, :] * lift)
    steps = at[..., 1:] - at[..., :-1]
    over = xp.clip((kept[..., 1:, :] - kept[..., :-1, :]) / steps[..., None], min=0.0)
    over = xp.minimum(over, masses)
    all_light = heavy.light[..., None] * lift
    light_over = xp.clip((light[..., 1:] - light[..., :-1]) / steps, min=0.0)
    light_over = descending(library, xp.minimum(light_over, all_light))
    total = (xp.sum(heavy.drafted, axis=-1) + heavy.light)[..., None]
    above = (xp.sum(over, axis=-1) + light_over) / total
    # At the lowest knot everything is above, at the highest nothing.
    inside = all_below(
        library,
        (masses - over) / total[..., None],
        (all_light - light_over) / total,
        above,
        count,
        k,
    )
    zero, one = xp.zeros_like(total), xp.ones_like(total)
    # What rounding has put out of order.
    above = descending(library, xp.concat([one * lift, above], axis=-1))
    inside = ascending(library, inside)
    return xp.concat([above, zero], axis=-1), xp.concat([zero, inside, one], axis=-1)


@dataclass(frozen=True)
class Light(KnownWeight):
    """The weight min(target, scale·draft) of tokens of a draft mass up to an edge, lifted.

    ``edge``, ``scale``, shape (..., 1): narrow.
    """

    library: Library
    edge: Array
    scale: Array

    def __call__(self, draft: Array, target: Array) -> Array:
        """Return what the weight is of the same tokens of both."""
        xp, lift = self.library.xp, self.library.lift
        light = xp.where(draft <= self.edge, draft, xp.zeros_like(draft)) * lift
        return self.library.inner.minimum(self.scale * light, target * lift)

    def terms(self) -> Terms:
        """Return what it is made of."""
        return Terms("light", (self.edge, self.scale), self.library.lift)


def light_overlaps(
    library: Library, draft: Array, target: Array, border: Array, at: Array
) -> Array:
    """Return Σ min(target, t·draft) over light tokens at all grades, lifted: (..., m + 1).

    Shapes: ``draft``, ``target`` (..., V). ``border``, shape (..., 1): the draft mass up to which
    tokens are light. ``at``, shape (..., m + 1): the grades, from 0.
    """
    xp, minimum = library.xp, library.inner.minimum
    edge, scales = library.narrowed(border), library.narrowed(at)
    number = at.shape[-1] - 1
    if library.fused is not None and library.fused.takes(library, draft, target):
        grades = (scales[..., j : j + 1] for j in range(1, number + 1))
        parts = totals(library, draft, target, *(Light(library, edge, one) for one in grades))
        return xp.stack([xp.zeros_like(parts[0]), *parts], axis=-1)
    sums: list[list[Array]] = [[] for _ in range(number)]
    for stretch, width in library.slices(draft, copies=2):
        masses = library.narrowed(draft[..., stretch])
        wanted = library.narrowed(target[..., stretch]) * library.lift
        light = xp.where(masses <= edge, masses, xp.zeros_like(masses)) * library.lift
        for j in range(number):
            kept = minimum(scales[..., j + 1 : j + 2] * light, wanted)
            sums[j].append(library.added(kept, width))
    added = [xp.sum(library.widened(xp.stack(part, axis=-1)), axis=-1) for part in sums]
    return xp.stack([xp.zeros_like(added[0]), *added], axis=-1)
