"""Sampling without replacement as a race (Theory, 2): y arrives at an exponential time of rate p.

The first k arrivals are k successive draws without replacement. Let A be the tokens before y, c the
mass after y, N(t) how many of A arrive by time t and f_i the density of the time of the i-th of
them. All k drafts are inside A ∪ y, and y is one of them, with probability

    rise(y) = ∫₀^∞ e^{−ct} [p e^{−pt} Pr(N(t) = k−1) + (1 − e^{−pt}) f_{k−1}(t)] dt:

at the time t of the last draft no token after y has arrived, and that draft is y or another. Token
by token, m = 1 − e^{−pt} updates both, and all terms are positive, so that no digits cancel:

    Pr(N = i) ← e^{−pt} Pr(N = i) + m Pr(N = i−1),
    f_i ← e^{−pt} f_i + m f_{i−1} + p e^{−pt} Pr(N = i−1).

Light tokens are passed in chunks in which everything is divided by the probability that no token
of the chunk has arrived, which leaves Pr(N = i) ← Pr(N = i) + (e^{pt} − 1) Pr(N = i−1), and the
like for f_i.

The integral is a trapezoid sum in log t, and what is kept of f_i is t f_i. Every error of it is
relative to the rise:

- *Step.* On the ray of angle θ < π/2 at distance r, |e^{−pt}| and |1 − e^{−pt}| are at most those
  at the time r cos θ, the latter over cos θ. So the integral of |integrand| over the ray is at most
  cos(θ)^{−k} times the rise, and the sum of step h is off by at most 2 cos(θ)^{−k} / (e^{2πθ/h} −
  1) times it. The step makes that 2 e^{−34} = 4e-15 at the best θ.
- *Early times.* Over t^{k−1} e^{−t} the integrand increases (as (e^{pt} − 1)/t does), so that the
  last draft comes later than the k-th arrival of a Poisson process of rate 1, which is before t
  with probability at most t^k/k!; what is left out is below e^{−37}.
- *Late times.* Over t^{k−1} e^{−ct} the integrand decreases, so that the last draft comes earlier
  than the k-th arrival at rate c. Times at which, for each y, either that arrival has come but for
  e^{−37} or k tokens of A have arrived but for e^{−60} (this bound alone is absolute), both
  by Chernoff's bound, are left out.

Rounding adds a few errors of 256 terms, the size of a chunk. Rises below 1e-290 may underflow to 0.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from otspec._base import Array, IntArray

_MOST_COUNTS = 1 << 28  # most numbers that a quadrature holds (2 GB)
_BLOCK = 16
STEP, EARLY, LATE = 34, 37, 60  # errors, as negative logarithms


def quadrature(
    rates: Array, ks: IntArray, beyond: float = 0.0
) -> tuple[Array, Array, Array, Array]:
    """Return where the integral is summed up, in a unit of time that leaves no float."""
    # Result: rates, (n,), in that unit; outside, (n + 1,): the rate of all tokens from each place
    # on; times, (m,): the latest first; weights, (a, m): for each number of drafts. ``beyond``: the
    # rate of all tokens that come after these n.
    slow = float(np.partition(rates, len(rates) - ks.max())[len(rates) - ks.max()])
    # In a small enough unit of time neither 1/rate nor the shortest times leave the floats.
    unit = 1.0 if slow > 1e-250 else 1e-200
    rates = rates / unit
    outside = _from_each_on(np.append(rates, beyond / unit))
    with np.errstate(over="ignore", under="ignore"):
        return rates, outside, *_nodes(rates, outside, ks, slow / unit)


def _from_each_on(masses: Array) -> Array:
    """Return the sums of masses[j:], each to a few roundings: (n,) -> (n,)."""
    # In one sum equal masses would all be rounded the same way. Here 16 are added up in floats,
    # which is quick, and what these sum to in longer ones.
    padded = np.zeros(-(-len(masses) // _BLOCK) * _BLOCK)
    padded[: len(masses)] = masses[::-1]
    blocks = padded.reshape(-1, _BLOCK).T.copy()
    for i in range(1, _BLOCK):
        blocks[i] += blocks[i - 1]
    before = np.cumsum(blocks[-1], dtype=np.longdouble)[:-1]
    blocks[:, 1:] += before.astype(float)
    return blocks.T.ravel()[: len(masses)][::-1]


def _nodes(rates: Array, outside: Array, ks: IntArray, slow: float) -> tuple[Array, Array]:
    """Return times, the latest first, and weights for each k: (m,), (a, m)."""
    # They serve all tokens; `slow` is the k-th largest rate.
    most = int(ks.max())
    per_unit = 1 / step_and_angle(most)[0]
    starts = np.array([(math.lgamma(k + 1) - EARLY) / k for k in ks]) - math.log(outside[0])
    start = float(starts.min())
    # k tokens have arrived, or one of them is still to come and e^{−ct} as small.
    stop = math.log(sure_mean(most, LATE) + math.log(most)) - math.log(slow)
    nodes = math.ceil(max(stop - start, 0) * per_unit) + 2
    if 2 * nodes * most > _MOST_COUNTS:
        raise ValueError(
            f"k is {most:,}: so many distinct drafts need a quadrature over {nodes:,} nodes with "
            f"{2 * most:,} numbers each; use a smaller k, or sample()"
        )
    times = np.exp(start + np.arange(nodes) / per_unit)
    times = times[_first_late(rates, outside, times, most) :: -1]
    begun = np.log(times) >= starts[:, None] - 1 / per_unit
    return times, np.where(begun, 1 / per_unit, 0.0)


def step_and_angle(k: int) -> tuple[float, float]:
    """Return the step in log t for k drafts, and the angle at which it is off by e^{−34}."""
    angles = np.linspace(0.01, 1.56, 311)
    per_unit = (STEP - k * np.log(np.cos(angles))) / angles / (2 * math.pi)
    best = int(per_unit.argmin())
    return 1 / float(per_unit[best]), float(angles[best])


def _first_late(rates: Array, outside: Array, times: Array, k: int) -> int:
    """Return the first time after which the last draft of every prefix has come."""
    early, late, inside = 0, len(times) - 1, -outside[1:]
    while early < late:
        middle = (early + late) // 2
        # Up to some token e^{−ct} is negligible; from there on k tokens have to have arrived.
        first = np.searchsorted(inside, -sure_mean(k, EARLY) / times[middle])
        # 1 − e^{−x} ≥ (1 − 1/e) min(x, 1).
        expected = np.minimum(rates[:first], 1 / times[middle]).sum() * times[middle]
        expected *= 1 - 1 / math.e
        if first == len(rates) or expected >= sure_mean(k, LATE):
            late = middle
        else:
            early = middle + 1
    return early


@cache
def sure_mean(k: int, digits: float) -> float:
    """Return a mean with which fewer than k events happen with probability e^{−digits} at most."""
    # By Chernoff's bound e^{−x} (e x/(k−1))^{k−1} for any sum of independent events.
    mean = digits + 4.0 * k
    for _ in range(60):
        mean = digits + (k - 1) * (1 + math.log(mean / max(k - 1, 1)))
    return mean


_CHUNK = 1 << 22  # most random numbers drawn at once (32 MB)
_TOKENS = 256  # most tokens of a chunk: sums of more lose digits, and do not fit into fast memory
_HEAVY = 2.0  # a token whose rate times the last time is more is passed alone
_GROWTH = 200.0
"""Most rate times the last time in a chunk; its counts grow by at most the exponential of it."""

ACCURACY = 1e-13
"""Relative to a rise: more than the quadrature's error of 4e-15 and the rounding of its chunks."""

Pass = Callable[[Array, Array, Array, Array, Array, IntArray, IntArray], Array]


def rises(rates: Array, ks: Sequence[int], beyond: float = 0.0) -> Array:
    """Return the rises of P(all k drafts inside the first j), by quadrature: (len(ks), n)."""
    # beyond: the rate of all tokens that come after these n.
    found = np.zeros((len(ks), len(rates)))
    support = np.flatnonzero(rates)
    depths = np.array(ks, dtype=np.intp)
    possible = depths <= len(support)
    if not possible.any():
        return found
    if possible.all() and len(support) == len(rates):
        return _rises(rates, depths, beyond)
    found[np.ix_(possible, rates > 0)] = _rises(rates[support], depths[possible], beyond)
    return found


def _rises(rates: Array, ks: IntArray, beyond: float) -> Array:
    """Answer :func:`rises` for positive rates, and no k beyond their number."""
    with np.errstate(over="ignore", under="ignore"):  # rate · time: arrived for sure, or not at all
        return _sweep(*quadrature(rates, ks, beyond), ks)


def _sweep(rates: Array, outside: Array, times: Array, weights: Array, ks: IntArray) -> Array:
    """Pass all tokens: (n,), (n + 1,) masses from j on, (m,), (a, m), (a,) -> (a, n)."""
    light = _fastest_pass()
    # Row i: Pr(N = i), and the density of the logarithm of the i-th arrival, at each time.
    counts, density = np.zeros((2, int(ks.max()), len(times)))
    counts[0] = 1.0
    # How many of the times, the latest first, some k needs row i at.
    used = (weights > 0).sum(axis=1)
    needed = np.array([used[ks > i].max() for i in range(len(counts))], dtype=np.intp)
    found = np.empty((len(ks), len(rates)))
    ends = _chunks(rates * times[0])
    for start, end in pairwise(ends):
        chunk = rates[start:end]
        if chunk[0] * times[0] > _HEAVY:
            weight = weights * np.exp(-outside[end] * times)
            found[:, start] = _pass_heavy(chunk[0], times, weight, counts, density, ks)
            continue
        weight = weights * np.exp(-outside[start] * times)
        found[:, start:end] = light(chunk, times, weight, counts, density, ks, needed)
        none = np.exp(-chunk.sum() * times)
        counts *= none
        density *= none
    return found


def _pass_heavy(
    rate: float, times: Array, weights: Array, counts: Array, density: Array, ks: IntArray
) -> Array:
    """Pass one token of any rate; ``weights`` have e^{−ct}, counts and densities are updated."""
    due = rate * times
    missing, arrived = np.exp(-due), -np.expm1(-due)
    terms = np.where(missing > 0, due, 0) * missing * counts + arrived * density
    more = arrived * counts[:-1]
    counts *= missing
    density *= missing
    counts[1:] += more
    density[1:] += terms[:-1]
    return (weights * terms[ks - 1]).sum(axis=1)


def pass_light(
    rates: Array,
    times: Array,
    weights: Array,
    counts: Array,
    density: Array,
    ks: IntArray,
    needed: IntArray,
) -> Array:
    """Pass a chunk of light tokens, all divided by the probability that none of it has arrived."""
    # rates (b,), times (m,), ks (a,); weights, (a, m): with e^{−ct} for the mass c from the chunk
    # on; counts, density, (k, m): of the tokens before; updated; needed, (k,): at how many times,
    # the latest first, row i is kept up. Result: (a, b).
    due = np.multiply.outer(times[: needed[0]], rates)
    grown = np.expm1(due)
    found = np.empty((len(ks), len(rates)))
    # What the rows are before each token of the chunk.
    count, dense = counts[0, : needed[0], None], density[0, : needed[0], None]
    for i in range(1, len(counts) + 1):
        terms = due * count + grown * dense
        found[ks == i] = weights[ks == i, : needed[i - 1]] @ terms
        if i < len(counts):
            due, grown = due[: needed[i]], grown[: needed[i]]
            count = _before_each(grown * count[: needed[i]], counts[i, : needed[i]])
            dense = _before_each(terms[: needed[i]], density[i, : needed[i]])
    return found


def _before_each(steps: Array, values: Array) -> Array:
    """Add the steps of a chunk, (m, b), to the values, (m,); return them before each step."""
    sums = np.zeros((len(steps), steps.shape[1] + 1))
    np.cumsum(steps, axis=1, out=sums[:, 1:])
    sums += values[:, None]
    values[:] = sums[:, -1]
    return sums[:, :-1]


def _fastest_pass() -> Pass:
    from otspec._base import compiling  # imports Numba, if it is there

    if not compiling.HAS_NUMBA:
        return pass_light
    from otspec.drafts.race import numba_pass

    return numba_pass.fast_pass_light


def _chunks(arrivals: Array) -> list[int]:
    """Return where chunks of tokens start, and the end, given each rate times the last time."""
    alone = arrivals > _HEAVY
    grown = np.floor(np.cumsum(np.minimum(arrivals, _HEAVY)) / _GROWTH)
    starts = np.ones(len(arrivals), dtype=bool)
    starts[1:] = alone[1:] | alone[:-1] | (np.diff(grown) > 0)
    starts[::_TOKENS] = True
    return [*np.flatnonzero(starts).tolist(), len(arrivals)]


def arrivals(rates: Array, k: int, size: int, rng: np.random.Generator) -> IntArray:
    """Draw the first k arrivals of the race, in order: shape (size, k)."""
    # Tokens of rate 0 never arrive; at least k rates must be positive.
    support = np.flatnonzero(rates)
    log_rates = np.log(rates[support])
    rows = max(1, _CHUNK // len(support))
    drawn = np.empty((size, k), dtype=np.intp)
    for start in range(0, size, rows):
        block = drawn[start : start + rows]
        # Logarithms of arrival times: a subnormal rate would overflow the times themselves.
        times = np.log(rng.standard_exponential((len(block), len(support)))) - log_rates
        first = np.argpartition(times, k - 1, axis=1)[:, :k]
        by_time = np.argsort(np.take_along_axis(times, first, axis=1), axis=1)
        block[:] = support[np.take_along_axis(first, by_time, axis=1)]
    return drawn
