"""Delayed trees: one path of L1 tokens, then K independent paths of L2 tokens."""

from itertools import pairwise

from validation import algorithms
from validation import tree_rules as rules
from validation.block_algorithms import block_verify_one_token, token_verify
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.domains import cases
from validation.drafted import keeps_more, kept, lossless, named, one_path, trees
from validation.model_domain import models
from validation.models import prefixes
from validation.notation import ONE, ZERO, iid, overlap, total
from validation.verified_blocks import least_chances

DELAYED = trees("iid", of={(2, 1): ("2", "3"), (2, 2): ("2x1", "1x2", "1x3", "3x1"),
                           (2, 3): ("1x2x1", "1x1x2", "1x1x3", "2x1x1"), (3, 1): ("2",),
                           (3, 2): ("1x2",)})  # fmt: skip
TOKEN_RULES = (rules.optimal, rules.rejection, rules.sequential, rules.naive)
RULES = {rule.__name__: rule for rule in TOKEN_RULES}
OF_RULES = DELAYED.one(rule=RULES)
OPTIMAL, REJECTION, _, NAIVE = map(rules.top_down, TOKEN_RULES)


@claim("delayed.lossless", "Losslessness", OF_RULES)
def from_the_root_on(rule, **drafting):
    """A rule for one token that is lossless, applied from the root on, returns the law of the
    target's text: recursive rejection, K-Seq, naive sampling, an optimal coupling."""
    return lossless(rules.top_down(RULES[rule]), **drafting)


def by_branches(rule, draft, target, shape, prefix=()):
    """Return 1 + the sum over the nodes of the products of the branching probabilities."""
    found = ONE
    for row, mass in iid(draft(prefix), len(shape)).items():
        chances, _ = rules.choice(rule, target(prefix), draft(prefix), row, "iid")
        for token, chance, below in zip(row, chances, shape, strict=True):
            if chance:
                further = by_branches(rule, draft, target, below, (*prefix, token))
                found += mass * chance * further
    return found


@claim("delayed.eq1", "Equations 1 to 3", OF_RULES)
def sum_over_nodes(draft, target, tree, rule, **_):
    r"""$E[\tau + 1]$ of a rule from the root on is the sum over the nodes of the tree of the
    product of the branching probabilities on the way to it."""
    found = by_branches(RULES[rule], draft, target, named(tree)) - 1
    return equal(kept(rules.top_down(RULES[rule]), draft=draft, target=target, tree=tree), found)


def rates(draft, target, length):
    """Return P(tau > l | tau >= l) of token verification of one path, as far as it may come."""
    law = one_path(token_verify, draft, target, length).kept
    reached = [total(m for text, m in law.items() if len(text) >= i) for i in range(length + 1)]
    return [more / less for less, more in pairwise(reached) if less]


@claim("delayed.depth", "Acceptance by depth", models())
def falls(**pair):
    """The probability that token verification accepts, given that it has come so far, falls with
    the depth.

    Printed: Measured on pairs of language models."""
    slacks = [at_least(a, b, "accepted, against the next") for a, b in pairwise(rates(**pair))]
    return min(slacks, default=None)


@corrected("delayed.depth", Severity.CONDITION, models())
def is_mean_overlap(draft, target, length):
    r"""It is the mean of $1 - d_{TV}(M_s(\cdot | x), M_b(\cdot | x))$ over the accepted texts x,
    whose law is in proportion to $\prod_i \min(M_s(x_i | x^{i-1}), M_b(x_i | x^{i-1}))$, and falls
    where the models grow apart on them."""
    for depth, rate in enumerate(rates(draft, target, length)):
        weights = {x: least_chances(target, draft, x) for x in prefixes(target.n, depth)}
        mean = total(w * overlap(draft(x), target(x)) for x, w in weights.items())
        equal(rate * total(weights.values()), mean, f"accepted after {depth} tokens")
    return ZERO


SHALLOW = models([(2, 2)])
AGREEING = SHALLOW.where(lambda draft, target, **_: draft(()) == target(()))


@corrected("delayed.late", Severity.CONDITION, AGREEING,
           "It does so if both models agree about the first token.")  # fmt: skip
@claim("delayed.late", "Late branching at the same budget", SHALLOW)
def late_is_better(**pair):
    """A rule from the root on keeps at least as many tokens where the path branches late as where
    it branches at the root, of as many drafted tokens: recursive rejection of 1x3, against 2x1.

    Printed: Measured; argued from acceptance that falls with the depth."""
    late, early = kept(REJECTION, tree="1x3", **pair), kept(REJECTION, tree="2x1", **pair)
    return at_least(late, early, "kept of 1x3, not 2x1")


@corrected("delayed.dominates", Severity.CONDITION, DELAYED.one(rule=["rejection", "naive"]),
           "It keeps at least as many as recursive rejection and naive sampling do.")  # fmt: skip
@claim("delayed.dominates", "Traversal Verification and rules from the root on",
       DELAYED.each(rule=RULES))  # fmt: skip
def traversal_dominates(rule, **drafting):
    """Traversal Verification keeps at least as many tokens as every rule from the root on."""
    return keeps_more(rules.traversal, rules.top_down(RULES[rule]), **drafting)


@claim("delayed.spectr", "Ranking: SpecTr (4.61), SpecInfer (4.58)", cases(3, (2, 3), random_n=4))
def sequential_above_rejection(draft, target, k):
    r"""K-Seq with the least $\rho$ accepts at least as often as recursive rejection.

    Printed: Block efficiencies, measured."""
    low, _ = rules.least_inflation(draft, target, k)
    most = 1 - (1 - algorithms.beta(draft, target, low)) ** k
    rejected = algorithms.ran_iid(algorithms.rejection, draft, target, k).accepted()
    return at_least(most, rejected, "K-Seq accepts at most, against recursive rejection")


@claim("delayed.most", "Rules from the root on", DELAYED.one(rule=list(RULES)[1:]))
def below_optimal(rule, **drafting):
    """K-Seq, recursive rejection and naive sampling keep at most what an optimal coupling at each
    node keeps of the same tree."""
    return keeps_more(OPTIMAL, rules.top_down(RULES[rule]), **drafting)


@claim("delayed.khisti", "Ranking: Khisti (4.41), block verification (4.30)", DELAYED)
def tree_above_block(**drafting):
    """An optimal coupling at each node of a tree keeps at least as many tokens as block
    verification keeps of one path of the same depth.

    Printed: Block efficiencies, measured. Khisti's is one of the optimal couplings for two drafts.
    """
    single = one_path(block_verify_one_token, **drafting).mean()
    return at_least(kept(OPTIMAL, **drafting), single, "an optimal coupling at each node")


@corrected("delayed.khisti", Severity.CONDITION, DELAYED)
def tree_above_token(**drafting):
    """It keeps at least as many as token verification keeps of one path of the same depth."""
    single = one_path(token_verify, **drafting).mean()
    return at_least(kept(OPTIMAL, **drafting), single, "an optimal coupling at each node")


@claim("delayed.naive", "Ranking: block verification (4.30), naive sampling (4.05)", models())
def block_above_naive(length, **pair):
    """Block verification keeps at least as many tokens of one path as naive sampling.

    Printed: Block efficiencies, measured."""
    single = one_path(block_verify_one_token, length=length, **pair).mean()
    return at_least(single, kept(NAIVE, tree="x".join("1" * length), **pair), "one path")
