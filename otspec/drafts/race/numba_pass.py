"""One pass of the race over light tokens, as loops, for Numba if it is there (Theory, 2)."""

import math

import numpy as np

from otspec._base import Array, IntArray
from otspec._base.compiling import compiled

_LIGHT = 1 / 32  # up to here e^x − 1 is eight terms of its series, the next of which is below 1e-18
_3, _4, _5, _6, _7, _8 = (1 / math.factorial(i) for i in range(3, 9))


def pass_light(
    rates: Array,
    times: Array,
    weights: Array,
    counts: Array,
    density: Array,
    ks: IntArray,
    needed: IntArray,
) -> Array:
    """Do what :func:`otspec.drafts.race.inside.pass_light` does, token by token."""
    # Number by number, too: what says that stretches do not fit takes seconds to compile.
    depth, nodes = counts.shape
    # What the chunk adds, apart: sums of few terms lose few digits.
    more_counts, more_density = np.zeros((depth, nodes)), np.zeros((depth, nodes))
    terms = np.zeros((len(ks), len(rates), nodes))
    # A rate times the times, and the exponential of that less 1.
    due, grown = np.empty(nodes), np.empty(nodes)
    for j in range(len(rates)):
        for t in range(nodes):
            due[t] = rates[j] * times[t]
        if due[0] <= _LIGHT:
            for t in range(nodes):
                x = due[t]
                tail = _4 + x * (_5 + x * (_6 + x * (_7 + x * _8)))
                grown[t] = x + x * x * (0.5 + x * (_3 + x * tail))
        else:
            for t in range(nodes):
                grown[t] = np.expm1(due[t])
        for a in range(len(ks)):
            last = ks[a] - 1
            for t in range(needed[last]):
                terms[a, j, t] = due[t] * (counts[last, t] + more_counts[last, t]) + grown[t] * (
                    density[last, t] + more_density[last, t]
                )
        for i in range(depth - 1, 0, -1):
            for t in range(needed[i]):
                count = counts[i - 1, t] + more_counts[i - 1, t]
                more_density[i, t] += due[t] * count + grown[t] * (
                    density[i - 1, t] + more_density[i - 1, t]
                )
                more_counts[i, t] += grown[t] * count
    counts += more_counts
    density += more_density
    rises = np.empty((len(ks), len(rates)))
    for a in range(len(ks)):
        found = np.dot(terms[a], weights[a])
        for j in range(len(rates)):
            rises[a, j] = found[j]
    return rises


def pass_heavy(race: Array, missing: Array, arrived: Array) -> None:
    """Do what :func:`otspec.drafts.race.knots.pass_heavy` does."""
    for token in range(len(missing)):
        for i in range(len(race) - 1, 0, -1):
            for t in range(race.shape[1]):
                race[i, t] = race[i, t] * missing[token, t] + race[i - 1, t] * arrived[token, t]
        for t in range(race.shape[1]):
            race[0, t] *= missing[token, t]


fast_pass_light = compiled(pass_light)
fast_pass_heavy = compiled(pass_heavy)
