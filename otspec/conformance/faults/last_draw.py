"""The law of one step of a verifier, whose last draw has all its ways in one run."""

from collections.abc import Callable, Sequence
from typing import Any

from otspec._base import Number
from otspec.chance import LEAST, Branch, CannotFollowError, branches, law_of

MOST_WAYS = 20_000  # most ways through a verifier that are followed on one case


class Undrawn:
    """A token that is left for last: a TypeError for whoever looks at what it may be."""

    def __init__(self, weights: Sequence[float]) -> None:
        self.weights = weights

    def __eq__(self, other: Any) -> bool:
        if other in range(len(self.weights)) and self.weights[other] > 0:
            raise TypeError
        return False

    def __hash__(self) -> int:
        raise TypeError

    def __bool__(self) -> bool:
        raise TypeError


def law_of_step(make: Callable[[Branch], Any], said: Callable[[Any], Any]) -> dict[Any, Number]:
    """Return the law of what is said of a machine, as tuples; the machine is made for a chance."""

    def ways(chance: Branch) -> list[tuple[Any, Number]]:
        machine = make(chance)
        machine.draws_last = True
        found, last = said(machine), machine.undrawn
        if last is None:
            return [(found, chance.mass)]
        return [(_drawn(found, token), mass) for token, mass in chance.every(last.weights)]

    law: dict[Any, Number] = {}
    followed = 0
    try:
        for _, every in branches(ways, least=LEAST, most=MOST_WAYS):
            followed += len(every)
            if followed > MOST_WAYS:
                raise CannotFollowError(f"there are more than {MOST_WAYS:,} ways through it")
            for found, mass in every:
                law[found] = law.get(found, 0) + mass
    except TypeError:  # what is said depends on the token, which has to be drawn at once
        return law_of(lambda chance: said(make(chance)), least=LEAST, most=MOST_WAYS)
    return law


def _drawn(found: Any, token: int) -> Any:
    """Return what is said, with the token that was left for last."""
    if isinstance(found, tuple):
        return tuple(_drawn(each, token) for each in found)
    return token if isinstance(found, Undrawn) else found
