"""Appendix B.2: theorem 2, the steps of its proof, and corollary 1."""

from math import log, sqrt

import numpy as np

import otspec
from validation.claim import Method, Severity, above, at_least, claim, corrected, equal
from validation.notation import ZERO, positive, same, total
from validation.spechub.algorithms import HUBS, UNCERTAIN, Hub
from validation.spechub.appendix_b1 import displayed_plan
from validation.spechub.programs import completed, couples
from validation.spechub.section_2 import lossless

DRAWS, DOUBT = 4_000, 1e-9
"""Pairs sampled per instance, and the probability that any of its frequencies is too far off."""
SAMPLED = UNCERTAIN.where(lambda draft: len(draft) > 1).one(seed=range(20))


@claim("spechub.thm2", "Theorem 2, appendix B.2", HUBS)
def theorem_2(draft, target):
    """SpecHub generates each token x with probability q(x): both the completed transport plan and
    the verification that the proof describes.
    Printed: Algorithm 3 as printed is another matter: see alg3a."""
    hub = Hub(draft, target)
    couples(completed(displayed_plan(hub), hub.table, target), hub.table, target)
    return lossless(hub.ran, target)


@claim("spechub.secB.2a", "Proof of theorem 2 and figure 6", SAMPLED, method=Method.SIMULATION)
def sampled_pairs(draft, seed):
    r"""The pairs $(x, a)$ and $(a, x)$, $x \ne a$, are sampled with probabilities $p(x)$ and
    $p(a) p(x)/(1 - p(a))$, and no others."""
    n, hub, stated = len(draft), Hub(draft, draft), np.zeros((len(draft), len(draft)))
    stated[:, hub.a] = hub.last
    stated[hub.a, :] += np.array([hub.p * mass / (1 - hub.p) for mass in hub.last], float)
    drawn = otspec.Hub(draft).sample(DRAWS, np.random.default_rng(seed))
    seen = np.bincount(n * drawn[:, 0] + drawn[:, 1], minlength=n * n).reshape(n, n) / DRAWS
    equal(int((seen[stated == 0] > 0).sum()), 0, "pairs that should not occur")
    # Hoeffding's bound for each pair, the doubt shared among them.
    margin = sqrt(log(4 * (n - 1) / DOUBT) / (2 * DRAWS))
    return at_least(margin, float(np.abs(seen - stated).max()), "margin, against a deviation")


@claim("spechub.secB.2b", "Proof of theorem 2, x ≠ a", HUBS)
def off_the_hub(draft, target):
    r"""For $x \ne a$, $X = x = x^{(1)}$ has probability $\min(q, p)$, $X = x = x^{(2)}$ has
    $\min(q - \min(q, p), p(a) p(x)/(1 - p(a)))$, the residual is
    $(q(x) - p(x) - p(a) p(x)/(1 - p(a)))_+$, and the three add up to $q(x)$."""
    hub = Hub(draft, target)
    for x, p, q in hub.others:
        pair = hub.odds * p
        three = min(q, p), min(q - min(q, p), pair), max(q - p - pair, ZERO)
        accepted = hub.ran.accepted(0, x), hub.ran.accepted(1, x)
        drawn = hub.ran.output(len(draft))[x] - total(accepted)
        same((*accepted, drawn), three, f"{x} as draft, or drawn,")
        equal((hub.once[x], hub.twice[x]), (q - three[0], three[2]), f"q'({x}), q''({x})")
        equal(total(three), q, f"sum at {x}")
    return ZERO


@claim("spechub.secB.2c", "Proof of theorem 2, the drafts of a", HUBS)
def hub_by_draft(draft, target):
    r"""The hub is generated as first draft with probability $\min(q(a), \sum_x P'(a, x))$, as
    second with $\min((q(a) - \sum_x P'(a, x))_+, \sum_x P'(x, a))$, and in all with
    $\min(q(a), \sum_x P'(a, x) + P'(x, a))$."""
    hub = Hub(draft, target)
    equal(hub.ran.accepted(0, hub.a), min(hub.q, hub.firsts), "hub as first draft")
    second = min(max(hub.q - hub.firsts, ZERO), hub.lasts)
    equal(hub.ran.accepted(1, hub.a), second, "hub as second draft")
    return equal(hub.ran.output(len(draft))[hub.a], min(hub.q, hub.firsts + hub.lasts), "hub")


@corrected("spechub.secB.2d", Severity.MISPRINT, HUBS, quotients=False)
@claim("spechub.secB.2d", "Proof of theorem 2, the total probability of a", HUBS)
def middle_line(draft, target, quotients=True):
    r"""$\min(q(a), \frac{q(a)}{\sum_x P'(a, x)}) + \min((q(a) - \sum_x P'(a, x))_+,
    \frac{q(a)}{\sum_x P'(x, a)}) = \min(q(a), \sum_x P'(a, x) + P'(x, a))$.
    Printed: The middle line of three; 0/0 is read as 0.
    Corrected: With $\sum_x P'(a, x)$ and $\sum_x P'(x, a)$ in the place of the two quotients."""
    hub = Hub(draft, target)
    one, other = hub.firsts, hub.lasts
    if quotients:  # what is divided by 0 is above any bound
        one, other = (hub.q / by if by else hub.q for by in (one, other))
    found = min(hub.q, one) + min(max(hub.q - hub.firsts, ZERO), other)
    return equal(found, min(hub.q, hub.firsts + hub.lasts), "middle line")


@corrected("spechub.secB.2e", Severity.DEGENERATE, HUBS, strictly=False)
@claim("spechub.secB.2e", "Proof of theorem 2, “it can be shown”", HUBS)
def enough_for_the_hub(draft, target, strictly=True):
    r"""$q(a) < \sum_x P'(a, x) + P'(x, a)$.
    Corrected: $q(a) \le \sum_x P'(a, x) + P'(x, a)$; the difference is $\sum_{x \ne a} q''(x)$,
    what is drawn from the residual, and so it is 0 where all pairs are accepted."""
    hub = Hub(draft, target)
    if strictly:
        return above(hub.firsts + hub.lasts, hub.q, "what is left of the pairs")
    slack = at_least(hub.firsts + hub.lasts, hub.q, "what is left of the pairs")
    equal(slack, 1 - hub.ran.accepted(), "what the hub leaves, against what is drawn")
    return slack + equal(slack, total(hub.twice) - hub.q, "what the hub leaves")


claim("spechub.secB.2f", "Proof of theorem 2, the sum of Q", HUBS,
      r"$\sum_{x \ne a} P(a, x) + P(x, a) = 1$.",
)(lambda draft, target: equal(total(Hub(draft, target).table.values()), 1, "sum"))  # fmt: skip


@corrected("spechub.secB.2g", Severity.MISPRINT, HUBS, swapped=False)
@claim("spechub.secB.2g", "Proof of theorem 2, the last chain", HUBS)
def last_chain(draft, target, swapped=True):
    r"""$\sum_{x \ne a} P'(a, x) + P'(x, a) = \sum_{x \ne a} (P(a, x) - q(x))_+ +
    (P(x, a) - q'(x))_+ = \sum_{x \ne a} (P(a, x) + P(x, a) - q(x))_+ \ge \sum_{x \ne a}
    P(a, x) + P(x, a) - q(x) = q(a)$.
    Printed: q and q' have changed places: algorithm 3 takes (x, a) first.
    Corrected: The second expression is
    $\sum_{x \ne a} (P(a, x) - q'(x))_+ + (P(x, a) - q(x))_+$."""
    hub = Hub(draft, target)
    by_first, by_last = (target, hub.once) if swapped else (hub.once, target)
    both = [p + r for p, r in zip(hub.first, hub.last, strict=True)]
    line = total((*positive(hub.first, by_first), *positive(hub.last, by_last)))
    equal(line, hub.firsts + hub.lasts, "first line")
    equal(total(positive(both, target)), line, "second line")
    equal(total(both[x] - q for x, _, q in hub.others), hub.q, "last line")
    return at_least(line, hub.q, "second line")


@claim("spechub.cor1", "Corollary 1, appendix B.2; section 4, Analysis", HUBS)
def corollary_1(draft, target):
    """SpecHub generates the top token a with probability q(a), and always as an accepted draft: it
    is never undersampled.
    Printed: The proof of theorem 3 calls this “Lemma 1”; there is none."""
    hub = Hub(draft, target)
    equal(hub.ran.output(len(draft))[hub.a], hub.q, "hub generated")
    return equal(hub.ran.accepted(token=hub.a), hub.q, "hub accepted")
