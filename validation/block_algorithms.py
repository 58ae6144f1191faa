"""Algorithms 2 and 3 step by step, as printed and as corrected, with their exact output law.

A verifier takes both models and a draft block and yields its branches: instead of drawing the
uniform numbers it follows both outcomes of each comparison, with their probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple

from validation.claim import Fails
from validation.instances import Exact
from validation.models import LanguageModel, Prefix
from validation.notation import ONE, ZERO, normalised, positive, total


class Branch(NamedTuple):
    """One way through a verifier."""

    mass: Fraction
    accepted: int
    """tau."""
    following: LanguageModel
    """M_{b,next}: what is drawn after X^tau."""


Verifier = Callable[[LanguageModel, LanguageModel, Prefix], Iterator[Branch]]
"""(target, draft, X^L) to branches whose masses sum to 1."""

Correction = Callable[[LanguageModel, LanguageModel, Prefix, int], LanguageModel]
"""(target, draft, X^tau, L - tau) to M_{b,next}, for tau < L."""


def token_verify(target: LanguageModel, draft: LanguageModel, block: Prefix) -> Iterator[Branch]:
    """Algorithm 2 (TokenVerify), step by step."""
    mass, tau = ONE, 0
    for i in range(1, len(block) + 1):  # line 3
        before, token = block[: i - 1], block[i - 1]
        chance = at_most_one(target(before)[token], draft(before)[token])  # line 4
        if chance < 1:  # lines 7 and 13
            following = corrected_token(target, before, residual_token(target, draft, before))
            yield Branch(mass * (1 - chance), tau, following)
        mass *= chance
        if not mass:
            return
        tau += 1  # line 5
    yield Branch(mass, tau, target.after(block))  # line 11


def residual_token(target: LanguageModel, draft: LanguageModel, prefix: Prefix) -> Exact:
    """Return p_res of (1)."""
    return normalised(positive(target(prefix), draft(prefix)))


def corrected_token(target: LanguageModel, accepted: Prefix, row: Exact) -> LanguageModel:
    """Return the model that draws one token Y from a row and then follows M_b(. | X^tau, Y)."""
    return LanguageModel(lambda more: target(accepted + more) if more else row, target.n)


def block_acceptance(
    target: LanguageModel, draft: LanguageModel, block: Prefix
) -> Iterator[tuple[Fraction, int]]:
    """Lines 1 to 12 of algorithm 3: yield the accepted lengths tau with their probabilities.

    Where the loop ends without accepting, nothing is yielded and mass is missing.
    """
    length = len(block)
    chance = at_most_one(target.mass(block), draft.mass(block))  # line 2
    if chance:
        yield chance, length  # line 3
    mass = 1 - chance
    for i in range(1, length + 1):  # line 5
        if not mass:
            return
        shorter = block[: length - i]
        chance = at_most_one(remaining(target, draft, shorter), rejected(target, draft, shorter))
        if chance:
            yield mass * chance, length - i  # lines 7 to 9
        mass *= 1 - chance


def remaining(target: LanguageModel, draft: LanguageModel, prefix: Prefix) -> Fraction:
    """Return p_remain of (8)."""
    return total(positive(next_masses(target, prefix), next_masses(draft, prefix)))


def rejected(target: LanguageModel, draft: LanguageModel, prefix: Prefix) -> Fraction:
    """Return p_rej of (9)."""
    return total(positive(next_masses(draft, prefix), next_masses(target, prefix)))


def residual(target: LanguageModel, draft: LanguageModel, prefix: Prefix) -> Exact:
    """Return p_res of (10) after a prefix; zeros where it is 0/0, so that mass is missing."""
    return normalised(positive(next_masses(target, prefix), next_masses(draft, prefix)))


def block_verify_with(correction: Correction, whole_block: Correction) -> Verifier:
    """Return algorithm 3 with one reading of lines 16 and 14."""

    def verify(target: LanguageModel, draft: LanguageModel, block: Prefix) -> Iterator[Branch]:
        for mass, tau in block_acceptance(target, draft, block):
            rule = whole_block if tau == len(block) else correction
            yield Branch(mass, tau, rule(target, draft, block[:tau], len(block) - tau))

    return verify


def residuals_as_printed(
    target: LanguageModel, draft: LanguageModel, accepted: Prefix, left: int
) -> LanguageModel:
    """Line 16 to the letter: p_res of x^j alone, then M_b(. | x^j), without X^tau."""
    del accepted
    return _chained(target, draft, (), left)


def residuals_in_context(
    target: LanguageModel, draft: LanguageModel, accepted: Prefix, left: int
) -> LanguageModel:
    """Line 16 with X^tau as a context left out of the notation, as section 2 does with x^t."""
    return _chained(target.after(accepted), draft.after(accepted), (), left)


def residuals_of_whole_prefix(
    target: LanguageModel, draft: LanguageModel, accepted: Prefix, left: int
) -> LanguageModel:
    """Line 16 as appendix B uses it: p_res of (X^tau, x^j), then M_b(. | X^tau, x^j)."""
    return _chained(target, draft, accepted, left)


def _chained(
    target: LanguageModel, draft: LanguageModel, start: Prefix, left: int
) -> LanguageModel:
    def rule(more: Prefix) -> Exact:
        prefix = start + more
        return residual(target, draft, prefix) if len(more) < left else target(prefix)

    return LanguageModel(rule, target.n)


def _model_as_printed(
    target: LanguageModel, draft: LanguageModel, accepted: Prefix, left: int
) -> LanguageModel:
    del draft, accepted, left
    return target


def _model_after_block(
    target: LanguageModel, draft: LanguageModel, accepted: Prefix, left: int
) -> LanguageModel:
    del draft, left
    return target.after(accepted)


block_verify_as_printed = block_verify_with(residuals_as_printed, _model_as_printed)
"""Algorithm 3 (BlockVerify) to the letter."""
block_verify_in_context = block_verify_with(residuals_in_context, _model_after_block)
"""Algorithm 3 with models and residuals of the continuation alone."""
block_verify = block_verify_with(residuals_of_whole_prefix, _model_after_block)
"""Algorithm 3 corrected: residuals and models of the whole prefix (X^tau, x^j)."""


def block_verify_one_token(
    target: LanguageModel, draft: LanguageModel, block: Prefix
) -> Iterator[Branch]:
    """The later version of block verification, which corrects one token only.

    p_0 = 1, p_i = min(1, p_{i-1} M_b/M_s), Z_i = sum (p_i M_b - M_s)_+, h_i = Z_i / (Z_i + 1 - p_i)
    for i < L with 0/0 = 1, h_L = p_L; tau is the last i with eta_i <= h_i.
    """
    kept = [ONE]
    for i, token in enumerate(block):
        before = block[:i]
        kept.append(at_most_one(kept[-1] * target(before)[token], draft(before)[token]))
    mass = ONE
    for tau in range(len(block), -1, -1):
        before = block[:tau]
        if tau == len(block):
            chance, following = kept[tau], target.after(block)
        else:
            scaled = tuple(kept[tau] * value for value in target(before))
            parts = positive(scaled, draft(before))
            left = sum(parts)
            chance = left / (left + 1 - kept[tau]) if tau and left + 1 - kept[tau] else ONE
            following = corrected_token(target, before, normalised(parts))
        if mass * chance:
            yield Branch(mass * chance, tau, following)
        mass *= 1 - chance


def next_masses(model: LanguageModel, prefix: Prefix) -> Exact:
    """Return M(x^i, x) for all x."""
    mass = model.mass(prefix)
    if not mass:
        return (ZERO,) * model.n
    return tuple(mass * chance for chance in model(prefix))


def at_most_one(numerator: Fraction, denominator: Fraction) -> Fraction:
    """Return min(numerator / denominator, 1); a positive number over 0 is infinite."""
    if numerator >= denominator:
        if not numerator:
            raise Fails("a comparison with 0/0 is reached")
        return ONE
    return numerator / denominator
