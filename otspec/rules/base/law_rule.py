"""Rules made from a draft law and a target: masked rules (Theory, 36), and a user's own program."""

import operator
from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar, Self

from otspec._base import Array, IntArray, as_callable, as_numbers, cached_property, is_exact
from otspec.chance import Chance
from otspec.distributions import Distribution, DistributionLike, as_distribution, check_alike
from otspec.drafts import IID, DraftLaw
from otspec.drafts.base import as_law
from otspec.rules.base.rule import Rule


@dataclass(frozen=True, eq=False)
class LawRule(Rule):
    """A rule that is made from a draft law and a target."""

    draft_law: DraftLaw
    target: Distribution  # (n,)
    normalize: InitVar[bool] = field(default=False, kw_only=True)  # scale the target to sum 1

    k: int = field(init=False, repr=False)

    def __post_init__(self, normalize: bool) -> None:
        target = as_distribution(self.target, "target", normalize=normalize)
        target = as_law(self.draft_law, "draft_law").as_target(target)
        law = self.draft_law.for_target(target)
        self._hold(draft_law=law, target=target, k=law.k)

    @classmethod
    def of_pair(cls, draft: DistributionLike, target: DistributionLike, k: int) -> Self:
        """Return the rule for k i.i.d. drafts."""
        return cls(IID(draft, k), target)

    @classmethod
    def of_law(cls, law: DraftLaw, target: DistributionLike) -> Self:
        """Return the rule for drafts of any law."""
        return cls(law, target)

    @property
    def law(self) -> DraftLaw:
        """The law of the drafts that the rule verifies."""
        return self.draft_law


@dataclass(frozen=True, eq=False)
class MaskedRule(LawRule):
    """A rule for masked drafts, whose law is verified with the drafts as they were drawn.

    Withdrawn tokens have target 0 there, and one null token has their mass. If that is the output,
    it is replaced by a draw from the target among them. Which token a null token was is drawn anew,
    given the other drafts; an engine that knows it need not do so.

    Law: the output is distributed as the target. Made by :meth:`PairRule.of_law`; all tuples of
    drafts are enumerated, so small vocabularies only.
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


@dataclass(frozen=True, eq=False)
class ProgramRule(LawRule):
    """A rule that is written as one function ``verify(drafts, chance)``.

    Law: nobody knows. :func:`otspec.audit` says whether the output is distributed as the target.

    Parameters
    ----------
    draft_law : DraftLaw
    target : array_like, shape (n,)
    function : callable
        Takes the drafts, a tuple of k token ids, and a :class:`otspec.chance.Chance`. Returns the
        position of the draft that it accepts; or the distribution that the output is drawn from
        instead, shape (n,).

    Raises
    ------
    ValueError
        An unusable target, or no callable; later, an answer that is neither of the two.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from otspec import IID, audit
    >>> def verify(drafts, chance):  # a coin for each draft, and no look at the target
    ...     for position in range(len(drafts)):
    ...         if chance.accept(Fraction(1, 2)):
    ...             return position
    ...     return ["1/4", "3/4"]
    >>> rule = ProgramRule(IID(["1/2", "1/2"], k=2), ["1/4", "3/4"], verify)
    >>> [str(mass) for mass in rule.kernel([0, 1])], str(rule.acceptance())
    (['9/16', '7/16'], '15/16')
    >>> audit(rule).lossless
    False
    """

    name: ClassVar[str] = "program"
    title: ClassVar[str] = "own program"
    formula: ClassVar[bool] = False

    function: Callable[[Sequence[int], Chance], Any]

    def __post_init__(self, normalize: bool) -> None:
        super().__post_init__(normalize)
        as_callable(self.function, "function", "a function verify(drafts, chance)")

    @classmethod
    def of_pair(cls, draft: DistributionLike, target: DistributionLike, k: int) -> "ProgramRule":  # noqa: ARG003
        """Refuse with a ``ValueError``: a pair does not say what to run."""
        raise ValueError("function is missing: call ProgramRule(draft_law, target, function)")

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Run the function; ``ValueError`` if it returns neither a position nor n masses."""
        found, n = self.function(tuple(drafts), chance), len(self.target)
        try:
            position = operator.index(found)
        except TypeError:
            return as_returned_row(found, self.target)
        if isinstance(found, bool) or not 0 <= position < self.k:
            raise ValueError(
                f"verify returned {found}: return the position of a draft, from 0 to "
                f"{self.k - 1}, or {n} masses"
            )
        return position


def as_returned_row(found: Any, target: Distribution) -> Distribution:
    """Return what a user's program returned as a distribution, in the target's arithmetic."""
    row, n = as_numbers(found, "what verify returned"), len(target)
    if row.shape != (n,):
        raise ValueError(
            f"verify returned an array of shape {row.shape}: return {n} masses, or the position of "
            "a draft"
        )
    if is_exact(row) and not is_exact(target):
        row = row.astype(float)
    check_alike("target", target, "what verify returned", row)
    return row
