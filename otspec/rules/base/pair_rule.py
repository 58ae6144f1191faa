"""Rules made from a draft, a target and k; drawn drafts (Theory, 14); the table of rules."""

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar, Self

from otspec._base import Array, as_choice, as_list, cached_property, shown, zeros
from otspec._base.registry import Registry, subclass_of
from otspec.chance import Chance
from otspec.coupling import Coupling, match
from otspec.distributions import Distribution, DistributionLike, as_k, as_pair
from otspec.drafts import IID, DraftLaw, Masked, SingleDraftLaw, TopPlusOne
from otspec.drafts.base import as_law
from otspec.estimate import Known
from otspec.ratios import Pair
from otspec.rules.base.accepted import acceptance_or_estimate
from otspec.rules.base.law_rule import MaskedRule
from otspec.rules.base.rule import Rule

MOST_LISTED = 1_000_000  # most drafts that an answer for each of them is listed for


@dataclass(frozen=True, eq=False)
class PairRule(Rule):
    """A rule that is made from one draft distribution, a target and k.

    Parameters
    ----------
    draft, target : array_like, shape (n,)
        What the drafts, and the output, are distributed as; in the same arithmetic.
    k : int
        Number of drafts.
    normalize : bool
        Scale both distributions to sum 1.

    Raises
    ------
    ValueError
        Unusable distributions, or a k that the rule or its law does not take.
    """

    law_class: ClassVar[type[SingleDraftLaw]] = IID
    """The law of the drafts that the rule verifies."""
    compared: ClassVar[bool] = True
    """Whether tables of all rules, such as those of ``otspec compare``, have it."""
    quick: ClassVar[bool] = True
    """Whether comparisons of many positions (``otspec trace``) have it without ``--rule``."""
    independent: ClassVar[bool] = False
    """Whether the output is a function of the target and of noise that does not see the drafts."""
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
        """Return the rule for drafts of its law, also masked ones (Theory, 36)."""
        # Masked i.i.d. drafts are i.i.d. drafts of one more token: the rule takes them itself.
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
        """Return the acceptance for each of several k, or an estimate where that takes too long."""
        return cls.acceptances_of(Pair(draft, target), ks, **options)

    @classmethod
    def acceptances_of(cls, pair: Pair, ks: Sequence[int]) -> list[Known]:
        """Return the same for a pair, whose order all rules share."""
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


@dataclass(frozen=True, eq=False)
class DrawnDraft(PairRule):
    """Couple the drawn one of the drafts maximally; look a residual token up among the others.

    Law: the output is distributed as the target. No rule for the k − 1 likeliest tokens and one
    drawn off them accepts more. Source: Theory, 14. Parameters and errors:
    :class:`otspec.rules.PairRule`; also fewer than k tokens of positive probability.
    """

    name: ClassVar[str] = "drawn-draft"
    title: ClassVar[str] = "coupling of the drawn draft"
    law_class: ClassVar[type[SingleDraftLaw]] = TopPlusOne
    couples_one: ClassVar[bool] = True

    @cached_property
    def law(self) -> TopPlusOne:
        """The law of the drafts that the rule verifies."""
        return TopPlusOne(self.draft, self.k)

    @cached_property
    def coupling(self) -> Coupling:
        """How the drawn draft becomes the output."""
        return Coupling(self.law.free(), self.target)

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        found = self.coupling.verify(drafts, self.k - 1, chance)
        return found if isinstance(found, int) else match(found, drafts, chance)

    def _by_token(self) -> Array:
        """Return q on the certain drafts, and off them the less of q and the drawn one's law."""
        accepted = self.coupling.accepted
        accepted[self.law.top] = self.target[self.law.top]
        return accepted

    def _by_position(self) -> Array:
        """Return the same at the position of each certain draft, and of the drawn one: (k, n)."""
        by_position = zeros((self.k, len(self.target)), like=self.target)
        by_position[-1] = self._by_token()
        for position, token in enumerate(self.law.top):
            by_position[[position, -1], token] = self.target[token], 0 * self.target[token]
        return by_position


RULES: Registry[type[Rule]] = Registry("rule", "otspec.rules", subclass_of(Rule))
"""All rules for one token, by name, in the order of tables."""


def compared_rules() -> tuple[type[PairRule], ...]:
    """Return the rules that comparisons show beside the optimum of their draft law."""
    return tuple(rule for rule in RULES.values() if issubclass(rule, PairRule) and rule.compared)


def named_rules(names: Any, laws: Sequence[str]) -> tuple[type[PairRule], ...]:
    """Return the compared rules of these names, in the order of tables."""
    # Without any, all that are quick and verify drafts of these laws.
    known = {rule.name: rule for rule in compared_rules()}
    found = set()
    if not names:
        found = {each for each in known.values() if each.quick and each.law_class.name in laws}
    for i, name in enumerate(as_list(names, "only", "a list of names of rules")):
        rule = known[as_choice(name, f"only[{i}]", known)]
        if rule.law_class.name not in laws:
            raise ValueError(
                f"{rule.name} verifies {rule.law_class.name} drafts, which are not compared: "
                f"add the law {rule.law_class.name}, or leave the rule out"
            )
        found.add(rule)
    return tuple(rule for rule in known.values() if rule in found)
