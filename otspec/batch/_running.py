"""What every rule for one token does: arguments are checked, and go to the kernel of the table."""

from __future__ import annotations

import numpy as np

from otspec.batch._arguments import check_problem, problem_of
from otspec.batch._kernels.library import Array
from otspec.batch._path import Rows, machine, rows_of
from otspec.batch._results import Verified
from otspec.batch._table import RULES


def verified(
    name: str,
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    mask: Array | None,
    *options: int,
) -> Verified:
    """Check the arguments of a rule of the table, and run its kernel."""
    rule = RULES[name]
    if rule.rows is not None:
        rows = rows_of(draft, target, drafts, uniforms, mask, rule.k)
        if rows is not None:
            return _row_by_row(rule.rows, rows, *options)
    library = check_problem(draft, target, drafts, uniforms, mask, only_k=rule.k)
    return rule.kernel(problem_of(library, draft, target, drafts, uniforms, mask), *options)


def _row_by_row(module: str, rows: Rows, *options: int) -> Verified:
    """Run the machine code of a rule."""
    count = len(rows.drafts)
    token, index = np.empty(count, np.int64), np.empty(count, np.int64)
    accepted = np.empty(count, np.bool_)
    machine(module).verify(*rows.arguments, token, accepted, index, *options)
    return Verified(rows.shaped(token), rows.shaped(accepted), rows.shaped(index))
