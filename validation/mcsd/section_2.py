"""Section 2: blocks of speculative decoding; naive and speculative sampling of one draft."""

from validation.claim import claim, equal
from validation.domains import pairs
from validation.mcsd.algorithms import accepts_more, alg1, block, configured, lossless, naive
from validation.notation import ONE, ZERO, overlap, total

PAIRS = pairs(random_n=8)
ONE_DRAFT = configured((1,), (1, 1), (1, 1, 1))


@claim("mcsd.sec2a", "section 2, end of the first paragraph", ONE_DRAFT)
def tokens_of_a_block(draft, target, config):
    r"""A block of speculative decoding with $\gamma$ drafts returns at least 1 and at most
    $\gamma + 1$ tokens: more than $i \le \gamma$ with probability $\sum_{x_1, \dots, x_i} \prod_j
    \min(p(x_j | x_1, \dots, x_{j-1}), q(x_j | x_1, \dots, x_{j-1}))$, more than $\gamma + 1$ never.

    Printed: generates a minimum of 1 and a maximum of $\gamma + 1$ accepted tokens; the last one
    is not an accepted draft.
    """
    law, kept = block(draft, target, config), {(): ONE}
    for i in range(len(config) + 2):
        longer = total(mass for x, mass in law.items() if len(x) > i)
        equal(longer, total(kept.values()), f"P(more than {i} tokens)")
        kept = {
            (*x, y): mass * min(draft(x)[y], target(x)[y])
            for x, mass in kept.items()
            for y in range(draft.n if i < len(config) else 0)
        }
    return ZERO


def naive_sampling(draft, target, k=1):
    """Naive sampling is lossless, with the acceptance that is printed."""
    lossless(draft, target, k, naive)
    claimed = total(q * (1 - (1 - p) ** k) for p, q in zip(draft, target, strict=True))
    return equal(naive(draft, target, k).accepted(), claimed)


claim("mcsd.sec2b", "section 2, naive sampling", PAIRS,
      r"Drawing $y \sim q$ and accepting the draft $x \sim p$ if $x = y$ has acceptance rate "
      r"$\sum_x p(x) q(x)$.",
      printed="The paper writes $q$ for the draft and $p$ for the target, here as everywhere.",
      )(naive_sampling)  # fmt: skip


@claim("mcsd.sec2c", "section 2, speculative sampling", PAIRS)
def speculative_acceptance(draft, target):
    r"""Accepting $x \sim p$ with probability $\min(1, q(x)/p(x))$ has acceptance rate
    $\sum_x \min(p(x), q(x))$.
    """
    return equal(alg1(draft, target, 1).accepted(), overlap(draft, target))


claim("mcsd.sec2d", "section 2, speculative sampling", PAIRS,
      r"With the residual $q'(x) = (q(x) - p(x))_+ / \sum_x (q(x) - p(x))_+$ drawn after a "
      "rejection, the token returned has the law $q$.")(lossless)  # fmt: skip
claim("mcsd.sec2e", "section 2, last sentence", PAIRS,
      r"Speculative sampling accepts at least as often as naive sampling: "
      r"$\sum_x \min(p(x), q(x)) \ge \sum_x p(x) q(x)$.",
      printed="possessing an upper bound on the acceptance rate of naive sampling",
      )(accepts_more)  # fmt: skip
