"""Algorithm 1 (SpecDec) step by step: what is decoded, in how many calls of the large model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from validation.verified_blocks import verified
from validation.models import LanguageModel, Prefix
from validation.block_algorithms import Branch, Verifier
from validation.notation import ONE, ZERO, collect, total


class Step(NamedTuple):
    """One way through one iteration."""

    mass: Fraction
    accepted: int
    """tau."""
    tokens: Prefix
    """What the iteration appends: (X^tau, Z), or X^tau where it returns."""
    following: SpecDec | None
    """The algorithm with the models M_b' and M_s' of the next iteration; None where it returns."""


@dataclass(frozen=True)
class SpecDec:
    """Algorithm 1 with a verifier and two models."""

    verify: Verifier
    target: LanguageModel
    draft: LanguageModel
    length: int
    """L."""
    end: int | None = None
    """The token E.O.S."""
    stop_at_free_token: bool = False
    """Whether it returns also where the free token Z is E.O.S.; as printed it does not."""

    def iteration(self) -> Iterator[Step]:
        """Yield all ways through lines 1 to 9."""
        for head, branch in self._merged():  # lines 1 to 3
            if self.end in head:  # lines 4 and 5
                yield Step(branch.mass, branch.accepted, head, None)
                continue
            for token, chance, following in self._following(head, branch):  # lines 7 and 8
                stops = self.stop_at_free_token and token == self.end
                tokens, mass = (*head, token), branch.mass * chance
                yield Step(mass, branch.accepted, tokens, None if stops else following)

    def decode(self, tokens: int) -> dict[tuple[Prefix, int], Fraction]:
        """Return the probabilities of (sequence, number of iterations).

        Sequences are cut, and not pursued, after ``tokens`` tokens.
        """
        parts: list[tuple[tuple[Prefix, int], Fraction]] = []
        for step in self.iteration():
            rest: dict[tuple[Prefix, int], Fraction] = {((), 0): ONE}
            left = tokens - len(step.tokens)
            if step.following and left > 0:
                rest = step.following.decode(left)
            parts += [
                (((step.tokens + more)[:tokens], calls + 1), step.mass * mass)
                for (more, calls), mass in rest.items()  # line 9
            ]
        return collect(parts)

    def law(self, tokens: int) -> dict[Prefix, Fraction]:
        """Return the law of the first tokens that are decoded."""
        return collect((sequence, mass) for (sequence, _), mass in self.decode(tokens).items())

    def mean_tokens(self, iterations: int) -> Fraction:
        """Return the expected number of tokens that some iterations decode, without an end."""
        if not iterations:
            return ZERO
        return total(
            branch.mass * (len(head) + 1)
            + total(
                branch.mass * chance * following.mean_tokens(iterations - 1)
                for _, chance, following in self._following(head, branch)
            )
            for head, branch in self._merged()
        )

    def _following(self, head: Prefix, branch: Branch) -> Iterator[tuple[int, Fraction, SpecDec]]:
        """Yield the free tokens Z with their chances and the algorithm that goes on."""
        for token, chance in enumerate(branch.following(())):
            if chance:
                target, draft = branch.following.after((token,)), self.draft.after((*head, token))
                yield token, chance, replace(self, target=target, draft=draft)

    def _merged(self) -> list[tuple[Prefix, Branch]]:
        """Return the accepted prefixes X^tau with their branches.

        In all verifiers that are run here M_{b,next} depends on X^L only through X^tau, so drafts
        that agree in what is accepted are one branch.
        """
        together: dict[Prefix, Branch] = {}
        for block, branch in verified(self.verify, self.target, self.draft, self.length):
            head = block[: branch.accepted]
            mass = together[head].mass if head in together else ZERO
            together[head] = branch._replace(mass=branch.mass + mass)
        return list(together.items())
