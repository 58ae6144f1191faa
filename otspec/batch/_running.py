"""What every rule for one token or one block does: arguments are checked, and go to a kernel."""

from __future__ import annotations

import numpy as np

from otspec.arguments import as_flag
from otspec.batch._arguments import check_block_problem, check_problem, problem_of
from otspec.batch._kernels import drafted_block
from otspec.batch._kernels.library import Array
from otspec.batch._path import Rows, machine, rows_of
from otspec.batch._results import Verified, VerifiedBlock
from otspec.batch._table import RULES


def verified(
    name: str,
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    mask: Array | None,
    *options: int,
    checked: bool = False,
) -> Verified:
    """Check the arguments of a rule of the table, and run its kernel."""
    rule = RULES[name]
    checked = as_flag(checked, "checked")
    if rule.rows is not None:
        rows = rows_of(draft, target, drafts, uniforms, mask, only_k=rule.k)
        if rows is not None:
            return _row_by_row(rule.rows, rows, *options)
    library = check_problem(draft, target, drafts, uniforms, mask, checked, only_k=rule.k)
    problem = problem_of(library, draft, target, drafts, uniforms, mask, checked)
    return rule.kernel(problem, *options)


def _row_by_row(module: str, rows: Rows, *options: int) -> Verified:
    token, index = np.empty(rows.number, np.int64), np.empty(rows.number, np.int64)
    accepted = np.empty(rows.number, np.bool_)
    machine(module).verify(*rows.arguments, token, accepted, index, *options)
    return Verified(rows.shaped(token), rows.shaped(accepted), rows.shaped(index))


def verified_block(
    rule: str,
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    mask: Array | None,
    checked: bool,
) -> VerifiedBlock:
    """Check the arguments of a rule for one block, a function of both kinds of kernels; run it."""
    checked = as_flag(checked, "checked")
    rows = rows_of(draft, target, drafts, uniforms, mask, places=True)
    if rows is not None:
        length, token = np.empty(rows.number, np.int64), np.empty(rows.number, np.int64)
        getattr(machine("drafted_block"), rule)(*rows.arguments, length, token)
        return VerifiedBlock(rows.shaped(length), rows.shaped(token))
    library = check_block_problem(draft, target, drafts, uniforms, mask, checked)
    problem = problem_of(library, draft, target, drafts, uniforms, mask, checked)
    found: VerifiedBlock = getattr(drafted_block, rule)(problem)
    return found
