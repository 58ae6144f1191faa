"""Sampling without replacement as a race (Theory, 2): y arrives at an exponential time of rate p.

The first k arrivals are k successive draws without replacement. So the drafts all lie inside A
unless a token outside A arrives before the k-th one of A:

    1 − P(all inside A) = c ∫₀^∞ e^{−ct} Pr(N_A(t) < k) dt,   c = p(outside A),

where N_A(t), the arrivals in A by time t, is Poisson-binomial with probabilities 1 − e^{−p t}.

The integral is a trapezoid sum after t = exp(s − e^{−s}), which makes the integrand decay
doubly exponentially at both ends, so that the sum converges geometrically in 1/h. Its step
comes from the strip |Im s| < 1, in which the integrand stays analytic and grows by at most
cos(1)^{−k} = e^{0.616 k}: the error is about e^{−2π/h + 0.616 k}, set to e^{−38} here. All terms
of the Poisson-binomial update are positive, so no digits cancel.
"""

from __future__ import annotations

import math

import numpy as np

from otspec.arithmetic import Array, IntArray

_MOST_COUNTS = 1 << 31
"""Most numbers of a quadrature, times 2π (3 GB)."""
_CHUNK = 1 << 22
"""Most random numbers drawn at once (32 MB)."""

ACCURACY = 1e-13
"""The quadrature's absolute error stayed below this against exact enumeration in the tests."""


def escape(inner: Array, outer: Array, k: int) -> Array:
    """Return 1 − P(all k drafts inside A) for growing sets A, by quadrature.

    Parameters
    ----------
    inner : ndarray of float, shape (m,)
        Rates of the tokens that join A one by one.
    outer : ndarray of float
        Rates of tokens that never join.
    k : int

    Returns
    -------
    ndarray, shape (m + 1,)
        Entry j belongs to A = inner[:j]; 1 where A has fewer than k tokens of positive rate, 0
        where nothing is left outside.
    """
    # Sums from the far end: the mass outside keeps its digits when nearly all is inside.
    outside = np.cumsum(np.concatenate([[outer.sum()], inner[::-1]]))[::-1]
    possible = np.cumsum(np.concatenate([[0], inner > 0])) >= k
    result = np.where(outside > 0, 1.0, 0.0)
    wanted = possible & (outside > 0)
    if not wanted.any():
        return result
    slowest = float(outside[wanted].min())
    # In a small enough unit of time neither 1/slowest nor the shortest times leave the floats.
    unit = 1.0 if slowest > 1e-250 else 1e-200
    if (nodes := (38 + 0.616 * k) * (44 - math.log(slowest))) * k > _MOST_COUNTS:
        raise ValueError(
            f"k is {k:,}: so many distinct drafts need a quadrature over {nodes:,.0f} nodes with "
            "k numbers each; use a smaller k, or sample()"
        )
    times, weights = _nodes(slowest, k, unit)
    inner, outside = inner / unit, outside / unit
    # (nodes, k): Pr(N = j) for j < k, all at time t.
    counts = np.zeros((len(times), k))
    counts[:, 0] = 1.0
    with np.errstate(over="ignore"):  # rate · time beyond the floats: arrived for sure
        for j, rate in enumerate(inner, start=1):
            missing = np.exp(-rate * times)[:, None]
            moved = counts * -np.expm1(-rate * times)[:, None]
            counts *= missing
            counts[:, 1:] += moved[:, :-1]
            if wanted[j]:
                c = outside[j]
                density = c * np.exp(-c * times) * weights
                result[j] = min(1.0, float(density @ counts.sum(axis=1)))
    return result


def arrivals(rates: Array, k: int, size: int, rng: np.random.Generator) -> IntArray:
    """Draw the first k arrivals of the race, in order: shape (size, k).

    Tokens of rate 0 never arrive; at least k rates must be positive.
    """
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


def _nodes(slowest: float, k: int, unit: float) -> tuple[Array, Array]:
    """Return times, in units, and weights that serve every outside mass from ``slowest`` to 1."""
    step = 2 * math.pi / (38 + 0.616 * k)
    start = -3.7  # t < 1e-18 there: what is left out is below c·t
    stop = math.log(40) - math.log(slowest)  # e^{−ct} < e^{−40} beyond
    s = np.arange(start, max(stop, start) + 2 * step, step)
    times = np.exp(s - np.exp(-s) + math.log(unit))
    return times, step * times * (1 + np.exp(-s))
