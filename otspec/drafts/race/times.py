"""The times at which the race is looked at (Theory, 2); ``inside`` says why they suffice."""

import math
from functools import cache

import numpy as np

from otspec._base.arithmetic import Array, IntArray

_MOST_COUNTS = 1 << 28
"""Most numbers that a quadrature holds (2 GB)."""
_BLOCK = 16
STEP, EARLY, LATE = 34, 37, 60
"""Errors, as negative logarithms."""


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
    sums: Array = blocks.T.ravel()[: len(masses)][::-1]
    return sums


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
