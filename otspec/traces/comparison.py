"""Every rule beside the optimum for one draft and one target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from otspec.arguments import as_list
from otspec.arithmetic import Number, as_number
from otspec.distributions import Distribution, DistributionLike, as_k, as_pair
from otspec.drafts import LAW_NAMES, named_law
from otspec.optimum import optimal_acceptance, optimal_acceptances
from otspec.raw import shown
from otspec.rules import ALL_RULES

OPTIMUM = "optimum"
"""What tables call the best that any rule can do."""


@dataclass(frozen=True)
class Comparison:
    """One rule, or the optimum, under one draft law.

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


def compare(
    draft: DistributionLike,
    target: DistributionLike,
    ks: Iterable[int],
    laws: Sequence[str] = LAW_NAMES,
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
        :data:`otspec.rules.ALL_RULES`.

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
        if not isinstance(law, str) or law not in LAW_NAMES:
            raise ValueError(f"laws holds {shown(law)}: the laws are {', '.join(LAW_NAMES)}")
    iid = dict(zip(counts, optimal_acceptances(*checked, counts), strict=True)) if counts else {}
    return [
        row
        for k in counts
        for law in laws
        if law_exists(law, checked[0], k)
        for row in _rows(law, *checked, k, iid[k])
    ]


def law_exists(law: str, draft: Distribution, k: int) -> bool:
    """Return whether a draft law has k drafts over this draft distribution."""
    if law == "hub":
        return k == 2
    return law == "iid" or int(np.count_nonzero(draft)) >= k


def _rows(
    law: str, draft: Distribution, target: Distribution, k: int, iid_optimum: Number
) -> Iterator[Comparison]:
    optimum = (
        as_number(iid_optimum, like=draft)
        if law == "iid"
        else optimal_acceptance(named_law(law, draft, k), target).acceptance
    )
    yield Comparison(OPTIMUM, law, k, optimum, optimum)
    for rule in ALL_RULES:
        if rule.drafts == law and rule.only_k in (None, k):
            yield Comparison(rule.title, law, k, rule(draft, target, k).acceptance(), optimum)
