"""Appendix B: the steps of the proofs of lemmas 2 and 3."""

from __future__ import annotations

from fractions import Fraction

from otspec.arithmetic import Number
from validation.block.checks import over_models
from validation.verified_blocks import outcomes
from validation.models import LanguageModel, Prefix, prefixes_up_to
from validation.block_algorithms import at_most_one, block_verify, rejected, remaining, residual
from validation.claim import Claim, equal
from validation.notation import ONE, ZERO, total


class _Events:
    """Probabilities of the events of the proofs, from all outcomes of algorithm 3."""

    def __init__(self, target: LanguageModel, draft: LanguageModel, length: int) -> None:
        self.found = outcomes(block_verify, target, draft, length)

    def drafted(self, x: Prefix, least: int, most: int) -> Fraction:
        """Return Pr(X^l = x^l, least <= tau <= most)."""
        return self.found.mass(
            lambda each: each.draft[: len(x)] == x and least <= each.accepted <= most
        )

    def returned(self, y: Prefix, least: int, most: int) -> Fraction:
        """Return Pr(Y^i = y^i, least <= tau <= most)."""
        return self.found.mass(
            lambda each: each.output[: len(y)] == y and least <= each.accepted <= most
        )


def _least(target: LanguageModel, draft: LanguageModel, x: Prefix) -> Fraction:
    return min(target.mass(x), draft.mass(x))


def _least_after(target: LanguageModel, draft: LanguageModel, x: Prefix) -> Fraction:
    return total(_least(target, draft, (*x, token)) for token in range(target.n))


def _lemma_5(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    events = _Events(target, draft, length)
    for x in prefixes_up_to(target.n, length):
        found = events.drafted(x, len(x), length)
        equal(found, _least(target, draft, x), f"Pr(X^l = {x}, tau >= {len(x)})")
    return ZERO


def _equations_11_to_15(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    events = _Events(target, draft, length)
    for x in prefixes_up_to(target.n, length - 1, 0):
        left, right = remaining(target, draft, x), rejected(target, draft, x)
        line_11 = events.drafted(x, len(x), len(x))
        not_longer = events.drafted(x, 0, len(x))
        chance = at_most_one(left, right) if right else ONE
        equal(line_11, not_longer * chance, f"(12) at {x}")
        equal(not_longer, right, f"(13), (14) at {x}: Pr(X^l = x^l, tau <= l)")
        equal(line_11, min(left, right), f"(15) at {x}")
    return ZERO


def _equation_16(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    for x in prefixes_up_to(target.n, length - 1, 0):
        common = _least_after(target, draft, x)
        left, right = remaining(target, draft, x), rejected(target, draft, x)
        equal(common + left, target.mass(x), f"sum of min + p_remain at {x}")
        equal(common + right, draft.mass(x), f"sum of min + p_rej at {x}")
        equal(common + min(left, right), _least(target, draft, x), f"(16) at {x}")
    return ZERO


def _equation_17(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    events = _Events(target, draft, length)
    for y in prefixes_up_to(target.n, length - 1, 0):
        depth = len(y)
        here = events.returned(y, 0, depth)
        longer = events.returned(y, depth + 1, length)
        equal(longer, _least_after(target, draft, y), f"Pr(Y^i = {y}, tau > i)")
        equal(here, target.mass(y) - longer, f"Pr(Y^i = {y}, tau <= i)")
        equal(here, remaining(target, draft, y), f"sum of (M_b - M_s)_+ after {y}")
        for token, chance in enumerate(residual(target, draft, y)):
            drawn = events.returned((*y, token), 0, depth)
            equal(drawn, here * chance, f"Pr(Y^(i+1) = {(*y, token)}, tau <= i)")
    return ZERO


def _equation_18(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    events = _Events(target, draft, length)
    for y in prefixes_up_to(target.n, length):
        large, small = target.mass(y), draft.mass(y)
        drawn = events.returned(y, 0, len(y) - 1)
        equal(drawn, max(large - small, ZERO), f"Pr(Y^i = {y}, tau < i)")
        accepted = events.drafted(y, len(y), length)
        equal(events.returned(y, len(y), length), accepted, f"Pr(Y^i = {y}, tau >= i)")
        equal(accepted + drawn, large, f"Pr(Y^i = {y})")
    return ZERO


CLAIMS = (
    Claim(
        "block.lem5",
        "Lemma 5, appendix B.1",
        r"For $1 \le \ell \le L$ and all $x^\ell$: $\Pr(X^\ell = x^\ell, \tau \ge \ell) = "
        r"\min(M_b(x^\ell), M_s(x^\ell))$.",
        over_models(_lemma_5),
    ),
    Claim(
        "block.eq15",
        "(11)-(15), appendix B.1",
        r"For $\ell < L$: $\Pr(X^\ell = x^\ell, \tau = \ell) = \Pr(X^\ell = x^\ell, \tau \le "
        r"\ell) \Pr(X^\ell \text{ is accepted}) = p_{rej} \min(1, p_{remain} / p_{rej}) = "
        r"\min(p_{remain}(x^\ell), p_{rej}(x^\ell))$.",
        over_models(_equations_11_to_15),
        printed="Where $p_{rej} = 0$ the quotient is not defined; the event has probability 0.",
    ),
    Claim(
        "block.eq16",
        "(16), appendix B.1",
        r"$\sum_x \min(M_b(x^\ell, x), M_s(x^\ell, x))$ plus $p_{remain}(x^\ell)$ is "
        r"$M_b(x^\ell)$, plus $p_{rej}(x^\ell)$ it is $M_s(x^\ell)$, and plus the smaller of the "
        r"two it is $\min(M_b(x^\ell), M_s(x^\ell))$.",
        over_models(_equation_16),
    ),
    Claim(
        "block.eq17",
        "(17), appendix B.1, and the lines around it",
        r"$\Pr(Y^{i+1} = x^{i+1}, \tau \le i) = \Pr(Y^i = x^i, \tau \le i) \, "
        r"p_{res}^{x^i}(x_{i+1})$, where $\Pr(Y^i = x^i, \tau \le i) = M_b(x^i) - \sum_x "
        r"\min(M_b(x^i, x), M_s(x^i, x)) = \sum_x (M_b(x^i, x) - M_s(x^i, x))_+$.",
        over_models(_equation_17),
        printed=r"The continuation is printed $Z^{i-\tau}$ for $Z^{L-\tau}$ at the beginning.",
    ),
    Claim(
        "block.eq18",
        "(18), appendix B.1",
        r"$\Pr(Y^i = x^i) = \min(M_b(x^i), M_s(x^i)) + (M_b(x^i) - M_s(x^i))_+ = M_b(x^i)$, the "
        r"first term for $\tau \ge i$, the second for $\tau < i$.",
        over_models(_equation_18),
    ),
)
