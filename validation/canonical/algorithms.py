"""Any β and the two steps; algorithm 1, also for different drafts, and the stages of remark 4."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product

from validation import notation as nt
from validation.algorithms import Kernel, Ran, selecting
from validation.claim import equal
from validation.instances import Exact
from validation.notation import ONE, Table, Tokens, collect, iid, independent
from validation.oracles import best_kernel, flow, least_bound, spread


def optimum(draft: Exact, target: Exact, k: int = 2) -> Fraction:
    """Return α of k i.i.d. drafts, by a maximum flow."""
    return flow(iid(draft, k), target)


def certain(draft: Exact, target: Exact, claimed: bool, k: int = 2) -> Fraction:
    """Whether α is 1 is claimed."""
    best = optimum(draft, target, k)
    return equal(best == 1, claimed, f"alpha = {best}; alpha = 1")


def unordered(draft: Exact) -> Table:
    """Return 2 p_i p_j for i < j: the probability to see these two drafts in any order."""
    return {(i, j): 2 * draft[i] * draft[j] for i, j in combinations(range(len(draft)), 2)}


def kernel_of(
    table: Iterable[Tokens],
    order: int,
    options: Callable[[Tokens], Iterable[int]] = lambda x: sorted(set(x)),
) -> Kernel:
    """Return one β of many, or laws over other options: even for order 0, else with this seed."""
    drawn, rows = random.Random(order), {}  # noqa: S311
    for x in table:
        weights = {choice: drawn.randrange(5) if order else 1 for choice in options(x)}
        weights[next(iter(weights))] += not any(weights.values())
        rows[x] = {y: Fraction(weight, sum(weights.values())) for y, weight in weights.items()}
    return rows


def selected(table: Mapping[Tokens, Fraction], kernel: Kernel, n: int) -> Exact:
    """Return b(y) = Σ_x P(x) β_y(x)."""
    parts = ((y, mass * chance) for x, mass in table.items() for y, chance in kernel[x].items())
    return nt.as_row(collect(parts), n)


def overlap(table: Mapping[Tokens, Fraction], kernel: Kernel, target: Exact) -> Fraction:
    """Return Σ min(q, b)."""
    return nt.overlap(selected(table, kernel, len(target)), target)


def two_steps(
    table: Mapping[Tokens, Fraction], kernel: Kernel, target: Exact, law: Exact | None = None
) -> Ran:
    """Select a draft by β and verify it: losslessly, accepting Σ min(q, b), if it has this law."""
    chosen = selected(table, kernel, len(target))
    nt.same(chosen, law or chosen, "law of the selected token")
    found = Ran(selecting(kernel, target, chosen), table)
    nt.same(found.output(len(target)), target, "output")
    equal(found.accepted(), nt.overlap(chosen, target), "accepted by the second step")
    return found


def best_steps(drafts: Sequence[Exact], target: Exact) -> Fraction:
    """The two steps with the best β accept what no rule can exceed."""
    table = independent(drafts)
    found = two_steps(table, best_kernel(table, target), target)
    equal(found.accepted(), least_bound(table, target), "accepted by the second step")
    return equal(found.among_drafts(), found.accepted(), "output among the drafts")


Chosen = tuple[Sequence[int], Sequence[int], Kernel]
"""What the truncated program puts out: Ω₁ and Ω₂, each in order, and the weights as β."""


def for_two_laws(
    first: Exact, second: Exact, target: Exact, free: int, alike: Callable[[Tokens], Tokens] = tuple
) -> Chosen:
    """Solve the truncated program for drafts of two laws (appendix G).

    With the tokens in decreasing order of q − p₁ p₂, the earlier one is selected, (12), unless
    both are among the ``free`` first: these pairs share what is left of q, which a maximum flow
    does best. Pairs that are ``alike`` have the same weights.
    """
    order = sorted(range(len(target)), key=lambda y: first[y] * second[y] - target[y])
    kernel = {x: {min(x, key=order.index): ONE} for x in product(order, repeat=2)}
    pairs = [(i, j) for i, j in product(order[:free], repeat=2) if i != j]
    supplies = collect((alike(x), first[x[0]] * second[x[1]]) for x in pairs)
    fixed = {x: m for x, m in independent([first, second]).items() if alike(x) not in supplies}
    moved = spread(supplies, nt.positive(target, selected(fixed, kernel, len(target))))
    for x in pairs:
        if mass := supplies.get(alike(x)):
            i, j = alike(x)
            kernel[x] = {i: 1 - moved[(i, j), j] / mass, j: moved[(i, j), j] / mass}
    return order[:free], order[free:], kernel


def algorithm_1(draft: Exact, target: Exact, free: int) -> Chosen:
    """Solve the truncated program for two i.i.d. drafts, in whichever order they come."""
    return for_two_laws(draft, draft, target, free, lambda x: tuple(sorted(x)))


def in_stages(drafts: Sequence[Exact], target: Exact, free: int) -> tuple[Exact, Kernel]:
    """Select within groups of two, then among what was selected, until one is left (remark 4).

    Returns the law of the selected token, from stage to stage, and its β given all drafts.
    """
    if len(drafts) == 1:
        return drafts[0], {(y,): {y: ONE} for y in range(len(target))}
    half = 2 ** ((len(drafts) - 1).bit_length() - 1)
    (first, rows), (second, others) = (
        in_stages(some, target, free) for some in (drafts[:half], drafts[half:])
    )
    last = for_two_laws(first, second, target, free)[2]
    kernel = {
        (*x, *z): collect(
            (token, a * b * share)
            for (y, a), (other, b) in product(rows[x].items(), others[z].items())
            for token, share in last[y, other].items()
        )
        for x, z in product(rows, others)
    }
    return selected(independent([first, second]), last, len(target)), kernel
