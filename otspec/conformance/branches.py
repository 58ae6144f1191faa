"""Every way through a function that makes random choices, with the chance of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar

from otspec.arithmetic import Number
from otspec.conformance.extended_numbers import over

Result = TypeVar("Result")

LEAST = 1e-12
"""A float option of a smaller chance counts as rounding, and is never taken."""

MOST_CHOICES = 10_000
"""Most choices of one run: code that makes more of them does not end."""

_LIGHT = 1e-18
"""A way whose chance, a float, is below this is left: so loops that only chance ends do end."""


class CannotFollowError(Exception):
    """Code uses a random number in a way whose chances are not known."""


class _TooLightError(BaseException):
    """The way so far has no chance worth following; code under audit is not to catch it."""


class Chance(Generic[Result]):
    """The random choices of one run of a function, of which each is a branch.

    The function is run once for each branch: the choices before are made again as they were, so
    that it must do the same each time for the same choices.

    Parameters
    ----------
    path : sequence of int
        Which of the options to take, as far as it goes; then the first.
    least : float
        A float option of a smaller chance counts as rounding, and is never taken.
    """

    def __init__(self, path: Sequence[int] = (), least: float = LEAST) -> None:
        self._path, self._least = tuple(path), least
        self.mass: Number = 1
        self.taken: list[tuple[int, int]] = []
        """Of each choice, which of how many options."""
        self.refusal: CannotFollowError | None = None

    def refused(self, what: str) -> CannotFollowError:
        """Return an error to raise, and remember it: the code under audit may catch it.

        Parameters
        ----------
        what : str
            What the code does, such as "it adds two random numbers".
        """
        self.refusal = self.refusal or CannotFollowError(what)
        return self.refusal

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
        # Written so that NaN is refused, which the total is if a mass is.
        if not (total > 0 and min(masses) >= 0):
            raise self.refused(f"it chooses among chances {list(masses)[:8]}")
        least = self._least * total if isinstance(total, float) else 0
        open_options = [i for i, mass in enumerate(masses) if mass > least]
        depth = len(self.taken)
        if depth >= MOST_CHOICES:
            raise self.refused(f"it makes more than {MOST_CHOICES:,} random choices in one run")
        place = self._path[depth] if depth < len(self._path) else 0
        if place >= len(open_options):
            raise self.refused("it does something else when it is run again")
        self.taken.append((place, len(open_options)))
        chosen = open_options[place]
        if len(open_options) == 1:
            return chosen
        self.mass = self.mass * over(masses[chosen], sum([masses[i] for i in open_options]))
        if isinstance(self.mass, float) and self.mass < _LIGHT:
            raise _TooLightError
        return chosen

    def accept(self, chance: Number) -> bool:
        """Return True with a chance, which counts as 0 below it and as 1 above."""
        inside = min(max(chance, 0 * chance), 0 * chance + 1)
        return self.choose((1 - inside, inside)) == 1


def branches(
    function: Callable[[Chance[Any]], Result], *, least: float = LEAST, most: int | None = None
) -> Iterator[tuple[Number, Result]]:
    """Run a function for every way that its random choices can go.

    Parameters
    ----------
    function : callable
        Takes a :class:`Chance`, from which it gets all its randomness.
    least : float
        A float option of a smaller chance counts as rounding, and is never taken.
    most : int, optional
        The most ways to follow.

    Yields
    ------
    mass : float, int or Fraction
        The chance of this way; exact if the options' are. They sum to 1, but for those in floats
        that are lighter than 1e-18, which are left out.
    result : object
        What the function returned.

    Raises
    ------
    CannotFollowError
        As :meth:`Chance.choose`, also where the function caught it; or more than ``most`` ways.
    """
    path: list[int] | None = []
    followed = 0
    while path is not None:
        if followed == most:
            raise CannotFollowError(f"there are more than {most:,} ways through it")
        chance: Chance[Any] = Chance(path, least)
        with suppress(_TooLightError):
            result = function(chance)
            if chance.refusal is not None:
                raise chance.refusal
            yield chance.mass, result
        path = _next(chance.taken)
        followed += 1


def _next(taken: Sequence[tuple[int, int]]) -> list[int] | None:
    """Return the choices of the next way, or None after the last: depth first."""
    for depth in range(len(taken) - 1, -1, -1):
        place, options = taken[depth]
        if place + 1 < options:
            return [*(place for place, _ in taken[:depth]), place + 1]
    return None


def law_of(
    function: Callable[[Chance[Any]], Result], *, least: float = LEAST, most: int | None = None
) -> dict[Result, Number]:
    """Return the law of what a function returns, which has to be hashable.

    Parameters
    ----------
    function, least, most
        As for :func:`branches`.

    Raises
    ------
    CannotFollowError
        As :func:`branches`.
    """
    law: dict[Result, Number] = {}
    for mass, result in branches(function, least=least, most=most):
        law[result] = law.get(result, 0) + mass
    return law
