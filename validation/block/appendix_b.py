"""Appendix B: the steps of the proofs of lemmas 2 and 3, from all outcomes of algorithm 3."""

from validation import block_algorithms as ba
from validation.claim import claim, equal
from validation.model_domain import MODELS
from validation.models import prefixes_up_to
from validation.notation import ONE, ZERO, overlap
from validation.verified_blocks import outcomes


def chance(found, of, x, taus):
    """Return Pr(X^l = x^l) of the draft, Pr(Y^l = x^l) of the output, for some values of tau."""
    return found.mass(lambda each: getattr(each, of)[: len(x)] == x and each.accepted in taus)


@claim("block.lem5", "Lemma 5, appendix B.1", MODELS)
def lemma_5(target, draft, length):
    r"""For $1 \le \ell \le L$ and all $x^\ell$: $\Pr(X^\ell = x^\ell, \tau \ge \ell) =
    \min(M_b(x^\ell), M_s(x^\ell))$.
    """
    found = outcomes(ba.block_verify, target, draft, length)
    for x in prefixes_up_to(target.n, length):
        longer = chance(found, "draft", x, range(len(x), length + 1))
        equal(longer, min(target.mass(x), draft.mass(x)), f"Pr(X^l = {x}, tau >= {len(x)})")
    return ZERO


@claim("block.eq15", "(11)-(15), appendix B.1", MODELS)
def equations_11_to_15(target, draft, length):
    r"""For $\ell < L$: $\Pr(X^\ell = x^\ell, \tau = \ell) = \Pr(X^\ell = x^\ell, \tau \le \ell)
    \Pr(X^\ell \text{ is accepted}) = p_{rej} \min(1, p_{remain} / p_{rej}) =
    \min(p_{remain}(x^\ell), p_{rej}(x^\ell))$.

    Printed: Where $p_{rej} = 0$ the quotient is not defined; the event has probability 0.
    """
    found = outcomes(ba.block_verify, target, draft, length)
    for x in prefixes_up_to(target.n, length - 1, 0):
        left, right = ba.remaining(target, draft, x), ba.rejected(target, draft, x)
        line_11 = chance(found, "draft", x, [len(x)])
        not_longer = chance(found, "draft", x, range(len(x) + 1))
        accepted = ba.at_most_one(left, right) if right else ONE
        equal(line_11, not_longer * accepted, f"(12) at {x}")
        equal(not_longer, right, f"(13), (14) at {x}: Pr(X^l = x^l, tau <= l)")
        equal(line_11, min(left, right), f"(15) at {x}")
    return ZERO


@claim("block.eq16", "(16), appendix B.1", MODELS)
def equation_16(target, draft, length):
    r"""$\sum_x \min(M_b(x^\ell, x), M_s(x^\ell, x))$ plus $p_{remain}(x^\ell)$ is $M_b(x^\ell)$,
    plus $p_{rej}(x^\ell)$ it is $M_s(x^\ell)$, and plus the smaller of the two it is
    $\min(M_b(x^\ell), M_s(x^\ell))$.
    """
    for x in prefixes_up_to(target.n, length - 1, 0):
        common = overlap(ba.next_masses(target, x), ba.next_masses(draft, x))
        left, right = ba.remaining(target, draft, x), ba.rejected(target, draft, x)
        equal(common + left, target.mass(x), f"sum of min + p_remain at {x}")
        equal(common + right, draft.mass(x), f"sum of min + p_rej at {x}")
        equal(common + min(left, right), min(target.mass(x), draft.mass(x)), f"(16) at {x}")
    return ZERO


@claim("block.eq17", "(17), appendix B.1, and the lines around it", MODELS)
def equation_17(target, draft, length):
    r"""$\Pr(Y^{i+1} = x^{i+1}, \tau \le i) = \Pr(Y^i = x^i, \tau \le i) \,
    p_{res}^{x^i}(x_{i+1})$, where $\Pr(Y^i = x^i, \tau \le i) = M_b(x^i) - \sum_x \min(M_b(x^i, x),
    M_s(x^i, x)) = \sum_x (M_b(x^i, x) - M_s(x^i, x))_+$.

    Printed: The continuation is printed $Z^{i-\tau}$ for $Z^{L-\tau}$ at the beginning.
    """
    found = outcomes(ba.block_verify, target, draft, length)
    for y in prefixes_up_to(target.n, length - 1, 0):
        not_longer = range(len(y) + 1)
        here = chance(found, "output", y, not_longer)
        longer = chance(found, "output", y, range(len(y) + 1, length + 1))
        common = overlap(ba.next_masses(target, y), ba.next_masses(draft, y))
        equal(longer, common, f"Pr(Y^i = {y}, tau > i)")
        equal(here, target.mass(y) - common, f"Pr(Y^i = {y}, tau <= i)")
        equal(here, ba.remaining(target, draft, y), f"sum of (M_b - M_s)_+ after {y}")
        for token, part in enumerate(ba.residual(target, draft, y)):
            drawn = chance(found, "output", (*y, token), not_longer)
            equal(drawn, here * part, f"Pr(Y^(i+1) = {(*y, token)}, tau <= i)")
    return ZERO


@claim("block.eq18", "(18), appendix B.1", MODELS)
def equation_18(target, draft, length):
    r"""$\Pr(Y^i = x^i) = \min(M_b(x^i), M_s(x^i)) + (M_b(x^i) - M_s(x^i))_+ = M_b(x^i)$, the first
    term for $\tau \ge i$, the second for $\tau < i$.
    """
    found = outcomes(ba.block_verify, target, draft, length)
    for y in prefixes_up_to(target.n, length):
        longer = range(len(y), length + 1)
        kept = chance(found, "output", y, longer)
        drawn = chance(found, "output", y, range(len(y)))
        equal(drawn, max(target.mass(y) - draft.mass(y), ZERO), f"Pr(Y^i = {y}, tau < i)")
        equal(kept, min(target.mass(y), draft.mass(y)), f"Pr(Y^i = {y}, tau >= i)")
        equal(kept, chance(found, "draft", y, longer), f"Pr(X^i = {y}, tau >= i)")
        equal(kept + drawn, target.mass(y), f"Pr(Y^i = {y})")
    return ZERO
