"""Sections 7 and 8: Algorithm 3, Theorem 2 and Table 1."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from typing import Any

from otspec.arithmetic import Number
from validation.checks import over_all
from validation.claim import Claim, Corrected, above, at_least
from validation.spectr.checks import over_models
from validation.spectr.sequences import (
    PLANS,
    Model,
    Models,
    Outputs,
    as_set,
    continues_as_target,
    independent_drafts,
    is_target_given_length,
    selected,
    sequences,
)


def decoded(
    draft: Model, target: Model, length: int, count: int, plan: str, *, sets: bool = False
) -> Outputs:
    """Return the law of what Algorithm 3 decodes from the drafts of (7)."""
    drafts = independent_drafts(draft, length, count)
    gather = as_set if sets else tuple
    return selected(Models(draft, target), PLANS[plan], length, drafts, gather)


def sets_continue_as_target(
    draft: Model, target: Model, length: int, count: int, plan: str
) -> Fraction:
    """Algorithm 3 with S_next a set is lossless."""
    return continues_as_target(decoded(draft, target, length, count, plan, sets=True), target)


def continue_as_target(draft: Model, target: Model, length: int, count: int, plan: str) -> Fraction:
    """Algorithm 3 with S_next a multiset is lossless."""
    return continues_as_target(decoded(draft, target, length, count, plan), target)


def lengths_in_range(draft: Model, target: Model, length: int, count: int, plan: str) -> Number:
    """Between 1 and L + 1 tokens are decoded."""
    numbers = {len(output) for output in decoded(draft, target, length, count, plan)}
    return min(
        at_least(Fraction(min(numbers)), 1, "fewest tokens"),
        at_least(Fraction(length + 1), max(numbers), "L + 1, against the most tokens"),
    )


def copies_continue_as_target(
    draft: Model, target: Model, length: int, count: int, plan: str
) -> Fraction:
    """Algorithm 3 is lossless if every draft is one and the same sequence from the small model."""
    copies = (((z,) * count, mass) for z, mass in sequences(draft, length).items())
    outputs = selected(Models(draft, target), PLANS[plan], length, copies)
    return continues_as_target(outputs, target)


def given_length_is_target(
    draft: Model, target: Model, length: int, count: int, plan: str
) -> Fraction:
    """Theorem 2 as printed."""
    return is_target_given_length(decoded(draft, target, length, count, plan), target)


SPEEDUPS = {
    (1, 4): (Fraction("2.4"), Fraction("1.67")),
    (8, 4): (Fraction("3.1"), Fraction("2.08")),
    (1, 8): (Fraction("2.9"), Fraction("1.56")),
    (8, 8): (Fraction("4.0"), Fraction("2.13")),
}
"""Table 1: block efficiency and relative wall-clock speedup by K and L."""


def table_1_steps() -> Iterator[dict[str, Any]]:
    """Yield two rows of Table 1, the second with K and L at least as large."""
    for (k, length), (more, longer) in permutations(SPEEDUPS, 2):
        if more >= k and longer >= length:
            yield {"K": (k, more), "L": (length, longer)}


def speedup_grows(K: tuple[int, int], L: tuple[int, int]) -> Number:  # noqa: N803
    """The speedup is larger in the second row."""
    return above(SPEEDUPS[K[1], L[1]][1], SPEEDUPS[K[0], L[0]][1], "speedup")


def speedup_grows_with_drafts(
    K: tuple[int, int],  # noqa: N803
    L: tuple[int, int],  # noqa: N803
) -> Number:
    """The speedup is larger with more drafts; with one draft it falls as L grows."""
    before, after = SPEEDUPS[K[0], L[0]][1], SPEEDUPS[K[1], L[1]][1]
    return above(before, after, "earlier speedup") if K == (1, 1) else above(after, before)


def speedup_below_efficiency(K: int, L: int) -> Number:  # noqa: N803
    """The speedup is smaller than the block efficiency."""
    efficiency, speedup = SPEEDUPS[K, L]
    return above(efficiency, speedup, "block efficiency")


def further_speedup(K: int, L: int, printed: Fraction) -> Number:  # noqa: N803
    """What is printed is the ratio to the speedup of one draft with the same L, rounded."""
    ratio = SPEEDUPS[K, L][1] / SPEEDUPS[1, L][1]
    return above(Fraction(1, 200), abs(ratio - printed), f"rounding error of {float(ratio):.4f}")


CLAIMS = (
    Claim(
        "spectr.alg3",
        "Algorithm 3, section 7",
        "Algorithm 3, with the drafts of (7) and a plan from a linear program or from Algorithm 2, "
        "is lossless: each decoded token has the large model's law, given those before it.",
        over_models(sets_continue_as_target, lengths=(2,), counts=(2,)),
        printed=r"Step 11: let $S_{next} = \{z^{2:L} | z \in S, z(1) = Y\}$ be the set of "
        "sub-sequences; equal ones count once. (In step 2 the drafts are a multiset.)",
        corrected=Corrected(
            r"It is lossless if $S_{next}$ is a multiset, as $S_z$ is in step 2.",
            over_models(continue_as_target),
        ),
    ),
    Claim(
        "spectr.sec7",
        "Section 7, below Algorithm 3",
        r"The number of decoded tokens is in $[1, L + 1]$.",
        over_models(lengths_in_range),
    ),
    Claim(
        "spectr.eq8",
        "Equation (8), the assumption of Theorem 2",
        "Algorithm 3 is lossless for all drafts each of which is drawn from the small model.",
        over_models(copies_continue_as_target, counts=(2,)),
        printed=r"Assume all drafts in S are generated from the small model, more precisely "
        r"$z(i) \sim M_s(\cdot | x^t, z^{i-1})$ for all $z \in S$ and i. Independence is not "
        "assumed; checked with K copies of one draft.",
        corrected=Corrected(
            "It is lossless for independent drafts, each drawn from the small model, as in (7).",
            over_models(continue_as_target),
        ),
    ),
    Claim(
        "spectr.thm2",
        "Theorem 2, section 7",
        r"The output $Y^\tau$ of Algorithm 3 satisfies $\Pr(Y^{\tau_0} = o | \tau = \tau_0) = "
        r"\prod_{i \le \tau_0} M_b(o(i) | x^t, o^{i-1})$ for all $\tau_0 \in [1, L + 1]$ and "
        r"$o \in V^{\tau_0}$.",
        over_models(given_length_is_target),
        printed="Checked with independent drafts and multisets; see spectr.alg3 and spectr.eq8.",
        corrected=Corrected(
            r"Not given $\tau$, which depends on the tokens, but token by token: "
            r"$\Pr(Y(i) = y | Y^{i-1}, \tau \ge i) = M_b(y | x^t, Y^{i-1})$ for all i. So the "
            r"output, continued by the large model to any fixed length, has the large model's law.",
            over_models(continue_as_target),
        ),
    ),
    Claim(
        "spectr.tab1a",
        "Table 1, section 8",
        "In Table 1 the wall-clock speedup increases as K and L increase.",
        over_all(table_1_steps, speedup_grows, "the four rows"),
        corrected=Corrected(
            "It increases with K, and with L for K = 8; for K = 1 it falls as L grows.",
            over_all(table_1_steps, speedup_grows_with_drafts, "the four rows"),
        ),
    ),
    Claim(
        "spectr.tab1b",
        "Table 1, section 8",
        "In Table 1 the wall-clock speedup is smaller than the block efficiency.",
        over_all(
            lambda: ({"K": k, "L": length} for k, length in SPEEDUPS),
            speedup_below_efficiency,
            "the four rows",
        ),
    ),
    Claim(
        "spectr.tab1c",
        "Table 1, section 8; abstract",
        "For L = 8 and K = 8 the speedup is 2.13, a further 1.37 over speculative decoding.",
        over_all(
            lambda: iter([{"K": 8, "L": 8, "printed": Fraction("1.37")}]),
            further_speedup,
            "one number",
        ),
        printed="That is against speculative decoding with the same L = 8 (1.56); against its "
        "better speedup in the table (1.67, L = 4) the factor is 1.28.",
    ),
)
