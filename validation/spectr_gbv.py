"""SpecTr-GBV: K i.i.d. drafts verified one after the other, block by block.

The rule is the authors' public code (junemily/SpecTr-GBV), written anew. A review quotes the
paper's acceptance probability of one draft, and a reader its expected length, Theorem 5.3."""

from validation import block_algorithms as blocks
from validation import verified_blocks as verified
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.drafted import Ended, Ending, best_kept, one_path, several_paths
from validation.gbv import drafted_paths
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
    r"""$\min(1, h)$ is one: with it the preprint's block verification keeps that beginning."""
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


def accepted(target, draft, head, k, last):
    r"""Return the probability with which the public code keeps a head, $h$ of k paths.

    With $u(x) = M_b(x)(1 - (1 - \min(1, M_s(x)/M_b(x)))^K)$ of whole texts the whole path is kept
    with probability $u(x^L)/(1 - (1 - M_s(x^L))^K)$."""
    drafted = 1 - (1 - draft.mass(head)) ** k
    if last:
        upper, lower = covered(target, draft, head, k), drafted
    else:
        texts = [(*head, x) for x in range(target.n)]
        upper = total(missing(target, draft, text, k) for text in texts)
        upper -= missing(target, draft, head, k)
        lower = drafted - total(covered(target, draft, text, k) for text in texts)
    if lower <= 0:
        return ONE if upper > 0 else ZERO
    return max(ZERO, min(ONE, upper / lower))


def missing(target, draft, text, k):
    """Return M_b (1 − min(1, M_s/M_b))^K of a text."""
    wanted = target.mass(text)
    return wanted * (1 - min(ONE, draft.mass(text) / wanted)) ** k if wanted else ZERO


def covered(target, draft, text, k):
    """Return M_b (1 − (1 − min(1, M_s/M_b))^K) of a text."""
    return target.mass(text) - missing(target, draft, text, k)


def left(target, draft, head, k):
    """Return what the public code draws the corrected token from, up to scale."""
    row = []
    for text in [(*head, x) for x in range(target.n)]:
        wanted = target.mass(text)
        row.append(wanted * (1 - min(ONE, draft.mass(text) / wanted) ** k) if wanted else ZERO)
    return row if any(row) else target(head)


def as_coded(target, draft, paths):
    """Yield the endings of the public code: the paths in turn, each from the kept length on.

    Where nothing is left of a row the code stops with an error; here the target's follows."""
    k, waiting = len(paths), {((), frozenset()): ONE}
    for path in paths:
        going = {}
        for (kept, seen), mass in waiting.items():
            ways = [(mass, kept, seen)]
            for depth in range(len(kept) + 1, len(path)):
                head = path[:depth]
                if head in seen:
                    continue
                h = accepted(target, draft, head, k, last=False)
                ways = [way for own, text, tried in ways
                        for way in ((own * h, head, tried), (own * (1 - h), text, tried | {head}))
                        if way[0]]  # fmt: skip
            h = accepted(target, draft, path, k, last=True)
            for own, text, tried in ways:
                yield Ending(own * h, path, target(path))
                going[text, tried] = going.get((text, tried), ZERO) + own * (1 - h)
        waiting = going
    for (kept, _), mass in waiting.items():
        yield Ending(mass, kept, left(target, draft, kept, k))


def promised(draft, target, length, k):
    r"""Return $\sum_s M_b(s) (1 - (1 - \min(1, M_s(s)/M_b(s)))^K)$, the length of Theorem 5.3."""
    return total(covered(target, draft, s, k) for s in prefixes_up_to(target.n, length))


@corrected("spectr_gbv.bound", Severity.WRONG, attained=False)
@claim("spectr_gbv.bound", "Optimal expected acceptance length, Theorem 5.3", SMALL)
def attains_the_bound(draft, target, length, k, attained=True):
    r"""The best coupling of $K$ i.i.d. drafts of $L$ tokens keeps $\sum_s M_b(s) (1 - (1 - \min(1,
    M_s(s)/M_b(s)))^K)$ tokens.
    Corrected: It keeps that of one draft. Of more it keeps at least that and at most
    $\sum_s \min(M_b(s), 1 - (1 - M_s(s))^K)$.
    Explained: The sum takes the drafts as independent given the text. But a coupling may send the
    text to any draft that has room for it."""
    found, sum_ = best(draft, target, length, k), promised(draft, target, length, k)
    if attained or k == 1:
        return equal(found, sum_, "the best coupling, against the sum")
    texts = prefixes_up_to(target.n, length)
    most = total(min(target.mass(s), 1 - (1 - draft.mass(s)) ** k) for s in texts)
    return min(at_least(found, sum_, "the best coupling"), at_least(most, found, "the bound"))


def coded(draft, target, length, k, **_):
    """Return what the public code does over all drafts."""
    return Ended(lambda some: as_coded(target, draft, some), drafted_paths(draft, length, k))


ONE_TOKEN = SMALL.where(lambda length, k, **_: length == k == 1)


@corrected("spectr_gbv.code", Severity.WRONG, ONE_TOKEN)
@claim("spectr_gbv.code", "Losslessness, public code", SMALL.where(lambda k, **_: k > 1))
def code_is_lossless(target, length, **some):
    r"""The public code for $K$ drafts returns the law of the target's text.
    Corrected: It does for one draft of one token.
    Explained: A text is kept as if every draft were tried, but none is tried after a draft that is
    kept whole. The corrected token is drawn from $M_b (1 - r^K)$, $r = \min(1, M_s/M_b)$, instead
    of $M_b (1 - r)^K$."""
    return coded(target=target, length=length, **some).lossless(target, length)


@corrected("spectr_gbv.code_one", Severity.WRONG, ONE_TOKEN)
@claim("spectr_gbv.code_one", "The same for one draft, K = 1 recovers block verification",
       SMALL.where(lambda k, **_: k == 1))  # fmt: skip
def code_is_block_verification(draft, target, length, k):
    """For one draft the public code keeps what block verification keeps, and the same token
    follows.
    Corrected: It does for one token.
    Explained: It keeps tokens with the probabilities of the preprint, which need corrections up
    to the end of the block, but corrects one token only."""
    single = one_path(blocks.block_verify_one_token, draft, target, length)
    found = coded(draft, target, length, k)
    verified.same_law(found.kept, single.kept, "what is kept")
    return verified.same_law(found.released, single.released, "and the token after it")


@corrected("spectr_gbv.code_length", Severity.WRONG, SMALL.where(lambda k, **_: k == 1))
@claim("spectr_gbv.code_length", "Theorem 5.3, of the public code", SMALL)
def code_keeps_what_is_promised(draft, target, length, k):
    r"""The public code keeps $\sum_s M_b(s) (1 - (1 - \min(1, M_s(s)/M_b(s)))^K)$ tokens.
    Corrected: It does for one draft.
    Explained: For the reason of `spectr_gbv.code`."""
    return equal(coded(draft, target, length, k).mean(), promised(draft, target, length, k), "kept")


claim("spectr_gbv.grows", "The optimal length grows with the number of drafts",
      several_paths({(2, 1): (1, 2), (2, 2): (1, 2), (3, 1): (1, 2)}),
      "The best coupling of $K + 1$ i.i.d. drafts keeps at least as many tokens as that of $K$.",
)(lambda k, **pair: at_least(best(k=k + 1, **pair), best(k=k, **pair), "a draft more"))  # fmt: skip
