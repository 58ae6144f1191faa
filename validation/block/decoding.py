"""Algorithm 1 (SpecDec) step by step: what is decoded, in how many calls of the large model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from validation.block_algorithms import Verifier, block_verify
from validation.models import LanguageModel, Prefix
from validation.notation import ONE, collect, total
from validation.verified_blocks import same_law, verified


class Step(NamedTuple):
    """One way through one iteration: its mass, tau, and (X^tau, Z), or X^tau where it returns."""

    mass: Fraction
    accepted: int
    tokens: Prefix
    following: SpecDec | None
    """The algorithm with the models M_b' and M_s' of the next iteration; None where it returns."""


@dataclass(frozen=True)
class SpecDec:
    """Algorithm 1 with a verifier, two models, L, and E.O.S. if there is one."""

    verify: Verifier
    target: LanguageModel
    draft: LanguageModel
    length: int
    end: int | None = None
    stop_at_free_token: bool = False
    """Whether it returns also where the free token Z is E.O.S.; as printed it does not."""

    def iteration(self) -> Iterator[Step]:
        """Yield all ways through lines 1 to 9.

        In all verifiers that are run here M_{b,next} depends on X^L only through X^tau, so drafts
        that agree in what is accepted are one branch."""
        found = [(block[: branch.accepted], branch) for block, branch in verified(
            self.verify, self.target, self.draft, self.length)]  # fmt: skip
        next_model = {head: branch.following for head, branch in found}
        for head, mass in collect((head, branch.mass) for head, branch in found).items():
            if self.end in head:  # lines 4 and 5
                yield Step(mass, len(head), head, None)
                continue
            for token, chance in enumerate(next_model[head](())):  # line 7
                if chance:
                    tokens = (*head, token)
                    models = next_model[head].after((token,)), self.draft.after(tokens)  # line 8
                    ends = self.stop_at_free_token and token == self.end
                    following = None if ends else replace(self, target=models[0], draft=models[1])
                    yield Step(mass * chance, len(head), tokens, following)

    def decode(self, tokens: int) -> dict[tuple[Prefix, int], Fraction]:
        """Return the probabilities of (sequence, number of iterations), cut after some tokens."""
        nothing: dict[tuple[Prefix, int], Fraction] = {((), 0): ONE}
        if tokens <= 0:
            return nothing
        return collect(
            (((step.tokens + more)[:tokens], calls + 1), step.mass * mass)
            for step in self.iteration()
            for left in [tokens - len(step.tokens)]
            for (more, calls), mass in (
                step.following.decode(left) if step.following else nothing).items()  # line 9
        )  # fmt: skip

    def law(self, tokens: int) -> dict[Prefix, Fraction]:
        """Return the law of the first tokens that are decoded."""
        return collect((sequence, mass) for (sequence, _), mass in self.decode(tokens).items())

    def mean_tokens(self, iterations: int) -> Fraction:
        """Return the expected number of tokens that some iterations decode, without an end."""
        return total(
            step.mass * (len(step.tokens) + step.following.mean_tokens(iterations - 1))
            for step in (self.iteration() if iterations else ())
        )


TOKENS = 3
"""How many decoded tokens are compared."""
NOTE = f"{TOKENS} tokens decoded"


def decodes(target, draft, length, verify=block_verify):
    """Check that what is decoded over several iterations has the law of the large model."""
    law = SpecDec(verify, target, draft, length).law(TOKENS)
    return same_law(law, target.blocks(TOKENS), "the law of what is decoded")
