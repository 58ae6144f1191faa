"""Where claims are checked: domains of small instances in order of size, and of random ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count, product
from typing import Any

import numpy as np

from validation.instances import (
    Exact,
    distributions,
    random_distribution,
    random_pair,
    smallest_pairs,
)

Instance = Mapping[str, Any]
"""The keywords of a check: laws as tuples of fractions, numbers, texts, tuples of numbers."""
Choices = Iterable[Any] | Callable[..., Iterable[Any]]
"""Values of one more keyword; as a function, of the keywords there are."""
Drawn = Callable[[np.random.Generator], Iterable[Instance]]


@dataclass(frozen=True)
class Domain:
    """Instances for a check: half of those that it sees are random, where a domain has any.

    One without random instances is looked at whole: a figure, a table, a worked example."""

    small: Callable[[], Iterable[Instance]]
    """Yields instances, the smallest first; they may end."""
    random: Drawn | None = None
    """From a generator of random numbers to instances without end."""
    note: str = ""
    """For the scope of the evidence; sizes and denominators are said without it."""

    def each(self, **choices: Choices) -> Domain:
        """Return the domain in which every instance comes with each choice of more keywords."""
        return self._through(lambda instances: _each(instances, choices))

    def one(self, **choices: Choices) -> Domain:
        """Return the domain in which an instance comes with one choice, the next in turn."""
        return self._through(lambda instances: _in_turn(instances, choices))

    def where(self, condition: Callable[..., bool]) -> Domain:
        """Return the domain of the instances, given as keywords, that fulfil a condition."""
        return self._through(lambda instances: (one for one in instances if condition(**one)))

    def of(self, change: Callable[..., Instance]) -> Domain:
        """Return the domain of what a function makes of the keywords of each instance."""
        return self._through(lambda instances: (change(**one) for one in instances))

    def _through(self, change: Callable[[Iterable[Instance]], Iterable[Instance]]) -> Domain:
        drawn = self.random
        return replace(
            self,
            small=lambda: change(self.small()),
            random=None if drawn is None else lambda rng: change(drawn(rng)),
        )


def _each(instances: Iterable[Instance], choices: Mapping[str, Choices]) -> Iterator[Instance]:
    for instance in instances:
        for values in product(*(_values(some, instance) for some in choices.values())):
            yield {**instance, **dict(zip(choices, values, strict=True))}


def _in_turn(instances: Iterable[Instance], choices: Mapping[str, Choices]) -> Iterator[Instance]:
    for turn, instance in enumerate(instances):
        some = list(_each([instance], choices))
        if some:
            yield some[turn % len(some)]


def _values(some: Choices, instance: Instance) -> Iterable[Any]:
    return some(**instance) if callable(some) else some


def given(*instances: Instance, note: str = "") -> Domain:
    """Return the domain of these instances alone."""
    return Domain(lambda: instances, note=note)


def exact(*values: str | int | Fraction) -> Exact:
    """Return a distribution written by hand, such as ``exact("0.5", "1/3", "1/6")``."""
    return tuple(Fraction(value) for value in values)


def pairs(n: int = 4, least: int = 1, *, random_n: int = 0) -> Domain:
    """Return the domain of ``draft`` and ``target`` over ``least`` to n tokens.

    Random ones are dense, sparse, tied, equal or nearly certain, over up to ``random_n`` tokens
    (n without it), with denominators that grow to 60 and more."""
    most = (random_n or n) + 1
    return Domain(
        lambda: smallest_pairs(n, least),
        endless(lambda rng, largest: random_pair(rng, int(rng.integers(least, most)), largest)),
    )


def cases(
    n: int = 4,
    k: Iterable[int] = (1, 2, 3),
    least: int = 1,
    *,
    random_n: int = 0,
    random_k: Iterable[int] = (),
) -> Domain:
    """Return the domain of ``draft``, ``target`` and k: each for small pairs, one for random ones.

    ``random_k``: numbers of drafts of random pairs, if they differ. See also :func:`pairs`."""
    some = pairs(n, least, random_n=random_n)
    return mixed(some.each(k=tuple(k)), some.one(k=tuple(random_k or k)))


def mixed(small: Domain, random: Domain) -> Domain:
    """Return the domain of the small instances of one and the random ones of another."""
    return replace(small, random=random.random)


def laws(*names: str, n: int = 3, least: int = 1, random_n: int = 0) -> Domain:
    """Return the domain of distributions over one vocabulary in any order, as of two drafts."""

    def small() -> Iterator[Instance]:
        for size in count(len(names)):
            for tokens in range(least, n + 1):
                for denominators in sums(size - tokens, len(names)):
                    for found in product(*(distributions(tokens, each) for each in denominators)):
                        yield dict(zip(names, found, strict=True))

    def random(rng: np.random.Generator, largest: int) -> Instance:
        tokens = int(rng.integers(least, (random_n or n) + 1))
        return {name: random_distribution(rng, tokens, largest) for name in names}

    return Domain(small, endless(random))


def drafts(n: int = 5, least: int = 1, *, random_n: int = 0) -> Domain:
    """Return the domain of ``draft`` alone, in any order of its masses."""
    return laws("draft", n=n, least=least, random_n=random_n)


SHAPES = ((1, 1), (1, 2), (2, 1), (3, 1), (2, 2), (3, 2), (2, 3))
"""Numbers of tokens and of drafts of any joint law."""


def joints(shapes: Sequence[tuple[int, int]] = SHAPES) -> Domain:
    """Return the domain of any law of k drafts: ``joint``, by the order of tuples, and a target."""

    def small() -> Iterator[Instance]:
        for size in count(2):
            for n, k in shapes:
                for first, second in sums(size - n - k, 2):
                    both = distributions(n**k, first), distributions(n, second)
                    for joint, target in product(*both):
                        yield {"joint": joint, "target": target, "k": k}

    def random(rng: np.random.Generator, largest: int) -> Instance:
        n, k = shapes[int(rng.integers(len(shapes)))]
        joint, target = (random_distribution(rng, each, largest) for each in (n**k, n))
        return {"joint": joint, "target": target, "k": k}

    return Domain(small, endless(random))


def endless(draw: Callable[[np.random.Generator, int], Instance]) -> Drawn:
    """Return random instances without end, each from a generator and the largest weight."""
    return lambda rng: (draw(rng, largest) for largest in growing())


def growing(most: int = 60) -> Iterator[int]:
    """Yield the largest weight of the next random distribution, without end."""
    largest = 4.0
    while True:
        largest = min(largest * 1.01, most)
        yield int(largest)


def sums(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to write a total as a sum of so many positive whole numbers, in order."""
    if parts == 1:
        if total > 0:
            yield (total,)
        return
    for first in range(1, total):
        yield from ((first, *rest) for rest in sums(total - first, parts - 1))
