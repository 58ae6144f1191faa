"""Every way through a function that makes random choices, with the chance of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from otspec.arithmetic import Number

Result = TypeVar("Result")

LEAST = 1e-12
"""A float option of a smaller chance counts as rounding, and is never taken."""


class CannotFollowError(Exception):
    """Code uses a random number in a way whose chances are not known."""


class Chance(Generic[Result]):
    """The random choices of one run of a function, of which each is a branch.

    The function is run once for each branch: the choices before are made again as they were, so
    that it must do the same each time for the same choices.

    Parameters
    ----------
    path : sequence of int
        Which of the options to take, as far as it goes; then the first.
    """

    def __init__(self, path: Sequence[int] = ()) -> None:
        self._path = tuple(path)
        self.mass: Number = 1
        self.taken: list[tuple[int, tuple[int, ...]]] = []

    def choose(self, masses: Sequence[Number]) -> int:
        """Take one of several options.

        Parameters
        ----------
        masses : sequence of number
            How likely each is; they may sum to anything above 0, and are divided by that.

        Returns
        -------
        int

        Raises
        ------
        CannotFollowError
            No option has a chance, or one has a negative or no number for it.
        """
        total = sum(masses)
        # Written so that NaN is refused.
        if not (total > 0 and all(mass >= 0 for mass in masses)):
            raise CannotFollowError(f"it chooses among chances {list(masses)[:8]}")
        least = LEAST * total if isinstance(total, float) else 0
        open_options = tuple(i for i, mass in enumerate(masses) if mass > least)
        kept = sum(masses[i] for i in open_options)
        depth = len(self.taken)
        place = self._path[depth] if depth < len(self._path) else 0
        if place >= len(open_options):
            raise CannotFollowError("it does something else when it is run again")
        self.taken.append((place, open_options))
        chosen = open_options[place]
        self.mass = self.mass * (masses[chosen] / kept if len(open_options) > 1 else 1)
        return chosen

    def accept(self, chance: Number) -> bool:
        """Return True with a chance, which counts as 0 below it and as 1 above."""
        inside = min(max(chance, 0 * chance), 0 * chance + 1)
        return self.choose((1 - inside, inside)) == 1


def branches(function: Callable[[Chance[Any]], Result]) -> Iterator[tuple[Number, Result]]:
    """Run a function for every way that its random choices can go.

    Parameters
    ----------
    function : callable
        Takes a :class:`Chance`, from which it gets all its randomness.

    Yields
    ------
    mass : float, int or Fraction
        The chance of this way; exact if the options' are. They sum to 1.
    result : object
        What the function returned.

    Raises
    ------
    CannotFollowError
        As :meth:`Chance.choose`.
    """
    path: list[int] | None = []
    while path is not None:
        chance: Chance[Any] = Chance(path)
        result = function(chance)
        yield chance.mass, result
        path = _next(chance.taken)


def _next(taken: Sequence[tuple[int, tuple[int, ...]]]) -> list[int] | None:
    """Return the choices of the next way, or None after the last: depth first."""
    for depth in range(len(taken) - 1, -1, -1):
        place, open_options = taken[depth]
        if place + 1 < len(open_options):
            return [*(place for place, _ in taken[:depth]), place + 1]
    return None


def law_of(function: Callable[[Chance[Any]], Result]) -> dict[Result, Number]:
    """Return the law of what a function returns, which has to be hashable.

    Parameters
    ----------
    function : callable
        As for :func:`branches`.

    Raises
    ------
    CannotFollowError
        As :func:`branches`.
    """
    law: dict[Result, Number] = {}
    for mass, result in branches(function):
        law[result] = law.get(result, 0) + mass
    return law
