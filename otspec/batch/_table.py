"""The rules for one token by name: the kernel of each, and what it is measured by.

This is the one place that says which rule of :mod:`otspec.rules` has the law of a batch rule, and
which drafts both are for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from otspec.batch._kernels import graded_pools, hub, in_turn, inflated
from otspec.batch._results import Verified


@dataclass(frozen=True)
class BatchRule:
    """What there is to know of a rule.

    Parameters
    ----------
    kernel : callable
        Takes a :class:`~otspec.batch._kernels.problem.Problem`, and the options of the rule.
    reference : str
        The class in :mod:`otspec.rules` that has the same law.
    law : str
        The draft law in :mod:`otspec` that the rule is for.
    drafter : str
        The function of :mod:`otspec.batch` that draws from this law.
    k : int, optional
        The only number of drafts that the rule takes.
    masked : bool
        Whether rows may have fewer drafts.
    """

    kernel: Callable[..., Verified]
    reference: str
    law: str
    drafter: str
    k: int | None = None
    masked: bool = True


RULES = {
    "maximal_coupling": BatchRule(in_turn.independent, "MaximalCoupling", "IID", "sample_iid", k=1),
    "recursive_rejection": BatchRule(
        in_turn.independent, "RecursiveRejection", "IID", "sample_iid"
    ),
    "recursive_rejection_without_replacement": BatchRule(
        in_turn.distinct,
        "RecursiveRejectionWithoutReplacement",
        "WithoutReplacement",
        "sample_without_replacement",
    ),
    "k_sequential": BatchRule(inflated.verify, "KSequential", "IID", "sample_iid"),
    "pooled_selection": BatchRule(graded_pools.verify, "PooledSelection", "IID", "sample_iid"),
    "spechub": BatchRule(hub.verify, "SpecHub", "Hub", "sample_spechub", k=2, masked=False),
}
