"""Section 3 and fig. 2: the two baselines, SpecTr's and SpecInfer's rules, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

from otspec.arithmetic import Number
from otspec.rules import KSequential, RecursiveRejection
from validation.instances import Exact
from validation.notation import overlap

BITS = 40


def excess(draft: Exact, target: Exact, k: int, rho: Number) -> Number:
    """Return p_acc − ρβ: above 0 exactly if ρ is too small."""
    beta = overlap(draft, [q / rho for q in target])
    return 1 - (1 - beta) ** k - rho * beta


def smallest_factor(draft: Exact, target: Exact, k: int) -> Fraction:
    """Return the smallest valid factor of k-Seq, or one that is just above it: by 2⁻³⁸ or so."""
    low, high = 1, 2**BITS  # in units of (k − 1)/2^BITS above 1
    if excess(draft, target, k, Fraction(1)) <= 0:
        return Fraction(1)
    floats = [tuple(map(float, law)) for law in (draft, target)]
    while high - low > 1:
        middle = (low + high) // 2
        if excess(*floats, k, 1 + (k - 1) * middle / 2**BITS) > 0:
            low = middle
        else:
            high = middle
    step = 1
    found = 1 + Fraction(k - 1) * (high + 1) / 2**BITS
    while excess(draft, target, k, found) > 0:  # the floats were wrong by this much
        step *= 2
        found += Fraction(step, 2**BITS)
    simple = found.limit_denominator(1_000)
    return simple if excess(draft, target, k, simple) == 0 else found


def acceptances(draft: Exact, target: Exact, k: int) -> dict[str, Fraction]:
    """Return the acceptance of each baseline; a residual draw that is a draft is accepted."""
    rho = smallest_factor(draft, target, k)
    return {
        "SpecTr": Fraction(KSequential(draft, target, k, rho=rho).acceptance()),
        "SpecInfer": Fraction(RecursiveRejection(draft, target, k).acceptance()),
    }
