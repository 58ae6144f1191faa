"""A rule that hands over what is left of its residuals (Theory, 20): the plan, and its blocks."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base import Frozen, as_instance, cached_property, zeros
from otspec.blocks.base import BlockRule, Outcome
from otspec.blocks.drafted_tree import ROOT, DraftedTree, Found
from otspec.chance import Chance
from otspec.distributions import Distribution
from otspec.models.base import Model, Prefix
from otspec.models.derived import OneCorrectedToken
from otspec.models.joint_contexts import GivenBeginning
from otspec.programs.sequences.chained_residuals import Residual

Ways = Mapping[tuple[Prefix, int], Any]
"""(what a block decodes, the number of the residual that it hands over) → probability."""


class HandedResidual(GivenBeginning):
    """A target that a block is handed: by chance one of a context's residuals, or a text's end."""

    def __init__(self, plan: "HandOverPlan", chances: Mapping[int, Any], over: Prefix = ()) -> None:
        residuals = [(plan.residuals[number], chance) for number, chance in chances.items()]
        law: Any = 1 if over else sum(residual.law * chance for residual, chance in residuals)
        self.start = over or residuals[0][0].text
        super().__init__(plan.target.after(self.start), np.asarray(law))
        self.plan, self.chances = plan, dict(chances)


@dataclass(frozen=True, eq=False)
class HandOverPlan(Frozen):
    """What becomes of the blocks that begin with each of some residuals."""

    draft: Model
    target: Model
    length: int  # L, the tokens of a block
    residuals: Sequence[Residual]
    ends: Sequence[Ways]  # for each residual how its blocks end
    shares: Sequence[Any]  # how many of all blocks of a long text begin with each

    def rule(self, chances: Mapping[int, Any]) -> "HandOverRule":
        """Return the rule for a block that begins with a residual, by their chances."""
        start = self.residuals[next(iter(chances))].text
        return HandOverRule(self.draft.after(start), HandedResidual(self, chances))


class EndedBlock(OneCorrectedToken):
    """What follows what is kept, ``before``: one more token, then what the plan hands over."""

    def __init__(
        self, plan: HandOverPlan, before: Prefix, handed: Mapping[int, Mapping[int, Any]]
    ) -> None:
        total: Any = sum(sum(masses.values()) for masses in handed.values())
        row = zeros(plan.target.n, like=plan.target(()))
        self._after: dict[int, HandedResidual] = {}
        for token, masses in handed.items():
            mass: Any = sum(masses.values())
            row[token] = mass / total
            chances = {i: m / mass for i, m in masses.items()}
            text = (*before, token)
            over = text if plan.target.ended(text) else ()
            self._after[token] = HandedResidual(plan, chances, over)
        super().__init__(plan.target.after(before), row)

    def _next(self, token: int) -> Model:
        return self._after[token]


@dataclass(frozen=True, eq=False)
class HandOverRule(BlockRule):
    """Keep what a plan says, and hand over the residual that it says.

    Given a draft, length i is kept, if no longer one is, with probability (r(x^i) − Σ_x r(x^i x)) /
    (M_s(x^i) − Σ_x r(x^i x)), where r(s) is the plan's probability that at least s is kept.

    Law: what is kept and its continuation is the target's text. Made by :meth:`HandOverPlan.rule`,
    and for the next block by decoding; raises ``ValueError`` for a target that was not handed over.
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
        for head, handed in self._ended.items():
            mass: Any = sum(sum(masses.values()) for masses in handed.values())
            yield Outcome(head, mass, self._following(head, handed))

    def _following(self, head: Prefix, handed: Mapping[int, Mapping[int, Any]]) -> EndedBlock:
        return EndedBlock(self.plan, self.target.start + head, handed)

    @cached_property
    def _ended(self) -> dict[Prefix, dict[int, dict[int, Any]]]:
        """The mass of what is handed over, by what is kept and the next token."""
        ended: dict[Prefix, dict[int, dict[int, Any]]] = {}
        for number, chance in self.target.chances.items():
            for (text, handed), share in self.plan.ends[number].items():
                masses = ended.setdefault(text[:-1], {}).setdefault(text[-1], {})
                masses[handed] = masses.get(handed, 0) + chance * share
        return ended

    @cached_property
    def _at_least(self) -> dict[Prefix, Any]:
        """r(s), the probability that at least s is kept."""
        masses: dict[Prefix, Any] = defaultdict(int)
        for head, handed in self._ended.items():
            for length in range(len(head) + 1):
                masses[head[:length]] += sum(sum(each.values()) for each in handed.values())
        return dict(masses)

    def verify(self, drafts: DraftedTree, chance: Chance) -> Found:
        """Try the whole block first, then the lengths below it, the longest first."""
        kept, n = drafts.tokens, self.target.n
        while True:
            longer = sum(self._at_least.get((*kept, token), 0) for token in range(n))
            # Length i is kept with probability (r(x^i) − Σ_x r(x^i x))/(M_s(x^i) − Σ_x r(x^i x)).
            wanted, offered = self._at_least.get(kept, 0) - longer, self.draft.mass(kept) - longer
            if not kept or chance.accept(wanted, offered):
                break
            kept = kept[:-1]
        if self.target.ended(()):
            return ROOT
        return len(kept) - 1, self._following(kept, self._ended[kept])(())

    def following(self, kept: Prefix, row: Distribution) -> Model:  # noqa: ARG002 # the first row
        """Return one more token, and after it what the plan hands over."""
        return self._following(kept, self._ended[kept])
