"""Quadrature over the time of the output from k lists of shared noise, in floats (Theory, 33).

By ascending ratio r = q/p, with P and Q the draft and target mass of the tokens up to y, let
Λ(y) = r(y) P − Q. Given that the output is y, at the time t, the list that wins drafts y with
probability a = e^{−tΛ(y)}. Between the starts t r of two tokens another list drafts y with
probability p(y)/P times the difference of e^{−tΛ}: b is the sum of these from y on.
"""

import math
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from otspec._base.arithmetic import Array
from otspec.ratios import Pair

_NODES, _FEW_NODES = 16, 8
"""Nodes of the quadrature in each piece of time, and in early ones, which weigh little."""
_LAST = 40.0
"""From k t on, e^{−kt} is negligible."""
_MOST_RATE = 1e200
"""What arrives at such a rate arrives at once."""
_LEAST = 1e-17
"""Draft mass below which a token's time scale is not resolved: it is accepted no more often."""
_BLOCK = 1 << 15
"""Chances of a block of tokens (256 kB), which stay in the cache."""
Block: TypeAlias = tuple[slice, Array, Array]


def quadrature(pair: Pair, k: int) -> tuple[Array, Array, Iterator[Block]]:
    """Return nodes and weights for k or more lists, (m,), and blocks of tokens, last ones first.

    A block is a slice of b tokens by ascending ratio, and their a and b at the nodes, (b, m) each.
    Tokens that are never drafted are in none.
    """
    ratios, draft, _ = pair.by_ratio
    drafted = int(np.searchsorted(ratios, np.inf))
    draft, mass = draft[:drafted], pair.below[0][1 : drafted + 1]
    with np.errstate(over="ignore"):
        rates = np.clip(ratios[:drafted] * mass - pair.below[1][1 : drafted + 1], 0, _MOST_RATE)
    late = 4.0 ** -math.ceil(math.log(max(rates.max(initial=1.0, where=draft >= _LEAST), 1.0), 4))
    early, nodes, weights = 0.0, [], []
    while early * k < _LAST:
        points, shares = np.polynomial.legendre.leggauss(_NODES if late > 0.1 else _FEW_NODES)
        nodes.append(early + (late - early) / 2 * (1 + points))
        weights.append((late - early) / 2 * shares)
        early, late = late, 4 * late
    times = np.concatenate(nodes)
    return times, np.concatenate(weights), _blocks(times, draft, mass, rates)


def _blocks(times: Array, draft: Array, mass: Array, rates: Array) -> Iterator[Block]:
    """Yield the blocks of tokens."""
    size, later = max(1, _BLOCK // len(times)), np.zeros(len(times))
    rates = np.append(rates, np.inf)
    from otspec.rules.shared_noise import gumbel_passes  # it imports Numba, if it is there

    for start in range((len(draft) - 1) // size * size, -1, -size):
        part = slice(start, min(start + size, len(draft)))
        chances = rates[part.start : part.stop + 1, None] * -times
        np.exp(chances, out=chances)
        yield part, chances[:-1], gumbel_passes.summed(chances, draft[part], mass[part], later)
