"""SpecTr-GBV: K i.i.d. drafts verified one after the other, block by block.

Of its acceptance probability only the case K = 1 is public, from a review; so the rule is not here,
and its claims are tested as far as they can be without it."""

from validation import block_algorithms as blocks
from validation import verified_blocks as verified
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.drafted import best_kept, several_paths
from validation.models import models, prefixes_up_to
from validation.notation import ONE, ZERO, total

LONGER = models(((2, 2), (2, 3), (3, 2)))
SMALL = several_paths({(2, 1): (1, 2, 3), (2, 2): (1, 2), (3, 1): (1, 2)})


def chance(target, draft, head):
    """Return A + D₊ and A − D of a text, whose quotient is h; D = M_b − M_s of it."""
    left, gain = blocks.remaining(target, draft, head), target.mass(head) - draft.mass(head)
    return left + max(gain, ZERO), left - gain


def heads(target, draft, length):
    """Yield the beginnings that may be drafted and whose h is no 0/0, and its two parts."""
    for head in prefixes_up_to(target.n, length - 1):
        parts = chance(target, draft, head)
        if draft.mass(head) and any(parts):
            yield head, *parts


@claim("spectr_gbv.chance", "Acceptance probability of one draft, as a review quotes it", LONGER)
def is_a_probability(**pair):
    r"""With $A = \sum_x (M_b(x_i x) - M_s(x_i x))_+$ and $\Delta = M_b(x_i) - M_s(x_i)$, of whole
    beginnings $x_i$, $h = (A + \Delta_+)/(A - \Delta)$ is a probability."""
    slacks = [at_least(b, a, f"A - D of {head}, against A + (D)_+") for head, a, b in heads(**pair)]
    return min(slacks, default=None)


@corrected("spectr_gbv.chance", Severity.MISPRINT)
def capped_is_that_of_blocks(draft, target, length):
    r"""$\min(1, h)$ is the probability with which block verification of the preprint keeps that
    beginning: $h > 1$ exactly where $\Delta > 0$, and there that one is 1."""
    for head, upper, lower in heads(target, draft, length):
        parts = [part(target, draft, head) for part in (blocks.remaining, blocks.rejected)]
        wanted = blocks.at_most_one(*parts) if any(parts) else ONE
        equal(blocks.at_most_one(upper, lower), wanted, f"min(1, h) of {head}")
        equal(upper > lower, target.mass(head) > draft.mass(head), f"h of {head} above 1")
    return ZERO


def verify(target, draft, block):
    """Keep the whole of one draft, or from its end on each length with probability min(1, h)."""
    kept, mass = blocks.at_most_one(target.mass(block), draft.mass(block)), ONE
    yield blocks.Branch(kept, len(block), target.after(block))
    for tau in range(len(block) - 1, -1, -1):
        mass *= 1 - kept
        if not mass:
            return
        h = chance(target, draft, block[:tau])
        kept = blocks.at_most_one(*h) if tau and any(h) else ONE
        rest = blocks.residuals_of_whole_prefix(target, draft, block[:tau], len(block) - tau)
        yield blocks.Branch(mass * kept, tau, rest)


@claim("spectr_gbv.one", "Losslessness and optimality, for one draft", models())
def one_draft_is_optimal(draft, target, length):
    r"""With $\min(1, h)$ and with residuals up to the end of the block it returns the law of the
    target's text, and keeps the most of all couplings of one draft."""
    found = verified.outcomes(verify, target, draft, length)
    verified.same_law(found.output_law(), target.blocks(length), "the law of Y^L")
    best = verified.most_common(target, draft, length)
    equal(best, verified.common_mass(target, draft, length), "the optimum")
    return equal(found.mean_accepted(), best, "E[tau], against the optimum")


def best(draft, target, length, k):
    """Return the most that any coupling of k independent drafts with the text keeps."""
    return best_kept(draft, target, str(k) + "x1" * (length - 1))


@corrected("spectr_gbv.bound", Severity.CONDITION, attained=1)
@claim("spectr_gbv.bound", "Optimal expected acceptance length of i.i.d. drafts", SMALL)
def attains_the_bound(draft, target, length, k, attained=3):
    r"""The best coupling of $K$ i.i.d. drafts of $L$ tokens keeps $\sum_s \min(M_b(s), 1 - (1 -
    M_s(s))^K)$ tokens.
    Printed: The abstract says that the rule attains the optimum; the sum for it is our reading.
    Corrected: It keeps at most that, and exactly that of one draft."""
    texts = prefixes_up_to(target.n, length)
    bound = total(min(target.mass(s), 1 - (1 - draft.mass(s)) ** k) for s in texts)
    if k <= attained:
        return equal(best(draft, target, length, k), bound, "the best coupling, against the bound")
    return at_least(bound, best(draft, target, length, k), "the bound")


claim("spectr_gbv.grows", "The optimal length grows with the number of drafts",
      several_paths({(2, 1): (1, 2), (2, 2): (1, 2), (3, 1): (1, 2)}),
      "The best coupling of $K + 1$ i.i.d. drafts keeps at least as many tokens as that of $K$.",
)(lambda k, **pair: at_least(best(k=k + 1, **pair), best(k=k, **pair), "a draft more"))  # fmt: skip
