"""Appendices D and E: drafts from a prefix tree, and Table 4."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from math import prod
from typing import Any

from otspec.arithmetic import Number
from validation.checks import over, over_all
from validation.claim import Claim, Corrected, above, equal
from validation.notation import ZERO, collect
from validation.spectr.sequences import (
    PLANS,
    Model,
    Models,
    continues_as_target,
    independent_drafts,
    model_pairs,
    prefix_tree,
    selected,
    sequences,
    tree_selection,
)

Factors = tuple[int, ...]
FACTORS: tuple[Factors, ...] = ((1,), (2,), (1, 1), (2, 1), (1, 2), (2, 2))


def drawing_cases(seed: int, shapes: tuple[Factors, ...] = FACTORS) -> Iterator[dict[str, Any]]:
    """Yield models and expansion factors."""
    for models in model_pairs(seed):
        yield from ({**models._asdict(), "factors": factors} for factors in shapes)


def tree_cases(seed: int, shapes: tuple[Factors, ...] = FACTORS) -> Iterator[dict[str, Any]]:
    """Yield models, expansion factors and a plan."""
    for case in drawing_cases(seed, shapes):
        yield from ({**case, "plan": plan} for plan in PLANS)


def sharing_cases(seed: int) -> Iterator[dict[str, Any]]:
    """Yield models, a plan and a tree whose sequences share their first token."""
    return tree_cases(seed, ((1, 2), (2, 2)))


def growing_cases(seed: int) -> Iterator[dict[str, Any]]:
    """Yield a small model and expansion factors."""
    for case in drawing_cases(seed):
        yield {"draft": case["draft"], "factors": case["factors"]}


def wide_cases(seed: int) -> Iterator[dict[str, Any]]:
    """Yield a small model, L and K."""
    for models in model_pairs(seed):
        for length, count in ((1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 2)):
            yield {"draft": models.draft, "length": length, "count": count}


def leaves_are_drawn_from(
    trees: dict[tuple[tuple[int, ...], ...], Fraction], draft: Model, length: int, leaves: int
) -> Fraction:
    """The first leaves are each distributed as the small model's sequences."""
    wanted = sequences(draft, length)
    for i in range(leaves):
        law = collect((drawn[i], mass) for drawn, mass in trees.items())
        for sequence in sorted(law | wanted):
            found, claimed = law.get(sequence, ZERO), wanted.get(sequence, ZERO)
            equal(found, claimed, f"probability that sequence {i} is {sequence}")
    return ZERO


def printed_leaves(draft: Model, target: Model, factors: Factors) -> Fraction:
    """Algorithm 4 as printed, drawing from M_b: its first sequence is the small model's."""
    return leaves_are_drawn_from(prefix_tree(target, factors), draft, len(factors), 1)


def drawn_leaves(draft: Model, factors: Factors) -> Fraction:
    """Drawing from M_s and keeping equal sequences, every leaf is the small model's."""
    trees = prefix_tree(draft, factors, tuple)
    return leaves_are_drawn_from(trees, draft, len(factors), prod(factors))


def set_has_k_leaves(draft: Model, factors: Factors) -> Fraction:
    """As sets, S_L has k_1 ⋯ k_L sequences."""
    sizes = {len(drawn) for drawn in prefix_tree(draft, factors)}
    return equal(sizes, {prod(factors)}, "numbers of sequences")


def multiset_has_k_leaves(draft: Model, factors: Factors) -> Fraction:
    """With multiplicity, S_L has k_1 ⋯ k_L sequences."""
    sizes = {len(drawn) for drawn in prefix_tree(draft, factors, tuple)}
    return equal(sizes, {prod(factors)}, "numbers of sequences")


def wide_tree_is_independent(draft: Model, length: int, count: int) -> Fraction:
    """Factors (K, 1, …, 1) give K independent sequences."""
    grown = prefix_tree(draft, (count, *(1,) * (length - 1)), tuple)
    return equal(grown, dict(independent_drafts(draft, length, count)), "law of the drafts")


def leaves_to_algorithm_3(draft: Model, target: Model, factors: Factors, plan: str) -> Fraction:
    """Algorithm 3 on the leaves of a tree is lossless."""
    drafts = prefix_tree(draft, factors, tuple).items()
    outputs = selected(Models(draft, target), PLANS[plan], len(factors), drafts)
    return continues_as_target(outputs, target)


def children_to_selection(draft: Model, target: Model, factors: Factors, plan: str) -> Fraction:
    """Selecting among the children of the nodes that agree is lossless."""
    models = Models(draft, target)
    outputs = collect(
        (output, mass * chance)
        for drawn, mass in prefix_tree(draft, factors, tuple).items()
        for output, chance in tree_selection(models, PLANS[plan], factors, (drawn,))
    )
    return continues_as_target(outputs, target)


EFFICIENCIES = {
    (size, k, length): Fraction(value)
    for size, rows in {
        2: "1.86 2.07 2.32 2.56 1.91 2.15 2.41 2.68",
        6: "2.21 2.43 2.74 2.99 2.33 2.61 2.96 3.27",
        20: "2.71 2.96 3.28 3.49 3.12 3.48 3.85 4.15",
    }.items()
    for (length, k), value in zip(
        ((length, k) for length in (4, 8) for k in (1, 2, 4, 8)), rows.split(), strict=True
    )
}
"""Table 4: block efficiency by millions of parameters, K and L; K = 1 is speculative decoding."""


def table_4_steps() -> Iterator[dict[str, Any]]:
    """Yield pairs of rows: a larger draft model with K and L alike, or K > 1 beside K = 1."""
    for (size, k, length), (larger, more, longer) in permutations(EFFICIENCIES, 2):
        grows, widens = larger > size and more == k, larger == size and more > 1 == k
        if length == longer and (grows or widens):
            yield {"before": (size, k, length), "after": (larger, more, longer)}


def efficiency_grows(before: tuple[int, int, int], after: tuple[int, int, int]) -> Number:
    """The block efficiency of the second row is larger."""
    return above(EFFICIENCIES[after], EFFICIENCIES[before], "block efficiency")


TREES = "n = 2, L <= 2, expansion factors <= 2"

CLAIMS = (
    Claim(
        "spectr.alg4a",
        "Algorithm 4, step 5, appendix D",
        "The sequences of Algorithm 4 are drawn from the small model.",
        over(drawing_cases, printed_leaves, TREES),
        printed=r"The text samples from the small model; step 5 from $M_b(\cdot | seq)$, the "
        "large one. Checked for the first sequence.",
        corrected=Corrected(
            r"With $M_s$ in step 5, and counted with multiplicity, each is drawn from $M_s$.",
            over(growing_cases, drawn_leaves, TREES),
        ),
    ),
    Claim(
        "spectr.alg4b",
        "Algorithm 4, step 6, appendix D",
        r"$S_L$ has $\prod_i k_i = K$ sequences.",
        over(growing_cases, set_has_k_leaves, TREES),
        printed=r"$S_{i+1} = S_{i+1} \cup \{(seq, X_i)\}$ is a union of sets.",
        corrected=Corrected(
            "It has K sequences if equal ones are kept.",
            over(growing_cases, multiset_has_k_leaves, TREES),
        ),
    ),
    Claim(
        "spectr.secD.a",
        "Section 7, below (7); appendix D",
        r"The construction (7) is the prefix tree with expansion factors $(K, 1, \dots, 1)$.",
        over(wide_cases, wide_tree_is_independent, "n = 2, L <= 3, K <= 3"),
        printed="The construction in (7) can be generalized to a prefix-tree based algorithm. "
        "Checked with M_s and multiplicity, see spectr.alg4a and spectr.alg4b.",
    ),
    Claim(
        "spectr.secD.b",
        "Appendix D with Theorem 2",
        "Algorithm 3 is lossless on the sequences of a prefix tree, which satisfy (8).",
        over(sharing_cases, leaves_to_algorithm_3, "n = 2, trees (1, 2) and (2, 2)"),
        printed="Section 7 offers the tree as another draft set for Algorithm 3; Theorem 2 asks "
        "for (8) only. Sequences of one node share their first tokens, so they are not "
        "independent.",
        corrected=Corrected(
            "It is lossless if each step selects among the children of all nodes that agree with "
            r"what is decoded, each child once: $k = m k_i$ independent drafts for m such nodes.",
            over(tree_cases, children_to_selection, TREES),
        ),
    ),
    Claim(
        "spectr.tab4",
        "Table 4, appendix E",
        "In Table 4 larger draft models have larger block efficiency for every K and L, and SpecTr "
        "has the best for all sizes of the draft model.",
        over_all(table_4_steps, efficiency_grows, "all pairs of rows that this compares"),
    ),
)
