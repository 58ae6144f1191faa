"""Traversal Verification of drafted trees, from the leaves to the root."""

from validation import drafted, verified_blocks
from validation import tree_rules as rules
from validation.block_algorithms import block_verify_one_token
from validation.claim import at_least, claim
from validation.drafted import trees
from validation.path_programs import capped


@claim("traversal.iid", "The same, trees of i.i.d. children", trees("iid"),
       "With the draft left as it is where a child is deleted, Traversal Verification returns the "
       "law of the target's text.")  # fmt: skip
@claim("traversal.lossless", "Losslessness, children drawn without replacement", trees("distinct"))
def returns_the_law(**drafting):
    """Traversal Verification returns the law of the target's text."""
    return drafted.lossless(rules.traversal, **drafting)


@claim("traversal.chain", "Single sequences", trees("iid", of=drafted.CHAINS))
def is_block_verification(draft, target, length, tree, **_):
    """Of a single path it keeps what block verification keeps, with the same probabilities; so it
    is optimal there."""
    found = drafted.ended(rules.traversal, draft, target, tree)
    single = drafted.one_path(block_verify_one_token, draft, target, length)
    verified_blocks.same_law(found.kept, single.kept, "what is kept")
    return at_least(found.mean(), capped(target, draft.blocks(length), length), "the optimum")


@claim("traversal.better", "Comparison with token-level verification", trees("iid", "distinct"))
def above_token_level(**drafting):
    """It keeps at least as many tokens in expectation as recursive rejection, which goes from the
    root on, keeps of the same tree."""
    return drafted.keeps_more(rules.traversal, rules.top_down(rules.rejection), **drafting)


@claim("traversal.scaled", "Our reading beside UniVer", trees("iid", "distinct"))
def is_scaled_rejection(**drafting):
    """It is recursive rejection, at each node of weight $w$, for the target $(w M_b, 1 - w)$, whose
    last token says that the node is not kept."""
    found, other = (
        drafted.ended(verifier, **drafting)
        for verifier in (rules.traversal, rules.scaled(rules.rejection))
    )
    verified_blocks.same_law(found.kept, other.kept, "what is kept")
    return verified_blocks.same_law(found.released, other.released, "and the token after it")
