"""UniVer: trees verified by an optimal selection for a scaled target at each node, as we read it.

A node of weight w, the probability that it or something below it is to be kept, wants the target
(w M_b, 1 − w) of n + 1 tokens, of which the last says that the node is not kept. Its children are
selected by an optimal coupling of their draft law with that.
"""

from validation import drafted, notation, verified_blocks
from validation import tree_rules as rules
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.domains import exact, pairs
from validation.drafted import best_kept, kept, trees
from validation.models import memoryless
from validation.oracles import bound

WAYS = ("iid", "distinct", "top plus one")
STARS = {(2, 1): ("1", "2", "3"), (3, 1): ("1", "2", "3")}
FEW = {(2, 1): ("1", "2"), (2, 2): ("1x1", "1x2", "2x1"), (3, 1): ("1", "2")}
EVEN = {size: [tree for tree in some if "[" not in tree] for size, some in drafted.TREES.items()}
NODES = trees(*WAYS, of=STARS).one(weight=exact(1, "3/4", "1/3", 0))
MEMORYLESS = (
    pairs(2, 2)
    .where(lambda draft, **_: all(draft))
    .of(lambda **pair: {name: memoryless(row) for name, row in pair.items()})
)
UNIVER = rules.scaled(rules.optimal)


@claim("univer.lossless", "Losslessness", trees(*WAYS))
def returns_the_law(**drafting):
    """It returns the law of the target's text, whichever way the children of a node are drafted."""
    return drafted.lossless(UNIVER, **drafting)


@claim("univer.node", "Optimal acceptance under the conditional framework", NODES)
def selects_the_most(draft, target, tree, children, weight, **_):
    r"""At a node of weight $w$ one of the children is selected with probability $\min_A w M_b(A) +
    1 - P(\text{all children in } A)$, the most that the scaled target and the draft law allow."""
    p, wanted = draft(()), (*(weight * mass for mass in target(())), 1 - weight)
    table = drafted.CHILDREN[children](p, int(tree))
    found = sum(
        mass * sum(rules.choice(rules.optimal, wanted, p, x, children)[0])
        for x, mass in table.items()
    )
    least = min(bound(table, wanted, some) for some in notation.subsets(target.n))
    return equal(found, least, "selected")


@claim("univer.chain", "Single sequences", trees("iid", of=drafted.CHAINS))
def is_block_verification(**drafting):
    """Of a single path it keeps what block verification keeps, with the same probabilities."""
    found, wanted = (drafted.ended(each, **drafting).kept for each in (UNIVER, rules.traversal))
    return verified_blocks.same_law(found, wanted, "what is kept")


@claim("univer.uneven", "The same, read of every tree", trees("distinct", of={(2, 2): ["[[]][]"]}))
@claim("univer.better", "Comparison with recursive rejection, one number of children per depth",
       trees("iid", "distinct", of=EVEN))  # fmt: skip
def above_rejection(**drafting):
    """It keeps at least as many tokens in expectation as recursive rejection, which goes from the
    root on, keeps of the same tree."""
    return drafted.keeps_more(UNIVER, rules.top_down(rules.rejection), **drafting)


@corrected("univer.uneven", Severity.CONDITION, trees(*WAYS, of=EVEN))
def above_the_same_from_the_root(**drafting):
    """With one number of children for each depth it does, and keeps at least as many as the same
    optimal selection at each node from the root on; an optimum for one token does not look at what
    is drafted below."""
    return drafted.keeps_more(UNIVER, rules.top_down(rules.optimal), **drafting)


@corrected("univer.traversal", Severity.CONDITION, trees("iid", "distinct", of=STARS),
           "It does so of trees of one level.")  # fmt: skip
@claim("univer.traversal", "Comparison with Traversal Verification",
       MEMORYLESS.one(length=[3], tree=["1x2x1"], children=["distinct"]))  # fmt: skip
def above_traversal(**drafting):
    """It keeps at least as many tokens in expectation as Traversal Verification of the same
    tree."""
    return drafted.keeps_more(UNIVER, rules.traversal, **drafting)


@claim("univer.best", "Optimal acceptance, read of the whole tree", trees("iid", of=FEW))
def is_best(**drafting):
    """No coupling of the drafted tree with the target's text keeps more."""
    return equal(kept(UNIVER, **drafting), best_kept(**drafting), "kept, against the best coupling")


@corrected("univer.best", Severity.CONDITION, trees(*WAYS, of=FEW))
def is_best_of_one_level(length, **drafting):
    """It keeps at most that, and exactly that of a tree of one level."""
    check = equal if length == 1 else at_least
    return check(best_kept(**drafting), kept(UNIVER, **drafting), "the best coupling")
