"""Greedy multi-path block verification step by step, as described and as the public code has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import prod

from validation.models import LanguageModel, Prefix
from validation.block_algorithms import block_verify_one_token
from validation.drafted import Ended, Ending
from validation.instances import Exact
from validation.notation import ONE, ZERO, collect, total

Paths = tuple[Prefix, ...]
Rank = Callable[[LanguageModel, LanguageModel, Prefix, int], tuple[Fraction, int]]
"""(target, draft, text, next token) to what tokens are compared by; no two are equal."""
Choose = Callable[[LanguageModel, LanguageModel, Paths], Prefix]
"""(target, draft, drafted paths) to one of them."""


def drafted_paths(draft: LanguageModel, length: int, paths: int) -> dict[Paths, Fraction]:
    """Return the law of K independent paths."""
    blocks = draft.blocks(length).items()
    return {
        tuple(path for path, _ in each): prod((mass for _, mass in each), start=ONE)
        for each in product(blocks, repeat=paths)
    }


def by_ratio(
    target: LanguageModel, draft: LanguageModel, text: Prefix, token: int
) -> tuple[Fraction, int]:
    """Rank a token that may be drafted by M_b/M_s, then by its number."""
    drafted = draft(text)[token]
    return target(text)[token] / drafted if drafted else -ONE, token


def by_clipped_ratio(
    target: LanguageModel, draft: LanguageModel, text: Prefix, token: int
) -> tuple[Fraction, int]:
    """Rank by min(1, M_b/M_s), then by the number: a stable sort in ascending order."""
    return min(ONE, by_ratio(target, draft, text, token)[0]), token


def greatest(rank: Rank) -> Choose:
    """Return the choice of the lexicographically greatest path."""

    def choose(target: LanguageModel, draft: LanguageModel, paths: Paths) -> Prefix:
        return max(
            paths,
            key=lambda path: [rank(target, draft, path[:i], x) for i, x in enumerate(path)],
        )

    return choose


def first_highest(target: LanguageModel, draft: LanguageModel, paths: Paths) -> Prefix:
    """Walk to the first drafted child whose min(1, M_b/M_s) is the highest."""
    left, chosen = list(paths), ()
    for depth in range(len(paths[0])):
        best = max(by_clipped_ratio(target, draft, chosen, path[depth])[0] for path in left)
        token = next(
            path[depth]
            for path in left
            if by_clipped_ratio(target, draft, chosen, path[depth])[0] == best
        )
        left, chosen = [path for path in left if path[depth] == token], (*chosen, token)
    return chosen


def skewed(target: LanguageModel, draft: LanguageModel, paths: int, rank: Rank) -> LanguageModel:
    """Return the law of the greatest path, by the formula with powers of masses below."""

    def below(text: Prefix, token: int) -> Fraction:
        own = rank(target, draft, text, token)
        lower = (x for x in range(draft.n) if rank(target, draft, text, x) < own)
        return total(draft.mass((*text, x)) for x in lower)

    def rule(text: Prefix) -> Exact:
        node = total(below(text[:i], x) for i, x in enumerate(text))
        whole = (node + draft.mass(text)) ** paths - node**paths
        row = []
        for token in range(draft.n):
            low = node + below(text, token)
            row.append((low + draft.mass((*text, token))) ** paths - low**paths)
        return tuple(mass / whole for mass in row) if whole else (ZERO,) * draft.n

    return LanguageModel(rule, draft.n)


def verified(
    target: LanguageModel,
    draft: LanguageModel,
    length: int,
    paths: int,
    *,
    rank: Rank = by_ratio,
    choose: Choose | None = None,
) -> Ended:
    """Return what is kept: the chosen path, by block verification with the skewed law."""
    chosen = greatest(rank) if choose is None else choose
    law = skewed(target, draft, paths, rank)

    def verify(drafted: Paths) -> Iterator[Ending]:
        path = chosen(target, draft, drafted)
        for branch in block_verify_one_token(target, law, path):
            yield Ending(branch.mass, path[: branch.accepted], branch.following(()))

    return Ended(verify, drafted_paths(draft, length, paths))


def law_of_choice(
    target: LanguageModel, draft: LanguageModel, length: int, paths: int, choose: Choose
) -> dict[Prefix, Fraction]:
    """Return the law of the chosen path, from all drafts."""
    law = drafted_paths(draft, length, paths)
    return collect((choose(target, draft, each), mass) for each, mass in law.items())
