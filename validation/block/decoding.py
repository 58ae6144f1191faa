"""Algorithm 1 step by step: what is decoded, in how many calls of the large model."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from validation.block.models import LanguageModel, Prefix
from validation.block.printed import Branch, Verifier

Law = dict[Prefix, Fraction]


def verified(
    verify: Verifier, target: LanguageModel, draft: LanguageModel, length: int
) -> Iterator[tuple[Prefix, Branch]]:
    """Yield all drafts X^L with the branches of their verification; masses include the draft's."""
    for block, mass in draft.blocks(length).items():
        for branch in verify(target, draft, block):
            if branch.mass:
                yield block, branch._replace(mass=mass * branch.mass)


def merged(
    verify: Verifier, target: LanguageModel, draft: LanguageModel, length: int
) -> list[tuple[Prefix, Branch]]:
    """Return accepted prefixes X^tau with their branches.

    M_{b,next} depends on X^L only through X^tau in all verifiers here, so drafts that agree in
    what is accepted are one branch.
    """
    together: dict[Prefix, Branch] = {}
    for block, branch in verified(verify, target, draft, length):
        head = block[: branch.accepted]
        known = together.get(head)
        together[head] = branch._replace(mass=branch.mass + known.mass) if known else branch
    return list(together.items())


def decode(
    verify: Verifier,
    target: LanguageModel,
    draft: LanguageModel,
    length: int,
    tokens: int,
    end: int | None = None,
) -> dict[tuple[Prefix, int], Fraction]:
    """Algorithm 1 (SpecDec), cut after some tokens.

    Parameters
    ----------
    verify : callable
    target, draft : LanguageModel
    length : int
        L.
    tokens : int
        What is decoded beyond these is cut off and not pursued.
    end : int, optional
        The token E.O.S.

    Returns
    -------
    dict
        Probabilities of pairs: the sequence returned, and in how many iterations.
    """
    law: dict[tuple[Prefix, int], Fraction] = {}

    def add(sequence: Prefix, calls: int, mass: Fraction) -> None:
        key = (sequence[:tokens], calls)
        law[key] = law.get(key, Fraction(0)) + mass

    for head, branch in merged(verify, target, draft, length):  # lines 1 to 3
        if end in head or len(head) >= tokens:  # lines 4 and 5
            add(head, 1, branch.mass)
            continue
        for token, chance in enumerate(branch.following(())):  # line 7
            if not chance:
                continue
            sequence, mass = (*head, token), branch.mass * chance
            if len(sequence) >= tokens:
                add(sequence, 1, mass)
                continue
            next_target = branch.following.after((token,))  # line 8
            next_draft = draft.after(sequence)
            rest = decode(verify, next_target, next_draft, length, tokens - len(sequence), end)
            for (more, calls), part in rest.items():  # line 9
                add(sequence + more, calls + 1, mass * part)
    return law


def decoded_after(
    verify: Verifier, target: LanguageModel, draft: LanguageModel, length: int, iterations: int
) -> Fraction:
    """Return the expected number of tokens that some iterations of algorithm 1 decode."""
    total = Fraction(0)
    if not iterations:
        return total
    for head, branch in merged(verify, target, draft, length):
        total += branch.mass * (len(head) + 1)
        for token, chance in enumerate(branch.following(())):
            if chance and iterations > 1:
                total += (branch.mass * chance) * decoded_after(
                    verify,
                    branch.following.after((token,)),
                    draft.after((*head, token)),
                    length,
                    iterations - 1,
                )
    return total
