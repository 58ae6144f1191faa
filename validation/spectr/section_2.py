"""Section 2: speculative sampling of one draft."""

from validation.claim import Fails, Severity, at_least, claim, corrected, equal
from validation.domains import pairs
from validation.model_domain import models
from validation.notation import ONE, ZERO, overlap, positive, total_variation
from validation.spectr.algorithms import alg_1
from validation.spectr.sequences import continues_as_target, decoded, independent_drafts

PAIRS = pairs(random_n=8)
MODELS = models(((2, 1), (2, 2), (2, 3), (3, 1), (3, 2)))

claim("spectr.alg1a", "Algorithm 1, section 2", PAIRS,
      r"Algorithm 1 is lossless: if $X \sim p$ then $Y \sim q$.",
      printed="The residual is taken to be computed when it is drawn from; see spectr.alg1b.")(
    lambda draft, target: equal(alg_1(draft, target).output(len(target)), target, "output's law")
)  # fmt: skip


@claim("spectr.alg1b", "Algorithm 1, step 1", PAIRS)
def residual_is_a_law(draft, target):
    r"""For all p and q, $p^{res} = (q - \min(p, q)) / (1 - \sum \min(p, q))$ is a distribution."""
    left = 1 - overlap(draft, target)
    if not left:
        raise Fails("p^res reads 0/0")
    equal(sum(positive(target, draft)) / left, ONE, "sum of p^res")
    return at_least(min(positive(target, draft)) / left, ZERO, "least entry of p^res")


corrected("spectr.alg1b", Severity.DEGENERATE, PAIRS,
          "It is a distribution unless $p = q$; then it reads 0/0, and is never drawn from.")(
    lambda draft, target: residual_is_a_law(draft, target) if draft != target
    else equal(alg_1(draft, target).accepted(), ONE, "probability not to draw from p^res")
)  # fmt: skip
claim("spectr.sec2a", "Section 2, display below Algorithm 1", PAIRS,
      r"Algorithm 1 has $\Pr(Y = X) = \sum_x \min(p(x), q(x)) = 1 - d_{TV}(p, q)$.")(
    lambda draft, target: equal(
        (alg_1(draft, target).among_drafts(), 1 - total_variation(draft, target)),
        (overlap(draft, target),) * 2, "Pr(Y = X) and 1 - d_TV"))  # fmt: skip


def one_iteration(draft, target, length):
    """Return the law of what speculative decoding adds to the context."""
    drafts = independent_drafts(draft, length, 1)
    return decoded(draft, target, lambda p, q, _: alg_1(p, q).kernel(), drafts)


claim("spectr.sec2b", "Section 2, below Algorithm 1", MODELS,
      "If $p = q$, the draft is always accepted, and one iteration of speculative decoding yields "
      "$L + 1$ tokens.")(
    lambda target, length, **_: equal(
        set(map(len, one_iteration(target, target, length))), {length + 1}, "numbers of tokens")
)  # fmt: skip
claim("spectr.sec2c", "Section 2, below Algorithm 1", MODELS,
      "Applied recursively as long as drafts are accepted, with the token from the residual as "
      "correction and one more token from the large model if $L' = L$, Algorithm 1 yields tokens "
      "each of which has the large model's law, given those before it.",
      printed=r"The output of the algorithm is distributed according to $M_b(\cdot | x^t)$.")(
    lambda draft, target, length: continues_as_target(one_iteration(draft, target, length), target)
)  # fmt: skip
