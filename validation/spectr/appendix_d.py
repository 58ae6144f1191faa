"""Appendix D: drafts from a prefix tree."""

from math import prod

from validation.claim import Severity, claim, corrected, equal
from validation.model_domain import models
from validation.notation import ZERO, collect
from validation.spectr import sequences as sq
from validation.spectr.sequences import PLANS, continues_as_target, prefix_tree

FACTORS = ((1,), (2,)), ((1, 1), (2, 1), (1, 2), (2, 2))
TREES = models(((2, 1), (2, 2))).each(factors=lambda length, **_: FACTORS[length - 1])
"""Models and expansion factors."""


def drawn_from(trees, model, leaves):
    """The first leaves are each distributed as a model's sequences."""
    for i in range(leaves):
        law = collect((drawn[i], mass) for drawn, mass in trees.items())
        for sequence in sorted(law | model.blocks(len(next(iter(law))))):
            what = f"probability that sequence {i} is {sequence}"
            equal(law.get(sequence, ZERO), model.mass(sequence), what)
    return ZERO


claim("spectr.alg4a", "Algorithm 4, step 5, appendix D", TREES,
      "The sequences of Algorithm 4 are drawn from the small model.",
      printed=r"The text samples from the small model; step 5 from $M_b(\cdot | seq)$, the large "
      "one. Checked for the first sequence.")(
    lambda draft, target, factors, **_: drawn_from(prefix_tree(target, factors), draft, 1)
)  # fmt: skip
corrected("spectr.alg4a", Severity.MISPRINT, TREES,
          "With $M_s$ in step 5, and counted with multiplicity, each is drawn from $M_s$.")(
    lambda draft, factors, **_: drawn_from(
        prefix_tree(draft, factors, tuple), draft, prod(factors)))  # fmt: skip
claim("spectr.alg4b", "Algorithm 4, step 6, appendix D", TREES,
      r"$S_L$ has $\prod_i k_i = K$ sequences.",
      printed=r"$S_{i+1} = S_{i+1} \cup \{(seq, X_i)\}$ is a union of sets.")(
    lambda draft, factors, **_: equal(
        set(map(len, prefix_tree(draft, factors))), {prod(factors)}, "sizes of S_L"))  # fmt: skip
corrected("spectr.alg4b", Severity.CONDITION, TREES, "It has K sequences if equal ones are kept.")(
    lambda draft, factors, **_: equal(
        set(map(len, prefix_tree(draft, factors, tuple))), {prod(factors)}, "sizes of S_L")
)  # fmt: skip


@claim("spectr.secD.a", "Section 7, below (7); appendix D",
       models(((2, 1), (2, 2), (2, 3), (3, 2))).each(k=(1, 2, 3)))  # fmt: skip
def wide_tree_is_independent(draft, length, k, **_):
    r"""The construction (7) is the prefix tree with expansion factors $(K, 1, \dots, 1)$.

    Printed: The construction in (7) can be generalized to a prefix-tree based algorithm. Checked
    with M_s and multiplicity, see spectr.alg4a and spectr.alg4b."""
    grown = prefix_tree(draft, (k, *(1,) * (length - 1)), tuple)
    return equal(grown, sq.independent_drafts(draft, length, k), "law of the drafts")


@claim("spectr.secD.b", "Appendix D with Theorem 2",
       models(((2, 1),)).of(lambda draft, target, **_: {"draft": draft, "target": target}).each(
           factors=((1, 2), (2, 2)), plan=PLANS))  # fmt: skip
def leaves_to_algorithm_3(draft, target, factors, plan, **_):
    """Algorithm 3 is lossless on the sequences of a prefix tree, which satisfy (8).

    Printed: Section 7 offers the tree as another draft set for Algorithm 3; Theorem 2 asks for (8)
    only. Sequences of one node share their first tokens, so they are not independent."""
    leaves = prefix_tree(draft, factors, tuple)
    return continues_as_target(sq.decoded(draft, target, PLANS[plan], leaves), target)


@corrected("spectr.secD.b", Severity.WRONG, TREES.each(plan=PLANS))
def children_to_selection(draft, target, factors, plan, **_):
    """It is lossless if each step selects among the children of all nodes that agree with what is
    decoded, each child once: $k = m k_i$ independent drafts for m such nodes.

    Explained: Sequences below one node share its token, which Algorithm 3 counts once for each of
    them, as if it had been drawn as often. Select among the children of the nodes instead, each
    counted once."""
    leaves = prefix_tree(draft, factors, tuple)
    return continues_as_target(sq.decoded(draft, target, PLANS[plan], leaves, factors), target)
