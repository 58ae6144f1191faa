"""A uniform random number of which only comparisons are known: each is a branch."""

from __future__ import annotations

from typing import Any

from otspec.arithmetic import Number
from otspec.conformance.branches import CannotFollowError, Chance


class Uniform:
    """A number drawn uniformly between 0 and 1, known to lie between two bounds.

    To compare it with a number is a random choice if that lies between the bounds, and narrows
    them. Two comparisons with the same ``Uniform`` therefore agree with each other, as those of
    code that uses one random number twice.

    Parameters
    ----------
    chance : Chance
        What makes the choices.
    """

    def __init__(self, chance: Chance[Any]) -> None:
        self._chance = chance
        self._low: Number = 0
        self._high: Number = 1

    def below(self, threshold: Number) -> bool:
        """Return whether the number is below a threshold; to be equal has no chance."""
        if threshold <= self._low or threshold >= self._high:
            return bool(threshold >= self._high)
        if self._chance.choose((threshold - self._low, self._high - threshold)) == 0:
            self._high = threshold
            return True
        self._low = threshold
        return False

    def __lt__(self, other: Any) -> bool:
        if isinstance(other, Uniform):
            raise CannotFollowError("it compares two random numbers with each other")
        return self.below(other)

    __le__ = __lt__

    def __gt__(self, other: Any) -> bool:
        return not self < other

    __ge__ = __gt__
