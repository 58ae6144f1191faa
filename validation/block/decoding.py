"""Algorithm 1 step by step: what is decoded, and in how many calls of the large model."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from validation.block.couplings import verified
from validation.block.models import LanguageModel, Prefix
from validation.block.printed import Branch, Verifier
from validation.notation import ONE, ZERO, collect


class Step(NamedTuple):
    """One way through one iteration."""

    mass: Fraction
    accepted: int
    """tau."""
    tokens: Prefix
    """What the iteration appends: (X^tau, Z), or X^tau where it returns."""
    models: tuple[LanguageModel, LanguageModel] | None
    """M_b' and M_s' of the next iteration; None where the algorithm returns."""


def iteration(
    verify: Verifier,
    target: LanguageModel,
    draft: LanguageModel,
    length: int,
    end: int | None = None,
    *,
    stop_at_free_token: bool = False,
) -> Iterator[Step]:
    """Yield all ways through lines 1 to 9 of algorithm 1 (SpecDec).

    Parameters
    ----------
    verify : callable
    target, draft : LanguageModel
    length : int
        L.
    end : int, optional
        The token E.O.S.
    stop_at_free_token : bool
        Return also where the free token Z is E.O.S.; the algorithm as printed does not.
    """
    for head, branch in _merged(verify, target, draft, length):  # lines 1 to 3
        if end in head:  # lines 4 and 5
            yield Step(branch.mass, branch.accepted, head, None)
            continue
        for token, chance in enumerate(branch.following(())):  # line 7
            if not chance:
                continue
            tokens = (*head, token)
            models = branch.following.after((token,)), draft.after(tokens)  # line 8
            stops = stop_at_free_token and token == end
            yield Step(branch.mass * chance, branch.accepted, tokens, None if stops else models)


def decode(
    verify: Verifier,
    target: LanguageModel,
    draft: LanguageModel,
    length: int,
    tokens: int,
    end: int | None = None,
    *,
    stop_at_free_token: bool = False,
) -> dict[tuple[Prefix, int], Fraction]:
    """Return what algorithm 1 decodes: the probabilities of (sequence, number of iterations).

    Sequences are cut, and not pursued, after ``tokens`` tokens. The other parameters are those
    of :func:`iteration`.
    """
    parts: list[tuple[tuple[Prefix, int], Fraction]] = []
    for step in iteration(
        verify, target, draft, length, end, stop_at_free_token=stop_at_free_token
    ):
        rest: dict[tuple[Prefix, int], Fraction] = {((), 0): ONE}
        left = tokens - len(step.tokens)
        if step.models and left > 0:
            rest = decode(
                verify, *step.models, length, left, end, stop_at_free_token=stop_at_free_token
            )
        parts += [
            (((step.tokens + more)[:tokens], calls + 1), step.mass * mass)
            for (more, calls), mass in rest.items()  # line 9
        ]
    return collect(parts)


def decoded_law(
    verify: Verifier,
    target: LanguageModel,
    draft: LanguageModel,
    length: int,
    tokens: int,
    end: int | None = None,
) -> dict[Prefix, Fraction]:
    """Return the law of the first tokens that algorithm 1 decodes."""
    found = decode(verify, target, draft, length, tokens, end)
    return collect((sequence, mass) for (sequence, _), mass in found.items())


def decoded_after(
    verify: Verifier, target: LanguageModel, draft: LanguageModel, length: int, iterations: int
) -> Fraction:
    """Return the expected number of tokens that some iterations of algorithm 1 decode."""
    tokens = ZERO
    for head, branch in _merged(verify, target, draft, length):
        tokens += branch.mass * (len(head) + 1)
        if iterations == 1:
            continue
        for token, chance in enumerate(branch.following(())):
            if chance:
                models = branch.following.after((token,)), draft.after((*head, token))
                more = decoded_after(verify, *models, length, iterations - 1)
                tokens += branch.mass * chance * more
    return tokens


def _merged(
    verify: Verifier, target: LanguageModel, draft: LanguageModel, length: int
) -> list[tuple[Prefix, Branch]]:
    """Return the accepted prefixes X^tau with their branches.

    In all verifiers that are run here M_{b,next} depends on X^L only through X^tau, so drafts
    that agree in what is accepted are one branch.
    """
    together: dict[Prefix, Branch] = {}
    for block, branch in verified(verify, target, draft, length):
        head = block[: branch.accepted]
        mass = together[head].mass if head in together else ZERO
        together[head] = branch._replace(mass=branch.mass + mass)
    return list(together.items())
