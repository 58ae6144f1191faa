"""A rule that hands over what is left of its residuals (Theory, 20): the plan, and its blocks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base.arguments import as_generator, as_instance
from otspec._base.arithmetic import Array, zeros
from otspec._base.frozen import Frozen, read_only
from otspec.blocks.base import BlockRule, Outcome
from otspec.blocks.single_draft import as_block, last_kept
from otspec.distributions import Distribution
from otspec.drafts.base import draw
from otspec.models.base import Model, Prefix, as_prefix
from otspec.models.conditioned import GivenBeginning
from otspec.programs.sequences.chained_residuals import Residual

Ways = Mapping[tuple[Prefix, int], Any]
"""(what a block decodes, the number of the residual that it hands over) → probability."""


class HandedResidual(GivenBeginning):
    """A target that a block is handed: one of the plan's residuals, by chance.

    Parameters
    ----------
    plan : HandOverPlan
    chances : dict
        From numbers of residuals of the plan, all of one context, to their probabilities.
    over : tuple of int, optional
        A text that is over: nothing of it is left to decode, whatever the residuals.
    """

    def __init__(self, plan: HandOverPlan, chances: Mapping[int, Any], over: Prefix = ()) -> None:
        residuals = [(plan.residuals[number], chance) for number, chance in chances.items()]
        law: Any = 1 if over else sum(residual.law * chance for residual, chance in residuals)
        self.start = over or residuals[0][0].text
        super().__init__(plan.target.after(self.start), np.asarray(law))
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
    before : tuple of int
        The text up to here, what is kept included.
    handed : dict
        From the next token to the residuals that are handed over after it, by mass.
    """

    def __init__(
        self, plan: HandOverPlan, before: Prefix, handed: Mapping[int, Mapping[int, Any]]
    ) -> None:
        self.n, self.exact = plan.target.n, plan.target.exact
        total: Any = sum(sum(masses.values()) for masses in handed.values())
        row = zeros(self.n, like=plan.target(()))
        self._after: dict[int, HandedResidual] = {}
        for token, masses in handed.items():
            mass: Any = sum(masses.values())
            row[token] = mass / total
            chances = {i: m / mass for i, m in masses.items()}
            text = (*before, token)
            over = text if plan.target.ended(text) else ()
            self._after[token] = HandedResidual(plan, chances, over)
        self._row = read_only(row)

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the law of the next token, or what follows in what is handed over."""
        text = as_prefix(prefix, self.n)
        return self._after[text[0]](text[1:]) if text else self._row

    def ended(self, prefix: Prefix) -> bool:
        """Return whether the target's text is over."""
        return bool(prefix) and self._after[prefix[0]].ended(prefix[1:])

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
        if self.target.ended(()):
            yield Outcome((), self.target.number(1), self.target)
            return
        for head, handed in self._ended().items():
            mass: Any = sum(sum(masses.values()) for masses in handed.values())
            yield Outcome(head, mass, self._following(head, handed))

    def _following(self, head: Prefix, handed: Mapping[int, Mapping[int, Any]]) -> EndedBlock:
        return EndedBlock(self.plan, self.target.start + head, handed)

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
            Or less, if the text is over with the last of them.

        Raises
        ------
        ValueError
            Not L token ids.
        """
        drafted = as_block(block, self.target, self.depth)
        ends: dict[Prefix, Any] = defaultdict(int)
        longer: dict[Prefix, Any] = defaultdict(int)
        for outcome in self.outcomes():
            ends[outcome.accepted] += outcome.mass
            for length in range(len(outcome.accepted)):
                longer[outcome.accepted[:length]] += outcome.mass
        chances = [
            _share(ends[head], self.draft.mass(head) - longer[head])
            for head in (drafted[:length] for length in range(len(drafted) + 1))
        ]
        return last_kept(chances, like=self.draft(()))

    def sample(self, rng: np.random.Generator) -> Outcome:
        """Draw a block from the draft model and verify it."""
        rng = as_generator(rng)
        block: Prefix = ()
        while len(block) < self.depth and not self.target.ended(block):
            block = (*block, int(draw(self.draft(block), 1, rng)[0]))
        return self.verify(block, rng)

    def verify(self, block: Sequence[int], rng: np.random.Generator) -> Outcome:
        """Draw how much of a draft is kept; parameters and errors as :meth:`kept`."""
        head = tuple(block)[: int(draw(self.kept(block), 1, as_generator(rng))[0])]
        if self.target.ended(()):
            return next(self.outcomes())
        return Outcome(head, self.target.number(1), self._following(head, self._ended()[head]))


def _share(part: Any, whole: Any) -> Any:
    """Return part/whole, at most 1; where there is nothing the answer does not matter."""
    return min(part / whole, whole / whole) if whole > 0 else whole * 0 + 1
