"""Traversal Verification of drafted trees, from the leaves to the root."""

from validation import drafted, gbv, verified_blocks
from validation import tree_rules as rules
from validation.block_algorithms import block_verify_one_token
from validation.claim import at_least, claim
from validation.drafted import trees

BOTH = trees("iid", "distinct")

claim("traversal.lossless", "Losslessness, children drawn without replacement", trees("distinct"),
      "Traversal Verification returns the law of the target's text.",
)(lambda **some: drafted.lossless(rules.traversal, **some))  # fmt: skip
claim("traversal.iid", "The same, trees of i.i.d. children", trees("iid"),
      "With the draft left as it is where a child is deleted, Traversal Verification returns the "
      "law of the target's text.",
)(lambda **some: drafted.lossless(rules.traversal, **some))  # fmt: skip


@claim("traversal.chain", "Single sequences", trees("iid", of=drafted.CHAINS))
def is_block_verification(draft, target, length, tree, **_):
    """Of a single path it keeps what block verification keeps, with the same probabilities; so it
    is optimal there."""
    found = drafted.ended(rules.traversal, draft, target, tree)
    single = drafted.one_path(block_verify_one_token, draft, target, length)
    verified_blocks.same_law(found.kept, single.kept, "what is kept")
    most = gbv.capped(target, draft.blocks(length), length)
    return at_least(found.mean(), most, "the optimum")


claim("traversal.better", "Comparison with token-level verification", BOTH,
      "It keeps at least as many tokens in expectation as recursive rejection, which goes from the "
      "root on, keeps of the same tree.",
)(lambda **some: drafted.keeps_more(rules.traversal, rules.REJECTION, **some))  # fmt: skip
claim("traversal.scaled", "Our reading beside UniVer", BOTH,
      "It is recursive rejection, at each node of weight $w$, for the target $(w M_b, 1 - w)$, "
      "whose last token says that the node is not kept.",
)(lambda **some: drafted.same(drafted.ended(rules.traversal, **some),
                               drafted.ended(rules.scaled(rules.rejection), **some)))  # fmt: skip
