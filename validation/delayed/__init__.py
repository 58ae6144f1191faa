"""Delayed trees: one path of L1 tokens, then K independent paths of L2 tokens."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from otspec.arithmetic import Number
from validation.block.comparison import token_mean
from validation.verified_blocks import outcomes
from validation.models import LanguageModel, Prefix
from validation.block_algorithms import block_verify_one_token
from validation.checks import over_cases
from validation.claim import Check, Claim, Corrected, at_least, equal
from validation.drafted import Shape, branching, depth, drafts, lossless, over_drafts
from validation.drafted_instances import OnTrees, over_trees
from validation.instances import Exact
from validation.notation import ONE, ZERO, iid, total
from validation.tree_rules import (
    TokenRule,
    common_and_rest,
    least_inflation,
    naive,
    optimal,
    rejection,
    sequential,
    top_down,
    traversal,
)

DELAYED = {
    (2, 1): ("2", "3"),
    (2, 2): ("2x1", "1x2", "1x3", "3x1"),
    (2, 3): ("1x2x1", "1x1x2", "1x1x3", "2x1x1"),
    (3, 1): ("2",),
    (3, 2): ("1x2",),
}
SCOPE = "n = 2, trees of up to 6 nodes, L <= 3; n = 3, up to 3 nodes"
TOP_DOWN: dict[str, TokenRule] = {
    "recursive rejection": rejection,
    "K-Seq": sequential,
    "naive sampling": naive,
    "an optimal coupling": optimal,
}


def _kept(rule: TokenRule, target: LanguageModel, draft: LanguageModel, shape: Shape) -> Fraction:
    return over_drafts(top_down(rule), target, draft, drafts(shape, draft)).mean()


def _lossless(target: LanguageModel, draft: LanguageModel, shape: Shape, children: str) -> Number:
    law = drafts(shape, draft, children)
    for rule in TOP_DOWN.values():
        lossless(over_drafts(top_down(rule), target, draft, law), target, depth(shape))
    return ZERO


def _by_branches(
    rule: TokenRule, target: LanguageModel, draft: LanguageModel, shape: Shape, prefix: Prefix = ()
) -> Fraction:
    """Return 1 + the sum over the nodes of the products of the branching probabilities."""
    found = ONE
    for tokens, mass in drafts(branching(len(shape)), draft.after(prefix)).items():
        row = tuple(token for token, _ in tokens)
        chances = rule(draft(prefix), target(prefix), row, "iid").chances
        for token, chance, below in zip(row, chances, shape, strict=True):
            if mass * chance:
                longer = (*prefix, token)
                found += mass * chance * _by_branches(rule, target, draft, below, longer)
    return found


def _formula(target: LanguageModel, draft: LanguageModel, shape: Shape, children: str) -> Number:
    del children
    for name, rule in TOP_DOWN.items():
        found = _by_branches(rule, target, draft, shape)
        equal(_kept(rule, target, draft, shape) + 1, found, f"E[tau + 1] of {name}")
    return ZERO


def _late(target: LanguageModel, draft: LanguageModel, shape: Shape, children: str) -> Number:
    """Compare 1x3 with 2x1, which have as many nodes."""
    del shape, children
    late = _kept(rejection, target, draft, branching(1, 3))
    return at_least(late, _kept(rejection, target, draft, branching(2, 1)), "kept of 1x3, not 2x1")


def _late_where_equal(
    target: LanguageModel, draft: LanguageModel, shape: Shape, children: str
) -> Number | None:
    return _late(target, draft, shape, children) if target(()) == draft(()) else None


def _depths(target: LanguageModel, draft: LanguageModel, length: int) -> list[Fraction]:
    """Return P(tau >= l) of token verification of one path, from l = 0."""
    kept = [ONE]
    for more in range(1, length + 1):
        kept.append(token_mean(target, draft, more) - total(kept[1:]))
    return kept


def _falls(target: LanguageModel, draft: LanguageModel, shape: Shape, children: str) -> Number:
    del children
    kept = _depths(target, draft, depth(shape))
    rates = [more / less for less, more in pairwise(kept) if less]
    return min(
        (at_least(a, b, "accepted at a depth, against the next") for a, b in pairwise(rates)),
        default=ZERO,
    )


def _reached(target: LanguageModel, draft: LanguageModel, shape: Shape, children: str) -> Number:
    del children
    kept = _depths(target, draft, depth(shape))
    return min(at_least(a, b, "P(tau >= l)") for a, b in pairwise(kept))


def _dominates(target: LanguageModel, draft: LanguageModel, shape: Shape, children: str) -> Number:
    del children
    best = over_drafts(traversal(), target, draft, drafts(shape, draft)).mean()
    return min(
        at_least(best, _kept(rule, target, draft, shape), f"Traversal against {name}")
        for name, rule in TOP_DOWN.items()
    )


def _dominates_rejection(
    target: LanguageModel, draft: LanguageModel, shape: Shape, children: str
) -> Number:
    best = over_drafts(traversal(), target, draft, drafts(shape, draft, children)).mean()
    return min(
        at_least(best, _kept(rule, target, draft, shape), "Traversal")
        for rule in (rejection, naive)
    )


def _spectr(draft: Exact, target: Exact, k: int) -> Number:
    """Compare the acceptance of K-Seq, at most, with that of recursive rejection, of k drafts."""
    low, _ = least_inflation(draft, target, k)
    most = 1 - (1 - total(common_and_rest(draft, target, k, low)[0])) ** k
    rejected = sum(
        mass * total(rejection(draft, target, drafted, "iid").chances)
        for drafted, mass in iid(draft, k).items()
    )
    return at_least(most, rejected, "K-Seq accepts at most, against recursive rejection")


def _below_optimal(
    target: LanguageModel, draft: LanguageModel, shape: Shape, children: str
) -> Number:
    del children
    best = _kept(optimal, target, draft, shape)
    return min(
        at_least(best, _kept(rule, target, draft, shape), "an optimal coupling at each node")
        for rule in (sequential, rejection, naive)
    )


def _paths_above_block(
    target: LanguageModel, draft: LanguageModel, shape: Shape, children: str
) -> Number:
    del children
    single = outcomes(block_verify_one_token, target, draft, depth(shape)).mean_accepted()
    return at_least(
        _kept(optimal, target, draft, shape), single, "an optimal coupling at each node"
    )


def _paths_above_token(
    target: LanguageModel, draft: LanguageModel, shape: Shape, children: str
) -> Number:
    del children
    single = token_mean(target, draft, depth(shape))
    return at_least(
        _kept(optimal, target, draft, shape), single, "an optimal coupling at each node"
    )


def _block_above_naive(
    target: LanguageModel, draft: LanguageModel, shape: Shape, children: str
) -> Number:
    del children
    length = depth(shape)
    single = outcomes(block_verify_one_token, target, draft, length).mean_accepted()
    return at_least(single, _kept(naive, target, draft, branching(*(1,) * length)), "one path")


def over(slack: OnTrees, trees: dict[tuple[int, int], tuple[str, ...]] = DELAYED) -> Check:
    """Return a check over delayed trees of i.i.d. children."""
    return over_trees(slack, ("iid",), trees, SCOPE if trees is DELAYED else "n = 2, L = 2")


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "delayed.lossless",
        "Losslessness",
        "A rule for one token that is lossless, applied from the root on, returns the law of the "
        "target's text: recursive rejection, K-Seq, naive sampling, an optimal coupling.",
        over(_lossless),
    ),
    Claim(
        "delayed.eq1",
        "Equations 1 to 3",
        r"$E[\tau + 1]$ of a rule from the root on is the sum over the nodes of the tree of the "
        "product of the branching probabilities on the way to it.",
        over(_formula),
    ),
    Claim(
        "delayed.depth",
        "Acceptance by depth",
        "The probability that token verification accepts, given that it has come so far, falls "
        "with the depth.",
        over(_falls),
        printed="Measured on pairs of language models.",
        corrected=Corrected(
            r"$P(\tau \ge \ell)$ falls with $\ell$.",
            over(_reached),
        ),
    ),
    Claim(
        "delayed.late",
        "Late branching at the same budget",
        "A rule from the root on keeps at least as many tokens where the path branches late as "
        "where it branches at the root, of as many drafted tokens: recursive rejection of 1x3, "
        "against 2x1.",
        over(_late, {(2, 2): ("1x3",)}),
        printed="Measured; argued from acceptance that falls with the depth.",
        corrected=Corrected(
            "It does so if both models agree about the first token.",
            over(_late_where_equal, {(2, 2): ("1x3",)}),
        ),
    ),
    Claim(
        "delayed.dominates",
        "Traversal Verification and rules from the root on",
        "Traversal Verification keeps at least as many tokens as every rule from the root on.",
        over(_dominates),
        corrected=Corrected(
            "It keeps at least as many as recursive rejection (SpecInfer) and naive sampling from"
            " the root on.",
            over(_dominates_rejection),
        ),
    ),
    Claim(
        "delayed.spectr",
        "Ranking: SpecTr (4.61), SpecInfer (4.58)",
        r"K-Seq with the least $\rho$ accepts at least as often as recursive rejection.",
        over_cases(_spectr, (2, 3), 3, scope="n <= {n}, k <= {most}; rho within 1/1024"),
        printed="Block efficiencies, measured.",
    ),
    Claim(
        "delayed.most",
        "Rules from the root on",
        "K-Seq, recursive rejection and naive sampling keep at most what an optimal coupling at "
        "each node keeps of the same tree.",
        over(_below_optimal),
    ),
    Claim(
        "delayed.khisti",
        "Ranking: Khisti (4.41), block verification (4.30)",
        "An optimal coupling at each node of a tree keeps at least as many tokens as block "
        "verification keeps of one path of the same depth.",
        over(_paths_above_block),
        printed="Block efficiencies, measured. Khisti's is one of the optimal couplings for two "
        "drafts.",
        corrected=Corrected(
            "It keeps at least as many as token verification keeps of one path of the same depth.",
            over(_paths_above_token),
        ),
    ),
    Claim(
        "delayed.naive",
        "Ranking: block verification (4.30), naive sampling (4.05)",
        "Block verification keeps at least as many tokens of one path as naive sampling.",
        over(_block_above_naive),
        printed="Block efficiencies, measured.",
    ),
)
