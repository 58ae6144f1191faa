"""Distinct drafts as the tokens that arrive first, for graded pools (Beyond, prop. 6, 7 and 8)."""

import math
from dataclasses import dataclass

import numpy as np

from otspec._base import Array, Frozen, Number, as_number, is_exact, zeros
from otspec.drafts.race.increments import check_steps

_TOLERANCE = 1e-17
"""What the sum over the logarithm of time leaves out, at early times and in each step."""


def all_below(heavy: Array, light: Number, above: Number, k: int) -> Number:
    """Return G, the probability that the first k arrivals that count are all below a knot.

    ``heavy``, shape (h,), and ``light``: the mass below of each heavy token, and of all light ones;
    ``above``: of all tokens above. Fractions: a sum over sets; floats: a quadrature, off by 1e-15.
    """
    return _by_sets(heavy, light, above, k) if is_exact(heavy) else _by_time(heavy, light, above, k)


def _by_sets(heavy: Array, light: Number, above: Number, k: int) -> Number:
    tokens = np.flatnonzero(heavy).tolist()
    check_steps(len(tokens), k)
    # By the bits of its tokens: a set's probability, and what does not arrive again.
    one = as_number(1, like=heavy)
    sets = {0: (one, above + light + heavy.sum())}
    for _ in range(k):
        larger: dict[int, tuple[Number, Number]] = {}
        for arrived, (mass, left) in sets.items():
            share = mass / left if left else mass
            steps = [(arrived, light, left)] if light else []
            steps += [
                (arrived | 1 << token, heavy[token], left - heavy[token])
                for token in tokens
                if not arrived >> token & 1
            ]
            for both, rate, rest in steps:
                known = larger.get(both, (one - one, rest))[0]
                larger[both] = known + share * rate, rest
        sets = larger
    return as_number(sum(mass for mass, _ in sets.values()), like=heavy)


def _by_time(heavy: Array, light: Number, above: Number, k: int) -> float:
    """Answer :func:`all_below` by the integral over the time of the first arrival above."""
    if above <= 0:
        return 1.0
    low, high = math.log(_TOLERANCE), math.log(-math.log(_TOLERANCE))
    step = math.pi**2 / (3 - low + 2.5 * (k - 1))
    logarithms = low + step * (np.arange(math.ceil((high - low) / step)) + 0.5)
    times = np.exp(logarithms)
    with np.errstate(over="ignore"):  # arrived for certain; nothing never arrives, at any time
        due = np.minimum(light / above * times, 700.0)
        rates = (heavy[heavy > 0, None] / above) * times
    numbers = np.empty((k, len(times)))
    numbers[0] = np.exp(-due)
    for i in range(1, k):
        numbers[i] = numbers[i - 1] * due / i
    for rate in rates:
        missed = np.exp(-rate)
        moved = -np.expm1(-rate) * numbers[:-1]
        numbers *= missed
        numbers[1:] += moved
    fewer = (step * np.exp(logarithms - times) * numbers.sum(axis=0)).sum()
    return float(min(max(1.0 - fewer, 0.0), 1.0))


@dataclass(frozen=True, eq=False)
class ClockedDrafts(Frozen):
    """Distinct drafts, in the order of their first arrivals."""

    masses: Array  # (k,): the draft's probabilities
    heavy: Array  # (k,): whether only the first arrival of the token counts
    lefts: Array  # (k + 1,): the draft mass off the first drafts, for each number of them

    def shares(
        self, below: Array, inside: Array, beyond: Array, above: Number, group: Number
    ) -> Array:
        """Return P(a group is the highest with an arrival, and a draft is selected): (k,)."""
        # below, inside, beyond, (k,): which part of each draft is below, in and above the group.
        # above, group: the draft mass above the group, and in it.
        k = len(self.masses)
        # For each number of drafts that have arrived: at which of them the first arrival in the
        # group was, or that there was none.
        first, none = zeros((k + 1, k), like=self.masses), zeros(k + 1, like=self.masses)
        none[0] = as_number(1, like=self.masses)
        for _ in range(k):
            first, none = self._one_more(first, none, below, inside, beyond)
        shares = zeros(k, like=self.masses)
        for arrived in range(1, k + 1):
            shares += self._chosen(first[arrived], arrived, inside, beyond, above, group)
        return shares

    def _one_more(
        self, first: Array, none: Array, below: Array, inside: Array, beyond: Array
    ) -> tuple[Array, Array]:
        """Advance to the next arrival that counts: a light token's again, or the next draft's."""
        # Masses are divided by masses before they meet probabilities, so that floats of any size
        # leave ratios that are at most 1.
        next_first, next_none = zeros(first.shape, like=first), zeros(none.shape, like=none)
        held, both = inside * self.masses, (below + inside) * self.masses
        for arrived in np.flatnonzero(none[:-1] + first[:-1].sum(axis=1) > 0).tolist():
            before = np.arange(len(below)) < arrived
            again, light = before & self.heavy, before & ~self.heavy
            over = self._over(again, light, beyond)
            alone, left = over + held[again].sum(), self.lefts[arrived]
            # An arrival of the group that does not count makes its token the first.
            led = first[arrived].copy()
            led[again] += none[arrived] * (held[again] / alone)
            next_first[arrived] += led * (both[light].sum() / over)
            next_first[arrived, light] += none[arrived] * (held[light] / alone)
            next_none[arrived] += none[arrived] * ((below * self.masses)[light].sum() / alone)
            # The next draft arrives, given that it is the next: with the mass of all that may be.
            next_first[arrived + 1] += led * ((left / over) * (below + inside)[arrived])
            next_first[arrived + 1, arrived] += none[arrived] * ((left / alone) * inside[arrived])
            next_none[arrived + 1] += none[arrived] * ((left / alone) * below[arrived])
        return next_first, next_none

    def _over(self, again: Array, light: Array, beyond: Array) -> Number:
        """Return the mass of all but the arrivals that do not count and are not above the group."""
        arrived = int(again.sum() + light.sum())
        counted = self.lefts[arrived] + self.masses[light].sum()
        return as_number(counted + (self.masses * beyond)[again].sum(), like=self.masses)

    def _chosen(
        self, first: Array, arrived: int, inside: Array, beyond: Array, above: Number, group: Number
    ) -> Array:
        """Return how likely each draft is selected once all arrivals that count have arrived."""
        before = np.arange(len(first)) < arrived
        again, light = before & self.heavy, before & ~self.heavy
        among = np.where(again, inside * self.masses, zeros(len(first), like=first))
        over = self._over(again, light, beyond)
        held, one = among.sum(), as_number(1, like=first)
        # In floats any of them may be 0 that cannot be: then such drafts are as good as never.
        if not (above > 0 and group > 0 and held > 0 and over > 0):
            return first
        share = min((above / over) * (held / group), one)  # both at most 1, but for roundings
        return (one - share) * first + share * first.sum() * (among / held)
