"""Every rule beside the optimum for one draft and one target."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from otspec._base import Number, as_list, as_number, shown
from otspec.distributions import DistributionLike, as_k
from otspec.drafts import LAWS, SingleDraftLaw
from otspec.estimate import Exact, Known, Quantity
from otspec.frames import EstimatedProbability, Probability, Rows
from otspec.optimum.acceptance import optima_of
from otspec.ratios import Pair
from otspec.rules import PairRule, compared_rules
from otspec.rules.base.pair_rule import named_rules
from otspec.rules.importance.importance_sampling import FREE, as_free

OPTIMUM = "optimum"  # what tables call the best that any rule can do
MOST_SLOW = 1_000  # up to so many tokens all rules are quick


@dataclass(frozen=True)
class Row:
    """One rule, or the optimum, under one draft law: a row of a table, a mark in a chart.

    Parameters
    ----------
    rule : str
        The rule's title, or ``"optimum"``.
    drafts : str
        The draft law, by name.
    k : int
        Number of drafts.
    acceptance : Exact or Estimate
    optimum : float or Fraction
        The most that any rule accepts under this draft law.
    """

    rule: str
    drafts: str
    k: int
    acceptance: Number | Known
    optimum: Probability

    @property
    def gap(self) -> Number | Quantity:
        """How far the rule is below the optimum of its draft law."""
        return self.optimum - self.acceptance


class Comparison(Row):
    """One rule, or the optimum, for one draft and one target; made as a :class:`Row`."""

    acceptance: EstimatedProbability

    @property
    def gap(self) -> Annotated[Quantity, "probability"]:
        """How far the rule is below the optimum of its draft law."""
        return self.optimum - self.acceptance


def compare(
    draft: DistributionLike,
    target: DistributionLike,
    ks: Iterable[int],
    laws: Sequence[str] = tuple(LAWS),
    *,
    only: Sequence[str] = (),
    rules: Sequence[type[PairRule]] = (),
    normalize: bool = False,
    free: int = FREE,
) -> Rows[Comparison]:
    """Compare the optimum and all rules for each k and each draft law.

    Parameters
    ----------
    draft, target : array_like, shape (n,)
    ks : iterable of int
    laws : sequence of str
        Which draft laws, by name. A law that does not exist for some k (a hub has two drafts;
        distinct drafts need as many tokens) is left out there.
    only : sequence of str
        Which rules of :data:`otspec.rules.RULES`, by name. By default all; beyond 1,000 tokens all
        that are :attr:`~otspec.rules.PairRule.quick` there, which those from shared noise are not.
    rules : sequence of type
        Subclasses of :class:`otspec.rules.PairRule` that are compared beside those.
    normalize : bool
        Scale both distributions to sum 1.
    free : int
        How many tokens the linear programs of :class:`otspec.rules.ImportanceSampling` cover.

    Returns
    -------
    Rows of Comparison
        By k in the order given, then by law; the optimum first, then rules as in
        :data:`otspec.rules.RULES`.

    Raises
    ------
    ValueError
        Unusable distributions, a k that is no positive integer, an unknown law or rule, a rule for
        drafts that ``laws`` has not, or ``free`` below 0.
    """
    pair = Pair(draft, target, normalize=normalize)
    given = as_list(ks, "ks", "a list of numbers of drafts")
    counts = [as_k(k, f"ks[{i}]") for i, k in enumerate(given)]
    laws = as_list(laws, "laws", "a list of names")
    for law in laws:
        if not isinstance(law, str) or law not in LAWS:
            raise ValueError(f"laws holds {shown(law)}: the laws are {', '.join(LAWS)}")
    chosen = named_rules(only, laws)
    if not only and len(pair.draft) <= MOST_SLOW:
        chosen = compared_rules()
    compared = (*chosen, *as_list(rules, "rules", "a list of subclasses of PairRule"))
    for rule in compared:
        if not (isinstance(rule, type) and issubclass(rule, PairRule)):
            raise ValueError(f"rules holds {shown(rule)}: pass subclasses of PairRule")
    by_law = [_rows(LAWS[name], compared, pair, counts, as_free(free)) for name in laws]
    found = [row for k in counts for rows in by_law for row in rows.get(k, [])]
    return Rows(found, Comparison, "one draft and one target")


def _rows(
    law_class: type[SingleDraftLaw],
    rules: Sequence[type[PairRule]],
    pair: Pair,
    ks: Sequence[int],
    free: int,
) -> dict[int, list[Comparison]]:
    """Return the rows of each k that the law has."""
    existing = list(dict.fromkeys(k for k in ks if law_class.exists(pair.draft, k)))
    if not existing:
        return {}
    law, bests = law_class.name, optima_of(pair, existing, law_class)
    optima = {k: as_number(best, like=pair.draft) for k, best in zip(existing, bests, strict=True)}
    options = {"free": free, "optima": optima}
    rows = {k: [Comparison(OPTIMUM, law, k, Exact(best), best)] for k, best in optima.items()}
    for rule in rules:
        if rule.law_class is law_class:
            taken = [k for k in existing if rule.only_k in (None, k)]
            own = {name: options[name] for name in rule.options}
            found = rule.acceptances_of(pair, taken, **own)
            for k, accepted in zip(taken, found, strict=True):
                rows[k].append(Comparison(rule.title, law, k, accepted, optima[k]))
    return rows
