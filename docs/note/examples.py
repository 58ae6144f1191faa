"""Exact examples of the note: one that is worked out, small ones, and many at random."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from random import Random
from typing import Any

import otspec
from docs.note.results import Results, probability, scientific, thousands
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
FLOATS = 200
"""Random instances that are audited in floats, too."""
PAIRS = {
    "SpecHub's": (("1/2", "3/10", "1/5"), ("1/10", "3/5", "3/10")),
    "halves": (("1/2", "1/4", "1/8", "1/8"), ("1/8", "1/8", "1/4", "1/2")),
    "even draft": (("1/3", "1/3", "1/3"), ("1/6", "1/6", "2/3")),
    "half of the tokens": (("1/4", "1/4", "1/4", "1/4"), ("1/2", "1/2", "0", "0")),
}
"""Small pairs of draft and target; the first is that of SpecHub's figures 5 and 6."""
UNEVEN = "halves"


WORKED = (["1/2", "3/10", "1/5"], ["1/10", "3/10", "3/5"])
"""Draft and target of the example that the text works out, in the order of target/draft."""


def worked_example(results: Results) -> None:
    """Add the numbers of two distinct drafts from three tokens.

    Raises
    ------
    AssertionError
        The rule is not as the text says: cut after the second token, with a threshold after the
        first, and a choice in proportion to the draft between those two.
    """
    draft, target = ([Fraction(mass) for mass in masses] for masses in WORKED)
    rule = PooledSelectionWithoutReplacement(draft, target, 2)
    law, pair = list(rule.law_of_selection), rule.law.inside([0, 1])
    threshold, cut = rule.lifetimes[1:3]
    lost = pair - target[0] - target[1]
    first = draft[0] / (draft[0] + draft[1])
    selected = pair * (1 - threshold) * first
    if cut < 1 or selected != law[0] or law[1] != target[1] or rule.acceptance() != 1 - lost:
        raise AssertionError("the example of three tokens is not worked out as the rule goes")
    # Both are drafted, a first, with probability p(a) p(b) / (1 - p(a)).
    drawn_first = (1 - threshold) * draft[0] * draft[1] / (1 - draft[0])
    output = _coupled(rule, [drawn_first, pair - drawn_first, 1 - pair])
    numbers = {
        "draft": _masses(draft),
        "target": _masses(target),
        "k": rule.k,
        "pair": pair,
        "wanted": target[0] + target[1],
        "lost": lost,
        "optimum": rule.acceptance(),
        "law": _masses(law),
        "low": law[0] / draft[0],
        "high": law[2] / draft[2],
        "threshold": threshold,
        "first": first,
        "second": 1 - first,
        "keep": target[0] / law[0],
        "output": target[0],
        "off": total_variation(output, target),
        "rrsw": RecursiveRejectionWithoutReplacement(draft, target, 2).acceptance(),
        "iid": otspec.optimal_acceptance(otspec.IID(draft, 2), target).acceptance,
    }
    for name, value in numbers.items():
        results.add(f"worked.{name}", value)


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
    off = 0.0
    for place, (draft, target, k) in enumerate(instances(count)):
        least: dict[type[otspec.drafts.DraftLaw], Fraction] = {}
        for rule in OPTIMAL:
            made = rule(draft, target, k)
            least[type(made.law)] = least_cut(made.law, target)
            report = otspec.audit(made)
            if not report.lossless or made.acceptance() != least[type(made.law)]:
                raise AssertionError(f"{rule.name} fails for {draft}, {target}, k = {k}")
            if place < FLOATS:
                rounded = rule([*map(float, draft)], [*map(float, target)], k)
                off = max(off, float(otspec.audit(rounded).total_variation))
        for rule in OTHERS:
            other = rule(draft, target, k)
            loss = least[type(other.law)] - other.acceptance()
            largest[rule] = max(largest[rule], (loss, k), key=lambda found: found[0])
    results.add("random.instances", thousands(count))
    results.add("random.floats", min(count, FLOATS))
    results.add("random.floats.off", scientific(off))
    results.add("random.tokens", MOST_TOKENS)
    results.add("random.drafts", MOST_DRAFTS)
    for name, rule in zip(("kseq", "rrs", "rrsw"), OTHERS, strict=True):
        results.add(f"random.{name}", probability(largest[rule][0]))


def wrong_choices(results: Results) -> None:
    """Add how far off the output is if distinct drafts of a group are chosen as they should not be.

    Barriers and coupling are those of pooled selection; only the choice in the group is replaced.
    """
    draft, target = (otspec.distributions.as_distribution(list(masses)) for masses in PAIRS[UNEVEN])
    rule = PooledSelectionWithoutReplacement(draft, target, 2)
    for name, shares in (("first", (1, 0)), ("alike", (Fraction(1, 2), Fraction(1, 2)))):
        selected = [Fraction(0)] * len(draft)
        for x, mass in _pairs_of_drafts(draft):
            for competing, chance in _competing(rule, x):
                share = shares if len(competing) == 2 else (1,)
                for token, part in zip(competing, share, strict=True):
                    selected[token] += mass * chance * part
        results.add(f"wrong.{name}", total_variation(_coupled(rule, selected), target))
    results.add("wrong.draft", _masses(draft))
    results.add("wrong.target", _masses(target))


def _pairs_of_drafts(draft: Sequence[Fraction]) -> Iterator[tuple[tuple[int, int], Fraction]]:
    """Yield two distinct drafts in the order of drawing, and how likely they are."""
    for x in permutations(range(len(draft)), 2):
        yield x, draft[x[0]] * draft[x[1]] / (1 - draft[x[0]])


def _competing(
    rule: PooledSelectionWithoutReplacement, x: tuple[int, int]
) -> Iterator[tuple[list[int], Fraction]]:
    """Yield the drafts in the highest group with one, in the order of drawing, and the chance.

    They are in one group unless a knot between their pools lives longer than w.
    """
    low, high = sorted(rule.pool[token] for token in x)
    longest = max((rule.lifetimes[knot] for knot in range(low + 1, high + 1)), default=Fraction(0))
    apart = min(Fraction(1), longest)
    yield [token for token in x if rule.pool[token] == high], apart
    yield list(x), 1 - apart


def _coupled(rule: PooledSelectionWithoutReplacement, selected: Sequence[Fraction]) -> list[Any]:
    """Return the output if so selected tokens are coupled as if they had the law of the rule."""
    law, target = rule.law_of_selection, rule.target
    kept = [
        mass * min(1, q / b) if b else Fraction(0)
        for mass, q, b in zip(selected, target, law, strict=True)
    ]
    left = [max(q - b, 0) for q, b in zip(target, law, strict=True)]
    return [
        mass + (1 - sum(kept)) * rest / (sum(left) or 1)
        for mass, rest in zip(kept, left, strict=True)
    ]


def total_variation(one: Sequence[Any], other: Sequence[Any]) -> Any:
    """Return half the sum of the absolute differences."""
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / 2


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
