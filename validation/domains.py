"""Where claims are checked: domains of small instances in order of size, and of random ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count, product
from typing import Any

import numpy as np

Exact = tuple[Fraction, ...]
"""A distribution in fractions."""
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
        """Return the domain of the instances, given as keywords, that fulfill a condition."""
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
        some = (each(**instance) if callable(each) else each for each in choices.values())
        for values in product(*some):
            yield {**instance, **dict(zip(choices, values, strict=True))}


def _in_turn(instances: Iterable[Instance], choices: Mapping[str, Choices]) -> Iterator[Instance]:
    for turn, instance in enumerate(instances):
        some = list(_each([instance], choices))
        if some:
            yield some[turn % len(some)]


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


def cases(n: int = 4, k: Iterable[int] = (1, 2, 3), least: int = 1, *,
          random_n: int = 0, random_k: Iterable[int] = ()) -> Domain:  # fmt: skip
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


def distributions(n: int, denominator: int) -> Iterator[Exact]:
    """Yield all distributions over n tokens with this common denominator, not a smaller one."""
    for weights in product(range(denominator + 1), repeat=n - 1):
        last = denominator - sum(weights)
        if last >= 0 and np.gcd.reduce([*weights, last, denominator]) == 1:
            yield tuple(Fraction(weight, denominator) for weight in (*weights, last))


def smallest_pairs(most_tokens: int = 4, fewest_tokens: int = 1) -> Iterator[dict[str, Any]]:
    """Yield drafts and targets by n + both denominators; one pair per relabeling of tokens."""
    for size in count(2):
        for n in range(fewest_tokens, most_tokens + 1):
            for first in range(1, size - n):
                second = size - n - first
                for draft in distributions(n, first):
                    if any(draft[i] < draft[i + 1] for i in range(n - 1)):
                        continue  # descending drafts stand for all orders
                    for target in distributions(n, second):
                        # Among tokens of equal draft mass the targets descend.
                        if all(target[i] >= target[i + 1] for i in range(n - 1)
                               if draft[i] == draft[i + 1]):  # fmt: skip
                            yield {"draft": draft, "target": target}


def random_pair(rng: np.random.Generator, n: int, largest: int) -> dict[str, Any]:
    """Return a random draft and target: dense, sparse, tied or nearly certain, some equal."""
    draft = random_distribution(rng, n, largest)
    equal = rng.integers(5) == 0
    return {"draft": draft, "target": draft if equal else random_distribution(rng, n, largest)}


def random_distribution(rng: np.random.Generator, n: int, largest: int) -> Exact:
    """Return a random exact distribution; about a third of them have zeros, some a heavy token."""
    weights = rng.integers(0 if rng.integers(3) == 0 else 1, largest + 1, n)
    if rng.integers(5) == 0:
        weights[rng.integers(n)] += 20 * largest
    if not weights.any():
        weights[rng.integers(n)] = 1
    total = int(weights.sum())
    return tuple(Fraction(int(weight), total) for weight in weights)


def is_law(value: Any) -> bool:
    """Whether a value of an instance is an exact distribution."""
    fractions = isinstance(value, tuple) and all(isinstance(each, Fraction) for each in value)
    return fractions and sum(value) == 1


def weights_of(law: tuple[Fraction, ...]) -> tuple[int, ...]:
    """Return the smallest whole numbers in proportion to a distribution."""
    common = math.lcm(*(each.denominator for each in law))
    return tuple(int(each * common) for each in law)


def law_of(weights: tuple[int, ...]) -> tuple[Fraction, ...]:
    """Return the distribution in proportion to whole numbers."""
    return tuple(Fraction(weight, sum(weights)) for weight in weights)
