"""Exponential random numbers of which only the order is known: the minimum has no memory."""

from __future__ import annotations

import math
from collections.abc import Sequence

from otspec._base.arithmetic import Number
from otspec.chance import Branch

_SAME = 1e-6
"""How far, relative to each other, two factors may be apart that count as the same: float32."""


class Racer:
    """An exponential number: that of the racer who came before it, if one is known, plus another.

    The first of two racers of rates a and b is the one with chance a / (a + b), comes at the rate
    a + b whoever it is, and the other after it at its own rate.

    Parameters
    ----------
    factor : number
        What the standard exponential number is multiplied by: the rate is one over it.
    """

    def __init__(self, chance: Branch, factor: Number) -> None:
        self._chance, self._factor = chance, factor
        self._rate: Number = 1 / factor
        self._before: Racer | None = None

    def alike(self, factor: Number) -> bool:
        """Whether it runs with the factor that it began with."""
        return factor == self._factor or math.isclose(factor, self._factor, rel_tol=_SAME)

    def beats(self, other: Racer) -> bool:
        """Return whether it comes before another one: a random choice unless that is known."""
        while True:
            mine, others = self._line(), other._line()
            known = sum(a is b for a, b in zip(mine, others, strict=False))
            if known in (len(mine), len(others)):
                return len(mine) <= len(others)
            _run(self._chance, mine[known], others[known])

    def _line(self) -> list[Racer]:
        """Return who comes before it, in order, and itself."""
        line, racer = [self], self._before
        while racer is not None:
            line.append(racer)
            racer = racer._before  # noqa: SLF001
        return line[::-1]


def first(chance: Branch, racers: Sequence[Racer]) -> int:
    """Return which of some racers comes first: one choice if nothing is known of them."""
    if all(racer._before is None for racer in racers):  # noqa: SLF001
        rates = [racer._rate for racer in racers]  # noqa: SLF001
        winner = chance.choose(rates)
        racers[winner]._rate = sum(rates)  # noqa: SLF001
        for place, racer in enumerate(racers):
            if place != winner:
                racer._before = racers[winner]  # noqa: SLF001
        return winner
    best = 0
    for place in range(1, len(racers)):
        if racers[place].beats(racers[best]):
            best = place
    return best


def _run(chance: Branch, one: Racer, two: Racer) -> None:
    """Let two racers run who come after the same one."""
    rates = one._rate, two._rate  # noqa: SLF001
    first, second = (one, two) if chance.choose(rates) == 0 else (two, one)
    first._rate = sum(rates)  # noqa: SLF001
    second._before = first  # noqa: SLF001
