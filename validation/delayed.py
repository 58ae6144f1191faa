"""Delayed trees: one path of L1 tokens, then K independent paths of L2 tokens."""

from itertools import pairwise

from validation import algorithms, verified_blocks
from validation import tree_rules as rules
from validation.block_algorithms import block_verify_one_token, token_verify
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.domains import cases
from validation.drafted import keeps_more, kept, lossless, named, one_path, trees
from validation.models import models, prefixes
from validation.notation import ONE, ZERO, iid, overlap, total

DELAYED = trees("iid", of={(2, 1): ("2", "3"), (2, 2): ("2x1", "1x2", "1x3", "3x1"),
                           (2, 3): ("1x2x1", "1x1x2", "1x1x3", "2x1x1"), (3, 1): ("2",),
                           (3, 2): ("1x2",)})  # fmt: skip
RULES = {name: getattr(rules, name) for name in ("optimal", "rejection", "sequential", "naive")}
TOP_DOWN = {name: rules.top_down(rule) for name, rule in RULES.items()}

claim("delayed.lossless", "Losslessness", DELAYED.one(rule=RULES),
      "A rule for one token that is lossless, applied from the root on, returns the law of the "
      "target's text: recursive rejection, K-Seq, naive sampling, an optimal coupling.",
)(lambda rule, **drafting: lossless(TOP_DOWN[rule], **drafting))  # fmt: skip


def by_branches(rule, draft, target, shape, prefix=()):
    """Return 1 + the sum over the nodes of the products of the branching probabilities."""
    found = ONE
    for row, mass in iid(draft(prefix), len(shape)).items():
        chances, _ = rules.choice(rule, target(prefix), draft(prefix), row, "iid")
        for token, chance, below in zip(row, chances, shape, strict=True):
            if chance:
                found += mass * chance * by_branches(rule, draft, target, below, (*prefix, token))
    return found


@claim("delayed.eq1", "Equations 1 to 3", DELAYED.one(rule=RULES))
def sum_over_nodes(draft, target, tree, rule, **_):
    r"""$E[\tau + 1]$ of a rule from the root on is the sum over the nodes of the tree of the
    product of the branching probabilities on the way to it."""
    found = by_branches(RULES[rule], draft, target, named(tree)) - 1
    return equal(kept(TOP_DOWN[rule], draft=draft, target=target, tree=tree), found)


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


@corrected("delayed.depth", Severity.CONDITION)
def is_mean_overlap(draft, target, length):
    r"""It is the mean of $1 - d_{TV}(M_s(\cdot | x), M_b(\cdot | x))$ over the accepted texts x,
    whose law is in proportion to $\prod_i \min(M_s(x_i | x^{i-1}), M_b(x_i | x^{i-1}))$."""
    for depth, rate in enumerate(rates(draft, target, length)):
        texts = prefixes(target.n, depth)
        weights = {x: verified_blocks.least_chances(target, draft, x) for x in texts}
        mean = total(w * overlap(draft(x), target(x)) for x, w in weights.items())
        equal(rate * total(weights.values()), mean, f"accepted after {depth} tokens")
    return ZERO


SHALLOW = models([(2, 2)])


@corrected("delayed.late", Severity.CONDITION,
           SHALLOW.where(lambda draft, target, **_: draft(()) == target(())),
           "It does so if both models agree about the first token.")  # fmt: skip
@claim("delayed.late", "Late branching at the same budget", SHALLOW)
def late_is_better(**pair):
    """A rule from the root on keeps at least as many tokens of late branches as of branches at the
    root: recursive rejection of 1x3, against 2x1.
    Printed: Measured; argued from acceptance that falls with the depth."""
    late, early = (kept(rules.REJECTION, tree=tree, **pair) for tree in ("1x3", "2x1"))
    return at_least(late, early, "kept of 1x3, not 2x1")


@corrected("delayed.dominates", Severity.CONDITION, DELAYED.one(rule=["rejection", "naive"]),
           "It keeps at least as many as recursive rejection and naive sampling do.")  # fmt: skip
@claim("delayed.dominates", "Traversal Verification and rules from the root on",
       DELAYED.each(rule=RULES))  # fmt: skip
def traversal_dominates(rule, **drafting):
    """Traversal Verification keeps at least as many tokens as every rule from the root on."""
    return keeps_more(rules.traversal, TOP_DOWN[rule], **drafting)


@claim("delayed.spectr", "Ranking: SpecTr (4.61), SpecInfer (4.58)", cases(3, (2, 3), random_n=4))
def sequential_above_rejection(draft, target, k):
    r"""K-Seq with the least $\rho$ accepts at least as often as recursive rejection.
    Printed: Block efficiencies, measured."""
    beta = algorithms.beta(draft, target, rules.least_inflation(draft, target, k)[0])
    rejected = algorithms.ran_iid(algorithms.rejection, draft, target, k).accepted()
    return at_least(1 - (1 - beta) ** k, rejected, "K-Seq at most, against recursive rejection")


claim("delayed.most", "Rules from the root on", DELAYED.one(rule=list(RULES)[1:]),
      "K-Seq, recursive rejection and naive sampling keep at most what an optimal coupling at each "
      "node keeps of the same tree.",
)(lambda rule, **drafting: keeps_more(rules.OPTIMAL, TOP_DOWN[rule], **drafting))  # fmt: skip


@corrected("delayed.khisti", Severity.CONDITION, verify=token_verify)
@claim("delayed.khisti", "Ranking: Khisti (4.41), block verification (4.30)", DELAYED)
def tree_above_one_path(verify=block_verify_one_token, **drafting):
    """An optimal coupling at each node of a tree keeps at least as many tokens as block
    verification keeps of one path of the same depth.
    Printed: Block efficiencies, measured. Khisti's is one of the optimal couplings for two drafts.
    Corrected: It keeps at least as many as token verification."""
    single = one_path(verify, **drafting).mean()
    return at_least(kept(rules.OPTIMAL, **drafting), single, "an optimal coupling at each node")


@claim("delayed.naive", "Ranking: block verification (4.30), naive sampling (4.05)", models())
def block_above_naive(length, **pair):
    """Block verification keeps at least as many tokens of one path as naive sampling.
    Printed: Block efficiencies, measured."""
    single = one_path(block_verify_one_token, length=length, **pair).mean()
    return at_least(single, kept(rules.NAIVE, tree="x".join("1" * length), **pair), "one path")
