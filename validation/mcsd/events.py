"""Appendices A to C: probabilities of the events in the proofs, by summing over all candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from validation.instances import Exact
from validation.mcsd.printed import Drawing, Run, algorithm1, algorithm2
from validation.notation import ZERO, Tokens, distinct, iid, total


@dataclass(frozen=True)
class Events:
    """All runs of an algorithm with the probabilities of their candidates.

    Events are conditioned on the first candidates where ``given`` is not empty. Rounds count
    from 1 and ``rejected(n)`` is the event R_n.
    """

    runs: tuple[tuple[Fraction, Run], ...]
    k: int

    def drafted(self, given: Tokens = ()) -> Fraction:
        """P(the first candidates are the given ones)."""
        return total(mass for mass, _ in self._those(given))

    def rejected(self, n: int, given: Tokens = ()) -> Fraction:
        """P(R_n and the given candidates)."""
        return total(mass * run.reach(n) for mass, run in self._those(given))

    def accepted(self, n: int, token: int, given: Tokens = ()) -> Fraction:
        """P(R_{n-1}, candidate n is the token and accepted, and the given candidates)."""
        return total(
            mass * run.reach(n - 1) * run.chances[n - 1]
            for mass, run in self._those(given)
            if run.candidates[n - 1] == token and len(run.chances) >= n
        )

    def returned(self, token: int, n: int, given: Tokens = ()) -> Fraction:
        """P(R_n, the token is returned, and the given candidates)."""
        found = ZERO
        for mass, run in self._those(given):
            for i in range(n, len(run.chances)):
                if run.candidates[i] == token:
                    found += mass * run.reach(i) * run.chances[i]
            if last := run.reach(self.k):
                found += mass * last * run.targets[-1][token]
        return found

    def _those(self, given: Tokens) -> tuple[tuple[Fraction, Run], ...]:
        if not given:
            return self.runs
        return tuple(each for each in self.runs if each[1].candidates[: len(given)] == given)


def _events(
    drawing: Drawing, algorithm: Callable[..., Run], draft: Exact, target: Exact, k: int
) -> Events:
    runs = ((mass, algorithm(target, draft, x)) for x, mass in drawing(draft, k).items())
    return Events(tuple(runs), k)


@lru_cache(maxsize=16)
def events1(draft: Exact, target: Exact, k: int) -> Events:
    """All runs of Algorithm 1."""
    return _events(iid, algorithm1, draft, target, k)


@lru_cache(maxsize=16)
def events2(draft: Exact, target: Exact, k: int) -> Events:
    """All runs of Algorithm 2."""
    return _events(distinct, algorithm2, draft, target, k)
