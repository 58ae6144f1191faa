"""Couplings of k i.i.d. drafts and a target, their optimum, and the bound of Lemma 3, in fractions.

Nothing here calls the package: the optimum is a maximum flow in whole numbers, and a coupling is a
table of masses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from math import lcm
from typing import Any, NamedTuple

from validation.instances import Exact, cases
from validation.notation import (
    ZERO,
    Coupling,
    Tokens,
    blurred,
    collect,
    corner,
    iid,
    mass_of,
    subsets,
    total,
)

Law = Mapping[Tokens, Fraction]


class Flow(NamedTuple):
    """What flows from each row to each token, and how many arcs were looked at to find it."""

    amounts: list[list[int]]
    looks: int


def largest_flow(
    supplies: Sequence[int], demands: Sequence[int], tokens: Sequence[Collection[int]]
) -> Flow:
    """Send as much as possible from rows to tokens, by shortest augmenting paths.

    Parameters
    ----------
    supplies : sequence of int
        What each row has.
    demands : sequence of int
        What each token takes.
    tokens : sequence of collections of int
        Where each row may send.
    """
    amounts = [[0] * len(demands) for _ in supplies]
    left, open_demands, looks = list(supplies), list(demands), 0
    while True:
        # Rows are nodes 0, 1, …; tokens are ~0, ~1, ….
        queue = [row for row, supply in enumerate(left) if supply > 0]
        came: dict[int, int | None] = dict.fromkeys(queue)
        end = None
        for node in queue:
            looks += len(tokens[node]) if node >= 0 else len(supplies)
            if node >= 0:
                reached = [~token for token in tokens[node] if ~token not in came]
                end = next((each for each in reached if open_demands[~each] > 0), None)
            else:
                senders = (row for row, sent in enumerate(amounts) if sent[~node] > 0)
                reached = [row for row in senders if row not in came]
            came.update(dict.fromkeys(reached, node))
            queue.extend(reached)
            if end is not None:
                break
        if end is None:
            return Flow(amounts, looks)
        _augment(amounts, left, open_demands, came, end)


def _augment(
    amounts: list[list[int]],
    left: list[int],
    open_demands: list[int],
    came: dict[int, int | None],
    end: int,
) -> None:
    """Send what fits along the path that ends at a token with an open demand."""
    path = [end]
    while (before := came[path[-1]]) is not None:
        path.append(before)
    steps = list(zip(path[1:], path, strict=False))
    fits = min([left[path[-1]], open_demands[~end], *(amounts[b][~a] for a, b in steps if a < 0)])
    for a, b in steps:
        if a >= 0:
            amounts[a][~b] += fits
        else:
            amounts[b][~a] -= fits
    left[path[-1]] -= fits
    open_demands[~end] -= fits


def _scale(*laws: Collection[Fraction]) -> int:
    return lcm(*(mass.denominator for mass in chain(*laws)))


def best_coupling(law: Law, target: Exact) -> tuple[Coupling, int]:
    """Return a coupling of a draft law and a target that accepts as often as any, and the looks.

    What the flow leaves over is coupled by the product of what is left.
    """
    scale = _scale(law.values(), target)
    rows = list(law)
    supplies = [int(law[x] * scale) for x in rows]
    demands = [int(mass * scale) for mass in target]
    amounts, looks = largest_flow(supplies, demands, [sorted(set(x)) for x in rows])
    kept = [demand - sum(row[y] for row in amounts) for y, demand in enumerate(demands)]
    rest = Fraction(1, sum(kept)) if sum(kept) else ZERO
    found = {
        (x, y): (sent + (supply - sum(row)) * kept[y] * rest) / scale
        for x, supply, row in zip(rows, supplies, amounts, strict=True)
        for y, sent in enumerate(row)
    }
    return found, looks


@lru_cache(maxsize=8192)
def optimum(draft: Exact, target: Exact, k: int) -> Fraction:
    """Return α_k(p, q) as a maximum flow from the sets of distinct drafts to the tokens."""
    by_set = collect((tuple(sorted(set(x))), mass) for x, mass in iid(draft, k).items())
    scale = _scale(by_set.values(), target)
    amounts, _ = largest_flow(
        [int(mass * scale) for mass in by_set.values()],
        [int(mass * scale) for mass in target],
        list(by_set),
    )
    return Fraction(sum(map(sum, amounts)), scale)


def least_cut(draft: Exact, target: Exact, k: int) -> tuple[Fraction, tuple[int, ...]]:
    """Return the least q(A) + 1 − p(A)^k over all sets A, and the set."""
    return min(
        (mass_of(target, tokens) + 1 - mass_of(draft, tokens) ** k, tokens)
        for tokens in subsets(len(draft))
    )


def some_coupling(law: Law, target: Exact, turn: int, blur: Fraction) -> Coupling:
    """Return one coupling of many: a north-west corner mixed with the product.

    Parameters
    ----------
    law, target
        The marginals.
    turn : int
        By how many places the rows are rotated before the corner is filled.
    blur : Fraction
        The weight of the product coupling.
    """
    rows, columns = list(law.items()), dict(enumerate(target))
    rows = rows[turn % len(rows) :] + rows[: turn % len(rows)]
    return blurred(corner(rows, columns.items()), dict(rows), columns, blur)


BLURS = ((0, ZERO), (1, ZERO), (2, Fraction(1, 2)))
"""Which couplings of each pair are looked at: a turn and a blur."""


def coupling_cases(seed: int, ks: tuple[int, ...], most_tokens: int) -> Iterator[dict[str, Any]]:
    """Yield pairs, k, and what :func:`some_coupling` needs besides."""
    for case in cases(seed, ks, most_tokens, enumerated=100):
        for turn, blur in BLURS:
            yield {**case, "turn": turn, "blur": blur}


def bound_of_set(draft: Exact, target: Exact, k: int, chosen: Collection[int]) -> Fraction:
    """Return what (9) minimises, for one set Ω₀."""
    inside = total(min(target[y], 1 - (1 - draft[y]) ** k) for y in chosen)
    others = tuple(ZERO if y in chosen else mass for y, mass in enumerate(target))
    return inside + total(min(p, mass_of(others, set(x))) for x, p in iid(draft, k).items())


@lru_cache(maxsize=4096)
def upper_bound(draft: Exact, target: Exact, k: int) -> Fraction:
    """Return ᾱ_k(p, q) of (9)."""
    return min(bound_of_set(draft, target, k, chosen) for chosen in subsets(len(draft)))
