"""The canonical two steps of Theorem 1, select a draft and verify it, and kernels to select by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from validation.canonical.instances import Digits
from validation.instances import Exact
from validation.notation import (
    ONE,
    ZERO,
    Coupling,
    Table,
    Tokens,
    as_row,
    blurred,
    collect,
    corner,
    normalised,
    positive,
    total,
)
from validation.oracles import spread

Laws = Mapping[Tokens, Fraction]
Kernel = Mapping[Tokens, Mapping[int, Fraction]]
"""β: the probability to select each token, given the drafts."""


def unordered(draft: Exact) -> Table:
    """Return 2 p_i p_j for i < j: the probability to see these two drafts in any order."""
    return {(i, j): 2 * draft[i] * draft[j] for i, j in combinations(range(len(draft)), 2)}


def best_kernel(table: Laws, target: Sequence[Fraction]) -> dict[Tokens, dict[int, Fraction]]:
    """Return β from a maximum flow; what a tuple does not accept selects its first token."""
    accepted = spread(table, target)
    kernel = {x: {y: accepted[x, y] / mass for y in set(x)} for x, mass in table.items()}
    for x, row in kernel.items():
        row[x[0]] += 1 - total(row.values())
    return kernel


def kernel_from(digits: Digits, table: Laws) -> dict[Tokens, dict[int, Fraction]]:
    """Return β with weights from a repeated list of digits; all zeros select the least token."""
    kernel = {}
    for number, x in enumerate(table):
        tokens = sorted(set(x))
        weights = [digits[(3 * number + j) % len(digits)] for j in range(len(tokens))]
        if not any(weights):
            weights[0] = 1
        row = zip(tokens, weights, strict=True)
        kernel[x] = {y: Fraction(weight, sum(weights)) for y, weight in row}
    return kernel


def selected_law(table: Laws, kernel: Kernel, n: int) -> Exact:
    """Return b(y) = Σ_x P(x) β_y(x)."""
    parts = ((y, p * chance) for x, p in table.items() for y, chance in kernel[x].items())
    return as_row(collect(parts), n)


def residual_of(target: Sequence[Fraction], law: Sequence[Fraction]) -> Exact:
    """Return (q − b)₊ normalised; q if that is nothing."""
    rest = positive(target, law)
    return normalised(rest) if any(rest) else tuple(target)


@dataclass(frozen=True)
class TwoSteps:
    """What comes out of selecting a draft and verifying it.

    Parameters
    ----------
    output : tuple of Fraction
        The law of the output.
    accepted : Fraction
        The probability that the second step accepts.
    among_drafts : Fraction
        The probability that the output is one of the drafts.
    """

    output: Exact
    accepted: Fraction
    among_drafts: Fraction


def two_steps(table: Laws, kernel: Kernel, target: Exact) -> TwoSteps:
    """Follow every branch of selecting a draft by β and verifying it against the target."""
    law = selected_law(table, kernel, len(target))
    residual = residual_of(target, law)
    output, accepted, among = [ZERO] * len(target), ZERO, ZERO
    for x, mass in table.items():
        for y, chance in kernel[x].items():
            if not chance:
                continue
            keep = min(ONE, target[y] / law[y])
            output[y] += mass * chance * keep
            accepted += mass * chance * keep
            for z, share in enumerate(residual):
                output[z] += mass * chance * (1 - keep) * share
                among += mass * chance * (1 - keep) * share * (z in x)
    return TwoSteps(tuple(output), accepted, accepted + among)


def coupling_from(digits: Digits, table: Laws, target: Exact) -> Coupling:
    """Return a coupling: a corner of the transport polytope, mixed with the product."""
    rows = sorted(enumerate(table), key=lambda row: digits[row[0] % len(digits)])
    tokens = sorted(range(len(target)), key=lambda y: digits[-1 - y % len(digits)])
    first = corner(((x, table[x]) for _, x in rows), ((y, target[y]) for y in tokens))
    return blurred(first, table, dict(enumerate(target)), Fraction(digits[0] % 4, 4))
