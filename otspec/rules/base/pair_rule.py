"""Rules that are made from one draft distribution, a target and k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar, Self

from otspec._base.coerce import shown
from otspec._base.frozen import cached_property
from otspec.distributions import Distribution, DistributionLike, as_k, as_pair
from otspec.drafts import IID, DraftLaw, Masked, SingleDraftLaw
from otspec.drafts.base import as_law
from otspec.estimate import Known
from otspec.ratios import Pair
from otspec.rules.base.enumeration import acceptance_or_estimate
from otspec.rules.base.masked_rule import MaskedRule
from otspec.rules.base.rule import Rule

MOST_LISTED = 1_000_000
"""Most drafts that an answer for each of them is listed for."""


@dataclass(frozen=True, eq=False)
class PairRule(Rule):
    """A rule that is made from one draft distribution, a target and k.

    Parameters
    ----------
    draft : array_like, shape (n,)
        What the drafts are drawn from.
    target : array_like, shape (n,)
        What the output is distributed as; the same arithmetic as ``draft``.
    k : int
        Number of drafts.
    normalize : bool
        Scale both distributions to sum 1.

    Raises
    ------
    ValueError
        Unusable distributions, or a k that the rule or its draft law does not take.
    """

    law_class: ClassVar[type[SingleDraftLaw]] = IID
    """The law of the drafts that the rule verifies."""
    compared: ClassVar[bool] = True
    """Whether tables of all rules, such as those of ``otspec compare``, have it."""
    quick: ClassVar[bool] = True
    """Whether comparisons of many positions, such as ``otspec trace``, have it without being asked.

    Others take longer than all the rest at full vocabulary: ``--rule`` names them.
    """
    independent: ClassVar[bool] = False
    """Whether the output is a function of the target and of random numbers that do not depend on
    the drafts.

    What it accepts less than the optimum is the price of that.
    """
    options: ClassVar[tuple[str, ...]] = ()
    """Keywords of :meth:`acceptances_of` that comparisons pass on: ``free`` and ``optima``."""
    best_for_one: ClassVar[bool] = True
    """Whether a single draft is coupled maximally with the target, as most rules do."""

    draft: Distribution
    target: Distribution
    k: int
    normalize: InitVar[bool] = field(default=False, kw_only=True)

    def __post_init__(self, normalize: bool) -> None:
        draft, target = as_pair(self.draft, self.target, normalize=normalize)
        self._hold(draft=draft, target=target, k=as_k(self.k))
        self.law_class.check_support(draft, self.k)
        if self.only_k not in (None, self.k):
            raise ValueError(
                f"k is {self.k}, but {type(self).__name__} verifies exactly {self.only_k} "
                f"draft{'s' if self.only_k != 1 else ''}: use k={self.only_k} or another rule"
            )

    @classmethod
    def of_pair(cls, draft: DistributionLike, target: DistributionLike, k: int) -> Self:
        """Return the rule for k drafts of one draft distribution, as its constructor does."""
        return cls(draft, target, k)

    @classmethod
    def of_law(cls, law: DraftLaw, target: DistributionLike) -> Rule:
        """Return the rule for drafts of its law, also masked ones (Theory, 36).

        Masked i.i.d. drafts are i.i.d. drafts of one more token, so that the rule is itself. A
        masked law of others is verified by :class:`MaskedRule`.
        """
        checked = as_law(law).as_target(target)
        made = law.for_target(checked)
        if isinstance(made, SingleDraftLaw) and type(made) is cls.law_class:
            return cls(made.draft, checked, made.k)
        if isinstance(law, Masked) and type(law.law) is cls.law_class:
            return MaskedRule(law, target, cls)
        raise ValueError(
            f"law is {type(law).__name__}, but {cls.__name__} verifies {cls.law_class.__name__} "
            "drafts: pass these, or a Masked law of them"
        )

    @classmethod
    def acceptances(
        cls, draft: DistributionLike, target: DistributionLike, ks: Sequence[int], **options: Any
    ) -> list[Known]:
        """Return the acceptance for each of several k, or where that takes too long an estimate.

        Parameters
        ----------
        draft, target : array_like, shape (n,)
        ks : sequence of int
        **options
            Keywords of the rule, such as ``free`` of importance sampling.

        Raises
        ------
        ValueError
            As the constructor.
        """
        return cls.acceptances_of(Pair(draft, target), ks, **options)

    @classmethod
    def acceptances_of(cls, pair: Pair, ks: Sequence[int]) -> list[Known]:
        """Return the same for a pair, whose order all rules that are asked share.

        A rule that has them together more quickly than one by one says so here. Errors are those
        of the constructor.

        Parameters
        ----------
        pair : Pair
        ks : sequence of int
        """
        return [acceptance_or_estimate(cls(pair.draft, pair.target, k)) for k in ks]

    @property
    def drafts(self) -> str:
        """The law of the drafts, by name."""
        return self.law_class.name

    @cached_property
    def pair(self) -> Pair:
        """Draft and target, by the order of their ratios."""
        return Pair(self.draft, self.target)

    @cached_property
    def law(self) -> DraftLaw:
        """The law of the drafts that the rule verifies."""
        return self.law_class(self.draft, self.k)


def refuse_many_drafts(k: int, most: int, what: str) -> None:
    """Refuse to compute for more drafts, one by one, than anybody waits for."""
    if k > most:
        raise ValueError(
            f"k is {shown(k)}: {what} is computed draft by draft, for at most {most:,}; use a "
            "smaller k, or limit_acceptance() for what the optimum tends to"
        )
