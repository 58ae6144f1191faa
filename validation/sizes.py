"""The sizes of instances in words: tokens, drafts, denominators, and what else was varied."""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any


def is_law(value: Any) -> bool:
    """Whether a value of an instance is an exact distribution."""
    return (
        isinstance(value, tuple)
        and len(value) > 0
        and all(isinstance(each, Fraction) for each in value)
        and sum(value) == 1
    )


def weights_of(law: tuple[Fraction, ...]) -> tuple[int, ...]:
    """Return the smallest whole numbers in proportion to a distribution."""
    common = math.lcm(*(each.denominator for each in law))
    return tuple(int(each * common) for each in law)


def law_of(weights: tuple[int, ...]) -> tuple[Fraction, ...]:
    """Return the distribution in proportion to whole numbers."""
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


class Sizes:
    """The ranges of what instances are made of; as text, such as "n <= 4, k <= 3"."""

    def __init__(self) -> None:
        self.ranges: dict[str, tuple[Any, Any]] = {}
        self.words: dict[str, set[str]] = {}

    def add(self, instance: Mapping[str, Any]) -> None:
        """Take the sizes of one more instance into account."""
        for name, value in _measures(instance):
            if isinstance(value, str):
                self.words.setdefault(name, set()).add(value)
            else:
                low, high = self.ranges.get(name, (value, value))
                self.ranges[name] = min(low, value), max(high, value)

    def __str__(self) -> str:
        parts = [_told(name, *ends) for name, ends in self.ranges.items()]
        parts += [f"{name} {', '.join(sorted(some))}" for name, some in self.words.items()
                  if len(some) <= 6]  # fmt: skip
        return ", ".join(parts)


def _measures(instance: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of what is measured about one instance."""
    laws = []
    for name, value in instance.items():
        rows = getattr(value, "rows", value)
        if is_law(rows):
            laws.append(rows)
        elif isinstance(rows, tuple) and rows and all(map(is_law, rows)):
            laws.extend(rows)
        elif isinstance(value, (int, Fraction, float, str)):
            yield name, value
    if laws:
        yield "n", max(map(len, laws))
        yield "denominators", max(math.lcm(*(mass.denominator for mass in law)) for law in laws)


def _told(name: str, low: Any, high: Any) -> str:
    if low == high:
        return f"{name} = {_plain(low)}"
    if name == "denominators" or (isinstance(low, int) and low <= 1):
        return f"{name} <= {_plain(high)}"
    return f"{_plain(low)} <= {name} <= {_plain(high)}"


def _plain(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
