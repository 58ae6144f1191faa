"""A gallery of broken verification rules, each with the mistake named.

Every entry makes a kernel from (draft, target, k); most are mistakes that were shipped. Kernels of
which no draw is sensible have no sampler.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Law = list[Fraction]
Kernel = Callable[[tuple[int, ...]], Any]


@dataclass(frozen=True)
class Broken:
    """A broken rule: how it is made, and which law its author believes the drafts to have."""

    make: Callable[[Law, Law, int], Kernel]
    drafts: str = "iid"
    sampled: bool = True


def normalized(weights: Law, fallback: Law) -> Law:
    total = sum(weights)
    return [weight / total for weight in weights] if total else list(fallback)


def positive_part(first: Law, second: Law) -> Law:
    return [max(a - b, Fraction(0)) for a, b in zip(first, second, strict=True)]


def chance(wanted: Fraction, offered: Fraction) -> Fraction:
    return wanted / offered if wanted < offered else Fraction(int(wanted > 0))


def single(token: int, n: int) -> Law:
    return [Fraction(int(y == token)) for y in range(n)]


def mixed(parts: list[tuple[Fraction, Law]]) -> Law:
    return [
        sum((share * law[y] for share, law in parts), Fraction(0)) for y in range(len(parts[0][1]))
    ]


def in_turn(
    x: tuple[int, ...],
    chances: Callable[[int, int, Law], Fraction],
    step: Callable[..., Law],
    q: Law,
) -> Law:
    """Accept draft i with chances(i, token, current), or let step(i, token, current) follow."""
    going, parts, current = Fraction(1), [], list(q)
    for i, token in enumerate(x):
        accepted = chances(i, token, current)
        parts.append((going * accepted, single(token, len(q))))
        going *= 1 - accepted
        current = step(i, token, current)
    return mixed([*parts, (going, current)])


def residual_not_subtracted(draft: Law, target: Law, _k: int) -> Kernel:
    """After all drafts are rejected the output is drawn from the target, not from a residual."""
    return lambda x: in_turn(
        x, lambda _i, y, q: chance(q[y], draft[y]), lambda _i, _y, q: q, target
    )


def target_updated_in_place(draft: Law, target: Law, _k: int) -> Kernel:
    """The residual overwrites the target, so that the next call starts from it."""
    shared = list(target)

    def step(_i: int, _y: int, current: Law) -> Law:
        shared[:] = normalized(positive_part(current, draft), current)
        return list(shared)

    return lambda x: in_turn(x, lambda _i, y, q: chance(q[y], draft[y]), step, shared)


def distinct_drafts_verified_as_independent(draft: Law, target: Law, _k: int) -> Kernel:
    """Drafts are drawn without replacement, but every ratio has the full draft distribution."""
    return lambda x: in_turn(
        x,
        lambda _i, y, q: chance(q[y], draft[y]),
        lambda _i, _y, q: normalized(positive_part(q, draft), target),
        target,
    )


def truncated_drafts_verified_as_full(draft: Law, target: Law, k: int) -> Kernel:
    """Drafts come from the two likeliest tokens, but the ratio has the untruncated draft."""
    top = sorted(range(len(draft)), key=lambda y: (-draft[y], y))[:2]
    cut = normalized([p if y in top else Fraction(0) for y, p in enumerate(draft)], draft)
    inner = distinct_drafts_verified_as_independent(draft, target, k)

    def kernel(x: tuple[int, ...]) -> Law:
        # The audit's drafts come from the full draft; each is replaced by a truncated one.
        options = [[(cut[y], y) for y in top] if token not in top else None for token in x]
        parts = [(Fraction(1), ())]
        for token, drawn in zip(x, options, strict=True):
            kept = [(draft[top[0]] + draft[top[-1]], token)] if drawn is None else drawn
            total = sum(mass for mass, _ in kept)
            parts = [(s * m / total, (*ys, y)) for s, ys in parts for m, y in kept]
        return mixed([(share, inner(ys)) for share, ys in parts])

    return kernel


def duplicates_skipped(draft: Law, target: Law, _k: int) -> Kernel:
    """A draft seen before is skipped, without taking the residual once more."""

    def kernel(x: tuple[int, ...]) -> Law:
        return in_turn(
            tuple(dict.fromkeys(x)),
            lambda _i, y, q: chance(q[y], draft[y]),
            lambda _i, _y, q: normalized(positive_part(q, draft), target),
            target,
        )

    return kernel


def nothing_over_nothing_accepted(draft: Law, target: Law, _k: int) -> Kernel:
    """A ratio whose numerator is 0 counts as 1: an unwanted draft is accepted."""
    return lambda x: in_turn(
        x,
        lambda _i, y, q: chance(q[y], draft[y]) if q[y] else Fraction(1),
        lambda _i, _y, q: normalized(positive_part(q, draft), target),
        target,
    )


def residual_of_nothing(draft: Law, target: Law, _k: int) -> Kernel:
    """The residual is divided by its sum also where that is 0: NaN in place of numbers."""

    def kernel(x: tuple[int, ...]) -> Any:
        wanted = positive_part(target, draft)
        if sum(wanted) == 0:
            return [float("nan")] * len(target)
        law = in_turn(
            x[:1],
            lambda _i, y, q: chance(q[y], draft[y]),
            lambda _i, _y, _q: normalized(wanted, target),
            target,
        )
        return [float(mass) for mass in law]

    return kernel


def rho_below_the_smallest(draft: Law, target: Law, k: int) -> Kernel:
    """K-Seq with rho = 1: the negative entries of the residual are clipped."""
    kept = [min(p, q) for p, q in zip(draft, target, strict=True)]
    beta = sum(kept)
    scale = (1 - (1 - beta) ** k) / beta if beta else Fraction(0)
    residual = positive_part(target, [scale * mass for mass in kept])
    return lambda x: in_turn(
        x,
        lambda _i, y, _q: chance(target[y], draft[y]),
        lambda _i, _y, _q: normalized(residual, target),
        target,
    )


def residual_of_the_first_round(draft: Law, target: Law, _k: int) -> Kernel:
    """In every round the residual is (q − p)₊ of the target, not of the round before."""
    first = normalized(positive_part(target, draft), target)
    return lambda x: in_turn(
        x, lambda _i, y, q: chance(q[y], draft[y]), lambda _i, _y, _q: first, target
    )


def draft_removed_before_the_residual(draft: Law, target: Law, _k: int) -> Kernel:
    """Without replacement: x_i is removed from the draft before the residual is taken."""

    def kernel(x: tuple[int, ...]) -> Law:
        offered = list(draft)

        def step(_i: int, y: int, current: Law) -> Law:
            offered[y] = Fraction(0)
            offered[:] = normalized(offered, offered)
            return normalized(positive_part(current, offered), target)

        return in_turn(x, lambda _i, y, q: chance(q[y], offered[y]), step, target)

    return kernel


def one_uniform_for_all_rounds(draft: Law, target: Law, _k: int) -> Kernel:
    """Every round compares with the same uniform: accepted later only if the chance is larger."""

    def kernel(x: tuple[int, ...]) -> Law:
        current, passed, parts = list(target), Fraction(0), []
        for token in x:
            accepted = chance(current[token], draft[token])
            parts.append((max(accepted - passed, Fraction(0)), single(token, len(target))))
            passed = max(passed, accepted)
            current = normalized(positive_part(current, draft), target)
        return mixed([*parts, (1 - passed, current)])

    return kernel


def hub_of_the_last_tie(draft: Law, target: Law, _k: int) -> Kernel:
    """Of equally likely tokens the verifier takes the last for the hub, the drafts the first."""
    n = len(draft)
    hub = max(range(n), key=lambda y: (draft[y], y))
    others = [y for y in range(n) if y != hub]
    rest = sum(draft[y] for y in others)
    first = {y: min(draft[y], target[y]) for y in others}
    odds = draft[hub] / rest if rest else Fraction(0)
    second = {y: min(target[y] - first[y], odds * draft[y]) for y in others}
    open_hub_last = sum(draft[y] - first[y] for y in others)
    open_hub_first = sum(odds * draft[y] - second[y] for y in others)
    # The hub takes its share of what is left, of (hub, y) first.
    took_first = min(target[hub], open_hub_first)
    took_last = min(target[hub] - took_first, open_hub_last)
    residual = [Fraction(0) if y == hub else target[y] - first[y] - second[y] for y in range(n)]
    residual[hub] = target[hub] - took_first - took_last

    def kernel(x: tuple[int, ...]) -> Law:
        token, swapped = (x[1], True) if x[0] == hub else (x[0], False)
        if token == hub or not draft[token]:
            return list(target)
        mass = odds * draft[token] if swapped else draft[token]
        served, total, took = (
            (second[token], open_hub_first, took_first)
            if swapped
            else (first[token], open_hub_last, took_last)
        )
        accepted = served / mass
        of_hub = (1 - accepted) * (took / total if total else 0)
        parts = [(accepted, single(token, n)), (of_hub, single(hub, n))]
        return mixed([*parts, (1 - accepted - of_hub, normalized(residual, target))])

    return kernel


def best_draft_taken(_draft: Law, target: Law, _k: int) -> Kernel:
    """The draft that the target likes best is always the output."""
    return lambda x: single(max(x, key=lambda y: (target[y], -y)), len(target))


def residual_not_renormalized(draft: Law, target: Law, _k: int) -> Kernel:
    """The residual is used as it is, so that what it lacks to 1 never comes out."""
    return lambda x: in_turn(
        x[:1],
        lambda _i, y, q: chance(q[y], draft[y]),
        lambda _i, _y, q: positive_part(q, draft),
        target,
    )


GALLERY = {
    made.__name__: Broken(made, drafts, sampled)
    for made, drafts, sampled in (
        (residual_not_subtracted, "iid", True),
        (target_updated_in_place, "iid", False),  # what it does depends on the calls before
        (distinct_drafts_verified_as_independent, "without-replacement", True),
        (truncated_drafts_verified_as_full, "iid", True),
        (duplicates_skipped, "iid", True),
        (nothing_over_nothing_accepted, "iid", True),
        (residual_of_nothing, "iid", False),  # no number to draw from
        (rho_below_the_smallest, "iid", True),
        (residual_of_the_first_round, "iid", True),
        (draft_removed_before_the_residual, "without-replacement", True),
        (one_uniform_for_all_rounds, "iid", True),
        (hub_of_the_last_tie, "hub", True),
        (best_draft_taken, "iid", True),
        (residual_not_renormalized, "iid", False),  # no distribution to draw from
    )
}


def sampler_of(kernel: Kernel) -> Callable[[tuple[int, ...], Any], int]:
    """Draw from the kernel's row."""

    def sample(x: tuple[int, ...], rng: Any) -> int:
        left = rng.random()
        law = kernel(x)
        for token, mass in enumerate(law):
            left -= mass
            if left < 0:
                return token
        return max(token for token, mass in enumerate(law) if mass)

    return sample
