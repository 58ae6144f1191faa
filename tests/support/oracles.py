"""Definitions, computed as literally and as slowly as they are written.

Nothing here calls the package. A law is a table: a dict from tuples of token ids to positive
``Fraction`` masses. A rule is a kernel: a function from a tuple to its law of the output token.
What each oracle knows nothing of is in docs/oracles.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate, product, repeat
from math import lcm

from validation.notation import Table, distinct, independent

Weights = Sequence[Fraction]
Kernel = Callable[[tuple[int, ...]], list[Fraction]]
Joint = Callable[[tuple[int, ...]], list[list[Fraction]]]
"""Row i: what each token gets from accepting draft i; the last row: from no draft."""


independent_table = independent
"""P(x) = Π p_i(x_i)."""
without_replacement_table = distinct
"""P(x) = Π p(x_i) / (1 − Σ_{j<i} p(x_j)) for distinct x_i."""


def iid_table(draft: Weights, k: int) -> Table:
    """P(x) = Π p(x_i)."""
    return independent_table([draft] * k)


def hub_table(draft: Weights) -> Table:
    """P(x, a) = p(x) and P(a, x) = p(a) p(x) / (1 − p(a)) for x ≠ a, a the first likeliest."""
    hub = draft.index(max(draft))
    if draft[hub] == 1:
        return {(hub, hub): Fraction(1)}
    others = [token for token in range(len(draft)) if token != hub]
    last = {(token, hub): draft[token] for token in others}
    first = {(hub, token): draft[hub] * draft[token] / (1 - draft[hub]) for token in others}
    return _positive(last | first)


def two_hubs_table(draft: Weights) -> Table:
    """Distinct pairs with one of the two likeliest tokens: x, and a hub in proportion to p, or
    first a hub, and any other token in proportion to p."""
    hubs = likeliest(draft, 2)
    total = sum(draft[hub] for hub in hubs)
    table = {}
    for first, second in product(range(len(draft)), repeat=2):
        if first != second and first in hubs:
            table[first, second] = draft[first] * draft[second] / (1 - draft[first])
        elif second in hubs and first not in hubs:
            table[first, second] = draft[first] * draft[second] / total
    return _positive(table)


def top_plus_one_table(draft: Weights, k: int) -> Table:
    """The k − 1 likeliest tokens (ties: lowest id first), and one drawn off them."""
    top = likeliest(draft, k - 1)
    rest = [token for token in range(len(draft)) if token not in top]
    left = sum(draft[token] for token in rest)
    return _positive({(*top, token): draft[token] / left for token in rest})


def likeliest(draft: Weights, count: int) -> tuple[int, ...]:
    """The likeliest tokens in descending order; ties: lowest id first."""
    return tuple(sorted(range(len(draft)), key=lambda token: (-draft[token], token))[:count])


def fixed_table(tokens: Sequence[int]) -> Table:
    """One tuple, for certain."""
    return {tuple(tokens): Fraction(1)}


def inside_prefixes(table: Table, order: Sequence[int]) -> list[Fraction]:
    """P(all drafts inside order[:j]) for every j: a tuple is inside from its last token on."""
    place = {token: j for j, token in enumerate(order, start=1)}
    sums = [Fraction(0)] * (len(order) + 1)
    for x, mass in table.items():
        sums[max(place[token] for token in x)] += mass
    return list(accumulate(sums))


def inside_every_set(table: Table, n: int) -> list[Fraction]:
    """P(all drafts inside A) for every A, at the index whose bits are A's tokens."""
    unit = lcm(*(mass.denominator for mass in table.values()))
    return [Fraction(count, unit) for count in _counts_inside(table, n, unit)]


def _counts_inside(table: Table, n: int, unit: int) -> list[int]:
    """The same times a common denominator."""
    sums = [0] * 2**n
    for x, mass in table.items():
        sums[sum(1 << token for token in set(x))] += mass.numerator * (unit // mass.denominator)
    for token in range(n):  # sums over subsets, one token at a time
        for mask in range(2**n):
            if mask >> token & 1:
                sums[mask] += sums[mask ^ 1 << token]
    return sums


def members(mask: int) -> list[int]:
    """The tokens of the set at an index."""
    return [token for token in range(mask.bit_length()) if mask >> token & 1]


def cut_values(table: Table, target: Weights) -> list[Fraction]:
    """q(A) + 1 − P(all drafts inside A) for every A."""
    counts, unit = _cut_counts(table, target)
    return [Fraction(count, unit) for count in counts]


def _cut_counts(table: Table, target: Weights) -> tuple[list[int], int]:
    """The same times a common denominator, and that."""
    n = len(target)
    unit = lcm(*(mass.denominator for mass in (*table.values(), *target)))
    counts = [0] * 2**n
    for mask in range(1, 2**n):
        lowest = (mask & -mask).bit_length() - 1
        mass = target[lowest]
        counts[mask] = counts[mask & mask - 1] + mass.numerator * (unit // mass.denominator)
    inside = _counts_inside(table, n, unit)
    return [q + unit - p for q, p in zip(counts, inside, strict=True)], unit


def optimum(table: Table, target: Weights) -> Fraction:
    """The least cut over all 2^n token sets."""
    counts, unit = _cut_counts(table, target)
    return Fraction(min(counts), unit)


def best_prefix(table: Table, target: Weights, order: Sequence[int]) -> Fraction:
    """The least cut over the prefixes of one order."""
    values = cut_values(table, target)
    return min(values[sum(1 << token for token in order[:j])] for j in range(len(order) + 1))


def by_ratio(draft: Weights, target: Weights) -> list[int]:
    """Tokens by ascending target/draft, the undrafted ones last."""
    drafted = [token for token in range(len(draft)) if draft[token] > 0]
    drafted.sort(key=lambda token: target[token] / draft[token])
    return drafted + [token for token in range(len(draft)) if draft[token] == 0]


def marginal(table: Table, i: int, n: int) -> list[Fraction]:
    """The law of draft i alone."""
    law = [Fraction(0)] * n
    for x, mass in table.items():
        law[x[i]] += mass
    return law


def acceptance(table: Table, kernel: Kernel) -> Fraction:
    """Σ_x P(x) Σ_{y ∈ S(x)} K(y|x)."""
    hits = (mass * sum(kernel(x)[token] for token in set(x)) for x, mass in table.items())
    return sum(hits, Fraction(0))


def output(table: Table, kernel: Kernel, n: int) -> list[Fraction]:
    """The law of the output: Σ_x P(x) K(y|x)."""
    law = [Fraction(0)] * n
    for x, mass in table.items():
        pairs = zip(law, kernel(x), strict=True)
        law = [sofar + mass * given if given else sofar for sofar, given in pairs]
    return law


def naive_kernel(target: Weights) -> Kernel:
    """Draw from the target whatever the drafts are."""
    return lambda _: list(target)


def recursive_rejection_kernel(draft: Weights, target: Weights) -> Kernel:
    """Accept x_i w.p. min(1, q_{i−1}/p), else q_i ∝ (q_{i−1} − p)₊; at the end draw from q_k."""
    return model_by_model_kernel(repeat(draft), target)


def model_by_model_kernel(drafts: Iterable[Weights], target: Weights) -> Kernel:
    """The same with a distribution p_i for each draft."""

    @cache
    def kernel(x: tuple[int, ...]) -> list[Fraction]:
        law, going, current = [Fraction(0)] * len(target), Fraction(1), list(target)
        for token, draft in zip(x, drafts, strict=False):
            accepted = min(Fraction(1), current[token] / draft[token])
            law[token] += going * accepted
            going *= 1 - accepted
            if going == 0:
                return law
            current = _normalized(
                [max(q - p, Fraction(0)) for q, p in zip(current, draft, strict=True)]
            )
        return [sofar + going * q for sofar, q in zip(law, current, strict=True)]

    return kernel


def k_sequential_residual(
    draft: Weights, target: Weights, k: int, rho: Fraction
) -> tuple[Fraction, list[Fraction]]:
    """p_acc and the residual times 1 − p_acc: q − min(p, q/ρ) p_acc/β."""
    kept = [min(p, q / rho) for p, q in zip(draft, target, strict=True)]
    beta = sum(kept)
    accepted = 1 - (1 - beta) ** k
    scale = accepted / beta if beta else 0
    return accepted, [q - m * scale for q, m in zip(target, kept, strict=True)]


def k_sequential_is_valid(draft: Weights, target: Weights, k: int, rho: Fraction) -> bool:
    """Whether the residual is nowhere negative."""
    return min(k_sequential_residual(draft, target, k, rho)[1]) >= 0


def k_sequential_kernel(draft: Weights, target: Weights, k: int, rho: Fraction) -> Kernel:
    """Accept each x_i in turn w.p. min(1, q/(ρp)); at the end draw from the residual."""
    accepted_in_all, unscaled = k_sequential_residual(draft, target, k, rho)
    # If no draft is ever rejected for good, the residual is never drawn.
    residual = _normalized(unscaled) if accepted_in_all < 1 else list(target)

    @cache
    def kernel(x: tuple[int, ...]) -> list[Fraction]:
        law, going = [Fraction(0)] * len(draft), Fraction(1)
        for token in x:
            accepted = min(Fraction(1), target[token] / (rho * draft[token]))
            law[token] += going * accepted
            going *= 1 - accepted
        return [sofar + going * r for sofar, r in zip(law, residual, strict=True)]

    return kernel


def spechub_kernel(draft: Weights, target: Weights) -> Kernel:
    """Serve x ≠ a from (x, a), then from (a, x); then a evenly from what is left, (a, x) first."""
    table = hub_table(draft)
    hub, zero = draft.index(max(draft)), Fraction(0)
    left, needed = dict(table), list(target)
    law = {x: [zero] * len(draft) for x in table}

    def serve(x: tuple[int, int], token: int) -> None:
        moved = min(needed[token], left.get(x, zero))
        if moved:
            law[x][token] += moved
            left[x] -= moved
            needed[token] -= moved

    others = [token for token in range(len(draft)) if token != hub]
    for token in others:
        serve((token, hub), token)
        serve((hub, token), token)
    groups = [(hub, token) for token in others], [(token, hub) for token in others], [(hub, hub)]
    for group in groups:  # the hub takes the same share of each pair of a group
        total = sum(left.get(x, zero) for x in group)
        share = min(Fraction(1), needed[hub] / total) if total else zero
        for x in filter(left.get, group):
            moved = share * left[x]
            law[x][hub], left[x] = law[x][hub] + moved, left[x] - moved
            needed[hub] -= moved
    residual = _normalized(needed) if sum(needed) else needed
    for x, mass in table.items():
        served = zip(law[x], residual, strict=True)
        law[x] = [(y + left[x] * r) / mass for y, r in served]
    return law.__getitem__


def in_turn_joint(
    draft: Weights, target: Weights, k: int, distinct: bool = False, rho: Fraction | None = None
) -> Joint:
    """Try the drafts one after the other, as the papers' algorithms are written.

    Recursive rejection by default. ``distinct``: after the residual is taken, x_i leaves p. With
    ``rho``, k-Seq: the chance min(1, q/(ρp)) in every round, and one residual at the end.
    """

    @cache
    def offered(gone: tuple[int, ...]) -> Weights:
        if not gone or not distinct:
            return draft
        left = list(offered(gone[:-1]))
        left[gone[-1]] = Fraction(0)
        return _normalized(left)

    @cache
    def wanted(gone: tuple[int, ...]) -> Weights:
        if not gone or rho is not None:
            return target
        pairs = zip(wanted(gone[:-1]), offered(gone[:-1]), strict=True)
        return _normalized([max(q - p, Fraction(0)) for q, p in pairs])

    @cache
    def left_at_the_end() -> Weights:
        return _normalized(k_sequential_residual(draft, target, k, rho or Fraction(1))[1])

    def joint(x: tuple[int, ...]) -> list[list[Fraction]]:
        rows = [[Fraction(0)] * len(draft) for _ in range(k + 1)]
        going = Fraction(1)
        for i, token in enumerate(x):
            chance = min(Fraction(1), wanted(x[:i])[token] / ((rho or 1) * offered(x[:i])[token]))
            rows[i][token] = going * chance
            going *= 1 - chance
            if going == 0:
                return rows
        last = wanted(x) if rho is None else left_at_the_end()
        rows[k] = [going * q for q in last]
        return rows

    return joint


def first_draft_joint(kernel: Kernel, k: int) -> Joint:
    """Every output that is one of the drafts counts for the first draft that it equals."""

    def joint(x: tuple[int, ...]) -> list[list[Fraction]]:
        law = kernel(x)
        rows = [[Fraction(0)] * len(law) for _ in range(k + 1)]
        for token, mass in enumerate(law):
            rows[x.index(token) if token in x else k][token] = mass
        return rows

    return joint


def accepted_by_draft(table: Table, joint: Joint, k: int) -> list[Fraction]:
    """The probability that draft i is the accepted one, for every i."""
    rows = [(mass, joint(x)) for x, mass in table.items()]
    own = [[mass * sum(filter(None, row[i])) for i in range(k)] for mass, row in rows]
    return [sum(column, Fraction(0)) for column in zip(*own, strict=True)]


def by_position(table: Table, joint: Joint, k: int) -> list[Fraction]:
    """The probability that draft i is the first that is the output, for every i."""
    found = [Fraction(0)] * k
    for x, mass in table.items():
        for token, column in enumerate(zip(*joint(x), strict=True)):
            if token in x:
                found[x.index(token)] += mass * sum(filter(None, column))
    return found


def residual_hits(table: Table, joint: Joint) -> Fraction:
    """The probability that no draft is accepted and one of them is drawn all the same."""
    hits = (mass * sum(joint(x)[-1][token] for token in set(x)) for x, mass in table.items())
    return sum(hits, Fraction(0))


def race_chance(draft: Weights, target: Weights, y: int, k: int) -> Fraction:
    """P(y is among the first k tokens by E/p | y is the first by E/q), with shared E ~ Exp(1).

    ∫₀¹ P(N < k) du, u = e^{−t}: N counts the tokens z that come before y, independently, each with
    probability 1 − u^c, c = (q(y) p(z)/p(y) − q(z))₊. All products of powers are written out.
    """
    if not draft[y]:
        return Fraction(0)
    # Entry i: P(N = i) as a polynomial in u with rational exponents.
    counts: list[dict[Fraction, Fraction]] = [{Fraction(0): Fraction(1)}]
    for z in range(len(draft)):
        c = max(target[y] * draft[z] / draft[y] - target[z], Fraction(0))
        more: list[dict[Fraction, Fraction]] = [{} for _ in range(len(counts) + 1)]
        for i, powers in enumerate(counts):
            for exponent, value in powers.items():
                for place, power, factor in ((i, c, 1), (i + 1, 0, 1), (i + 1, c, -1)):
                    at = exponent + power
                    more[place][at] = more[place].get(at, Fraction(0)) + factor * value
        counts = more
    return sum(
        (value / (1 + a) for powers in counts[:k] for a, value in powers.items()), Fraction(0)
    )


def lists_chance(draft: Weights, target: Weights, y: int, k: int) -> Fraction:
    """P(y is first by E/p in some of k lists | y is first by min E/q over the lists).

    ∫ k e^{−kt} [1 − (1 − a)(1 − b)^{k−1}] dt with a = exp(−t Σ c_z) and
    b = E exp(−Σ_{z≠y} ((t q(y) + S) p(z)/p(y) − t q(z))₊), S ~ Exp(1). With S = t x the terms of b
    start at x_z = q(z) p(y)/p(z) − q(y), or 0, and between two starts the exponent is linear in x.
    """
    if not draft[y]:
        return Fraction(0)
    others = [z for z in range(len(draft)) if z != y and draft[z]]
    first = sum(max(target[y] * draft[z] / draft[y] - target[z], Fraction(0)) for z in others)
    begin = {z: max(target[z] * draft[y] / draft[z] - target[y], Fraction(0)) for z in others}
    knots = sorted({Fraction(0), *begin.values()})
    b: dict[Fraction, Fraction] = {}
    for low, high in zip(knots, [*knots[1:], None], strict=True):
        on = [z for z in others if begin[z] <= low]
        slope = 1 + sum(draft[z] / draft[y] for z in on)

        def exponent(x: Fraction, on: list[int] = on) -> Fraction:
            rates = [(target[y] + x) * draft[z] / draft[y] - target[z] for z in on]
            return x + sum(rates, Fraction(0))

        b[exponent(low)] = b.get(exponent(low), Fraction(0)) + 1 / slope
        if high is not None:
            b[exponent(high)] = b.get(exponent(high), Fraction(0)) - 1 / slope
    missed = {Fraction(0): Fraction(1), first: Fraction(-1)} if first else {}
    for _ in range(k - 1):
        product = dict(missed)
        for a, value in missed.items():
            for c, factor in b.items():
                product[a + c] = product.get(a + c, Fraction(0)) - value * factor
        missed = product
    return 1 - sum((k * value / (k + a) for a, value in missed.items()), Fraction(0))


def _mixed(target: Weights, chance: Callable[[int], Fraction]) -> Fraction:
    return sum((mass * chance(y) for y, mass in enumerate(target) if mass), Fraction(0))


def race_acceptance(draft: Weights, target: Weights, k: int) -> Fraction:
    """Σ q(y) P(y is drafted | y is the output) for one race of shared noise."""
    return _mixed(target, lambda y: race_chance(draft, target, y, k))


def lists_acceptance(draft: Weights, target: Weights, k: int) -> Fraction:
    """The same for k lists of shared noise."""
    return _mixed(target, lambda y: lists_chance(draft, target, y, k))


def _positive(masses: Table) -> Table:
    return {x: mass for x, mass in masses.items() if mass > 0}


def _normalized(weights: Weights) -> list[Fraction]:
    total = sum(weights)
    return [weight / total if weight else weight for weight in weights]
