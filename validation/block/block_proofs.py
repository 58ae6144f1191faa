"""Appendix B: the steps of the proofs of lemmas 2 and 3."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain

from otspec.arithmetic import Number
from validation.block.checking import every_pair
from validation.block.couplings import Outcome, outcomes, total
from validation.block.models import LanguageModel, Prefix, prefixes
from validation.block.printed import at_most_one, block_verify, rejected, remaining, residual
from validation.claim import Claim, equal


def _heads(n: int, depths: range) -> Iterator[Prefix]:
    """Yield all prefixes of these lengths."""
    return chain.from_iterable(prefixes(n, depth) for depth in depths)


class _Table:
    """Probabilities of the events of the proofs, from all outcomes of algorithm 3."""

    def __init__(self, target: LanguageModel, draft: LanguageModel, length: int) -> None:
        self.found: list[Outcome] = outcomes(block_verify, target, draft, length)

    def drafted(self, x: Prefix, least: int, most: int) -> Fraction:
        """Return Pr(X^l = x^l, least <= tau <= most)."""
        return total(
            each
            for each in self.found
            if each.draft[: len(x)] == x and least <= each.accepted <= most
        )

    def returned(self, y: Prefix, least: int, most: int) -> Fraction:
        """Return Pr(Y^i = y^i, least <= tau <= most)."""
        return total(
            each
            for each in self.found
            if each.output[: len(y)] == y and least <= each.accepted <= most
        )


def _least(target: LanguageModel, draft: LanguageModel, x: Prefix) -> Fraction:
    return min(target.mass(x), draft.mass(x))


def _least_after(target: LanguageModel, draft: LanguageModel, x: Prefix) -> Fraction:
    terms = (_least(target, draft, (*x, token)) for token in range(target.n))
    return sum(terms, Fraction(0))


def _lemma_5(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    events = _Table(target, draft, length)
    for x in _heads(target.n, range(1, length + 1)):
        found = events.drafted(x, len(x), length)
        equal(found, _least(target, draft, x), f"Pr(X^l = {x}, tau >= {len(x)})")
    return Fraction(0)


def _equations_11_to_15(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    events = _Table(target, draft, length)
    for x in _heads(target.n, range(length)):
        left, right = remaining(target, draft, x), rejected(target, draft, x)
        line_11 = events.drafted(x, len(x), len(x))
        not_longer = events.drafted(x, 0, len(x))
        chance = at_most_one(left, right) if right else Fraction(1)
        equal(line_11, not_longer * chance, f"(12) at {x}")
        equal(not_longer, right, f"(13), (14) at {x}: Pr(X^l = x^l, tau <= l)")
        equal(line_11, min(left, right), f"(15) at {x}")
    return Fraction(0)


def _equation_16(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    for x in _heads(target.n, range(length)):
        common = _least_after(target, draft, x)
        left, right = remaining(target, draft, x), rejected(target, draft, x)
        equal(common + left, target.mass(x), f"sum of min + p_remain at {x}")
        equal(common + right, draft.mass(x), f"sum of min + p_rej at {x}")
        equal(common + min(left, right), _least(target, draft, x), f"(16) at {x}")
    return Fraction(0)


def _equation_17(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    events = _Table(target, draft, length)
    for y in _heads(target.n, range(length)):
        depth = len(y)
        here = events.returned(y, 0, depth)
        longer = events.returned(y, depth + 1, length)
        equal(longer, _least_after(target, draft, y), f"Pr(Y^i = {y}, tau > i)")
        equal(here, target.mass(y) - longer, f"Pr(Y^i = {y}, tau <= i)")
        equal(here, remaining(target, draft, y), f"sum of (M_b - M_s)_+ after {y}")
        for token, chance in enumerate(residual(target, draft, y)):
            drawn = events.returned((*y, token), 0, depth)
            equal(drawn, here * chance, f"Pr(Y^(i+1) = {(*y, token)}, tau <= i)")
    return Fraction(0)


def _equation_18(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    events = _Table(target, draft, length)
    for y in _heads(target.n, range(1, length + 1)):
        large, small = target.mass(y), draft.mass(y)
        drawn = events.returned(y, 0, len(y) - 1)
        equal(drawn, max(large - small, Fraction(0)), f"Pr(Y^i = {y}, tau < i)")
        accepted = events.drafted(y, len(y), length)
        equal(events.returned(y, len(y), length), accepted, f"Pr(Y^i = {y}, tau >= i)")
        equal(accepted + drawn, large, f"Pr(Y^i = {y})")
    return Fraction(0)


CLAIMS = (
    Claim(
        id="block.lem5",
        where="Lemma 5, appendix B.1",
        statement=(
            "For $1 \\le \\ell \\le L$ and all $x^\\ell$: $\\Pr(X^\\ell = x^\\ell, \\tau \\ge "
            "\\ell) = \\min(M_b(x^\\ell), M_s(x^\\ell))$."
        ),
        check=every_pair(_lemma_5),
    ),
    Claim(
        id="block.eq15",
        where="(11)-(15), appendix B.1",
        statement=(
            "For $\\ell < L$: $\\Pr(X^\\ell = x^\\ell, \\tau = \\ell) = \\Pr(X^\\ell = x^\\ell, "
            "\\tau \\le \\ell) \\Pr(X^\\ell \\text{ is accepted}) = p_{rej} \\min(1, p_{remain} / "
            "p_{rej}) = \\min(p_{remain}(x^\\ell), p_{rej}(x^\\ell))$."
        ),
        printed="Where $p_{rej} = 0$ the quotient is not defined; the event has probability 0.",
        check=every_pair(_equations_11_to_15),
    ),
    Claim(
        id="block.eq16",
        where="(16), appendix B.1",
        statement=(
            "$\\sum_x \\min(M_b(x^\\ell, x), M_s(x^\\ell, x))$ plus $p_{remain}(x^\\ell)$ is "
            "$M_b(x^\\ell)$, plus $p_{rej}(x^\\ell)$ it is $M_s(x^\\ell)$, and plus the smaller of "
            "the two it is $\\min(M_b(x^\\ell), M_s(x^\\ell))$."
        ),
        check=every_pair(_equation_16),
    ),
    Claim(
        id="block.eq17",
        where="(17), appendix B.1, and the lines around it",
        statement=(
            "$\\Pr(Y^{i+1} = x^{i+1}, \\tau \\le i) = \\Pr(Y^i = x^i, \\tau \\le i) \\, "
            "p_{res}^{x^i}(x_{i+1})$, where $\\Pr(Y^i = x^i, \\tau \\le i) = M_b(x^i) - \\sum_x "
            "\\min(M_b(x^i, x), M_s(x^i, x)) = \\sum_x (M_b(x^i, x) - M_s(x^i, x))_+$."
        ),
        printed="The continuation is printed $Z^{i-\\tau}$ for $Z^{L-\\tau}$ at the beginning.",
        check=every_pair(_equation_17),
    ),
    Claim(
        id="block.eq18",
        where="(18), appendix B.1",
        statement=(
            "$\\Pr(Y^i = x^i) = \\min(M_b(x^i), M_s(x^i)) + (M_b(x^i) - M_s(x^i))_+ = M_b(x^i)$, "
            "the first term for $\\tau \\ge i$, the second for $\\tau < i$."
        ),
        check=every_pair(_equation_18),
    ),
)
