"""Exact examples of the note: one that is drawn, small ones, and many at random."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from random import Random

import otspec
from docs.note.results import Results, probability, thousands
from figures.contract import Settings
from figures.pooled_barriers import DRAFT, TARGET, PooledBarriers
from otspec.rules import (
    KSequential,
    PairRule,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
)

OPTIMAL: tuple[type[PairRule], ...] = (PooledSelection, PooledSelectionWithoutReplacement)
OTHERS: tuple[type[PairRule], ...] = (
    KSequential,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
)
SEED = 0
MOST_TOKENS, MOST_DRAFTS = 5, 3
PAIRS = {
    "SpecHub's": (("1/2", "3/10", "1/5"), ("1/10", "3/5", "3/10")),
    "halves": (("1/2", "1/4", "1/8", "1/8"), ("1/8", "1/8", "1/4", "1/2")),
    "even draft": (("1/3", "1/3", "1/3"), ("1/6", "1/6", "2/3")),
    "half of the tokens": (("1/4", "1/4", "1/4", "1/4"), ("1/2", "1/2", "0", "0")),
}
"""Small pairs of draft and target; the first is that of SpecHub's figures 5 and 6."""


def drawn_example(results: Results) -> None:
    """Add the numbers of the example that is drawn."""
    data = PooledBarriers.compute(Settings())
    results.add("example.k", data.k)
    results.add("example.draft", _masses(DRAFT))
    results.add("example.target", _masses(TARGET))
    results.add("example.optimum", data.optimum)
    results.add("example.cut", data.cut)
    results.add("example.w", float(data.uniform))
    results.add("example.barriers", ", ".join(map(str, data.barriers)))
    others = KSequential(DRAFT, TARGET, data.k), RecursiveRejection(DRAFT, TARGET, data.k)
    for name, rule in zip(("kseq", "rrs"), others, strict=True):
        results.add(f"example.{name}", probability(rule.acceptance()))


def small_pairs(results: Results) -> None:
    """Add a table of what rules accept of two drafts of small pairs."""
    rules = (*OTHERS[:2], PooledSelection, OTHERS[2], SpecHub, PooledSelectionWithoutReplacement)
    rows = [
        [_masses(draft), _masses(target)]
        + [_shown(rule(list(draft), list(target), 2).acceptance()) for rule in rules]
        for draft, target in PAIRS.values()
    ]
    head = ["draft", "target", "k-Seq", "RRS", "pooled", "RRSw", "SpecHub", "pooled, distinct"]
    results.add_table("pairs", head, rows)


def at_random(results: Results, count: int) -> None:
    """Add what exact audits say of so many random instances, for either draft law.

    The optimum is the least cut over all sets of tokens, listed one by one.
    """
    largest = {rule: (Fraction(0), 0) for rule in OTHERS}
    for draft, target, k in instances(count):
        for rule in OPTIMAL:
            made = rule(draft, target, k)
            report = otspec.audit(made)
            if not report.lossless or made.acceptance() != least_cut(made.law, target):
                raise AssertionError(f"{rule.name} fails for {draft}, {target}, k = {k}")
        for rule in OTHERS:
            other = rule(draft, target, k)
            loss = least_cut(other.law, target) - other.acceptance()
            largest[rule] = max(largest[rule], (loss, k), key=lambda found: found[0])
    results.add("random.instances", thousands(count))
    results.add("random.tokens", MOST_TOKENS)
    results.add("random.drafts", MOST_DRAFTS)
    for name, rule in zip(("kseq", "rrs", "rrsw"), OTHERS, strict=True):
        results.add(f"random.{name}", probability(largest[rule][0]))


def least_cut(law: otspec.drafts.DraftLaw, target: Sequence[Fraction]) -> Fraction:
    """Return the least cut over all sets of tokens."""
    tokens = range(len(target))
    sets = [set_ for size in range(len(target) + 1) for set_ in combinations(tokens, size)]
    return min(sum((target[y] for y in set_), Fraction(1)) - law.inside(set_) for set_ in sets)


def instances(count: int) -> Iterator[tuple[list[Fraction], list[Fraction], int]]:
    """Yield so many drafts, targets and k, with zeros and ties among them."""
    random = Random(SEED)  # noqa: S311
    for _ in range(count):
        n = random.randint(2, MOST_TOKENS)
        draft, target = _random_law(random, n), _random_law(random, n)
        most = min(MOST_DRAFTS, sum(mass > 0 for mass in draft))
        yield draft, target, random.randint(1, most)


def _random_law(random: Random, n: int) -> list[Fraction]:
    weights = [random.choice((0, 1, 1, 2, 3, 5, 9)) for _ in range(n)]
    if not any(weights):
        weights[0] = 1
    return [Fraction(weight, sum(weights)) for weight in weights]


def _masses(masses: Sequence[Fraction | str]) -> str:
    return "(" + ", ".join(map(str, masses)) + ")"


def _shown(value: object) -> str:
    """Return a fraction of few digits as it is, anything else with four decimals."""
    exact = isinstance(value, Fraction) and value.denominator < 1000
    return str(value) if exact else probability(value)
