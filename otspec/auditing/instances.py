"""Instances to audit a rule on: random ones, and simpler neighbors of one that fails."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from otspec._base import Frozen, as_integer, as_list, as_seed, plain, shown
from otspec.distributions import as_k

MOST_DRAWN = 10_000  # the largest bounds on n and k of random instances


@dataclass(frozen=True)
class Instance(Frozen):
    """A draft, a target and k, as whole-number weights.

    Parameters
    ----------
    draft_weights, target_weights : tuple of int
        Of one length, each with a positive sum.
    k : int

    Raises
    ------
    ValueError
        Weights that are no such integers, or an unusable k.
    """

    draft_weights: tuple[int, ...]
    target_weights: tuple[int, ...]
    k: int

    def __post_init__(self) -> None:
        draft = _as_weights(self.draft_weights, "draft_weights")
        target = _as_weights(self.target_weights, "target_weights")
        if len(draft) != len(target):
            raise ValueError("draft_weights and target_weights must have one length")
        self._hold(draft_weights=draft, target_weights=target, k=as_k(self.k))

    @property
    def draft(self) -> list[Fraction]:
        """The draft distribution."""
        return _as_fractions(self.draft_weights)

    @property
    def target(self) -> list[Fraction]:
        """The target distribution."""
        return _as_fractions(self.target_weights)

    def __str__(self) -> str:
        draft, target = (",".join(map(plain, law)) for law in (self.draft, self.target))
        return f"draft {draft}  target {target}  k = {self.k}"


def _as_weights(values: Any, name: str) -> tuple[int, ...]:
    given = as_list(values, name, "a tuple of integers")
    weights = tuple(as_integer(w, f"{name}[{i}]", 0) for i, w in enumerate(given))
    if not any(weights):
        raise ValueError(f"{name} is {shown(weights)}: one weight at least must be above 0")
    return weights


def random_instances(
    count: int, *, most_tokens: int = 4, most_drafts: int = 3, seed: int = 0
) -> Iterator[Instance]:
    """Return exact instances with zeros, ties, draft = target, and nearly certain tokens.

    Parameters
    ----------
    count : int
    most_tokens, most_drafts : int
        Bounds on n and k.
    seed : int

    Returns
    -------
    iterator of Instance
        Small denominators first, so that what fails early is simple.

    Raises
    ------
    ValueError
        Counts and bounds that are no integers of at least 0 or 1, or another seed.
    """
    count = as_integer(count, "count", 0, wanted="how many instances")
    bounds = as_k(most_tokens, "most_tokens"), as_k(most_drafts, "most_drafts")
    for name, bound in zip(("most_tokens", "most_drafts"), bounds, strict=True):
        as_integer(bound, name, 1, MOST_DRAWN, otherwise="an audit enumerates n^k draft tuples")
    return _random_instances(count, *bounds, np.random.default_rng(as_seed(seed)))


def _random_instances(
    count: int, most_tokens: int, most_drafts: int, rng: np.random.Generator
) -> Iterator[Instance]:
    for number in range(count):
        largest = 2 + 10 * number // max(count, 1)
        n, k = int(rng.integers(1, most_tokens + 1)), int(rng.integers(1, most_drafts + 1))
        draft = _random_weights(rng, n, largest)
        kind = rng.integers(6)
        target = draft if kind == 0 else _random_weights(rng, n, largest)
        if kind == 1:  # one token nearly certain
            target = tuple(w + 10**6 * (i == 0) for i, w in enumerate(target))
        yield Instance(draft, target, k)


def _random_weights(rng: np.random.Generator, n: int, largest: int) -> tuple[int, ...]:
    weights = rng.integers(0, largest + 1, size=n)
    weights[rng.integers(n)] += 1  # never all zero
    return tuple(weights.tolist())


def simpler(instance: Instance) -> Iterator[Instance]:
    """Yield neighbors with fewer drafts, fewer tokens, or smaller weights; all well-founded."""
    draft, target, k = instance.draft_weights, instance.target_weights, instance.k
    if k > 1:
        yield Instance(draft, target, k - 1)
    for i in range(len(draft)):
        fewer = (draft[:i] + draft[i + 1 :], target[:i] + target[i + 1 :])
        if sum(fewer[0]) and sum(fewer[1]):
            yield Instance(*fewer, k)
    for which, weights in enumerate((draft, target)):
        for i, weight in enumerate(weights):
            for smaller in sorted({0, 1, weight // 2, weight - 1} & set(range(weight))):
                changed = (*weights[:i], smaller, *weights[i + 1 :])
                if sum(changed):
                    yield Instance(
                        changed if which == 0 else draft, changed if which == 1 else target, k
                    )


def _as_fractions(weights: tuple[int, ...]) -> list[Fraction]:
    total = sum(weights)
    return [Fraction(weight, total) for weight in weights]
