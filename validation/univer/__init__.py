"""UniVer: trees verified by an optimal selection for a scaled target at each node, as we read it.

A node of weight w, the probability that it or something below it is to be kept, wants the target
(w M_b, 1 − w) of n + 1 tokens, of which the last says that the node is not kept. Its children are
selected by an optimal coupling of their draft law with that.
"""

from __future__ import annotations

from fractions import Fraction

from otspec.arithmetic import Number
from validation.verified_blocks import best_transport, common_prefix, same_law
from validation.models import LanguageModel, Prefix
from validation.claim import Claim, Corrected, at_least, equal
from validation.drafted import CHILDREN, Shape, depth, drafts, lossless, over_drafts, paths
from validation.drafted_instances import TREES, over_trees
from validation.notation import collect, mass_of, subsets
from validation.oracles import bound
from validation.traversal import CHAINS
from validation.tree_rules import optimal, rejection, scaled, top_down, traversal

ALL = ("iid", "distinct", "top plus one")
STARS = {(2, 1): ("1", "2", "3"), (3, 1): ("1", "2", "3")}
FEW = {(2, 1): ("1", "2"), (2, 2): ("1x1", "1x2", "2x1"), (3, 1): ("1", "2")}
BRANCHINGS = {
    size: tuple(tree for tree in trees if "[" not in tree) for size, trees in TREES.items()
}
UNEVEN = {(2, 2): ("[[]][]",)}
THREE = {(2, 3): ("1x2x1",)}
WEIGHTS = (Fraction(1), Fraction(3, 4), Fraction(1, 3), Fraction(0))


def _kept(target: LanguageModel, draft: LanguageModel, shape: Shape, children: str) -> Fraction:
    law = drafts(shape, draft, children)
    return over_drafts(scaled(optimal, children), target, draft, law).mean()


def _lossless(target: LanguageModel, draft: LanguageModel, shape: Shape, children: str) -> Number:
    law = drafts(shape, draft, children)
    kept = over_drafts(scaled(optimal, children), target, draft, law)
    return lossless(kept, target, depth(shape))


def _node(target: LanguageModel, draft: LanguageModel, shape: Shape, children: str) -> Number:
    table = CHILDREN[children](draft(()), len(shape))
    for weight in WEIGHTS:
        wanted = (*(weight * mass for mass in target(())), 1 - weight)
        found = sum(
            mass * sum(optimal(draft(()), wanted, drafted, children).chances)
            for drafted, mass in table.items()
        )
        tokens = subsets(target.n)
        least = min(bound(table, wanted, some) for some in tokens)
        equal(found, min(least, mass_of(wanted, range(target.n))), f"selected at weight {weight}")
    return Fraction(0)


def _chain(target: LanguageModel, draft: LanguageModel, shape: Shape, children: str) -> Number:
    law = drafts(shape, draft, children)
    found = over_drafts(scaled(optimal, children), target, draft, law)
    wanted = over_drafts(traversal(children), target, draft, law)
    return same_law(found.kept, wanted.kept, "what is kept")


def _above_rejection(
    target: LanguageModel, draft: LanguageModel, shape: Shape, children: str
) -> Number:
    law = drafts(shape, draft, children)
    token = over_drafts(top_down(rejection, children), target, draft, law).mean()
    kept = _kept(target, draft, shape, children)
    return at_least(kept, token, "kept, against recursive rejection from the root on")


def _above_traversal(
    target: LanguageModel, draft: LanguageModel, shape: Shape, children: str
) -> Number:
    law = drafts(shape, draft, children)
    other = over_drafts(traversal(children), target, draft, law).mean()
    return at_least(_kept(target, draft, shape, children), other, "kept, against Traversal")


def _above_top_down(
    target: LanguageModel, draft: LanguageModel, shape: Shape, children: str
) -> Number:
    law = drafts(shape, draft, children)
    token = over_drafts(top_down(optimal, children), target, draft, law).mean()
    kept = _kept(target, draft, shape, children)
    return at_least(kept, token, "kept, against the same selection from the root on")


def most(target: LanguageModel, draft: LanguageModel, shape: Shape, children: str) -> Fraction:
    """Return the most that any coupling of drafted trees with the target's text keeps."""
    law = drafts(shape, draft, children)
    sets = collect((tuple(sorted(set(paths(forest)))), mass) for forest, mass in law.items())
    numbers = {(number,): mass for number, mass in enumerate(sets.values())}
    drafted = list(sets)

    def value(number: Prefix, block: Prefix) -> int:
        return max(common_prefix((*path, -1), block) for path in drafted[number[0]])

    blocks = {(*text, -2): mass for text, mass in target.blocks(depth(shape)).items()}
    return best_transport(numbers, blocks, value)


def _optimum(target: LanguageModel, draft: LanguageModel, shape: Shape, children: str) -> Number:
    kept = _kept(target, draft, shape, children)
    return equal(kept, most(target, draft, shape, children), "kept, against the best coupling")


def _below_optimum(
    target: LanguageModel, draft: LanguageModel, shape: Shape, children: str
) -> Number:
    kept = _kept(target, draft, shape, children)
    best = most(target, draft, shape, children)
    if depth(shape) == 1:
        equal(kept, best, "kept of one level, against the best coupling")
    return at_least(best, kept, "the best coupling")


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "univer.lossless",
        "Losslessness",
        "It returns the law of the target's text, whichever way the children of a node are "
        "drafted.",
        over_trees(_lossless, ALL),
    ),
    Claim(
        "univer.node",
        "Optimal acceptance under the conditional framework",
        r"At a node of weight $w$ one of the children is selected with probability $\min_A w "
        r"M_b(A) + 1 - P(\text{all children in } A)$, the most that the scaled target and the "
        "draft law allow, if that is no more than $w$.",
        over_trees(_node, ALL, STARS, "n <= 3, k <= 3, weights 1, 3/4, 1/3, 0"),
    ),
    Claim(
        "univer.chain",
        "Single sequences",
        "Of a single path it keeps what block verification keeps, with the same probabilities.",
        over_trees(_chain, ("iid",), CHAINS, "n = 2, L <= 3; n = 3, L <= 2; one path"),
    ),
    Claim(
        "univer.better",
        "Comparison with recursive rejection, trees with one number of children for each depth",
        "It keeps at least as many tokens in expectation as recursive rejection, which goes from "
        "the root on, keeps of the same tree.",
        over_trees(_above_rejection, ("iid", "distinct"), BRANCHINGS),
    ),
    Claim(
        "univer.uneven",
        "The same, read of every tree",
        "It keeps at least as many tokens in expectation as recursive rejection, which goes from "
        "the root on, keeps of the same tree.",
        over_trees(_above_rejection, ("distinct",), UNEVEN, "n = 2, the tree [[]][]"),
        corrected=Corrected(
            "It keeps at least as many as the same optimal selection at each node from the root "
            "on: an optimum for one token does not look at what is drafted below.",
            over_trees(_above_top_down, ALL),
        ),
    ),
    Claim(
        "univer.traversal",
        "Comparison with Traversal Verification",
        "It keeps at least as many tokens in expectation as Traversal Verification of the same "
        "tree.",
        over_trees(_above_traversal, ("distinct",), THREE, "n = 2, the tree 1x2x1", enumerated=800),
        corrected=Corrected(
            "It does so of trees of one level.",
            over_trees(_above_traversal, ("iid", "distinct"), STARS, "n <= 3, L = 1, k <= 3"),
        ),
    ),
    Claim(
        "univer.best",
        "Optimal acceptance, read of the whole tree",
        "No coupling of the drafted tree with the target's text keeps more.",
        over_trees(_optimum, ("iid",), FEW, "n = 2, up to 4 nodes; n = 3, one level"),
        corrected=Corrected(
            "It keeps at most that, and exactly that of a tree of one level.",
            over_trees(_below_optimum, ALL, FEW, "n = 2, up to 4 nodes; n = 3, one level"),
        ),
    ),
)
