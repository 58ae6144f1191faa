"""Section 7 and appendix D: algorithms 3 and 4, and theorem 2."""

from math import prod

from validation.claim import Severity, at_least, claim, corrected, equal
from validation.domains import mixed
from validation.models import models, prefixes
from validation.notation import ONE, ZERO, collect, normalized
from validation.spectr import sequences as sq
from validation.spectr.sequences import PLANS, continues_as_target, prefix_tree

SIZES = ((2, 1), (2, 2))
DRAFTING = mixed(models(SIZES).each(k=(1, 2), plan=PLANS),
                 models((*SIZES, (3, 1))).one(k=(1, 2, 3), plan=PLANS))  # fmt: skip
"""Models, L, K and the plan of step 1."""


def decoded(draft, target, length, k, plan, gather=tuple):
    """Return the law of what algorithm 3 decodes from the drafts of (7)."""
    drafts = sq.independent_drafts(draft, length, k)
    return sq.decoded(draft, target, PLANS[plan], drafts, gather=gather)


@claim("spectr.alg3", "Algorithm 3, section 7", models(((2, 2),)).each(k=(2,), plan=PLANS))
def sets_continue(target, **at):
    r"""Algorithm 3, with the drafts of (7) and a plan from a linear program or from Algorithm 2, is
    lossless.

    Printed: Step 11: let $S_{next} = \{z^{2:L} | z \in S, z(1) = Y\}$ be the set of sub-sequences;
    equal ones count once. (In step 2 the drafts are a multiset.)"""
    return continues_as_target(decoded(target=target, **at, gather=sq.as_set), target)


claim("spectr.sec7", "Section 7, below Algorithm 3", DRAFTING,
      r"The number of decoded tokens is in $[1, L + 1]$.")(
    lambda length, **at: min(min(at_least(len(y), ONE), at_least(length + ONE, len(y)))
                             for y in decoded(length=length, **at)))  # fmt: skip


@claim("spectr.eq8", "Equation (8), the assumption of Theorem 2",
       DRAFTING.where(lambda k, **_: k > 1))  # fmt: skip
def copies_continue(draft, target, length, k, plan):
    r"""Algorithm 3 is lossless for all drafts each of which is drawn from the small model.

    Printed: Assume all drafts in S are generated from the small model, more precisely
    $z(i) \sim M_s(\cdot | x^t, z^{i-1})$ for all $z \in S$ and i. Independence is not assumed;
    checked with K copies of one draft."""
    copies = {(z,) * k: mass for z, mass in draft.blocks(length).items()}
    return continues_as_target(sq.decoded(draft, target, PLANS[plan], copies), target)


@claim("spectr.thm2", "Theorem 2, section 7", DRAFTING)
def is_target_given_length(target, **at):
    r"""The output $Y^\tau$ of Algorithm 3 satisfies
    $\Pr(Y^{\tau_0} = o | \tau = \tau_0) = \prod_{i \le \tau_0} M_b(o(i) | x^t, o^{i-1})$ for all
    $\tau_0 \in [1, L + 1]$ and $o \in V^{\tau_0}$.

    Printed: Checked with independent drafts and multisets; see spectr.alg3 and spectr.eq8."""
    outputs = decoded(target=target, **at)
    for size in sorted(set(map(len, outputs))):
        given_size = {output: outputs.get(output, ZERO) for output in prefixes(target.n, size)}
        for o, found in zip(given_size, normalized([*given_size.values()]), strict=True):
            equal(found, target.mass(o), f"probability of {o}, given the length")
    return ZERO


@corrected("spectr.eq8", Severity.CONDITION, DRAFTING,
           "It is lossless for independent drafts, each drawn from the small model, as in "
           "(7).")  # fmt: skip
@corrected("spectr.alg3", Severity.WRONG, DRAFTING,
           r"It is lossless if $S_{next}$ is a multiset, as $S_z$ is in step 2.",
           explained="The plan is for the number of different drafts, but which drafts are equal "
           "depends on their tokens.")  # fmt: skip
@corrected("spectr.thm2", Severity.WRONG, DRAFTING)
def continues_exactly(target, **at):
    r"""Not given $\tau$, which depends on the tokens, but token by token: $\Pr(Y(i) = y | Y^{i-1},
    \tau \ge i) = M_b(y | x^t, Y^{i-1})$ for all i.

    Explained: Algorithm 3 stops at the first token that no draft has, so the number of tokens
    says which ones they are."""
    return continues_as_target(decoded(target=target, **at), target)


FACTORS = ((1,), (2,)), ((1, 1), (2, 1), (1, 2), (2, 2))
TREES = models(((2, 1), (2, 2))).each(factors=lambda length, **_: FACTORS[length - 1])
"""Models and expansion factors."""


def drawn_from(trees, model, leaves):
    """The first leaves are each distributed as a model's sequences."""
    for i in range(leaves):
        law = collect((drawn[i], mass) for drawn, mass in trees.items())
        for sequence in sorted(law | model.blocks(len(next(iter(law))))):
            equal(law.get(sequence, ZERO), model.mass(sequence), f"Pr(sequence {i} is {sequence})")
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
        set(map(len, prefix_tree(draft, factors, tuple))), {prod(factors)}, "sizes"))  # fmt: skip
claim("spectr.secD.a", "Section 7, below (7); appendix D",
      models(((2, 1), (2, 2), (2, 3), (3, 2))).each(k=(1, 2, 3)),
      r"The construction (7) is the prefix tree with expansion factors $(K, 1, \dots, 1)$.",
      printed="The construction in (7) can be generalized to a prefix-tree based algorithm. "
      "Checked with M_s and multiplicity, see spectr.alg4a and spectr.alg4b.")(
    lambda draft, length, k, **_: equal(prefix_tree(draft, (k, *(1,) * (length - 1)), tuple),
                                        sq.independent_drafts(draft, length, k)))  # fmt: skip


@corrected("spectr.secD.b", Severity.WRONG, TREES.each(plan=PLANS), as_tree=True)
@claim("spectr.secD.b", "Appendix D with Theorem 2",
       models(((2, 1),)).of(lambda draft, target, **_: {"draft": draft, "target": target}).each(
           factors=((1, 2), (2, 2)), plan=PLANS))  # fmt: skip
def leaves_are_drafts(draft, target, factors, plan, as_tree=False, **_):
    """Algorithm 3 is lossless on the sequences of a prefix tree, which satisfy (8).

    Printed: Section 7 offers the tree as another draft set for Algorithm 3; Theorem 2 asks for (8)
    only. Sequences of one node share their first tokens, so they are not independent.
    Corrected: It is lossless if each step selects among the children of all nodes that agree with
    what is decoded, each child once.
    Explained: Sequences below one node share its token, but Algorithm 3 counts it for each."""
    leaves, nodes = prefix_tree(draft, factors, tuple), factors if as_tree else ()
    return continues_as_target(sq.decoded(draft, target, PLANS[plan], leaves, nodes), target)
