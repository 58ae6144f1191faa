"""Appendix B.2: theorem 2, the steps of its proof, and corollary 1."""

from math import log, sqrt

import numpy as np

import otspec
from validation.claim import Method, Severity, above, at_least, claim, corrected, equal
from validation.domains import drafts
from validation.notation import ZERO, positive, same, total
from validation.spechub.algorithms import (
    HUBS,
    hub_columns,
    hub_of,
    hub_table,
    odds,
    spechub,
    uncertain,
)
from validation.spechub.appendix_b1 import displayed_plan
from validation.spechub.programs import completed, couples

DRAWS, DOUBT = 4_000, 1e-9
"""Pairs sampled per instance, and the probability that any of its frequencies is too far off."""


class Left:
    """What is left of the pairs and of the target off the hub, as the proof defines it."""

    def __init__(self, draft, target):
        self.a = a = hub_of(draft)
        self.last, self.first = hub_columns(draft)
        self.wanted = (*target[:a], ZERO, *target[a + 1 :])
        self.once = positive(self.wanted, self.last)
        self.twice = positive(self.once, self.first)
        self.lasts = total(positive(self.last, self.wanted))
        self.firsts = total(positive(self.first, self.once))
        self.hub = target[a]


@claim("spechub.thm2", "Theorem 2, appendix B.2", HUBS)
def theorem_2(draft, target):
    """SpecHub generates each token x with probability q(x): both the completed transport plan and
    the verification that the proof describes.

    Printed: Algorithm 3 as printed is another matter: see alg3a.
    """
    table = hub_table(draft)
    couples(completed(displayed_plan(draft, target), table, target, once=True), table, target)
    return same(spechub(draft, target).output(len(draft)), target, "output")


@claim("spechub.secB.2a", "Proof of theorem 2 and figure 6",
       drafts(5, least=2, random_n=8).where(uncertain).one(seed=range(20)),
       method=Method.SIMULATION)  # fmt: skip
def sampled_pairs(draft, seed):
    r"""The pairs $(x, a)$ and $(a, x)$, $x \ne a$, are sampled with probabilities $p(x)$ and
    $p(a) p(x)/(1 - p(a))$, and no others.
    """
    n, drawn = len(draft), otspec.Hub(draft).sample(DRAWS, np.random.default_rng(seed))
    stated, a = np.zeros((n, n)), hub_of(draft)
    stated[:, a], stated[a, :] = draft, [draft[a] * mass / (1 - draft[a]) for mass in draft]
    stated[a, a] = 0
    seen = np.bincount(n * drawn[:, 0] + drawn[:, 1], minlength=n * n).reshape(n, n) / DRAWS
    equal(int((seen[stated == 0] > 0).sum()), 0, "pairs that should not occur")
    # Hoeffding's bound for each pair, the doubt shared among them.
    margin = sqrt(log(4 * (n - 1) / DOUBT) / (2 * DRAWS))
    return at_least(margin, float(np.abs(seen - stated).max()), "margin, against a deviation")


@claim("spechub.secB.2b", "Proof of theorem 2, x ≠ a", HUBS)
def off_the_hub(draft, target):
    r"""For $x \ne a$, $X = x = x^{(1)}$ has probability $\min(q, p)$, $X = x = x^{(2)}$ has
    $\min(q - \min(q, p), p(a) p(x)/(1 - p(a)))$, the residual is
    $(q(x) - p(x) - p(a) p(x)/(1 - p(a)))_+$, and the three add up to $q(x)$.
    """
    left, ran = Left(draft, target), spechub(draft, target)
    for x, (p, q) in enumerate(zip(draft, target, strict=True)):
        if x != left.a:
            pair = odds(draft) * p
            three = min(q, p), min(q - min(q, p), pair), max(q - p - pair, ZERO)
            drawn = ran.chance(lambda _, b, x=x: b.accepted is None and b.output == x)
            same((ran.accepted(0, x), ran.accepted(1, x), drawn), three, f"{x} as draft, or drawn,")
            equal((left.once[x], left.twice[x]), (q - three[0], three[2]), f"q'({x}), q''({x})")
            equal(total(three), q, f"sum at {x}")
    return ZERO


@claim("spechub.secB.2c", "Proof of theorem 2, the drafts of a", HUBS)
def hub_by_draft(draft, target):
    r"""The hub is generated as first draft with probability $\min(q(a), \sum_x P'(a, x))$, as
    second with $\min((q(a) - \sum_x P'(a, x))_+, \sum_x P'(x, a))$, and in all with
    $\min(q(a), \sum_x P'(a, x) + P'(x, a))$.
    """
    left, ran = Left(draft, target), spechub(draft, target)
    equal(ran.accepted(0, left.a), min(left.hub, left.firsts), "hub as first draft")
    second = min(max(left.hub - left.firsts, ZERO), left.lasts)
    equal(ran.accepted(1, left.a), second, "hub as second draft")
    return equal(ran.output(len(draft))[left.a], min(left.hub, left.firsts + left.lasts), "hub")


def middle_line(left, one, other):
    """The middle line of the hub's total, with these in place of the two quotients."""
    found = min(left.hub, one) + min(max(left.hub - left.firsts, ZERO), other)
    return equal(found, min(left.hub, left.firsts + left.lasts), "middle line")


@claim("spechub.secB.2d", "Proof of theorem 2, the total probability of a", HUBS)
def middle_line_as_printed(draft, target):
    r"""$\min(q(a), \frac{q(a)}{\sum_x P'(a, x)}) + \min((q(a) - \sum_x P'(a, x))_+,
    \frac{q(a)}{\sum_x P'(x, a)}) = \min(q(a), \sum_x P'(a, x) + P'(x, a))$.

    Printed: The middle line of three; 0/0 is read as 0.
    """
    left = Left(draft, target)
    over_none = float("inf") if left.hub else ZERO
    return middle_line(left, *(left.hub / by if by else over_none for by in
                               (left.firsts, left.lasts)))  # fmt: skip


@corrected("spechub.secB.2d", Severity.MISPRINT, HUBS)
def middle_line_of_sums(draft, target):
    r"""With $\sum_x P'(a, x)$ and $\sum_x P'(x, a)$ in the place of the two quotients."""
    left = Left(draft, target)
    return middle_line(left, left.firsts, left.lasts)


@claim("spechub.secB.2e", "Proof of theorem 2, “it can be shown”", HUBS)
def more_than_the_hub(draft, target):
    r"""$q(a) < \sum_x P'(a, x) + P'(x, a)$."""
    left = Left(draft, target)
    return above(left.firsts + left.lasts, left.hub, "what is left of the pairs")


@corrected("spechub.secB.2e", Severity.DEGENERATE, HUBS)
def enough_for_the_hub(draft, target):
    r"""$q(a) \le \sum_x P'(a, x) + P'(x, a)$; the difference is $\sum_{x \ne a} q''(x)$, what is
    drawn from the residual, and so it is 0 where all pairs are accepted.
    """
    left, ran = Left(draft, target), spechub(draft, target)
    slack = at_least(left.firsts + left.lasts, left.hub, "what is left of the pairs")
    equal(slack, 1 - ran.accepted(), "what the hub leaves, against what is drawn")
    return slack + equal(slack, total(left.twice), "what the hub leaves")


@claim("spechub.secB.2f", "Proof of theorem 2, the sum of Q", HUBS)
def pairs_sum(draft, target):
    r"""$\sum_{x \ne a} P(a, x) + P(x, a) = 1$."""
    left = Left(draft, target)
    return equal(total(left.first) + total(left.last), 1, "sum")


def last_chain(draft, target, *, swapped):
    """The chain of displays from Σ P'(a, x) + P'(x, a) to q(a)."""
    left = Left(draft, target)
    by_first, by_last = (left.wanted, left.once) if swapped else (left.once, left.wanted)
    both = [p + r for p, r in zip(left.first, left.last, strict=True)]
    line = total((*positive(left.first, by_first), *positive(left.last, by_last)))
    equal(line, left.firsts + left.lasts, "first line")
    equal(total(positive(both, left.wanted)), line, "second line")
    equal(total(both) - total(left.wanted), left.hub, "last line")
    return at_least(line, left.hub, "second line")


@claim("spechub.secB.2g", "Proof of theorem 2, the last chain", HUBS)
def chain_as_printed(draft, target):
    r"""$\sum_{x \ne a} P'(a, x) + P'(x, a) = \sum_{x \ne a} (P(a, x) - q(x))_+ +
    (P(x, a) - q'(x))_+ = \sum_{x \ne a} (P(a, x) + P(x, a) - q(x))_+ \ge \sum_{x \ne a}
    P(a, x) + P(x, a) - q(x) = q(a)$.

    Printed: q and q' have changed places: algorithm 3 takes (x, a) first.
    """
    return last_chain(draft, target, swapped=True)


@corrected("spechub.secB.2g", Severity.MISPRINT, HUBS)
def chain_in_order(draft, target):
    r"""The second expression is $\sum_{x \ne a} (P(a, x) - q'(x))_+ + (P(x, a) - q(x))_+$."""
    return last_chain(draft, target, swapped=False)


@claim("spechub.cor1", "Corollary 1, appendix B.2; section 4, Analysis", HUBS)
def corollary_1(draft, target):
    """SpecHub generates the top token a with probability q(a), and always as an accepted draft: it
    is never undersampled.

    Printed: The proof of theorem 3 calls this “Lemma 1”; there is none.
    """
    a, ran = hub_of(draft), spechub(draft, target)
    equal(ran.output(len(draft))[a], target[a], "hub generated")
    return equal(ran.accepted(token=a), target[a], "hub accepted")
