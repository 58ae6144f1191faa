"""A rule that hands over what is left of its residuals (Theory, 20): the plan, and its blocks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec.arguments import as_generator, as_instance, as_tokens, how_many
from otspec.arithmetic import Array, zeros
from otspec.blocks.contract import BlockRule, Outcome
from otspec.blocks.single_draft import last_kept
from otspec.distributions import Distribution
from otspec.drafts.contract import draw
from otspec.frozen import Frozen, read_only
from otspec.models.contract import Model, Prefix, as_prefix
from otspec.models.given_beginning import GivenBeginning
from otspec.programs.chained_residuals import Residual

Ways = Mapping[tuple[Prefix, int], Any]
"""(what a block decodes, the number of the residual that it hands over) → probability."""


class HandedResidual(GivenBeginning):
    """A target that a block is handed: one of the plan's residuals, by chance.

    Parameters
    ----------
    plan : HandOverPlan
    chances : dict
        From numbers of residuals of the plan, all of one context, to their probabilities.
    """

    def __init__(self, plan: HandOverPlan, chances: Mapping[int, Any]) -> None:
        residuals = [(plan.residuals[number], chance) for number, chance in chances.items()]
        law: Any = sum(residual.law * chance for residual, chance in residuals)
        super().__init__(plan.target.after(residuals[0][0].text), np.asarray(law))
        self.plan, self.chances = plan, dict(chances)


@dataclass(frozen=True, eq=False)
class HandOverPlan(Frozen):
    """What becomes of the blocks that begin with each of some residuals.

    Parameters
    ----------
    draft, target : Model
    length : int
        L, the tokens of a block.
    residuals : sequence of Residual
    ends : sequence of dict
        For each residual how its blocks end.
    shares : sequence of float or Fraction
        How many of all blocks of a long text begin with each residual.
    """

    draft: Model
    target: Model
    length: int
    residuals: Sequence[Residual]
    ends: Sequence[Ways]
    shares: Sequence[Any]

    def rule(self, chances: Mapping[int, Any]) -> HandOverRule:
        """Return the rule for a block that begins with one of the residuals, by chance.

        Parameters
        ----------
        chances : mapping
            From numbers of residuals, all of one context, to their probabilities, which sum to 1.
        """
        start = self.residuals[next(iter(chances))].text
        return HandOverRule(self.draft.after(start), HandedResidual(self, chances))


class EndedBlock(Model):
    """What follows what is kept: one more token, and after it what the plan hands over.

    Parameters
    ----------
    plan : HandOverPlan
    handed : dict
        From the next token to the residuals that are handed over after it, by mass.
    """

    def __init__(self, plan: HandOverPlan, handed: Mapping[int, Mapping[int, Any]]) -> None:
        self.n, self.exact = plan.target.n, plan.target.exact
        total: Any = sum(sum(masses.values()) for masses in handed.values())
        row = zeros(self.n, like=plan.target(()))
        self._after: dict[int, HandedResidual] = {}
        for token, masses in handed.items():
            mass: Any = sum(masses.values())
            row[token] = mass / total
            self._after[token] = HandedResidual(plan, {i: m / mass for i, m in masses.items()})
        self._row = read_only(row)

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the law of the next token, or what follows in what is handed over."""
        text = as_prefix(prefix, self.n)
        return self._after[text[0]](text[1:]) if text else self._row

    def after(self, prefix: Prefix) -> Model:
        """Return what the plan hands over after a token of positive probability."""
        text = as_prefix(prefix, self.n)
        return self._after[text[0]].after(text[1:]) if text else self


@dataclass(frozen=True, eq=False)
class HandOverRule(BlockRule):
    """Keep what a plan says, and hand over the residual that it says.

    Given a draft, length i is kept, if no longer one is, with probability (r(x^i) − Σ_x r(x^i x)) /
    (M_s(x^i) − Σ_x r(x^i x)), where r(s) is the plan's probability that at least s is kept.

    Law: what is kept and its continuation is the target's text. Made by :meth:`HandOverPlan.rule`,
    and for the next block by decoding; the target is what the block before handed over.

    Raises
    ------
    ValueError
        Another target.
    """

    title: ClassVar[str] = "handed residuals"

    target: HandedResidual

    def __post_init__(self) -> None:
        super().__post_init__()
        as_instance(
            self.target, "target", HandedResidual, "what the plan hands over: use plan.rule()"
        )

    @property
    def plan(self) -> HandOverPlan:
        """What becomes of the blocks."""
        return self.target.plan

    @property
    def depth(self) -> int:
        """L, the tokens of a block."""
        return self.plan.length

    def outcomes(self) -> Iterator[Outcome]:
        """Yield each text that may be kept, with its probability and what follows."""
        for head, handed in self._ended().items():
            mass: Any = sum(sum(masses.values()) for masses in handed.values())
            yield Outcome(head, mass, EndedBlock(self.plan, handed))

    def _ended(self) -> dict[Prefix, dict[int, dict[int, Any]]]:
        """Return the mass of what is handed over, by what is kept and the next token."""
        ended: dict[Prefix, dict[int, dict[int, Any]]] = {}
        for number, chance in self.target.chances.items():
            for (text, handed), share in self.plan.ends[number].items():
                masses = ended.setdefault(text[:-1], {}).setdefault(text[-1], {})
                masses[handed] = masses.get(handed, 0) + chance * share
        return ended

    def kept(self, block: Sequence[int]) -> Array:
        """Return the law of how many tokens are kept, given the draft, shape (L + 1,).

        Parameters
        ----------
        block : sequence of int, length L

        Raises
        ------
        ValueError
            Not L token ids.
        """
        drafted = as_tokens(block, self.draft.n, "block", count=self.depth)
        if len(drafted) != self.depth:
            given = how_many(block, drafted, self.depth)
            raise ValueError(f"block has {given} tokens, but the length is {self.depth}")
        ends: dict[Prefix, Any] = defaultdict(int)
        longer: dict[Prefix, Any] = defaultdict(int)
        for outcome in self.outcomes():
            ends[outcome.accepted] += outcome.mass
            for length in range(len(outcome.accepted)):
                longer[outcome.accepted[:length]] += outcome.mass
        chances = [
            _share(ends[head], self.draft.mass(head) - longer[head])
            for head in (drafted[:length] for length in range(self.depth + 1))
        ]
        return last_kept(chances, like=self.draft(()))

    def sample(self, rng: np.random.Generator) -> Outcome:
        """Draw a block from the draft model and verify it."""
        rng = as_generator(rng)
        block: Prefix = ()
        for _ in range(self.depth):
            block = (*block, int(draw(self.draft(block), 1, rng)[0]))
        return self.verify(block, rng)

    def verify(self, block: Sequence[int], rng: np.random.Generator) -> Outcome:
        """Draw how much of a draft is kept; parameters and errors as :meth:`kept`."""
        head = tuple(block)[: int(draw(self.kept(block), 1, as_generator(rng))[0])]
        return Outcome(head, self.target.number(1), EndedBlock(self.plan, self._ended()[head]))


def _share(part: Any, whole: Any) -> Any:
    """Return part/whole, at most 1; where there is nothing the answer does not matter."""
    return min(part / whole, whole / whole) if whole > 0 else whole * 0 + 1
