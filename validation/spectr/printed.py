"""Algorithms 1 and 2 literally as printed, by following all branches with their probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, NamedTuple

from validation.claim import Fails
from validation.instances import Exact, cases
from validation.notation import (
    ONE,
    ZERO,
    Coupling,
    Tokens,
    iid,
    overlap,
    positive,
    total,
    total_variation,
)


class Branch(NamedTuple):
    """One way to return: its probability, the output, and which draft was accepted if any."""

    mass: Fraction
    output: int
    accepted: int | None


Rule = Callable[[Tokens], list[Branch]]


def residual_of_one(draft: Exact, target: Exact) -> Exact:
    """Return p^res of Algorithm 1, step 1; a ZeroDivisionError where it reads 0/0."""
    return tuple(rest / (1 - overlap(draft, target)) for rest in positive(target, draft))


def maximal_coupling(draft: Exact, target: Exact) -> Rule:
    """Return Algorithm 1; p^res is computed only if it is drawn from."""

    def run(x: Tokens) -> list[Branch]:
        (token,) = x
        chance = min(ONE, target[token] / draft[token])
        if chance == 1:
            return [Branch(ONE, token, 0)]
        drawn = enumerate(residual_of_one(draft, target))
        return [
            Branch(chance, token, 0),
            *(Branch((1 - chance) * mass, y, None) for y, mass in drawn),
        ]

    return run


def beta(draft: Exact, target: Exact, rho: Fraction) -> Fraction:
    """Return β_{p,q}(ρ)."""
    return overlap(draft, [q / rho for q in target])


def p_acc(draft: Exact, target: Exact, k: int, rho: Fraction) -> Fraction:
    """Return 1 − (1 − β(ρ))^k."""
    return 1 - (1 - beta(draft, target, rho)) ** k


def f(draft: Exact, target: Exact, k: int, rho: Fraction) -> Fraction:
    """Return f(ρ) of Lemma 4: the left-hand side of (6) minus its right-hand side."""
    scale = beta(draft, target, rho)
    return 1 - (1 - scale) ** k - rho * scale


def residual(draft: Exact, target: Exact, k: int, rho: Fraction) -> Exact:
    """Return p^res of (5) as printed; a ZeroDivisionError where it reads 0/0."""
    chance, scale = p_acc(draft, target, k, rho), beta(draft, target, rho)
    return tuple(
        (q - min(p, q / rho) * (chance / scale)) / (1 - chance)
        for p, q in zip(draft, target, strict=True)
    )


def residual_made_whole(draft: Exact, target: Exact, k: int, rho: Fraction) -> Exact:
    """Return (5) with p_acc/β written as Σ_{i<k} (1 − β)^i, and q where it is never drawn from."""
    chance, left = p_acc(draft, target, k, rho), 1 - beta(draft, target, rho)
    if chance == 1:
        return target
    scale = total(left**i for i in range(k))
    return tuple(
        (q - min(p, q / rho) * scale) / (1 - chance) for p, q in zip(draft, target, strict=True)
    )


def k_sequential(
    draft: Exact,
    target: Exact,
    k: int,
    rho: Fraction,
    drawn: Callable[[Exact, Exact, int, Fraction], Exact] = residual,
) -> Rule:
    """Return Algorithm 2; p^res is computed only if it is drawn from.

    Parameters
    ----------
    draft, target, k, rho
        The input.
    drawn : callable
        The residual: as printed, or made whole.
    """

    @cache
    def rest() -> Exact:
        return drawn(draft, target, k, rho)

    def run(x: Tokens) -> list[Branch]:
        branches, going = [], ONE
        for i, token in enumerate(x):
            chance = min(ONE, target[token] / (rho * draft[token]))
            branches.append(Branch(going * chance, token, i))
            going *= 1 - chance
        if going:
            branches += [Branch(going * mass, y, None) for y, mass in enumerate(rest())]
        return branches

    return run


def as_coupling(rule: Rule, draft: Exact, k: int) -> Coupling:
    """Return the joint law of drafts and output."""
    joint = dict.fromkeys(((x, y) for x in iid(draft, k) for y in range(len(draft))), ZERO)
    for x, mass in iid(draft, k).items():
        for branch in rule(x):
            joint[x, branch.output] += mass * branch.mass
    return joint


def chance_of(
    rule: Rule, draft: Exact, k: int, event: Callable[[Tokens, Branch], bool]
) -> Fraction:
    """Return the probability of an event of the drafts and the branch taken."""
    return total(
        mass * branch.mass
        for x, mass in iid(draft, k).items()
        for branch in rule(x)
        if event(x, branch)
    )


def is_accepted(_: Tokens, branch: Branch) -> bool:
    """Whether the algorithm accepts one of the drafts."""
    return branch.accepted is not None


def is_among_drafts(x: Tokens, branch: Branch) -> bool:
    """Whether the output is one of the drafts, for whatever reason."""
    return branch.output in x


HALVINGS = 40


@lru_cache(maxsize=8192)
def rho_star(
    draft: Exact, target: Exact, k: int, halvings: int = HALVINGS
) -> tuple[Fraction, Fraction]:
    """Return rational numbers around ρ*, equal if ρ* is rational and simple.

    f is decreasing; it is at least 0 at the first number and at most 0 at the second.

    Raises
    ------
    Fails
        Draft and target are disjoint, so that every ρ solves (6); or f has no change of sign.
    """
    low, high = ONE, Fraction(k)
    if total_variation(draft, target) == 1:
        raise Fails("rho* is not determined: every rho solves (6)")
    if f(draft, target, k, low) < 0 or f(draft, target, k, high) > 0:
        raise Fails("f has no change of sign in [1, k]")
    for _ in range(halvings):
        middle = (low + high) / 2
        value = f(draft, target, k, middle)
        low = middle if value >= 0 else low
        high = middle if value <= 0 else high
        if low == high:
            return low, high
    simple = ((low + high) / 2).limit_denominator(10**5)
    if low <= simple <= high and f(draft, target, k, simple) == 0:
        return simple, simple
    return low, high


def acceptance_at_root(
    draft: Exact, target: Exact, k: int, halvings: int = HALVINGS
) -> tuple[Fraction, Fraction]:
    """Return rational numbers around the acceptance of Algorithm 2 at ρ*, which is p_acc there.

    At ρ* the residual is 0 wherever p > q/ρ, so that what is drawn from it is no rejected draft.
    """
    low, high = rho_star(draft, target, k, halvings)
    return p_acc(draft, target, k, high), p_acc(draft, target, k, low)


def rho_cases(
    seed: int, ks: tuple[int, ...] = (1, 2, 3), most_tokens: int = 3
) -> Iterator[dict[str, Any]]:
    """Yield pairs, k and each ρ of a grid: over [1, k], one above, and ρ* where it is rational."""
    for case in cases(seed, ks, most_tokens, enumerated=80):
        k = case["k"]
        grid = {ONE + Fraction(i * (k - 1), 4) for i in range(5)} | {Fraction(k + 1)}
        if total_variation(case["draft"], case["target"]) < 1:
            low, high = rho_star(**case)
            grid |= {high} if low == high else set()
        yield from ({**case, "rho": rho} for rho in sorted(grid))
