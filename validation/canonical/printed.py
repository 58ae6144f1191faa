"""Algorithm 1 (section 4), remark 4 and appendix G as printed: exact laws over all branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from validation.canonical.two_steps import two_steps
from validation.instances import Exact
from validation.notation import ONE, ZERO, Tokens, iid, mass_of, total
from validation.oracles import spread

Weights = Mapping[tuple[int, int], Fraction]


@dataclass(frozen=True)
class Selected:
    """What algorithm 1 puts out.

    Parameters
    ----------
    order : tuple of int
        The tokens, sorted.
    weights : mapping
        w_{i,j}, by positions in the order.
    law : tuple of Fraction
        P_I of each token, by (13).
    kernel : mapping
        The probability to select each token, given the drafts.
    """

    order: tuple[int, ...]
    weights: Weights
    law: Exact
    kernel: Mapping[Tokens, Mapping[int, Fraction]]


def sorted_tokens(first: Exact, second: Exact, target: Exact) -> tuple[int, ...]:
    """Return the tokens in decreasing order of q − p₁ p₂."""
    return tuple(sorted(range(len(target)), key=lambda y: first[y] * second[y] - target[y]))


def free_weights(
    supplies: Mapping[Tokens, Fraction], least: Sequence[Fraction], target: Sequence[Fraction]
) -> dict[Tokens, Fraction]:
    """Solve the linear program: the share of each pair that goes to its first token.

    ``least`` is what each free token has already, so that Σ min(q, least + what it gets) is to
    be maximised: a maximum flow.
    """
    room = [max(q - have, ZERO) for q, have in zip(target, least, strict=True)]
    moved = spread(supplies, room)
    return {
        pair: 1 - moved[pair, pair[1]] / mass if mass else ONE for pair, mass in supplies.items()
    }


def algorithm_1(draft: Exact, target: Exact, free: int) -> Selected:
    """Algorithm 1: w_{i,j} for i < j is the probability of i given the drafts i and j."""
    n = len(draft)
    free = min(free, n)
    order = sorted_tokens(draft, draft, target)  # line 3
    p, q = [draft[y] for y in order], [target[y] for y in order]
    weights = {}
    for i in range(n):  # (12)
        for j in range(max(i + 1, free), n):
            weights[i, j] = ONE
    least = [p[i] ** 2 + total(2 * p[i] * p[j] for j in range(free, n)) for i in range(free)]
    supplies = {(i, j): 2 * p[i] * p[j] for i in range(free) for j in range(i + 1, free)}
    weights |= free_weights(supplies, least, q[:free])
    weights |= {(j, i): 1 - weight for (i, j), weight in weights.items()}
    law = printed_law(p, weights, free)
    kernel = {}
    for i, j in product(range(n), repeat=2):
        if i == j:
            kernel[order[i], order[i]] = {order[i]: ONE}
        else:
            kernel[order[i], order[j]] = {order[i]: weights[i, j], order[j]: weights[j, i]}
    by_token = dict(zip(order, law, strict=True))
    return Selected(order, weights, tuple(by_token[y] for y in range(n)), kernel)


def printed_law(p: Sequence[Fraction], weights: Weights, free: int) -> list[Fraction]:
    """Return (13), by positions in the order."""
    n = len(p)
    return [
        p[k] ** 2
        + total(2 * p[i] * p[k] * weights[k, i] for i in range(free) if i != k)
        + total(2 * p[i] * p[k] for i in range(free, n))
        if k < free
        else p[k] ** 2 + total(2 * p[i] * p[k] for i in range(k + 1, n))
        for k in range(n)
    ]


def for_two_laws(first: Exact, second: Exact, target: Exact, free: int) -> Selected:
    """Appendix G: w_{i,j} is the probability of i given the drafts i, j in this order."""
    n = len(first)
    free = min(free, n)
    order = sorted_tokens(first, second, target)
    p, r, q = ([law[y] for y in order] for law in (first, second, target))
    weights = {
        (i, j): Fraction(i < j)
        for i, j in product(range(n), repeat=2)
        if i != j and max(i, j) >= free
    }
    supplies = {(i, j): p[i] * r[j] for i, j in product(range(free), repeat=2) if i != j}
    least = [
        p[i] * r[i] + total(p[i] * r[j] + p[j] * r[i] for j in range(free, n)) for i in range(free)
    ]
    weights |= free_weights(supplies, least, q[:free])
    law = [
        p[k] * r[k]
        + total(
            p[k] * r[i] * weights[k, i] + p[i] * r[k] * (1 - weights[i, k])
            for i in range(free)
            if i != k
        )
        + total(p[k] * r[i] + p[i] * r[k] for i in range(free, n))
        if k < free
        else p[k] * r[k] + total(p[k] * r[i] + p[i] * r[k] for i in range(k + 1, n))
        for k in range(n)
    ]  # (188) and (189)
    kernel = {}
    for i, j in product(range(n), repeat=2):
        if i == j:
            kernel[order[i], order[i]] = {order[i]: ONE}
        else:
            kernel[order[i], order[j]] = {order[i]: weights[i, j], order[j]: 1 - weights[i, j]}
    by_token = dict(zip(order, law, strict=True))
    return Selected(order, weights, tuple(by_token[y] for y in range(n)), kernel)


def in_stages(drafts: Sequence[Exact], target: Exact, free: int) -> tuple[Exact, dict]:
    """Remark 4: select within groups of two, then among what was selected, until one is left.

    Returns
    -------
    law : tuple of Fraction
        The law of the selected token.
    kernel : dict
        The probability to select each token, given the drafts.
    """
    kernels = [{(y,): {y: ONE} for y in range(len(target))} for _ in drafts]
    laws = list(drafts)
    while len(laws) > 1:
        later_laws, later_kernels = [], []
        for first in range(0, len(laws) - 1, 2):
            chosen = for_two_laws(laws[first], laws[first + 1], target, free)
            later_laws.append(chosen.law)
            later_kernels.append(
                {
                    (*x, *z): after(row, other, chosen.kernel)
                    for x, row in kernels[first].items()
                    for z, other in kernels[first + 1].items()
                }
            )
        if len(laws) % 2:
            later_laws.append(laws[-1])
            later_kernels.append(kernels[-1])
        laws, kernels = later_laws, later_kernels
    return laws[0], kernels[0]


def after(
    first: Mapping[int, Fraction],
    second: Mapping[int, Fraction],
    kernel: Mapping[Tokens, Mapping[int, Fraction]],
) -> dict[int, Fraction]:
    """Return the law of what a stage selects from what two groups selected."""
    chances: dict[int, Fraction] = {}
    for y, a in first.items():
        for z, b in second.items():
            for token, share in kernel[y, z].items():
                chances[token] = chances.get(token, ZERO) + a * b * share
    return chances


def restricted(law: Exact, kept: Sequence[int]) -> Exact:
    """Return a law on the kept tokens, renormalised."""
    whole = mass_of(law, kept)
    return tuple(mass / whole if y in kept else ZERO for y, mass in enumerate(law))


def post_processed(output: Exact, target: Exact, kept: Sequence[int]) -> Exact:
    """Accept with probability q(Ω₀), and otherwise draw from q outside Ω₀."""
    accept = mass_of(target, kept)
    outside = [ZERO if y in kept else mass for y, mass in enumerate(target)]
    return tuple(
        accept * inside + (1 - accept) * (rest / (1 - accept) if rest else ZERO)
        for inside, rest in zip(output, outside, strict=True)
    )


def truncated_alphabet(draft: Exact, target: Exact, kept: Sequence[int]) -> Exact:
    """Return the law of the output: the target truncated, the drafts as they are."""
    narrow = restricted(target, kept)
    found = two_steps(iid(draft, 2), algorithm_1(draft, narrow, len(kept)).kernel, narrow)
    return post_processed(found.output, target, kept)


def truncated_drafts(draft: Exact, target: Exact, kept: Sequence[int]) -> Exact:
    """Return the law of the output when only drafts within Ω₀ are kept (appendix G).

    Two kept drafts go through the two steps, one through speculative sampling against the
    renormalised draft law; if none is kept the truncated target is drawn.
    """
    narrow = restricted(target, kept)
    share = mass_of(draft, kept)
    output = [(1 - share) ** 2 * mass for mass in narrow]
    if share:
        own = restricted(draft, kept)
        one = {(y,): {y: ONE} for y in range(len(own))}
        both = algorithm_1(own, narrow, len(kept)).kernel
        for chance, table, kernel in (
            (2 * share * (1 - share), iid(own, 1), one),
            (share**2, iid(own, 2), both),
        ):
            found = two_steps(table, kernel, narrow).output
            output = [mass + chance * each for mass, each in zip(output, found, strict=True)]
    return post_processed(tuple(output), target, kept)
