"""Appendix A: the distribution of the accepted length of token-level verification."""

from functools import partial
from math import prod

from validation.block_algorithms import residual_token, token_verify
from validation.claim import Severity, claim, corrected, equal
from validation.model_domain import MODELS
from validation.models import prefixes, prefixes_up_to
from validation.notation import ONE, ZERO, total
from validation.verified_blocks import beta_is_tau, common_chances, least_chances, outcomes


@claim("block.appAa", "Appendix A, first paragraph", MODELS)
def rejected_is_not_drawn(target, draft, length):
    r"""The residual (1) is supported where $M_b > M_s$, so that $Y_{\tau+1} \ne X_{\tau+1}$ and
    $\beta(X^L, Y^L) = \tau$ for TokenVerify.
    """
    for x in prefixes_up_to(target.n, length - 1, 0):
        for token, chance in enumerate(residual_token(target, draft, x)):
            if chance:
                equal(target(x)[token] > draft(x)[token], True, f"(1) draws {token} after {x}")
    return beta_is_tau(outcomes(token_verify, target, draft, length))


def chances(target, draft, block):
    """Return r_1, .., r_l: min(1, M_b(x_i | x^{i-1}) / M_s(x_i | x^{i-1})) of each token."""
    return [min(ONE, target(block[:i])[x] / draft(block[:i])[x]) for i, x in enumerate(block)]


@claim("block.lem4", "Lemma 4, appendix A", MODELS)
def lemma_4(target, draft, length):
    r"""For TokenVerify and $\ell < L$, with $r_i = \min(1, M_b(x_i | x^{i-1}) / M_s(x_i |
    x^{i-1}))$: $\Pr(\tau = \ell | X^L = x^L) = (1 - r_{\ell+1}) \prod_{i \le \ell} r_i$, and
    $\Pr(\tau = L | X^L = x^L) = \prod_{i \le L} r_i$.
    """
    for block in draft.blocks(length):
        law = dict.fromkeys(range(length + 1), ZERO)
        for branch in token_verify(target, draft, block):
            law[branch.accepted] += branch.mass
        r = chances(target, draft, block)
        for tau in range(length):
            claimed = (1 - r[tau]) * prod(r[:tau])
            equal(law[tau], claimed, f"Pr(tau = {tau} | X^L = {block})")
        equal(law[length], prod(r), f"Pr(tau = L | X^L = {block})")
    return ZERO


@claim("block.appAb", "Appendix A, proof of theorem 2, fourth line for Pr(τ = ℓ)", MODELS)
def law_of_tau_by_drafts(target, draft, length, last=0):
    r"""$\Pr(\tau = \ell) = \sum_{x^{\ell+1}} \prod_{i=1}^{\ell} M_s(x_i | x^{i-1})
    \prod_{i=1}^{\ell} r_i \, (1 - r_{\ell+1})$ for $\ell < L$.
    """
    found = outcomes(token_verify, target, draft, length)
    for tau in range(length):
        claimed = ZERO
        for x in draft.blocks(tau + 1):  # without draft, the ratios of the line are not defined
            *accepted, rejected = chances(target, draft, x)
            claimed += draft.mass(x[: tau + last]) * prod(accepted) * (1 - rejected)
        drawn = found.mass(lambda each, tau=tau: each.accepted == tau)
        equal(drawn, claimed, f"Pr(tau = {tau})")
    return ZERO


corrected("block.appAb", Severity.MISPRINT, MODELS,
          r"The product of $M_s$ goes to $\ell + 1$: $\Pr(X^{\ell+1} = x^{\ell+1}) = "
          r"\prod_{i=1}^{\ell+1} M_s(x_i | x^{i-1})$. The next line is right again.",
          )(partial(law_of_tau_by_drafts, last=1))  # fmt: skip


@claim("block.appAc", "Appendix A, proof of theorem 2, last lines", MODELS)
def law_of_tau(target, draft, length):
    r"""With $c_\ell = \sum_{x^\ell} \prod_{i \le \ell} \min(M_b, M_s)$: $\Pr(\tau = \ell) =
    c_\ell - c_{\ell+1}$ for $\ell < L$, $\Pr(\tau = L) = c_L$, and
    $E[\tau] = \sum_{\ell=1}^L c_\ell$.
    """
    found = outcomes(token_verify, target, draft, length)
    c = [total(least_chances(target, draft, x) for x in prefixes(target.n, depth))
         for depth in range(length + 1)]  # fmt: skip
    for tau, more in enumerate([*c[1:], ZERO]):
        drawn = found.mass(lambda each, tau=tau: each.accepted == tau)
        equal(drawn, c[tau] - more, f"Pr(tau = {tau})")
    return equal(found.mean_accepted(), common_chances(target, draft, length), "E[tau]")
