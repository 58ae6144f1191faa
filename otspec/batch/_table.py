"""The rules for one token by name: the kernel of each, and what it asks for.

Which class of :mod:`otspec.rules` has the same law, and which law its drafts have, that class says:
it names the batch function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from otspec.batch._kernels import graded_pools, hub, in_turn, inflated, ring_selection
from otspec.batch._results import Verified


@dataclass(frozen=True)
class BatchRule:
    """What there is to know of a rule.

    Parameters
    ----------
    kernel : callable
        Takes a :class:`~otspec.batch._kernels.problem.Problem`, and the options of the rule.
    drafter : str
        The function of :mod:`otspec.batch` that draws the drafts which the rule is for.
    k : int, optional
        The only number of drafts that the rule takes.
    masked : bool
        Whether rows may have fewer drafts.
    graded : bool
        Whether a number of grades is an option.
    rows : str, optional
        The module of :mod:`otspec.batch._rows` whose ``verify`` runs the rule row by row; without
        one every call is array operations.
    """

    kernel: Callable[..., Verified]
    drafter: str
    k: int | None = None
    masked: bool = True
    graded: bool = False
    rows: str | None = None


RULES = {
    "maximal_coupling": BatchRule(
        in_turn.independent, "sample_iid", k=1, rows="recursive_rejection"
    ),
    "recursive_rejection": BatchRule(in_turn.independent, "sample_iid", rows="recursive_rejection"),
    "recursive_rejection_without_replacement": BatchRule(
        in_turn.distinct,
        "sample_without_replacement",
        rows="recursive_rejection_without_replacement",
    ),
    "k_sequential": BatchRule(inflated.verify, "sample_iid", rows="k_sequential"),
    "pooled_selection": BatchRule(
        graded_pools.verify, "sample_iid", graded=True, rows="pooled_selection"
    ),
    "pooled_selection_without_replacement": BatchRule(
        ring_selection.verify,
        "sample_without_replacement",
        graded=True,
        rows="pooled_selection_without_replacement",
    ),
    "spechub": BatchRule(hub.verify, "sample_spechub", k=2, masked=False, rows="spechub"),
}
