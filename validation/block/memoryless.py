"""Section 3.1: the example of memoryless sources, and figure 2."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import comb
from typing import Any

from otspec.arithmetic import Number
from validation.block.comparison import block_mean, token_mean
from validation.verified_blocks import best_transport, common_chances, common_mass, common_prefix
from validation.models import memoryless
from validation.checks import over, over_all
from validation.claim import Check, Claim, Corrected, above, at_least, equal
from validation.instances import Exact, pairs
from validation.notation import ZERO, overlap, total

LONGEST = 10
"""Draft lengths in figure 2."""


def _sources(seed: int) -> Iterator[dict[str, Any]]:
    """Yield memoryless sources, Ber(p) and Ber(q) by their rows (1 - p, p), and lengths."""
    for pair in pairs(seed, most_tokens=2, fewest_tokens=2):
        for length in (1, 2, 3):
            yield {**pair, "length": length}


def _on_sources(slack: Callable[[Exact, Exact, int], Number | None]) -> Check:
    def on_two_symbols(draft: Exact, target: Exact, length: int) -> Number | None:
        if not len(draft) == len(target) == 2:
            raise ValueError("Bernoulli sources have two symbols")
        return slack(draft, target, length)

    return over(_sources, on_two_symbols, "memoryless, n = 2, L <= 3")


def binomial(trials: int, chance: Fraction) -> Exact:
    """Return Bin(i, p)."""
    return tuple(
        comb(trials, ones) * chance**ones * (1 - chance) ** (trials - ones)
        for ones in range(trials + 1)
    )


def token_sum(draft: Exact, target: Exact, start: int, length: int) -> Fraction:
    """Return the sum of (1 - d_TV(Ber(p), Ber(q)))^i over i = start..L."""
    return total(overlap(draft, target) ** i for i in range(start, length + 1))


def block_sum(draft: Exact, target: Exact, start: int, length: int) -> Fraction:
    """Return the sum of 1 - d_TV(Bin(i, p), Bin(i, q)) over i = start..L."""
    sizes = range(start, length + 1)
    return total(overlap(binomial(i, draft[1]), binomial(i, target[1])) for i in sizes)


def _token_from(start: int) -> Check:
    def slack(draft: Exact, target: Exact, length: int) -> Number:
        found = token_mean(memoryless(target), memoryless(draft), length)
        return equal(found, token_sum(draft, target, start, length), "E[beta] of TokenVerify")

    return _on_sources(slack)


def _block_from(start: int) -> Check:
    def slack(draft: Exact, target: Exact, length: int) -> Number:
        laws = memoryless(draft).blocks(length), memoryless(target).blocks(length)
        found = best_transport(*laws, common_prefix)
        return equal(found, block_sum(draft, target, start, length), "the optimal E[beta]")

    return _on_sources(slack)


def _gain(draft: Exact, target: Exact, length: int) -> Fraction:
    large, small = memoryless(target), memoryless(draft)
    return block_mean(large, small, length) - token_mean(large, small, length)


def _strict(draft: Exact, target: Exact, length: int) -> Number | None:
    if draft == target:
        return None
    return above(_gain(draft, target, length), ZERO, "the improvement")


def _strict_where(draft: Exact, target: Exact, length: int) -> Number:
    gain = _gain(draft, target, length)
    inside = all(draft) and all(target)
    equal(gain > 0, length >= 2 and draft != target and inside, f"the gain {gain} is positive")
    return at_least(gain, ZERO, "the improvement")


def _growth(draft: Exact, target: Exact, length: int) -> Fraction:
    """Return by how much (6) - (7) grows from L to L + 1."""
    large, small = memoryless(target), memoryless(draft)
    gaps = [
        common_mass(large, small, i) - common_chances(large, small, i) for i in (length, length + 1)
    ]
    return gaps[1] - gaps[0]


def _grows(draft: Exact, target: Exact, length: int) -> Number | None:
    if draft == target:
        return None
    growth = _growth(draft, target, length)
    return above(growth, ZERO, f"the growth of the gap from L = {length} to {length + 1}")


def _grows_where(draft: Exact, target: Exact, length: int) -> Number:
    growth = _growth(draft, target, length)
    inside = all(draft) and all(target)
    equal(growth > 0, draft != target and inside, f"the growth {growth} is positive")
    return at_least(growth, ZERO, "the growth")


def _figure_2() -> Iterator[dict[str, Any]]:
    """Yield q = 3/4 and other p, by denominators."""
    seen = {Fraction(3, 4)}
    for size in range(2, 100):
        for ones in range(1, size):
            chance = Fraction(ones, size)
            if chance not in seen:
                seen.add(chance)
                yield {"p": chance, "q": Fraction(3, 4)}


def _curves(p: Fraction, q: Fraction) -> Number:
    """Check both curves, from the formulas of the example with sums from 1."""
    draft, target = (1 - p, p), (1 - q, q)
    gaps = [
        block_sum(draft, target, length, length) - token_sum(draft, target, length, length)
        for length in range(1, LONGEST + 1)
    ]
    equal(gaps[0], 0, "the gap at L = 1")
    return min(above(growth, ZERO, "growth of the gap") for growth in gaps[1:])


_START = (
    "The sum is printed from $i = 0$; its first term is 1, the free token, which is not accepted."
)

CLAIMS = (
    Claim(
        "block.sec3.1c",
        "Section 3.1, memoryless sources, first displayed sum",
        r"For $M_s = Ber(p)$, $M_b = Ber(q)$ without memory, TokenVerify has $E[\beta] = "
        r"\sum_{i=0}^L (1 - d_{TV}(Ber(p), Ber(q)))^i$.",
        _token_from(0),
        printed=_START,
        corrected=Corrected(
            r"$E[\beta] = \sum_{i=1}^L (1 - d_{TV}(Ber(p), Ber(q)))^i$; the sum from 0 is "
            r"$E[\beta] + 1$.",
            _token_from(1),
        ),
    ),
    Claim(
        "block.sec3.1d",
        "Section 3.1, memoryless sources, second displayed sum",
        r"For the same sources the optimal $E[\beta]$ is $\sum_{i=0}^L (1 - d_{TV}(Bin(i, p), "
        "Bin(i, q)))$.",
        _block_from(0),
        printed=_START,
        corrected=Corrected(
            r"The optimal $E[\beta]$ is $\sum_{i=1}^L (1 - d_{TV}(Bin(i, p), Bin(i, q)))$; the "
            r"sum from 0 is $E[\beta] + 1$.",
            _block_from(1),
        ),
    ),
    Claim(
        "block.sec3.1e",
        "Section 3.1, after the example",
        "For the same sources there is a strict improvement from token-level to block-level "
        r"coupling as long as $p \ne q$.",
        _on_sources(_strict),
        corrected=Corrected(
            r"There is a strict improvement if and only if $p \ne q$, $L \ge 2$, and $p$ and $q$ "
            "are neither 0 nor 1.",
            _on_sources(_strict_where),
        ),
    ),
    Claim(
        "block.sec3.1f",
        "Section 3.1, after the example",
        r"For the same sources with $p \ne q$ the gap increases with $L$.",
        _on_sources(_grows),
        corrected=Corrected(
            r"It increases strictly with $L \ge 1$ if and only if $p \ne q$ and both are neither "
            "0 nor 1; it never decreases.",
            _on_sources(_grows_where),
        ),
    ),
    Claim(
        "block.fig2",
        "Figure 2, section 3.1",
        r"For $q = 3/4$ and every $p \ne q$ strictly between 0 and 1 the curve of block-level "
        "verification is above that of token-level verification from $L = 2$ on, and their "
        "distance grows with $L$.",
        over_all(_figure_2, _curves, f"q = 3/4, p < 1 by denominators, L <= {LONGEST}"),
    ),
)
