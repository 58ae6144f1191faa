"""SpecTr-GBV: K i.i.d. drafts verified one after the other, block by block.

Of its acceptance probability only the case K = 1 is public, from a review; so the rule is not here,
and its claims are tested as far as they can be without it.
"""

from validation import block_algorithms as algorithms
from validation import verified_blocks as blocks
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.drafted import best_kept, several_paths
from validation.model_domain import models
from validation.models import prefixes_up_to
from validation.notation import ONE, ZERO, total

LONGER = models(((2, 2), (2, 3), (3, 2)))
SMALL = several_paths({(2, 1): (1, 2, 3), (2, 2): (1, 2), (3, 1): (1, 2)})
FEWER = several_paths({(2, 1): (1, 2), (2, 2): (1, 2), (3, 1): (1, 2)})


def chance(target, draft, head):
    """Return A + D₊ and A − D of a text, whose quotient is h; D = M_b − M_s of it."""
    left = algorithms.remaining(target, draft, head)
    gain = target.mass(head) - draft.mass(head)
    return left + max(gain, ZERO), left - gain


def heads(target, draft, length):
    """Yield the beginnings that may be drafted and whose h is no 0/0."""
    for head in prefixes_up_to(target.n, length - 1):
        if draft.mass(head) and any(chance(target, draft, head)):
            yield head


@claim("spectr_gbv.chance", "Acceptance probability of one draft, as a review quotes it", LONGER)
def is_a_probability(draft, target, length):
    r"""With $A = \sum_x (M_b(x_i x) - M_s(x_i x))_+$ and $\Delta = M_b(x_i) - M_s(x_i)$, of whole
    beginnings $x_i$, $h = (A + \Delta_+)/(A - \Delta)$ is a probability."""
    quotients = ((head, *chance(target, draft, head)) for head in heads(target, draft, length))
    slacks = [at_least(b, a, f"A - D of {head}, against A + (D)_+") for head, a, b in quotients]
    return min(slacks, default=None)


@corrected("spectr_gbv.chance", Severity.MISPRINT, LONGER)
def capped_is_that_of_blocks(draft, target, length):
    r"""$\min(1, h)$ is the probability with which block verification of the preprint keeps that
    beginning: $h > 1$ exactly where $\Delta > 0$, and there that one is 1."""
    for head in heads(target, draft, length):
        left = algorithms.remaining(target, draft, head)
        less = algorithms.rejected(target, draft, head)
        wanted = algorithms.at_most_one(left, less) if left or less else ONE
        upper, lower = chance(target, draft, head)
        equal(algorithms.at_most_one(upper, lower), wanted, f"min(1, h) of {head}")
        equal(upper > lower, target.mass(head) > draft.mass(head), f"h of {head} above 1")
    return ZERO


def verify(target, draft, block):
    """Keep the whole of one draft, or from its end on each length with probability min(1, h)."""
    kept, mass = algorithms.at_most_one(target.mass(block), draft.mass(block)), ONE
    yield algorithms.Branch(kept, len(block), target.after(block))
    for tau in range(len(block) - 1, -1, -1):
        mass *= 1 - kept
        if not mass:
            return
        head, left = block[:tau], len(block) - tau
        h = chance(target, draft, head)
        kept = algorithms.at_most_one(*h) if tau and any(h) else ONE
        rest = algorithms.residuals_of_whole_prefix(target, draft, head, left)
        yield algorithms.Branch(mass * kept, tau, rest)


@claim("spectr_gbv.one", "Losslessness and optimality, for one draft", models())
def one_draft_is_optimal(draft, target, length):
    r"""With $\min(1, h)$ and with residuals up to the end of the block it returns the law of the
    target's text, and keeps the most of all couplings of one draft."""
    found = blocks.outcomes(verify, target, draft, length)
    blocks.same_law(found.output_law(), target.blocks(length), "the law of Y^L")
    best = blocks.most_common(target, draft, length)
    equal(best, blocks.common_mass(target, draft, length), "the optimum")
    return equal(found.mean_accepted(), best, "E[tau], against the optimum")


def bound(target, draft, length, k):
    """Return the sum of min(M_b(s), P(one of the drafts begins with s))."""
    texts = prefixes_up_to(target.n, length)
    return total(min(target.mass(s), 1 - (1 - draft.mass(s)) ** k) for s in texts)


def best(draft, target, length, k):
    """Return the most that any coupling of k independent drafts with the text keeps."""
    return best_kept(draft, target, str(k) + "x1" * (length - 1))


@claim("spectr_gbv.bound", "Optimal expected acceptance length of i.i.d. drafts", SMALL)
def attains_the_bound(draft, target, length, k):
    r"""The best coupling of $K$ i.i.d. drafts of $L$ tokens keeps $\sum_s \min(M_b(s), 1 - (1 -
    M_s(s))^K)$ tokens.

    Printed: The abstract says that the rule attains the optimum; the sum for it is our reading."""
    most = bound(target, draft, length, k)
    return equal(best(draft, target, length, k), most, "the best coupling, against the bound")


@corrected("spectr_gbv.bound", Severity.CONDITION, SMALL)
def attains_it_with_one(draft, target, length, k):
    """It keeps at most that, and exactly that of one draft."""
    check = equal if k == 1 else at_least
    return check(bound(target, draft, length, k), best(draft, target, length, k), "the bound")


@claim("spectr_gbv.grows", "The optimal length grows with the number of drafts", FEWER)
def grows_with_drafts(draft, target, length, k):
    """The best coupling of $K + 1$ i.i.d. drafts keeps at least as many tokens as that of $K$."""
    more = best(draft, target, length, k + 1)
    return at_least(more, best(draft, target, length, k), f"{k + 1} drafts, not {k}")
