"""The probability that arrivals of distinct drafts are below a knot, by a race (Beyond, prop. 7).

Heavy tokens arrive after exponential times, light ones as a Poisson process, of which only the sum
of their masses matters. The integral is a sum over evenly spaced logarithms of time.
"""

import math

from otspec.batch._array_api.library import Array, Library


def all_below(
    library: Library, heavy: Array, light: Array, above: Array, count: Array, k: int
) -> Array:
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


def _fewer(
    library: Library, heavy: Array, light: Array, times: Array, count: Array, k: int
) -> Array:
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


def _padded(library: Library, heavy: Array) -> Array:
    """Return the heavy tokens with others that never arrive, as many as a power of two."""
    size = heavy.shape[-1]
    lacking = (1 << (size - 1).bit_length()) - size if size else 0
    return library.xp.concat([heavy, library.xp.zeros_like(heavy[..., :lacking])], axis=-1)


def _heavy_numbers(library: Library, heavy: Array, times: Array, k: int) -> list[Array]:
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
