"""Graded pools of distinct drafts in fractions, from the definition in docs/pooled_beyond.md.

It knows nothing of otspec: the arrivals that count are enumerated, and between them the others are
a geometric sum.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import prod

from graded_reference import Graded


def first_arrivals(counted, heavy, group, below):
    """With which mass these arrivals count, none is above, and the first in the group is a token.

    ``group`` and ``below`` say how much of each token's mass is in the group and below it. Returns
    the masses of each token, and the mass that no arrival is in the group.
    """
    masses, none = dict.fromkeys(counted, Fraction(0)), Fraction(1)
    for i, token in enumerate(counted):
        arrived = [other for other in set(counted[:i]) if other in heavy]
        under = sum(below[other] for other in arrived)
        again = Fraction(1) / (1 - under - sum(group[other] for other in arrived))
        masses = {other: mass * again for other, mass in masses.items()}
        none /= Fraction(1) - under
        for other in arrived:
            masses[other] += none * group[other] * again
        both = group[token] + below[token]
        masses = {other: mass * both for other, mass in masses.items()}
        masses[token] += none * group[token]
        none *= below[token]
    return masses, none


def selected(counted, heavy, group, below):
    """With which mass these arrivals count, the group is the highest, and a token is selected."""
    masses, _ = first_arrivals(counted, heavy, group, below)
    arrived = [token for token in set(counted) if token in heavy]
    total, inside = sum(masses.values()), sum(group[token] for token in arrived)
    left = 1 - inside - sum(below[token] for token in arrived)
    above = 1 - sum(group) - sum(below)
    share = above / sum(group) * inside / left if above else Fraction(0)
    assert 0 <= share <= 1
    law = {token: (1 - share) * mass for token, mass in masses.items()}
    for token in arrived if inside else ():
        law[token] += share * total * group[token] / inside
    return law


def mass_of(draft, drafts, start=0):
    """The probability that these are the drafts, in this order, given the first of them."""
    left = itertools.accumulate((draft[token] for token in drafts[:-1]), initial=0)
    chances = [draft[token] / (1 - gone) for token, gone in zip(drafts, left, strict=True)]
    return prod(chances[start:])


def heaviest(draft, count):
    """The tokens that are heavier than the one after the ``count`` heaviest."""
    border = sorted(draft, reverse=True)[count] if count < len(draft) else 0
    return {token for token, mass in enumerate(draft) if mass > border}


class GradedArrivals(Graded):
    """The rule for one draft and target, with m grades."""

    def __init__(self, draft, target, k, m, heavy):
        self.heavy = heaviest(draft, heavy)
        super().__init__(draft, target, k, m)

    def _grades(self, m):
        masses = sorted((self.draft[token] for token in self.heavy), reverse=True)
        left, half = [1 - sum(masses[:i]) for i in range(self.k)], Fraction(1, 2)
        most = sum(Fraction(1) / part for part in left)
        return [Fraction(0), *(half + (most - half) * Fraction(j, m - 1) for j in range(m))]

    def _heights(self):
        nothing = self.part(0, 0)
        return [
            sum(first_arrivals(z, self.heavy, nothing, self.part(0, j))[1] for z in self.counted())
            for j in range(len(self.knots) - 1)
        ] + [Fraction(1)]

    def counted(self):
        """All arrivals that may count: heavy tokens once, light ones any number of times."""
        tokens = [token for token, mass in enumerate(self.draft) if mass]
        for z in itertools.product(tokens, repeat=self.k):
            arrived = [token for token in z if token in self.heavy]
            if len(arrived) == len(set(arrived)):
                yield z

    def tuples(self):
        """All drafts that there can be."""
        tokens = [token for token, mass in enumerate(self.draft) if mass]
        return list(itertools.permutations(tokens, self.k))

    def part(self, low, high):
        """How much of each token is between two knots."""
        return [p * sum(w[low:high]) for p, w in zip(self.draft, self.weights, strict=True)]

    def selection(self, drafts):
        """How likely each draft is selected, given the drafts."""
        times = sorted({Fraction(0), Fraction(1), *(life for life in self.lifetimes if life < 1)})
        law = dict.fromkeys(drafts, Fraction(0))
        for z in self.counted():
            arrived = tuple(dict.fromkeys(z))
            if arrived != drafts[: len(arrived)]:
                continue
            others = mass_of(self.draft, drafts, len(arrived))
            for start, end in itertools.pairwise(times):
                alive = [j for j, life in enumerate(self.lifetimes) if life > start]
                for low, high in itertools.pairwise(alive):
                    group = self.part(low, high)
                    if any(group):
                        chosen = selected(z, self.heavy, group, self.part(0, low))
                        for token, mass in chosen.items():
                            law[token] += mass * others * (end - start)
        return {token: mass / mass_of(self.draft, drafts) for token, mass in law.items()}
