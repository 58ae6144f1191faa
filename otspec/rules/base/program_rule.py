"""A user's own program as a rule."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from otspec._base.arguments import as_callable
from otspec._base.arithmetic import as_numbers, is_exact
from otspec.chance import Chance
from otspec.distributions import Distribution, DistributionLike, check_alike
from otspec.rules.base.law_rule import LawRule


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
    def of_pair(cls, draft: DistributionLike, target: DistributionLike, k: int) -> ProgramRule:  # noqa: ARG003
        """Refuse: a pair does not say what to run.

        Raises
        ------
        ValueError
        """
        raise ValueError("function is missing: call ProgramRule(draft_law, target, function)")

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Run the function; see :meth:`otspec.rules.Rule.verify`.

        Raises
        ------
        ValueError
            It returns no position of a draft, and no n masses.
        """
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
