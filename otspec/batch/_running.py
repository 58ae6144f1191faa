"""What every rule for one token or one block does: arguments are checked, and go to a kernel."""

from __future__ import annotations

import numpy as np

from otspec.arguments import as_flag
from otspec.batch._arguments import check_block_problem, check_problem, problem_of
from otspec.batch._kernels import drafted_block
from otspec.batch._kernels.library import Array, library_of
from otspec.batch._kernels.optimum import acceptance
from otspec.batch._kernels.problem import Problem
from otspec.batch._path import machine, pairs_of, rows_of
from otspec.batch._results import Verified, VerifiedBlock
from otspec.batch._table import RULES, BatchRule


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
    found = _row_by_row(rule, (draft, target, drafts, uniforms, mask), *options)
    if found is not None:
        return found
    library = check_problem(draft, target, drafts, uniforms, mask, checked, only_k=rule.k)
    problem = problem_of(library, draft, target, drafts, uniforms, mask, checked)
    return rule.kernel(problem, *options)


def selected(rule: BatchRule, problem: Problem, *options: int) -> Verified:
    """Run the kernel of a rule, where the arguments were checked as part of something else."""
    given = problem.draft, problem.target, problem.drafts, problem.uniforms, problem.valid
    found = _row_by_row(rule, given, *options)
    return rule.kernel(problem, *options) if found is None else found


def optimum(draft: Array, target: Array, k: int) -> Array:
    """Return the optimum for k i.i.d. drafts of rows that fit together."""
    rows = pairs_of(draft, target)
    if rows is None:
        return acceptance(library_of(draft), draft, target, k)
    return rows.run(machine("optimum").acceptance, k, kinds=(np.float64,))[0]


def _row_by_row(rule: BatchRule, given: tuple[Array, ...], *options: int) -> Verified | None:
    """Run the machine code of a rule, if it takes the arguments."""
    rows = rows_of(*given, only_k=rule.k)
    if rows is None:
        return None
    verify = machine(rule.rows).verify
    return Verified(*rows.run(verify, *options, kinds=(np.int64, np.bool_, np.int64)))


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
        verify = getattr(machine("drafted_block"), rule)
        return VerifiedBlock(*rows.run(verify, kinds=(np.int64, np.int64)))
    library = check_block_problem(draft, target, drafts, uniforms, mask, checked)
    problem = problem_of(library, draft, target, drafts, uniforms, mask, checked)
    found: VerifiedBlock = getattr(drafted_block, rule)(problem)
    return found
