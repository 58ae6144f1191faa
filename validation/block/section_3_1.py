"""Section 3.1: token-level against block-level verification, memoryless sources, figure 2."""

from dataclasses import replace
from fractions import Fraction
from math import comb, prod

from validation import verified_blocks as vb
from validation.block_algorithms import block_verify
from validation.claim import Severity, above, at_least, claim, corrected, equal
from validation.domains import drafts, mixed, pairs
from validation.models import MODELS, memoryless, prefixes_up_to
from validation.notation import ZERO, overlap, total

Q = Fraction(3, 4)
FIGURE_2 = drafts(2, 2).where(lambda draft: all(draft) and draft[1] != Q)
TWO_SYMBOLS = pairs(2, least=2).of(lambda draft, target: {
    "draft": memoryless(draft), "target": memoryless(target)})  # fmt: skip
SOURCES = mixed(TWO_SYMBOLS.each(length=(1, 2, 3)), TWO_SYMBOLS.one(length=(1, 2, 3, 4, 5)))
"""Memoryless sources, Ber(p) and Ber(q) by their rows (1 - p, p), and lengths."""

claim("block.thm2", "Theorem 2 and (7), section 3.1", MODELS,
      r"For the coupling of TokenVerify, $E[\beta] = \sum_{\ell=1}^L \sum_{x^\ell} \prod_{i \le "
      r"\ell} \min(M_s(x_i | x^{i-1}), M_b(x_i | x^{i-1}))$.")(
    lambda **one: equal(vb.token_mean(**one), vb.common_chances(**one), "E[beta]"))  # fmt: skip


def gain(target, draft, length):
    """Return E[tau] of BlockVerify less E[beta] of TokenVerify."""
    found = vb.outcomes(block_verify, target, draft, length).mean_accepted()
    return found - vb.token_mean(target, draft, length)


def positive_where(claimed, found, what):
    """Check that a gain is nowhere negative, and positive exactly where it is claimed to be."""
    equal(found > 0, claimed, f"the {what} of {found} is positive")
    return at_least(found, ZERO, what)


def terms(target, draft, length):
    """Compare the terms of (6) and (7): where they differ, and only then, there is a gain."""
    slack = []
    for x in prefixes_up_to(target.n, length):
        rows = [(draft(x[:i])[token], target(x[:i])[token]) for i, token in enumerate(x)]
        of_products = min(map(prod, zip(*rows, strict=True)))
        equal(min(draft.mass(x), target.mass(x)), of_products, f"the term of (6) at {x}")
        slack.append(at_least(of_products, prod(map(min, rows)), f"min of products at {x}"))
    positive_where(any(slack), gain(target, draft, length), "gain")
    return min(slack, default=None)


claim("block.sec3.1a", "Section 3.1, after (7)", MODELS,
      r"The terms of (6) are minima of products, $\min(\prod_i M_s(x_i | x^{i-1}), \prod_i "
      r"M_b(x_i | x^{i-1}))$, and at least the products of minima in (7).",
      printed="The product sign stands once, before $M_s$, and must be read over both; of the two "
      "sentences after it the second says 'token-level' for 'block-level'.")(terms)  # fmt: skip
claim("block.sec3.1b", "Section 3.1, after (7); section 1", MODELS,
      r"Block-level verification has strictly larger $E[\tau]$ than TokenVerify as long as there "
      r"is a sequence $x^\ell$ where the two terms differ (and only then).")(terms)  # fmt: skip


def binomial(trials, p):
    """Return Bin(i, p)."""
    return [comb(trials, ones) * p**ones * (1 - p) ** (trials - ones) for ones in range(trials + 1)]


def token_sum(target, draft, lengths):
    """Return the sum of (1 - d_TV(Ber(p), Ber(q)))^i over some i."""
    return total(overlap(draft(()), target(())) ** i for i in lengths)


def block_sum(target, draft, lengths):
    """Return the sum of 1 - d_TV(Bin(i, p), Bin(i, q)) over some i."""
    p, q = draft(())[1], target(())[1]
    return total(overlap(binomial(i, p), binomial(i, q)) for i in lengths)


@corrected("block.sec3.1c", Severity.MISPRINT, start=1)
@claim("block.sec3.1c", "Section 3.1, memoryless sources, first displayed sum", SOURCES)
def token_on_sources(target, draft, length, start=0):
    r"""For $M_s = Ber(p)$, $M_b = Ber(q)$ without memory, TokenVerify has $E[\beta] = \sum_{i=0}^L
    (1 - d_{TV}(Ber(p), Ber(q)))^i$.
    Printed: The sum is printed from $i = 0$; its first term is 1, the free token, which is not
    accepted.
    Corrected: $E[\beta] = \sum_{i=1}^L (1 - d_{TV}(Ber(p), Ber(q)))^i$; the sum from 0 is $E[\beta]
    + 1$."""
    claimed = token_sum(target, draft, range(start, length + 1))
    return equal(vb.token_mean(target, draft, length), claimed, "E[beta] of TokenVerify")


@corrected("block.sec3.1d", Severity.MISPRINT, start=1)
@claim("block.sec3.1d", "Section 3.1, memoryless sources, second displayed sum", SOURCES)
def block_on_sources(target, draft, length, start=0):
    r"""For the same sources the optimal $E[\beta]$ is $\sum_{i=0}^L (1 - d_{TV}(Bin(i, p),
    Bin(i, q)))$.
    Printed: The sum is printed from $i = 0$; its first term is 1, the free token, which is not
    accepted.
    Corrected: The optimal $E[\beta]$ is $\sum_{i=1}^L (1 - d_{TV}(Bin(i, p), Bin(i, q)))$; the sum
    from 0 is $E[\beta] + 1$."""
    claimed = block_sum(target, draft, range(start, length + 1))
    return equal(vb.most_common(target, draft, length), claimed, "the optimal E[beta]")


def inside(target, draft):
    """Whether p and q differ, and are neither 0 nor 1."""
    return target.rows != draft.rows and all(target(()) + draft(()))


@corrected("block.sec3.1e", Severity.DEGENERATE, exact=True)
@claim("block.sec3.1e", "Section 3.1, after the example", SOURCES)
def strict_on_sources(target, draft, length, exact=False):
    r"""For the same sources there is a strict improvement from token-level to block-level coupling
    as long as $p \ne q$.
    Corrected: The improvement is strict if and only if $p \ne q$, $L \ge 2$, and $p$ and $q$ are
    neither 0 nor 1."""
    claimed = length >= 2 and inside(target, draft) if exact else target.rows != draft.rows
    return positive_where(claimed, gain(target, draft, length), "improvement")


@corrected("block.sec3.1f", Severity.DEGENERATE, exact=True)
@claim("block.sec3.1f", "Section 3.1, after the example", SOURCES)
def gap_grows(target, draft, length, exact=False):
    r"""For the same sources with $p \ne q$ the gap increases with $L$.
    Corrected: The gap increases strictly if and only if $p \ne q$ and both are neither 0 nor 1; it
    never decreases."""
    shorter, longer = (vb.common_mass(target, draft, i) - vb.common_chances(target, draft, i)
                       for i in (length, length + 1))  # fmt: skip
    claimed = inside(target, draft) if exact else target.rows != draft.rows
    what = f"growth of the gap from L = {length} to {length + 1}"
    return positive_where(claimed, longer - shorter, what)


@claim("block.fig2", "Figure 2, section 3.1", replace(FIGURE_2, note="q = 3/4, L <= 10"))
def figure_2(draft):
    r"""For $q = 3/4$ and every $p \ne q$ strictly between 0 and 1 the curve of block-level
    verification is above that of token-level verification from $L = 2$ on, and their distance grows
    with $L$."""
    models = memoryless((1 - Q, Q)), memoryless(draft)
    first, *later = (block_sum(*models, [i]) - token_sum(*models, [i]) for i in range(1, 11))
    equal(first, 0, "the gap at L = 1")
    return min(above(more, ZERO, "growth of the gap") for more in later)
