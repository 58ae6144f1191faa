"""UniVer: trees verified by an optimal selection for a scaled target at each node, as we read it.

A node of weight w, the probability that it or something below it is to be kept, wants the target
(w M_b, 1 − w) of n + 1 tokens, of which the last says that the node is not kept. Its children are
selected by an optimal coupling of their draft law with that."""

from validation import drafted, models, notation, oracles
from validation import tree_rules as rules
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.domains import exact, pairs
from validation.drafted import ended, keeps_more, trees

WAYS = ("iid", "distinct", "top plus one")
STARS = {(2, 1): ("1", "2", "3"), (3, 1): ("1", "2", "3")}
FEW = {(2, 1): ("1", "2"), (2, 2): ("1x1", "1x2", "2x1"), (3, 1): ("1", "2")}
EVEN = {size: [tree for tree in some if "[" not in tree] for size, some in drafted.TREES.items()}
NODES = trees(*WAYS, of=STARS).one(weight=exact(1, "3/4", "1/3", 0))
MEMORYLESS = pairs(2, 2).where(lambda draft, **_: all(draft)).of(
    lambda **pair: {name: models.memoryless(row) for name, row in pair.items()})  # fmt: skip
UNIVER = rules.scaled(rules.optimal)

claim("univer.lossless", "Losslessness", trees(*WAYS),
      "It returns the law of the target's text, whichever way the children of a node are drafted.",
)(lambda **some: drafted.lossless(UNIVER, **some))  # fmt: skip


@claim("univer.node", "Optimal acceptance under the conditional framework", NODES)
def selects_the_most(draft, target, tree, children, weight, **_):
    r"""At a node of weight $w$ one of the children is selected with probability $\min_A w M_b(A) +
    1 - P(\text{all children in } A)$, the most that the scaled target and the draft law allow."""
    p, wanted = draft(()), (*(weight * mass for mass in target(())), 1 - weight)
    table = drafted.CHILDREN[children](p, int(tree))
    found = sum(mass * sum(rules.choice(rules.optimal, wanted, p, x, children)[0])
                for x, mass in table.items())  # fmt: skip
    least = min(oracles.bound(table, wanted, some) for some in notation.subsets(target.n))
    return equal(found, least, "selected")


claim("univer.chain", "Single sequences", trees("iid", of=drafted.CHAINS),
      "Of a single path it keeps what block verification keeps, with the same probabilities.",
)(lambda **x: drafted.same(ended(UNIVER, **x), ended(rules.traversal, **x)))  # fmt: skip


@claim("univer.uneven", "The same, read of every tree", trees("distinct", of={(2, 2): ["[[]][]"]}))
@claim("univer.better", "Comparison with recursive rejection, one number of children per depth",
       trees("iid", "distinct", of=EVEN))  # fmt: skip
def above_rejection(**drafting):
    """It keeps at least as many tokens in expectation as recursive rejection, which goes from the
    root on, keeps of the same tree."""
    return keeps_more(UNIVER, rules.REJECTION, **drafting)


corrected("univer.uneven", Severity.CONDITION, trees(*WAYS, of=EVEN),
          "It does with one number of children for each depth.",
)(lambda **some: keeps_more(UNIVER, rules.OPTIMAL, **some))  # fmt: skip


@corrected("univer.traversal", Severity.CONDITION, trees("iid", "distinct", of=STARS),
           "It does so of trees of one level.")  # fmt: skip
@claim("univer.traversal", "Comparison with Traversal Verification",
       MEMORYLESS.one(length=[3], tree=["1x2x1"], children=["distinct"]))  # fmt: skip
def above_traversal(**drafting):
    """It keeps at least as many tokens in expectation as Traversal Verification of the same
    tree."""
    return keeps_more(UNIVER, rules.traversal, **drafting)


@corrected("univer.best", Severity.CONDITION, trees(*WAYS, of=FEW), deepest=1)
@claim("univer.best", "Optimal acceptance, read of the whole tree", trees("iid", of=FEW))
def is_best(length, deepest=9, **drafting):
    """No coupling of the drafted tree with the target's text keeps more.
    Corrected: It keeps at most that, and exactly that of a tree of one level."""
    most, found = drafted.best_kept(**drafting), drafted.kept(UNIVER, **drafting)
    if length <= deepest:
        return equal(found, most, "kept, against the best coupling")
    return at_least(most, found, "the best coupling")
