"""Random rational instances, the same in every run, with all the edge cases among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import oracles
from searching import enough

import otspec

Exact = tuple[Fraction, ...]
Pair = tuple[Exact, Exact]
Convert = Callable[[Exact], object]

EPS = float(np.finfo(float).eps)

KINDS = (
    "dense",
    "sparse",
    "tied",
    "proportional",
    "undrafted",
    "equal",
    "disjoint",
    "certain",
)


def fractions(*values: int | str | Fraction) -> Exact:
    """Write an exact distribution by hand: ``fractions("1/2", "1/2")``."""
    return tuple(Fraction(value) for value in values)


def weights(rng: np.random.Generator, n: int, largest: int, zeros: float = 0.0) -> Exact:
    """A distribution with weights 1..largest, each replaced by 0 with probability ``zeros``."""
    drawn = rng.integers(1, largest + 1, n) * (rng.random(n) >= zeros)
    drawn[rng.integers(n)] += not drawn.any()
    total = int(drawn.sum())
    return tuple(Fraction(weight, total) for weight in drawn.tolist())


def pair(rng: np.random.Generator, n: int, kind: str) -> Pair:
    """A draft and a target over n tokens; kinds that one token cannot show become equal."""
    draft, target = weights(rng, n, 12), weights(rng, n, 12)
    if n == 1:
        return draft, target
    if kind == "sparse":
        return weights(rng, n, 12, 0.4), weights(rng, n, 12, 0.4)
    if kind == "tied":
        return weights(rng, n, 2, 0.2), weights(rng, n, 2, 0.2)
    if kind == "proportional":  # all tokens but two have one ratio
        moved = target[0] / 2
        return target, (target[0] - moved, target[1] + moved, *target[2:])
    if kind == "undrafted":  # infinite ratios
        return (Fraction(0), *weights(rng, n - 1, 12)), target
    if kind == "equal":
        return draft, draft
    if kind == "disjoint":
        split = int(rng.integers(1, n))
        nothing = (Fraction(0),)
        return (
            weights(rng, split, 12) + nothing * (n - split),
            nothing * split + weights(rng, n - split, 12),
        )
    if kind == "certain":
        token = int(rng.integers(n))
        return tuple(Fraction(int(y == token)) for y in range(n)), target
    return draft, target


def pairs(seed: int, count: int, most_tokens: int, fewest: int = 1) -> Iterator[Pair]:
    """:func:`enough` of ``count`` pairs over ``fewest`` to ``most_tokens`` tokens, by kind."""
    rng = np.random.default_rng(seed)
    for index in range(enough(count)):
        n = int(rng.integers(fewest, most_tokens + 1))
        yield pair(rng, n, KINDS[index % len(KINDS)])


def turn(index: int, count: int) -> int:
    """Which of ``count`` options an instance has: in time all options for each kind."""
    return sum(divmod(index, len(KINDS))) % count


HEAVY_DRAFTS = (
    (6e-13, 1 - 1e-12, 3e-13, 1e-13),
    (5e-324, 1.0),
    (1e-310, 1e-310, 1.0),
    (1e-310, 1e-300, 1.0),
    (0.5, 0.5, 5e-324),
)
"""Float drafts of which some tokens leave next to nothing to the others."""


EXTREME_SCALES = (1, 1e-3, 1e-16, 1e-150, 1e-290, 1e-305, 1e-308, 1e-310, 1e-315, 1e-320, 5e-324)
"""Down to the smallest subnormal: ratios of such masses leave the floats at both ends."""


def extreme(rng: np.random.Generator, n: int) -> list[float]:
    """Float masses over the whole range of floats, of which some token takes nearly all."""
    masses = rng.choice(EXTREME_SCALES, n) * rng.integers(1, 13, n) * (rng.random(n) > 0.1)
    masses[rng.integers(n)] = 1
    return (masses / masses.sum()).tolist()


def extreme_pairs(
    seed: int, count: int, most_tokens: int, fewest: int = 2
) -> Iterator[tuple[list[float], list[float]]]:
    """Extreme drafts; targets of common masses and extreme ones in turn."""
    rng = np.random.default_rng(seed)
    for index in range(enough(count)):
        n = int(rng.integers(fewest, most_tokens + 1))
        target = extreme(rng, n) if index % 3 == 0 else rng.dirichlet(np.ones(n)).tolist()
        yield extreme(rng, n), target


def shares(distribution: Sequence[float]) -> Exact:
    """The exact distribution that floats stand for."""
    total = sum(map(Fraction, distribution))
    return tuple(Fraction(mass) / total for mass in distribution)


def floats(distribution: Exact) -> list[float]:
    """The nearest floats."""
    return [float(mass) for mass in distribution]


@dataclass(frozen=True)
class LawCase:
    """A law beside the table that its definition gives."""

    name: str
    build: Callable[[Convert], otspec.DraftLaw]
    table: oracles.Table

    @property
    def exact(self) -> otspec.DraftLaw:
        """The law in rational arithmetic."""
        return self.build(list)

    @property
    def float(self) -> otspec.DraftLaw:
        """The law in floats."""
        return self.build(floats)


LAWS = ("IID", "Independent", "WithoutReplacement", "Hub", "TopPlusOne", "TopK", "Fixed", "Joint")
CERTAIN = ("TopK", "Fixed")
"""Laws of one tuple of drafts."""


def law_case(name: str, draft: Exact, k: int, seed: int = 0) -> LawCase | None:
    """A case of the named law; None where the draft has too few tokens for it.

    ``Hub`` has two drafts whatever k is. The other drafts of ``Independent``, the tokens of
    ``Fixed`` and the table of ``Joint`` are random.
    """
    rng, n = np.random.default_rng(seed), len(draft)
    too_few = sum(mass > 0 for mass in draft) < k
    if name == "IID":
        table = oracles.iid_table(draft, k)
        return LawCase(name, lambda to: otspec.IID(to(draft), k), table)
    if name == "Independent":
        drafts = [draft, *(weights(rng, n, 12, 0.3) for _ in range(k - 1))]
        table = oracles.independent_table(drafts)
        return LawCase(name, lambda to: otspec.Independent([to(p) for p in drafts]), table)
    if name == "Hub":
        return LawCase(name, lambda to: otspec.Hub(to(draft)), oracles.hub_table(draft))
    if name == "Fixed":
        tokens = tuple(rng.integers(0, n, k).tolist())
        return LawCase(
            name,
            lambda to: otspec.Fixed(tokens, n, exact=to is list),
            oracles.fixed_table(tokens),
        )
    if name == "Joint":
        flat = weights(rng, n**k, 12, 0.3)
        indices = list(np.ndindex(*(n,) * k))
        table = {x: mass for x, mass in zip(indices, flat, strict=True) if mass > 0}
        return LawCase(name, lambda to: otspec.Joint(_cube(to(flat), n, k)), table)
    if too_few:
        return None
    if name == "TopPlusOne":
        table = oracles.top_plus_one_table(draft, k)
        return LawCase(name, lambda to: otspec.TopPlusOne(to(draft), k), table)
    if name == "TopK":
        table = oracles.fixed_table(oracles.likeliest(draft, k))
        return LawCase(name, lambda to: otspec.TopK(to(draft), k), table)
    table = oracles.without_replacement_table(draft, k)
    return LawCase(name, lambda to: otspec.WithoutReplacement(to(draft), k), table)


def law_cases(
    name: str, seed: int, count: int, most_tokens: int, most_drafts: int, fewest: int = 1
) -> Iterator[tuple[LawCase, Exact]]:
    """Cases of one law beside a target, k running from 1 to ``most_drafts``."""
    for index, (draft, target) in enumerate(pairs(seed, count, most_tokens, fewest)):
        k = 1 + turn(index, most_drafts)
        case = law_case(name, draft, k, seed=seed + index)
        if case is not None:
            yield case, target


def _cube(flat: object, n: int, k: int) -> np.ndarray:
    dtype = float if isinstance(flat[0], float) else object
    return np.array(flat, dtype=dtype).reshape((n,) * k)
