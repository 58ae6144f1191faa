"""Algorithms 2 and 3 of block verification step by step, as printed and as corrected.

A verifier takes both models and a draft block and yields its branches: instead of drawing the
uniform numbers it follows both outcomes of each comparison, with their probabilities."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from validation.claim import Fails
from validation.domains import Exact
from validation.models import LanguageModel, Prefix
from validation.notation import ONE, ZERO, normalized, positive, total

Model = LanguageModel


class Branch(NamedTuple):
    """One way through a verifier: its mass, tau, and M_{b,next}, what is drawn after X^tau."""

    mass: Fraction
    accepted: int
    following: Model


Verifier = Callable[[Model, Model, Prefix], Iterator[Branch]]
"""(target, draft, X^L) to branches whose masses sum to 1."""


def token_verify(target: Model, draft: Model, block: Prefix) -> Iterator[Branch]:
    """Algorithm 2 (TokenVerify), step by step."""
    mass = ONE
    for tau, token in enumerate(block):  # line 3
        before = block[:tau]
        chance = at_most_one(target(before)[token], draft(before)[token])  # line 4
        if chance < 1:  # lines 7 and 13
            following = corrected_token(target, before, residual_token(target, draft, before))
            yield Branch(mass * (1 - chance), tau, following)
        mass *= chance
        if not mass:
            return
    yield Branch(mass, len(block), target.after(block))  # line 11


def residual_token(target: Model, draft: Model, prefix: Prefix) -> Exact:
    """Return p_res of (1)."""
    return normalized(positive(target(prefix), draft(prefix)))


def corrected_token(target: Model, accepted: Prefix, row: Exact) -> Model:
    """Return the model that draws one token Y from a row and then follows M_b(. | X^tau, Y)."""
    return LanguageModel(lambda more: target(accepted + more) if more else row, target.n)


def block_acceptance(target: Model, draft: Model, block: Prefix) -> Iterator[tuple[Fraction, int]]:
    """Lines 1 to 12 of algorithm 3: yield the accepted lengths tau with their probabilities.

    Where the loop ends without accepting, nothing is yielded and mass is missing."""
    mass = ONE
    for tau in range(len(block), -1, -1):  # line 5, i = L - tau
        x = block[:tau]
        if tau == len(block):
            chance = at_most_one(target.mass(x), draft.mass(x))  # line 2
        else:
            chance = at_most_one(remaining(target, draft, x), rejected(target, draft, x))
        if chance:
            yield mass * chance, tau  # lines 3, 7 to 9
        mass *= 1 - chance
        if not mass:
            return


def next_masses(model: Model, prefix: Prefix) -> Exact:
    """Return M(x^i, x) for all x."""
    mass = model.mass(prefix)
    return tuple(mass * chance for chance in model(prefix)) if mass else (ZERO,) * model.n


def remaining(target: Model, draft: Model, prefix: Prefix) -> Fraction:
    """Return p_remain of (8)."""
    return total(positive(next_masses(target, prefix), next_masses(draft, prefix)))


def rejected(target: Model, draft: Model, prefix: Prefix) -> Fraction:
    """Return p_rej of (9)."""
    return total(positive(next_masses(draft, prefix), next_masses(target, prefix)))


def residual(target: Model, draft: Model, prefix: Prefix) -> Exact:
    """Return p_res of (10) after a prefix; zeros where it is 0/0, so that mass is missing."""
    return normalized(positive(next_masses(target, prefix), next_masses(draft, prefix)))


def residuals_of_whole_prefix(target: Model, draft: Model, accepted: Prefix, left: int) -> Model:
    """Line 16 as appendix B uses it: p_res of (X^tau, x^j), then M_b(. | X^tau, x^j)."""
    return LanguageModel(
        lambda more: residual(target, draft, accepted + more) if len(more) < left
        else target(accepted + more), target.n)  # fmt: skip


def block_verify(
    target: Model, draft: Model, block: Prefix, read: Callable[..., Any] = lambda *whole: whole
) -> Iterator[Branch]:
    """Algorithm 3 corrected: residuals and models of the whole prefix (X^tau, x^j)."""
    for mass, tau in block_acceptance(target, draft, block):
        reading = read(target, draft, block[:tau])
        yield Branch(mass, tau, residuals_of_whole_prefix(*reading, len(block) - tau))


block_verify_as_printed = partial(block_verify, read=lambda target, draft, _: (target, draft, ()))
"""Algorithm 3 (BlockVerify) to the letter: p_res of x^j alone, M_b(. | x^j), without X^tau."""
block_verify_in_context = partial(
    block_verify, read=lambda target, draft, head: (target.after(head), draft.after(head), ())
)
"""Algorithm 3 with X^tau as a context left out of the notation, as section 2 does with x^t."""


def block_verify_one_token(target: Model, draft: Model, block: Prefix) -> Iterator[Branch]:
    """The later version of block verification, which corrects one token only.

    p_0 = 1, p_i = min(1, p_{i-1} M_b/M_s), Z_i = sum (p_i M_b - M_s)_+, h_i = Z_i / (Z_i + 1 - p_i)
    for i < L with 0/0 = 1, h_L = p_L; tau is the last i with eta_i <= h_i."""
    kept = [ONE]
    for i, token in enumerate(block):
        kept.append(at_most_one(kept[-1] * target(block[:i])[token], draft(block[:i])[token]))
    chance, mass, following = kept[-1], ONE, target.after(block)
    for tau in range(len(block), -1, -1):
        if tau < len(block):
            before = block[:tau]
            parts = positive([kept[tau] * value for value in target(before)], draft(before))
            left = total(parts)
            chance = left / (left + 1 - kept[tau]) if tau and left + 1 - kept[tau] else ONE
            following = corrected_token(target, before, normalized(parts))
        if mass * chance:
            yield Branch(mass * chance, tau, following)
        mass *= 1 - chance


def at_most_one(numerator: Fraction, denominator: Fraction) -> Fraction:
    """Return min(numerator / denominator, 1); a positive number over 0 is infinite."""
    if numerator < denominator:
        return numerator / denominator
    if not numerator:
        raise Fails("a comparison with 0/0 is reached")
    return ONE
