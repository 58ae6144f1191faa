"""Traversal Verification of drafted trees, from the leaves to the root."""

from __future__ import annotations

from otspec.arithmetic import Number
from validation.verified_blocks import outcomes, same_law
from validation.models import LanguageModel
from validation.block_algorithms import block_verify_one_token
from validation.claim import Claim, at_least
from validation.drafted import Shape, depth, drafts, lossless, over_drafts
from validation.drafted_instances import over_trees
from validation.gbv.programs import capped
from validation.notation import collect
from validation.tree_rules import rejection, scaled, top_down, traversal

CHAINS = {(2, 1): ("1",), (2, 2): ("1x1",), (2, 3): ("1x1x1",), (3, 1): ("1",), (3, 2): ("1x1",)}


def _lossless(target: LanguageModel, draft: LanguageModel, shape: Shape, children: str) -> Number:
    law = drafts(shape, draft, children)
    kept = over_drafts(traversal(children), target, draft, law)
    return lossless(kept, target, depth(shape))


def _chain(target: LanguageModel, draft: LanguageModel, shape: Shape, children: str) -> Number:
    length = depth(shape)
    kept = over_drafts(traversal(children), target, draft, drafts(shape, draft, children))
    single = outcomes(block_verify_one_token, target, draft, length)
    found = collect((text, mass) for text, mass in kept.kept.items())
    # Outcomes of one path go on to the end of the block: each counts as what was kept of it.
    wanted = collect((each.draft[: each.accepted], each.mass) for each in single)
    same_law(found, wanted, "what is kept")
    return at_least(kept.mean(), capped(target, draft.blocks(length), length), "the optimum")


def _better(target: LanguageModel, draft: LanguageModel, shape: Shape, children: str) -> Number:
    law = drafts(shape, draft, children)
    kept = over_drafts(traversal(children), target, draft, law).mean()
    token = over_drafts(top_down(rejection, children), target, draft, law).mean()
    return at_least(kept, token, "kept, against recursive rejection from the root on")


def _as_scaled(target: LanguageModel, draft: LanguageModel, shape: Shape, children: str) -> Number:
    law = drafts(shape, draft, children)
    kept = over_drafts(traversal(children), target, draft, law)
    other = over_drafts(scaled(rejection, children), target, draft, law)
    same_law(kept.kept, other.kept, "what is kept")
    return same_law(kept.released, other.released, "what is kept and the token after it")


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "traversal.lossless",
        "Losslessness, trees whose children are drawn without replacement",
        "Traversal Verification returns the law of the target's text.",
        over_trees(_lossless, ("distinct",)),
    ),
    Claim(
        "traversal.iid",
        "The same, trees of i.i.d. children",
        "Traversal Verification, with the draft left as it is where a child is deleted, returns "
        "the law of the target's text.",
        over_trees(_lossless, ("iid",)),
    ),
    Claim(
        "traversal.chain",
        "Single sequences",
        "Of a single path it keeps what block verification keeps, with the same probabilities; so"
        " it is optimal there.",
        over_trees(_chain, ("iid",), CHAINS, "n = 2, L <= 3; n = 3, L <= 2; one path"),
    ),
    Claim(
        "traversal.better",
        "Comparison with token-level verification",
        "It keeps at least as many tokens in expectation as recursive rejection, which goes from "
        "the root on, keeps of the same tree.",
        over_trees(_better),
    ),
    Claim(
        "traversal.scaled",
        "Our reading beside UniVer",
        "It is recursive rejection, at each node of weight $w$, for the target $(w M_b, 1 - w)$, "
        "whose last token says that the node is not kept.",
        over_trees(_as_scaled),
    ),
)
