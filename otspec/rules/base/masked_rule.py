"""Rules for drafts that are not i.i.d. and of which some are withdrawn (Theory, 36)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from otspec._base.arithmetic import Array, IntArray
from otspec._base.frozen import cached_property
from otspec.chance import Chance
from otspec.distributions import Distribution
from otspec.rules.base.law_rule import LawRule
from otspec.rules.base.rule import Rule


@dataclass(frozen=True, eq=False)
class MaskedRule(LawRule):
    """A rule for masked drafts, whose law is verified with the drafts as they were drawn.

    Withdrawn tokens have the target 0 there, and one more token has theirs. If that is the output,
    it is drawn from the target among them. Which token a null token was is drawn anew, given the
    other drafts: an engine that knows it need not do so.

    Law: the output is distributed as the target. Made by :meth:`PairRule.of_law`; all tuples of
    drafts are enumerated, so small vocabularies only.

    Shapes: ``target`` (n,).

    Examples
    --------
    >>> from otspec import Masked, WithoutReplacement, audit
    >>> from otspec.rules import RecursiveRejectionWithoutReplacement
    >>> law = Masked(WithoutReplacement(["1/2", "3/10", "1/5"], k=2), keep=[0, 1])
    >>> rule = RecursiveRejectionWithoutReplacement.of_law(law, ["1/10", "3/5", "3/10"])
    >>> audit(rule).lossless, rule.acceptance()
    (True, Fraction(27, 40))
    """

    name: ClassVar[str] = "masked"
    title: ClassVar[str] = "masked drafts"
    formula: ClassVar[bool] = False

    kind: Any  # the class of the rule, for the law that is masked
    inner: Rule = field(init=False, repr=False)

    def __post_init__(self, normalize: bool) -> None:
        law: Any = self.draft_law
        target = law.as_target(self.target, normalize=normalize)
        drawn = law.set_aside
        inner = self.kind(drawn.draft, law.target_aside(target), drawn.k)
        self._hold(target=target, k=law.k, inner=inner)

    @cached_property
    def _before(self) -> dict[tuple[int, ...], tuple[IntArray, Array]]:
        """The drafts that were drawn, with their masses, by what is left of them."""
        law: Any = self.draft_law
        tuples, masses = self.inner.law.tuples()
        found: dict[tuple[int, ...], list[int]] = {}
        for row, left in enumerate(law.mapped[tuples].tolist()):
            found.setdefault(tuple(left), []).append(row)
        return {left: (tuples[rows], masses[rows]) for left, rows in found.items()}

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        tuples, masses = self._before.get(tuple(drafts), (None, None))
        if tuples is None or masses is None:  # drafts that are never drawn
            return self.target
        found = self.inner.verify(tuples[chance.choose(masses)].tolist(), chance)
        return found if isinstance(found, int) else self._named(found)

    def _named(self, row: Distribution) -> Distribution:
        """Return a distribution in which the token that stands for others has become them."""
        law: Any = self.draft_law
        named, aside = row.copy(), self.target[:-1][law.mapped == law.null]
        named[law.null] -= row[law.null]
        if row[law.null] > 0:
            named[:-1][law.mapped == law.null] += aside * (row[law.null] / aside.sum())
        return named
