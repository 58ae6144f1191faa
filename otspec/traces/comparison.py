"""Every rule beside the optimum for one draft and one target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from otspec.arguments import as_list
from otspec.arithmetic import Number, as_number
from otspec.distributions import Distribution, DistributionLike, as_k, as_pair
from otspec.drafts import LAWS, SingleDraftLaw
from otspec.optimum import optimal_acceptances
from otspec.raw import shown
from otspec.rules import compared_rules
from otspec.rules.enumeration import acceptance_or_estimate

OPTIMUM = "optimum"
"""What tables call the best that any rule can do."""


@dataclass(frozen=True)
class Row:
    """One rule, or the optimum, under one draft law: a row of a table, a mark in a chart.

    Rules are compared with the optimum for the drafts that they verify.

    Parameters
    ----------
    rule : str
        The rule's title, or ``"optimum"``.
    drafts : str
        The draft law, by name.
    k : int
        Number of drafts.
    acceptance : float or Fraction
    optimum : float or Fraction
        The most that any rule accepts under this draft law.
    """

    rule: str
    drafts: str
    k: int
    acceptance: Number
    optimum: Number

    @property
    def gap(self) -> Number:
        """How far the rule is below the optimum of its draft law."""
        return self.optimum - self.acceptance


class Comparison(Row):
    """One rule, or the optimum, for one draft and one target; made as a :class:`Row`."""


def compare(
    draft: DistributionLike,
    target: DistributionLike,
    ks: Iterable[int],
    laws: Sequence[str] = tuple(LAWS),
    *,
    normalize: bool = False,
) -> list[Comparison]:
    """Compare the optimum and all rules for each k and each draft law.

    Parameters
    ----------
    draft, target : array_like, shape (n,)
    ks : iterable of int
    laws : sequence of str
        Which draft laws, by name. A law that does not exist for some k (a hub has two drafts;
        distinct drafts need as many tokens) is left out there.
    normalize : bool
        Scale both distributions to sum 1.

    Returns
    -------
    list of Comparison
        By k in the order given, then by law; the optimum first, then rules as in
        :data:`otspec.rules.RULES`.

    Raises
    ------
    ValueError
        Unusable distributions, a k that is no positive integer, or an unknown law.
    """
    checked = as_pair(draft, target, normalize=normalize)
    given = as_list(ks, "ks", "a list of numbers of drafts")
    counts = [as_k(k, f"ks[{i}]") for i, k in enumerate(given)]
    laws = as_list(laws, "laws", "a list of names")
    for law in laws:
        if not isinstance(law, str) or law not in LAWS:
            raise ValueError(f"laws holds {shown(law)}: the laws are {', '.join(LAWS)}")
    optima = {name: _optima(LAWS[name], *checked, counts) for name in laws}
    return [
        row
        for k in counts
        for name in laws
        if k in optima[name]
        for row in _rows(LAWS[name], *checked, k, optima[name][k])
    ]


def _optima(
    law_class: type[SingleDraftLaw], draft: Distribution, target: Distribution, ks: Sequence[int]
) -> dict[int, Number]:
    """Return the optimum for each k that the law has."""
    existing = [k for k in ks if law_class.exists(draft, k)]
    if not existing:
        return {}
    found = optimal_acceptances(draft, target, existing, law=law_class.name)
    return {k: as_number(best, like=draft) for k, best in zip(existing, found, strict=True)}


def _rows(
    law_class: type[SingleDraftLaw],
    draft: Distribution,
    target: Distribution,
    k: int,
    optimum: Number,
) -> Iterator[Comparison]:
    law = law_class.name
    yield Comparison(OPTIMUM, law, k, optimum, optimum)
    for rule in compared_rules():
        if rule.law_class is law_class and rule.only_k in (None, k):
            yield Comparison(
                rule.title, law, k, acceptance_or_estimate(rule(draft, target, k)), optimum
            )
