"""Graded pools of distinct drafts: their masses and law (Beyond, prop. 6 and 7).

That all arrivals are below a knot is the chance of a race: heavy tokens arrive after exponential
times, light ones as a Poisson process by their sum. Its integral is a sum over logarithms of time.
"""

import math
from dataclasses import dataclass

from otspec.batch._array_api.library import BLOCK, Array, Library
from otspec.batch._array_api.pooled import graded_pools
from otspec.batch._array_api.pooled.graded_pools import LOWEST, GradedPools
from otspec.batch._array_api.sums import KnownWeight, block_figures, totals


def all_below(library: Library, heavy, light, above, count, k: int) -> Array:
    """Return G at several knots, row by row: (..., m)."""
    xp = library.xp
    moments, weights = nodes(library, k)
    some = above > 0
    clock = xp.where(some, above, xp.ones_like(above))[..., None]
    longest = float(xp.finfo(library.wide).max)
    heavy = _padded(library, heavy)
    missing = xp.zeros_like(above)
    numbers = max(math.prod(heavy.shape), 1)
    step = moments.shape[0] if library.at_once is None else max(library.at_once // (4 * numbers), 1)
    for start in range(0, moments.shape[0], step):
        stretch = slice(start, min(start + step, moments.shape[0]))
        times = xp.clip(moments[stretch] / clock, max=longest)
        fewer = _fewer(library, heavy, light, times, count, k)
        missing = missing + xp.sum(weights[stretch] * fewer, axis=-1)
    return xp.where(some, xp.clip(1 - missing, 0.0, 1.0), xp.ones_like(above))


def _fewer(library: Library, heavy, light, times, count, k: int) -> Array:
    """Return how likely fewer arrivals than there are drafts have counted: (..., m, nodes)."""
    xp = library.xp
    # Of more arrivals than this e^−due is 0, to the last digit.
    latest = 700.0 if library.wide == library.xp.float64 else 80.0
    due = xp.clip(light[..., None] * times, max=latest)
    numbers = [xp.exp(-due)]
    for c in range(1, k):
        numbers.append(numbers[-1] * due / c)
    if heavy.shape[-1] > 0:
        numbers = _product(numbers, _heavy_numbers(library, heavy, times, k), k)
    fewer = xp.zeros_like(due)
    for c, number in enumerate(numbers):
        fewer = fewer + xp.where(count[..., None] > c, number, 0.0)
    return fewer


def _padded(library: Library, heavy) -> Array:
    """Return the heavy tokens with others that never arrive, as many as a power of two."""
    size = heavy.shape[-1]
    lacking = (1 << (size - 1).bit_length()) - size if size else 0
    return library.xp.concat([heavy, library.xp.zeros_like(heavy[..., :lacking])], axis=-1)


def _heavy_numbers(library: Library, heavy, times, k: int) -> list[Array]:
    """Return how likely 0, …, k − 1 heavy tokens have arrived, by halves: (..., m, nodes)."""
    xp = library.xp
    exponents = -heavy[..., None] * times[..., None, :]
    missed = xp.exp(exponents)
    numbers = [missed, 1 - missed][:k]
    while numbers[0].shape[-2] > 1:
        half = numbers[0].shape[-2] // 2
        numbers = _product(
            [number[..., :half, :] for number in numbers],
            [number[..., half:, :] for number in numbers],
            k,
        )
    return [number[..., 0, :] for number in numbers]


def _product(numbers: list[Array], others: list[Array], k: int) -> list[Array]:
    """Return the law of the sum of two independent numbers, as far as it is below k."""
    sums: list[Array] = []
    for c in range(min(k, len(numbers) + len(others) - 1)):
        lowest, highest = max(0, c - len(others) + 1), min(c, len(numbers) - 1)
        total = numbers[lowest] * others[c - lowest]
        for i in range(lowest + 1, highest + 1):
            total = total + numbers[i] * others[c - i]
        sums.append(total)
    return sums


def nodes(library: Library, k: int) -> tuple[Array, Array]:
    """Return the times τ, by the clock of what is above, and what each weighs."""
    # What the sum may leave out of the integral.
    low = math.log(1e-16 if library.dtype == library.xp.float64 else 1e-8)
    high = math.log(-low)
    step = math.pi**2 / (3 - low + 2.5 * (k - 1))
    number = math.ceil((high - low) / step)
    logarithms = low + step * (library.widened(library.arange(number)) + 0.5)
    moments = library.xp.exp(logarithms)
    return moments, step * library.xp.exp(logarithms - moments)


_PARTS = 16
"""How many tokens of the chosen blocks are in one part, of which the largest are looked into."""


@dataclass(frozen=True)
class Heavy:
    """The tokens that are heavier than the one after the heaviest of a given number."""

    drafted: Array  # (..., h): wide, descending; 0 for places of light tokens
    wanted: Array  # (..., h): their target masses
    border: Array  # (..., 1): the draft mass up to which tokens are light, wide
    light: Array  # (...): the draft mass of all light tokens, a sum of them alone
    blocks: Array  # (..., ceil(V / 256)): the block sums of the whole draft


def heavy_tokens(library: Library, draft, target, number: int) -> Heavy:
    """Return the tokens heavier than the one after the ``number`` heaviest, if there is one."""
    # They are in the blocks of the largest maxima, and so they are within these blocks.
    xp = library.xp
    sums, highest = block_figures(library, draft)
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


def _flat(library: Library, values) -> Array:
    *lead, rows, columns = values.shape
    return library.xp.reshape(values, (*lead, rows * columns))


def _masses(library: Library, draft, ids) -> Array:
    """Return the draft at token ids, −1 beyond the vocabulary."""
    xp = library.xp
    last = draft.shape[-1] - 1
    inside = ids <= last
    tokens = xp.where(inside, ids, xp.full_like(ids, last))
    found = library.narrowed(xp.take_along_axis(draft, tokens, axis=-1))
    return xp.where(inside, found, xp.full_like(found, -1.0))


def _largest(library: Library, values, number: int) -> tuple[Array, Array]:
    """Return the places of the largest values, in descending order, and those of the others."""
    order = library.ids(library.xp.argsort(values, axis=-1, descending=True))
    number = min(number, values.shape[-1])
    return order[..., :number], order[..., number:]


HEAVY = 32  # how many tokens are looked at one by one


@dataclass(frozen=True)
class ArrivalPools:
    """The pools, and what the choice of a draft needs of them."""

    law: GradedPools  # with the law of the selected draft
    heavy: Heavy
    above: Array  # (..., m + 2): the draft mass above each knot, scaled


def arrival_pools(
    library: Library, draft, target, count, k: int, grades: int, number: int = HEAVY
) -> ArrivalPools:
    """Return the pools with the best law that they allow; ``number`` tokens are heavy."""
    # The count is (..., 1).
    xp = library.xp
    count = xp.clip(count, min=1.0)
    heavy = heavy_tokens(library, draft, target, number)
    at = _grades(library, heavy, count, k, grades)
    above, inside = _knots(library, draft, target, heavy, at, count, k)
    return ArrivalPools(
        graded_pools.best_pools(library, at, above, inside, library.factor), heavy, above
    )


def _grades(library: Library, heavy: Heavy, count, k: int, grades: int) -> Array:
    """Return t_0 = 0 and t_1 = 1/2 to t_m in equal steps: (..., m + 1), wide and rounded."""
    # t_m = Σ 1/(1 − s_i) for i = 0 to k − 1, s_i the mass of the i heaviest heavy tokens: no token
    # is drafted more often than that times its draft mass. It is kept in the range of the dtype.
    xp = library.xp
    light = heavy.light[..., None]
    up_to = xp.flip(xp.concat([heavy.drafted, light], axis=-1), axis=-1)
    left = xp.flip(xp.cumulative_sum(up_to, axis=-1), axis=-1)
    # From the most heavy tokens on, what is left is light.
    index = xp.clip(library.arange(k), max=heavy.drafted.shape[-1])
    left = xp.take(left, index, axis=-1)
    times = library.quotient(left[..., :1], left * library.factor) * library.factor
    times = xp.where(count > library.widened(library.arange(k)), times, 0.0)
    highest = xp.clip(xp.sum(times, axis=-1, keepdims=True), 1.0, library.highest)
    steps = library.widened(library.arange(grades)) / (grades - 1)
    positive = library.rounded(LOWEST + (highest - LOWEST) * steps)
    return xp.concat([0 * highest, positive], axis=-1)


def _knots(library: Library, draft, target, heavy: Heavy, at, count, k: int) -> tuple[Array, Array]:
    """Return the scaled draft mass above each knot, and G: (..., m + 2) each."""
    xp, factor = library.xp, library.factor
    light = light_overlaps(library, draft, target, heavy.border, at)
    masses = heavy.drafted[..., None, :] * factor
    offered = at[..., None] * masses
    kept = xp.minimum(offered, heavy.wanted[..., None, :] * factor)
    steps = at[..., 1:] - at[..., :-1]
    over = xp.clip((kept[..., 1:, :] - kept[..., :-1, :]) / steps[..., None], min=0.0)
    over = xp.minimum(over, masses)
    all_light = heavy.light[..., None] * factor
    light_over = xp.clip((light[..., 1:] - light[..., :-1]) / steps, min=0.0)
    light_over = graded_pools.descending(library, xp.minimum(light_over, all_light))
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
    above = graded_pools.descending(library, xp.concat([one * factor, above], axis=-1))
    inside = graded_pools.ascending(library, inside)
    return xp.concat([above, zero], axis=-1), xp.concat([zero, inside, one], axis=-1)


def light_overlaps(library: Library, draft, target, border, at) -> Array:
    """Return Σ min(target, t·draft) over light tokens at all grades, scaled: (..., m + 1)."""
    xp, minimum = library.xp, library.inner.minimum
    edge, scales = library.narrowed(border), library.narrowed(at)
    number = at.shape[-1] - 1
    if library.fused is not None and library.fused.takes(library, draft, target):
        grades = (scales[..., j : j + 1] for j in range(1, number + 1))
        lights = (KnownWeight("light", library, (edge, one), library.factor) for one in grades)
        parts = totals(library, draft, target, *lights)
        return xp.stack([xp.zeros_like(parts[0]), *parts], axis=-1)
    sums: list[list[Array]] = [[] for _ in range(number)]
    for stretch, width in library.slices(draft, copies=2):
        masses = library.narrowed(draft[..., stretch])
        wanted = library.narrowed(target[..., stretch]) * library.factor
        light = xp.where(masses <= edge, masses, xp.zeros_like(masses)) * library.factor
        for j in range(number):
            kept = minimum(scales[..., j + 1 : j + 2] * light, wanted)
            sums[j].append(library.added(kept, width))
    added = [xp.sum(library.widened(xp.stack(part, axis=-1)), axis=-1) for part in sums]
    return xp.stack([xp.zeros_like(added[0]), *added], axis=-1)
