"""All randomness of a verifier: a program draws, is followed along every branch, or replays.

A verifier is a program ``verify(drafts, chance)`` that gets each random choice from its
:class:`Chance`. Three kinds of chance run the same program:

- :class:`Drawn` takes the choices from a generator, so that the program samples;
- :func:`branches` runs it once for every way that its choices can go, and gives the probability of
  each: exact numbers for exact programs;
- :class:`Tape` takes the choices from given uniform numbers, so that the program replays.

Examples
--------
>>> from fractions import Fraction
>>> def coin_until_heads(chance):
...     tosses = 1
...     while tosses < 3 and not chance.accept(Fraction(1, 2)):
...         tosses += 1
...     return tosses
>>> {tosses: str(mass) for tosses, mass in sorted(law_of(coin_until_heads).items())}
{1: '1/2', 2: '1/4', 3: '1/4'}
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from otspec._base import Array, Number, as_whole

Result = TypeVar("Result")

LEAST = 1e-12
"""A probability in floats below which engines' code is not followed: it counts as rounding."""
_PLAIN = {int, float, Fraction}
MOST_CHOICES = 10_000  # most choices of one run: code that makes more of them does not end


class CannotFollowError(Exception):
    """A program uses chance in a way that cannot be followed."""


class _TooLightError(BaseException):
    """The branch has no probability worth following; the program must not catch this."""


class Chance(ABC):
    """All the randomness that a program has."""

    @abstractmethod
    def choose(self, masses: Sequence[Number] | Array) -> int:
        """Return an index, with a probability proportional to its mass, of a positive sum."""

    def accept(self, wanted: Number, offered: Number = 1) -> bool:
        """Return True with probability min(1, wanted/offered), never if nothing is wanted."""
        if wanted <= 0:
            return False
        return wanted >= offered or self._accepts(wanted, offered)

    def _accepts(self, wanted: Number, offered: Number) -> bool:
        """Return the same where it is not certain."""
        return self.choose((offered - wanted, wanted)) == 1


class Drawn(Chance):
    """Choices of a generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.uniform: Callable[[], float] = rng.random
        """Returns the next uniform number, from 0 to below 1."""

    def choose(self, masses: Sequence[Number] | Array) -> int:
        """Return an index, by inversion of the cumulative sums at one uniform number."""
        sums = np.cumsum(np.asarray(masses, dtype=float))
        # u·total can round up to the total: then the last index of positive mass is chosen.
        last = sums.searchsorted(sums[-1])
        return int(min(sums.searchsorted(self.uniform() * sums[-1], side="right"), last))

    def _accepts(self, wanted: Number, offered: Number) -> bool:
        return bool(self.uniform() * float(offered) < wanted)


class Tape(Drawn):
    """Choices of uniform numbers in [0, 1), one for each uncertain choice; else StopIteration."""

    def __init__(self, uniforms: Iterable[float]) -> None:
        self.uniform = iter(uniforms).__next__


class _Choice:
    """What a program chooses from after some earlier choices: known to all branches through it."""

    __slots__ = ("_before", "_masses", "_total", "after", "options", "size")

    def __init__(self, masses: Sequence[Number], least: float, before: tuple[Any, int]) -> None:
        if masses and not isinstance(masses[0], float):
            masses, _ = as_whole(masses)  # which are faster compared, added and multiplied
        total: Any = sum(masses)
        # NaN fails this test, too: the total is NaN if a mass is.
        if not (total > 0 and min(masses) >= 0):
            raise ValueError
        in_floats = isinstance(total, float)
        lowest = least * total if in_floats else 0
        self.size = len(masses)
        self.options = [i for i, mass in enumerate(masses) if mass > lowest]
        self._masses: list[Any] = [masses[i] for i in self.options]
        self._total: Any = sum(self._masses) if in_floats else total
        self._before = before
        self.after: list[tuple[Any, int] | None] = [None] * len(self.options)
        """The probability of the branch after each option, where one came by."""

    def weigh(self, place: int) -> tuple[Any, int]:
        """Return the probability of the branch after an option: a number over a whole one."""
        mass, total = self._masses[place], self._total
        before, unit = self._before
        if len(self.options) == 1:
            found = self._before
        elif isinstance(before, float) or isinstance(total, float):
            found = before / unit * (mass / total), 1
        else:
            found = before * mass, unit * total
        self.after[place] = found
        return found


def _quotient(mass: Any, unit: int) -> Number:
    return mass if unit == 1 else Fraction(mass, unit)


class Branch(Chance):
    """The choices of one branch of a program, which is run once for each branch.

    Parameters
    ----------
    path : sequence of int
        Which of the open options each choice takes, as far as it goes; then the first.
    least : float
        A float option of a smaller probability counts as rounding, and is never taken. A branch
        whose float probability falls below a millionth of this is left.
    seen : list, optional
        The choices that it shares with an earlier branch, which are not looked at again; others are
        added.
    """

    def __init__(
        self, path: Sequence[int] = (), least: float = 0.0, seen: list[Any] | None = None
    ) -> None:
        self._path, self._least = tuple(path), least
        self._mass: tuple[Any, int] = 1, 1
        self.taken: list[tuple[int, int]] = []
        """For each choice, which option of how many was taken."""
        self.refusal: CannotFollowError | None = None
        self._seen: list[Any] = [] if seen is None else seen
        self.idle = False
        """Whether to take the likeliest option, of no choice that is followed."""

    @property
    def mass(self) -> Number:
        """The probability of the branch so far: exact if all masses are."""
        return _quotient(*self._mass)

    def refused(self, what: str) -> CannotFollowError:
        """Return an error to raise, such as "it adds two random numbers", and remember it."""
        self.refusal = self.refusal or CannotFollowError(what)
        return self.refusal

    def choose(self, masses: Sequence[Number] | Array) -> int:
        """Return this branch's index; ``CannotFollowError`` for masses that are no such."""
        if self.idle:
            return max(range(len(masses)), key=masses.__getitem__)
        if len(self.taken) == len(self._seen):
            self._open(masses)
        return self._take(len(masses))

    def every(self, masses: Sequence[Number] | Array) -> list[tuple[int, Number]]:
        """Return all indices that a last choice can take, and the probability of each branch."""
        choice = self._choice(masses)
        light = 1e-6 * self._least
        weighed = enumerate(choice.options)
        ways = [(option, _quotient(*choice.weigh(place))) for place, option in weighed]
        return [way for way in ways if not (isinstance(way[1], float) and way[1] < light)]

    def _accepts(self, wanted: Number, offered: Number) -> bool:
        if self.idle:
            return 2 * wanted > offered
        if len(self.taken) == len(self._seen):
            self._open((offered - wanted, wanted))
        return self._take(2) == 1

    def _open(self, masses: Sequence[Number] | Array) -> None:
        """Come to a choice that no branch before has come to."""
        if len(self.taken) >= MOST_CHOICES:
            raise self.refused(f"it makes more than {MOST_CHOICES:,} random choices in one run")
        self._seen.append(self._choice(masses))

    def _choice(self, masses: Sequence[Number] | Array) -> "_Choice":
        known = masses.tolist() if isinstance(masses, np.ndarray) else masses
        if not _PLAIN.issuperset(map(type, known)):  # such as np.float32
            known = [mass.item() if hasattr(mass, "item") else mass for mass in known]
        try:
            return _Choice(known, self._least, self._mass)
        except (AttributeError, TypeError, ValueError):
            raise self.refused(f"it chooses among chances {list(masses)[:8]}") from None

    def _take(self, size: int) -> int:
        """Return the index that is taken of so many."""
        depth = len(self.taken)
        choice: _Choice = self._seen[depth]
        place = self._path[depth] if depth < len(self._path) else 0
        if choice.size != size or place >= len(choice.options):
            raise self.refused("it does something else when it is run again")
        self.taken.append((place, len(choice.options)))
        self._mass = choice.after[place] or choice.weigh(place)
        mass, _ = self._mass
        if isinstance(mass, float) and mass < 1e-6 * self._least:
            raise _TooLightError
        return choice.options[place]


def branches(
    program: Callable[[Branch], Result], *, least: float = 0.0, most: int | None = None
) -> Iterator[tuple[Number, Result]]:
    """Run a program for every way that its random choices can go; yield probability and result.

    Probabilities are exact if the masses are, and sum to 1, but for what ``least`` leaves out.
    Raises ``CannotFollowError``: as :meth:`Branch.choose`, also where the program caught it; or
    more than ``most`` branches.

    Parameters
    ----------
    program : callable
        Takes a :class:`Chance`, from which it gets all its randomness.
    least : float
        As for :class:`Branch`: above 0, programs whose loops only chance ends do end.
    most : int, optional
        The most branches to follow.
    """
    path: list[int] | None = []
    seen: list[Any] = []
    followed = 0
    while path is not None:
        if followed == most:
            raise CannotFollowError(f"there are more than {most:,} ways through it")
        del seen[len(path) :]
        chance = Branch(path, least, seen)
        with suppress(_TooLightError):
            result = program(chance)
            if chance.refusal is not None:
                raise chance.refusal
            yield chance.mass, result
        path = _next(chance.taken)
        followed += 1


def _next(taken: Sequence[tuple[int, int]]) -> list[int] | None:
    """Return the path of the next branch, depth first; None after the last."""
    for depth in range(len(taken) - 1, -1, -1):
        place, options = taken[depth]
        if place + 1 < options:
            return [*(place for place, _ in taken[:depth]), place + 1]
    return None


def law_of(
    program: Callable[[Branch], Result], *, least: float = 0.0, most: int | None = None
) -> dict[Result, Number]:
    """Return the law of a program's hashable result; parameters and errors: :func:`branches`."""
    law: dict[Result, Number] = {}
    for mass, result in branches(program, least=least, most=most):
        law[result] = law.get(result, 0) + mass
    return law
