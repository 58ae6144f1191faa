"""Probabilities of the events in the appendices, by summing over all candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from validation.instances import Exact
from validation.mcsd.printed import (
    ZERO,
    Drawing,
    Run,
    algorithm1,
    algorithm2,
    distinct,
    independent,
)


@dataclass(frozen=True)
class Joint:
    """All runs of an algorithm with the probabilities of their candidates.

    Events are conditioned on the first candidates where ``given`` is not empty. Rounds count
    from 1 and ``rejected(n)`` is the event R_n.
    """

    runs: tuple[tuple[Fraction, Run], ...]
    k: int

    def drafted(self, given: tuple[int, ...] = ()) -> Fraction:
        """P(the first candidates are the given ones)."""
        return sum((mass for mass, _ in self._those(given)), ZERO)

    def rejected(self, n: int, given: tuple[int, ...] = ()) -> Fraction:
        """P(R_n and the given candidates)."""
        return sum((mass * run.reach(n) for mass, run in self._those(given)), ZERO)

    def accepted(self, n: int, token: int, given: tuple[int, ...] = ()) -> Fraction:
        """P(R_{n-1}, candidate n is the token and accepted, and the given candidates)."""
        return sum(
            (
                mass * run.reach(n - 1) * run.chances[n - 1]
                for mass, run in self._those(given)
                if run.candidates[n - 1] == token and len(run.chances) >= n
            ),
            ZERO,
        )

    def returned(self, token: int, n: int, given: tuple[int, ...] = ()) -> Fraction:
        """P(R_n, the token is returned, and the given candidates)."""
        total = ZERO
        for mass, run in self._those(given):
            for i in range(n, len(run.chances)):
                if run.candidates[i] == token:
                    total += mass * run.reach(i) * run.chances[i]
            last = run.reach(self.k)
            if last > 0:
                total += mass * last * run.targets[-1][token]
        return total

    def _those(self, given: tuple[int, ...]) -> tuple[tuple[Fraction, Run], ...]:
        if not given:
            return self.runs
        return tuple(each for each in self.runs if each[1].candidates[: len(given)] == given)


def _joint(
    drawing: Drawing, algorithm: Callable[..., Run], draft: Exact, target: Exact, k: int
) -> Joint:
    return Joint(tuple((mass, algorithm(target, draft, x)) for mass, x in drawing(draft, k)), k)


@lru_cache(maxsize=16)
def joint1(draft: Exact, target: Exact, k: int) -> Joint:
    """All runs of Algorithm 1."""
    return _joint(independent, algorithm1, draft, target, k)


@lru_cache(maxsize=16)
def joint2(draft: Exact, target: Exact, k: int) -> Joint:
    """All runs of Algorithm 2."""
    return _joint(distinct, algorithm2, draft, target, k)
