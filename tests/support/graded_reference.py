"""Graded pooled selection in fractions, from docs/pooled_proofs.md alone: an oracle.

It knows nothing of otspec: masses are sums over the tokens, and the law of the selected token is an
enumeration of all drafts, all their grades and all times.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import prod

FOR_EVER = Fraction(2)
HALF = Fraction(1, 2)


def grades(k, m):
    """t_0 to t_m."""
    return [Fraction(0), *(HALF + (k - HALF) * Fraction(j, m - 1) for j in range(m))]


def weights(p, q, t):
    """w_j of one token: the probability of each grade."""
    w = [Fraction(0)] * len(t)
    if p == 0:
        return w
    if q >= t[-1] * p:
        w[-1] = Fraction(1)
        return w
    j = max(i for i in range(len(t)) if t[i] * p <= q)
    part = (q / p - t[j]) / (t[j + 1] - t[j])
    w[j], w[j + 1] = 1 - part, part
    return w


def running(values):
    return [Fraction(0), *itertools.accumulate(values)]


class Graded:
    """The rule for one draft and target: ``law`` is b, ``lifetimes`` has one for each knot."""

    def __init__(self, draft, target, k, m):
        self.draft, self.target, self.k = draft, target, k
        self.grades = self._grades(m)
        self.weights = [weights(*pair, self.grades) for pair in zip(draft, target, strict=True)]
        self.masses = [
            sum(p * w[j] for p, w in zip(draft, self.weights, strict=True)) for j in range(m + 1)
        ]
        self.knots = running(self.masses)
        wanted = running(t * mass for t, mass in zip(self.grades, self.masses, strict=True))
        self.heights = self._heights()
        gap = [height - one for height, one in zip(self.heights, wanted, strict=True)]
        self.tight = gap.index(max(gap))
        self.lacking = max(gap)
        self.slopes = self._slopes([one + self.lacking for one in wanted])
        self.law = [
            p * sum(map(Fraction.__mul__, w, self.slopes))
            for p, w in zip(draft, self.weights, strict=True)
        ]
        self.lifetimes = self._lifetimes()

    def _grades(self, m):
        return grades(self.k, m)

    def _heights(self):
        """The probability that all drafts are below each knot."""
        return [u**self.k for u in self.knots]

    def _slopes(self, lifted):
        u, s = self.knots, self.tight
        rises = [lifted[j] / u[j] for j in range(1, s + 1) if u[j] > 0]
        falls = [(1 - lifted[j]) / (1 - u[j]) for j in range(s, len(u) - 1) if u[j] < 1]
        return [
            max([t, min(rises)] if j < s and rises else [t])
            if j < s
            else min([t, max(falls)] if falls else [t])
            for j, t in enumerate(self.grades)
        ]

    def _lifetimes(self):
        """The process of proposition 4, over the knots that differ."""
        places = sorted(set(self.knots))
        slopes = [slope for slope, mass in zip(self.slopes, self.masses, strict=True) if mass]
        permanent = {0, len(places) - 1, places.index(self.knots[self.tight])}
        life = dict.fromkeys(permanent, FOR_EVER)
        budget = {i: slopes[i] - slopes[i - 1] for i in range(len(places)) if i not in permanent}
        now = Fraction(0)
        while budget:
            rates = self._rates(places, sorted(permanent | set(budget)), budget)
            waits = {i: left / rates[i] if rates[i] else FOR_EVER for i, left in budget.items()}
            step = min(*waits.values(), 1 - now)
            now += step
            if now == 1:
                life.update(dict.fromkeys(budget, now))
                break
            for i, wait in waits.items():
                budget[i] -= rates[i] * step
                if wait == step:
                    life[i] = now
                    del budget[i]
        return [life[places.index(u)] for u in self.knots]

    def _rates(self, places, alive, mortal):
        chords, heights = {}, dict(zip(self.knots, self.heights, strict=True))
        for low, high in itertools.pairwise(alive):
            rise = heights[places[high]] - heights[places[low]]
            chords[low] = rise / (places[high] - places[low])
        return {i: chords[i] - chords[alive[alive.index(i) - 1]] for i in mortal}

    def selected(self):
        """The law of the selected token, by enumeration."""
        times = sorted({Fraction(0), Fraction(1), *(life for life in self.lifetimes if life < 1)})
        law = [Fraction(0)] * len(self.draft)
        for x in itertools.product(range(len(law)), repeat=self.k):
            for graded in itertools.product(range(len(self.grades)), repeat=self.k):
                pairs = list(zip(x, graded, strict=True))
                mass = prod(self.draft[y] * self.weights[y][j] for y, j in pairs)
                for start, end in itertools.pairwise(times) if mass else ():
                    below = range(max(graded) + 1)
                    lowest = max(j for j in below if self.lifetimes[j] > start)
                    among = [y for y, j in pairs if j >= lowest]
                    for y in among:
                        law[y] += mass * (end - start) / len(among)
        return law
