"""What depends on the order of numbers of which some are random: the largest, a place, a bound."""

from collections.abc import Callable, Sequence
from typing import Any

from otspec._base import Number
from otspec.chance import Branch
from otspec.conformance.following.products import first
from otspec.conformance.following.symbols import RandomNumber

_NO_LOWER = 1e-9  # a lower bound this small only keeps a random number from 0


class Pending:
    """A token that is drawn once it is needed: code may draw many and use one."""

    def __init__(self, draw: Callable[[], Any]) -> None:
        self._draw = draw
        self._drawn: list[Any] = []

    def value(self) -> Any:
        """Return the token."""
        if not self._drawn:
            self._drawn.append(self._draw())
        return self._drawn[0]

    def ways(self) -> list[tuple[Any, Number]] | None:
        """Return all that it can be and the probability of each branch; None if not known."""
        return None


class Chosen(Pending):
    """A token to be drawn with given masses."""

    def __init__(self, chance: Branch, masses: Sequence[Any]) -> None:
        super().__init__(lambda: chance.choose(masses))
        self._chance, self._masses = chance, masses

    def ways(self) -> list[tuple[Any, Number]] | None:
        """Return the tokens and their branches, if it is not drawn: a branch's last choice."""
        return None if self._drawn else self._chance.every(self._masses)


def distinct(chance: Branch, masses: Sequence[Any], size: int) -> list[Pending]:
    """Return tokens to be drawn one after the other, each among those not drawn before."""
    drawn: list[int] = []

    def draw(upto: int) -> int:
        while len(drawn) <= upto:
            left = [0 * m if token in drawn else m for token, m in enumerate(masses)]
            if not sum(left) > 0:
                raise chance.refused("it draws more distinct tokens than have a chance")
            drawn.append(chance.choose(left))
        return drawn[upto]

    return [Pending(lambda place=place: draw(place)) for place in range(size)]  # type: ignore[misc]


def extreme(values: Sequence[Any], largest: bool) -> int:
    """Return the place of the largest or smallest of numbers, of which some are random."""
    # As in PyTorch, NaN counts as both; of equal numbers the first is taken.
    for place, value in enumerate(values):
        if value != value:
            return place
    plain = [i for i, value in enumerate(values) if not isinstance(value, RandomNumber)]
    random = [i for i, value in enumerate(values) if isinstance(value, RandomNumber)]
    if plain:  # in most races a constant is the worst that there can be
        best = (max if largest else min)(plain, key=lambda i: values[i])
        random = [i for i in random if _beyond(values[i], values[best], largest)]
        if not random:
            return best
    return random[_first([values[i] for i in random], largest)]


def _first(numbers: Sequence[RandomNumber], largest: bool) -> int:
    races = [number.race() for number in numbers]
    kinds, uniforms = {race[0] for race in races}, {number.uniform for number in numbers}
    fresh = not any(uniform.low > 0 or uniform.high < 1 for uniform in uniforms)
    if fresh and len(kinds) == 1 < len(numbers) == len(uniforms) and races[0][2] != largest:
        racers = [
            number.uniform.racer(factor, number.mirrored)
            for number, (_, factor, _) in zip(numbers, races, strict=True)
        ]
        return first(numbers[0].uniform.chance, racers)
    best = 0
    for place in range(1, len(numbers)):
        if _beyond(numbers[place], numbers[best], largest):
            best = place
    return best


def _beyond(number: Any, other: Any, largest: bool) -> bool:
    return bool(number > other if largest else number < other)


def ranked(values: Sequence[Any], largest: bool, most: int) -> list[int]:
    """Return the places of the largest or smallest few numbers, from the most extreme on."""
    left = list(range(len(values)))
    return [left.pop(extreme([values[i] for i in left], largest)) for _ in range(most)]


def place_among(edges: Sequence[Any], number: Any, right: bool) -> int:
    """Return before how many of some sorted numbers another one belongs."""
    for place, edge in enumerate(edges):
        if number < edge or (number == edge and not right):
            return place
    return len(edges)


def clipped(value: Any, low: Any, high: Any) -> Any:
    """Return a number, or the bound that it is beyond."""
    negligible = isinstance(value, RandomNumber) and low is not None and 0 < low <= _NO_LOWER
    if low is not None and not (negligible and value > 0) and value < low:
        return low
    return high if high is not None and value > high else value
