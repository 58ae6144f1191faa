"""Appendices A, on the accepted length of algorithm 2, and B, the proofs of lemmas 2 and 3."""

from math import prod

from validation import block_algorithms as ba
from validation import verified_blocks as vb
from validation.claim import Severity, claim, corrected, equal
from validation.models import MODELS, prefixes, prefixes_up_to
from validation.notation import ONE, ZERO, collect, overlap, total


@claim("block.appAa", "Appendix A, first paragraph", MODELS)
def rejected_is_not_drawn(target, draft, length):
    r"""The residual (1) is supported where $M_b > M_s$, so that $Y_{\tau+1} \ne X_{\tau+1}$ and
    $\beta(X^L, Y^L) = \tau$ for TokenVerify."""
    for x in prefixes_up_to(target.n, length - 1, 0):
        for token, chance in enumerate(ba.residual_token(target, draft, x)):
            if chance:
                equal(target(x)[token] > draft(x)[token], True, f"(1) draws {token} after {x}")
    return vb.beta_is_tau(target, draft, length, ba.token_verify)


def chances(target, draft, block):
    """Return r_1, .., r_l: min(1, M_b(x_i | x^{i-1}) / M_s(x_i | x^{i-1})) of each token."""
    return [min(ONE, target(block[:i])[x] / draft(block[:i])[x]) for i, x in enumerate(block)]


@corrected("block.appAb", Severity.MISPRINT, last=1)
@claim("block.appAb", "Appendix A, proof of theorem 2, fourth line for Pr(τ = ℓ)", MODELS)
def law_of_tau_by_drafts(target, draft, length, last=0):
    r"""$\Pr(\tau = \ell) = \sum_{x^{\ell+1}} \prod_{i=1}^{\ell} M_s(x_i | x^{i-1})
    \prod_{i=1}^{\ell} r_i \, (1 - r_{\ell+1})$ for $\ell < L$.
    Corrected: The product of $M_s$ goes to $\ell + 1$: $\Pr(X^{\ell+1} = x^{\ell+1}) =
    \prod_{i=1}^{\ell+1} M_s(x_i | x^{i-1})$. The next line is right again."""
    found = vb.outcomes(ba.token_verify, target, draft, length)
    for tau in range(length):
        claimed = ZERO
        for x in draft.blocks(tau + 1):  # without draft, the ratios of the line are not defined
            *accepted, rejected = chances(target, draft, x)
            claimed += draft.mass(x[: tau + last]) * prod(accepted) * (1 - rejected)
        equal(found.chance(taus=[tau]), claimed, f"Pr(tau = {tau})")
    return ZERO


def law_of_tau(target, draft, length):
    """The law of tau given every draft, by r, and without, by c."""
    for block in draft.blocks(length):
        branches = ba.token_verify(target, draft, block)
        law = collect((branch.accepted, branch.mass) for branch in branches)
        r = chances(target, draft, block)
        for tau, left in enumerate([*(1 - chance for chance in r), ONE]):
            claimed = left * prod(r[:tau])
            equal(law.get(tau, ZERO), claimed, f"Pr(tau = {tau} | X^L = {block})")
    found = vb.outcomes(ba.token_verify, target, draft, length)
    c = [total(vb.least_chances(target, draft, x) for x in prefixes(target.n, depth))
         for depth in range(length + 1)]  # fmt: skip
    for tau, more in enumerate([*c[1:], ZERO]):
        equal(found.chance(taus=[tau]), c[tau] - more, f"Pr(tau = {tau})")
    return equal(found.mean_accepted(), total(c[1:]), "E[tau]")


claim("block.lem4", "Lemma 4, appendix A", MODELS,
      r"For TokenVerify and $\ell < L$, with $r_i = \min(1, M_b(x_i | x^{i-1}) / M_s(x_i | "
      r"x^{i-1}))$: $\Pr(\tau = \ell | X^L = x^L) = (1 - r_{\ell+1}) \prod_{i \le \ell} r_i$, and "
      r"$\Pr(\tau = L | X^L = x^L) = \prod_{i \le L} r_i$.")(law_of_tau)  # fmt: skip
claim("block.appAc", "Appendix A, proof of theorem 2, last lines", MODELS,
      r"With $c_\ell = \sum_{x^\ell} \prod_{i \le \ell} \min(M_b, M_s)$: $\Pr(\tau = \ell) = "
      r"c_\ell - c_{\ell+1}$ for $\ell < L$, $\Pr(\tau = L) = c_L$, and $E[\tau] = "
      r"\sum_{\ell=1}^L c_\ell$.")(law_of_tau)  # fmt: skip


def up_to(target, draft, length):
    """All that is said of depths i < L, from all outcomes of algorithm 3: (11) to (17)."""
    found = vb.outcomes(ba.block_verify, target, draft, length)
    for x in prefixes_up_to(target.n, length - 1, 0):
        not_longer, large, small = range(len(x) + 1), target.mass(x), draft.mass(x)
        left, right = ba.remaining(target, draft, x), ba.rejected(target, draft, x)
        common = overlap(ba.next_masses(target, x), ba.next_masses(draft, x))
        equal(common + left, large, f"sum of min + p_remain at {x}")
        equal(common + right, small, f"sum of min + p_rej at {x}")
        equal(common + min(left, right), min(large, small), f"(16) at {x}")
        here, rejected = found.chance("draft", x, [len(x)]), found.chance("draft", x, not_longer)
        accepted = ba.at_most_one(left, right) if right else ONE
        equal(here, rejected * accepted, f"(12) at {x}")
        equal(rejected, right, f"(13), (14) at {x}: Pr(X^l = x^l, tau <= l)")
        equal(here, min(left, right), f"(15) at {x}")
        longer = found.chance("output", x, range(len(x) + 1, length + 1))
        equal(longer, common, f"Pr(Y^i = {x}, tau > i)")
        here = found.chance("output", x, not_longer)
        equal(here, left, f"sum of (M_b - M_s)_+ after {x}, Pr(Y^i = {x}, tau <= i)")
        for token, part in enumerate(ba.residual(target, draft, x)):
            drawn = found.chance("output", (*x, token), not_longer)
            equal(drawn, here * part, f"Pr(Y^(i+1) = {(*x, token)}, tau <= i)")
    return ZERO


claim("block.eq15", "(11)-(15), appendix B.1", MODELS,
      r"For $\ell < L$: $\Pr(X^\ell = x^\ell, \tau = \ell) = \Pr(X^\ell = x^\ell, \tau \le \ell) "
      r"\Pr(X^\ell \text{ is accepted}) = p_{rej} \min(1, p_{remain} / p_{rej}) = "
      r"\min(p_{remain}(x^\ell), p_{rej}(x^\ell))$.",
      printed="Where $p_{rej} = 0$ the quotient is not defined; the event has probability 0.",
      )(up_to)  # fmt: skip
claim("block.eq16", "(16), appendix B.1", MODELS,
      r"$\sum_x \min(M_b(x^\ell, x), M_s(x^\ell, x))$ plus $p_{remain}(x^\ell)$ is $M_b(x^\ell)$, "
      r"plus $p_{rej}(x^\ell)$ it is $M_s(x^\ell)$, and plus the smaller of the two it is "
      r"$\min(M_b(x^\ell), M_s(x^\ell))$.")(up_to)  # fmt: skip
claim("block.eq17", "(17), appendix B.1, and the lines around it", MODELS,
      r"$\Pr(Y^{i+1} = x^{i+1}, \tau \le i) = \Pr(Y^i = x^i, \tau \le i) \, "
      r"p_{res}^{x^i}(x_{i+1})$, where $\Pr(Y^i = x^i, \tau \le i) = M_b(x^i) - \sum_x "
      r"\min(M_b(x^i, x), M_s(x^i, x)) = \sum_x (M_b(x^i, x) - M_s(x^i, x))_+$.",
      printed=r"The continuation is printed $Z^{i-\tau}$ for $Z^{L-\tau}$ at the beginning.",
      )(up_to)  # fmt: skip


def from_depth(target, draft, length):
    """What is drafted and put out at depths 1 to L, accepted or drawn anew."""
    found = vb.outcomes(ba.block_verify, target, draft, length)
    for x in prefixes_up_to(target.n, length):
        longer, large, small = range(len(x), length + 1), target.mass(x), draft.mass(x)
        kept = found.chance("output", x, longer)
        drawn = found.chance("output", x, range(len(x)))
        equal(found.chance("draft", x, longer), min(large, small), f"Pr(X^i = {x}, tau >= i)")
        equal(kept, min(large, small), f"Pr(Y^i = {x}, tau >= i)")
        equal(drawn, max(large - small, ZERO), f"Pr(Y^i = {x}, tau < i)")
        equal(kept + drawn, large, f"Pr(Y^i = {x})")
    return ZERO


claim("block.lem5", "Lemma 5, appendix B.1", MODELS,
      r"For $1 \le \ell \le L$ and all $x^\ell$: $\Pr(X^\ell = x^\ell, \tau \ge \ell) = "
      r"\min(M_b(x^\ell), M_s(x^\ell))$.")(from_depth)  # fmt: skip
claim("block.eq18", "(18), appendix B.1", MODELS,
      r"$\Pr(Y^i = x^i) = \min(M_b(x^i), M_s(x^i)) + (M_b(x^i) - M_s(x^i))_+ = M_b(x^i)$, the "
      r"first term for $\tau \ge i$, the second for $\tau < i$.")(from_depth)  # fmt: skip
