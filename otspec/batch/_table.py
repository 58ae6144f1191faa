"""The rules for one token by name: the kernel of each, and what it asks for.

Which class of :mod:`otspec.rules` has the same law, and which law its drafts have, that class says:
it names the batch function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from otspec.batch._array_api import k_sequential, recursive_rejection, spechub
from otspec.batch._array_api.pooled import clock_selection, graded_pools
from otspec.batch._results import Verified


@dataclass(frozen=True)
class BatchRule:
    """What there is to know of a rule.

    Parameters
    ----------
    kernel : callable
        Takes a :class:`~otspec.batch._array_api.problem.Problem`, and the options of the rule.
    rows : str
        The module of :mod:`otspec.batch._numba` whose ``verify`` runs the rule row by row.
    drafter : str
        The function of :mod:`otspec.batch` that draws the drafts which the rule is for.
    k : int, optional
        The only number of drafts that the rule takes.
    masked : bool
        Whether rows may have fewer drafts.
    graded : bool
        Whether a number of grades is an option.
    """

    kernel: Callable[..., Verified]
    rows: str
    drafter: str
    k: int | None = None
    masked: bool = True
    graded: bool = False


RULES = {
    "maximal_coupling": BatchRule(
        recursive_rejection.independent, "recursive_rejection", "sample_iid", k=1
    ),
    "recursive_rejection": BatchRule(
        recursive_rejection.independent, "recursive_rejection", "sample_iid"
    ),
    "recursive_rejection_without_replacement": BatchRule(
        recursive_rejection.distinct,
        "recursive_rejection_without_replacement",
        "sample_without_replacement",
    ),
    "k_sequential": BatchRule(k_sequential.verify, "k_sequential", "sample_iid"),
    "pooled_selection": BatchRule(
        graded_pools.verify, "pooled_selection", "sample_iid", graded=True
    ),
    "pooled_selection_without_replacement": BatchRule(
        clock_selection.verify,
        "pooled_selection_without_replacement",
        "sample_without_replacement",
        graded=True,
    ),
    "spechub": BatchRule(spechub.verify, "spechub", "sample_spechub", k=2, masked=False),
}

BLOCK_RULES = {"token_verification": "token", "block_verification": "published"}
"""Rules for one block that may go row by row: the function of both kinds of kernels."""
