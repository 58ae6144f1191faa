"""The systems of two drafts that are eliminated by hand (Canonical, lemmas 2-4), and what is left.

A pair of drafts {i, j}, i < j, has the unknown w(i, j): how much of its mass selects i; the rest
selects j. For the optimum, accepted(i) is how much of the selected mass of i is accepted.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Literal

from otspec.cones.coordinates import Coordinates
from otspec.cones.vectors import Vector

Target = Literal["certainty", "optimum"]
Pair = tuple[int, int]
Term = tuple[int, int]  # a factor and the column that it multiplies


@dataclass(frozen=True)
class System:
    """Inequalities a · (unknowns in the order of elimination, coordinates) ≥ 0 for two drafts."""

    coordinates: Coordinates  # k = 2, a row per set, and the acceptance for the optimum

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of tokens i < j, in the order of elimination."""
        return tuple(combinations(range(self.coordinates.n), 2))

    @cached_property
    def unknowns(self) -> tuple[str, ...]:
        """The unknowns in the order of elimination: Canonical, apps. B and D."""
        selected = [f"w({i}, {j})" for i, j in self.pairs]
        accepted = [f"accepted({i})" for i in range(self.coordinates.n)]
        return (*selected, *accepted * self.coordinates.acceptance)

    def inequalities(self) -> Iterator[Vector]:
        """Yield the relaxed system."""
        # Certainty (Canonical, (50)-(53)): w(i, j) ≥ 0, P{i, j} − w(i, j) ≥ 0, and q(i) is at least
        # all that selects i. Optimum ((110)-(112)): 0 ≤ accepted(i) ≤ q(i), accepted(i) is at most
        # all that selects i, and α at most the sum of accepted(i). And P{i} ≥ 0.
        yield from self._bounds(eliminated=0)
        for token in range(self.coordinates.n):
            yield self._selection((token,), eliminated=0)

    def lemma(self, eliminated: int) -> set[Vector]:
        """Return what the papers' lemmas list after some eliminations: Canonical, lemmas 2 to 4."""
        listed = set(self._bounds(eliminated))
        listed.update(self.coordinates_at_least_zero())
        done = max(0, eliminated - len(self.pairs))
        left = range(done, self.coordinates.n)
        for size in range(1, len(left) + 1):
            for chosen in combinations(left, size):
                listed.add(self._selection(chosen, eliminated))
        if done:
            listed.update(self._acceptances(done))
        return listed

    def coordinates_at_least_zero(self) -> Iterator[Vector]:
        """Yield P(S) ≥ 0 for each draft row, and q(i) ≥ 0 where it follows from accepted(i)."""
        space = self.coordinates
        for row in range(len(space.drafts)):
            yield self._vector([(1, self._column(row))])
        if space.acceptance:
            for token in range(space.n):
                yield self._vector([(1, self._target(token))])

    def _bounds(self, eliminated: int) -> Iterator[Vector]:
        """Yield the bounds of single unknowns that are left, P{i} ≥ 0, and α ≤ Σ accepted(i)."""
        space = self.coordinates
        for token in range(space.n):
            yield self._vector([(1, self._mass(token))])
        for number in range(eliminated, len(self.pairs)):
            yield self._vector([(1, number)])
            yield self._vector([(1, self._mass(*self.pairs[number])), (-1, number)])
        if not space.acceptance:
            return
        done = max(0, eliminated - len(self.pairs))
        for token in range(done, space.n):
            yield self._vector([(1, self._accepted(token))])
            yield self._vector([(1, self._target(token)), (-1, self._accepted(token))])
        if not done:
            total = [(1, self._accepted(token)) for token in range(space.n)]
            yield self._vector([*total, (-1, self._column(space.size - 1))])

    def _selection(self, tokens: tuple[int, ...], eliminated: int) -> Vector:
        """Return that q, or what is accepted, of a token set is within what selects it."""
        # For certainty q(A) is at least what must be selected in A: pairs inside, and w of pairs
        # that meet A from outside as long as they are unknown. For the optimum accepted(A) is at
        # most what can be selected in A: all of those pairs once their w is eliminated.
        sign = 1 if self.coordinates.acceptance else -1
        own = self._accepted if self.coordinates.acceptance else self._target
        terms = [(-sign, own(token)) for token in tokens]
        terms += [(sign, self._mass(token)) for token in tokens]
        for number, (i, j) in enumerate(self.pairs):
            meeting = (i in tokens) + (j in tokens)
            mass = (sign, self._mass(i, j))
            if meeting == 2 or (meeting == 1 and number < eliminated and sign == 1):
                terms.append(mass)
            elif meeting == 1 and number >= eliminated:
                terms += [(sign, number)] if i in tokens else [mass, (-sign, number)]
        return self._vector(terms)

    def _acceptances(self, done: int) -> Iterator[Vector]:
        """Yield α ≤ q(A) + P(meets B) + accepted(C) for partitions A, B, C; C is not eliminated."""
        space = self.coordinates
        for kept in _subsets(range(done, space.n)):
            rest = [token for token in range(space.n) if token not in kept]
            for bounded in _subsets(rest):
                selected = set(rest) - set(bounded)
                terms = [(1, self._accepted(token)) for token in kept]
                terms += [(1, self._target(token)) for token in bounded]
                terms += [
                    (1, self._column(row))
                    for row, drafts in enumerate(space.drafts)
                    if selected.intersection(drafts)
                ]
                yield self._vector([*terms, (-1, self._column(space.size - 1))])

    def _vector(self, terms: Iterable[Term]) -> Vector:
        values = [0] * (len(self.unknowns) + self.coordinates.size)
        for factor, column in terms:
            values[column] += factor
        return tuple(values)

    def _column(self, coordinate: int) -> int:
        return len(self.unknowns) + coordinate

    def _mass(self, *tokens: int) -> int:
        return self._column(self.coordinates.draft(tokens))

    def _target(self, token: int) -> int:
        return self._column(self.coordinates.token(token))

    def _accepted(self, token: int) -> int:
        return len(self.pairs) + token


def _subsets(tokens: Iterable[int]) -> Iterator[tuple[int, ...]]:
    listed = list(tokens)
    for size in range(len(listed) + 1):
        yield from combinations(listed, size)
