"""What rules do that may go row by row: arguments are checked, and go to a kernel."""

from __future__ import annotations

from otspec._base.arguments import as_flag
from otspec.batch._arguments import check_block_problem, check_problem, problem_of
from otspec.batch._array_api.library import Array, library_of
from otspec.batch._array_api.optimum import acceptance, best_cut
from otspec.batch._array_api.problem import Problem
from otspec.batch._array_api.sequences import drafted_block
from otspec.batch._dispatch import machine, pairs_of, rows_of
from otspec.batch._graph import is_one_operation, operation
from otspec.batch._results import KINDS, Verified, VerifiedBlock
from otspec.batch._table import BLOCK_RULES, RULES, BatchRule


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
    given, checked = (draft, target, drafts, uniforms, mask), as_flag(checked, "checked")
    if is_one_operation(draft, target):
        return Verified(*operation(name)(*given, *options))
    rule = RULES[name]
    found = _row_by_row(rule, given, *options)
    if found is not None:
        return found
    library = check_problem(*given, checked, only_k=rule.k)
    return rule.kernel(problem_of(library, *given, checked), *options)


def selected(name: str, problem: Problem, *options: int) -> Verified:
    """Run the kernel of a rule, where the arguments were checked as part of something else."""
    given = problem.draft, problem.target, problem.drafts, problem.uniforms, problem.valid
    if is_one_operation(problem.draft, problem.target):
        return Verified(*operation(name)(*given, *options))
    found = _row_by_row(RULES[name], given, *options)
    return RULES[name].kernel(problem, *options) if found is None else found


def _row_by_row(rule: BatchRule, given: tuple[Array, ...], *options: int) -> Verified | None:
    """Run the machine code of a rule, if it takes the arguments."""
    rows = rows_of(*given, only_k=rule.k)
    if rows is None:
        return None
    return Verified(*rows.run(machine(rule.rows).verify, *options, kinds=KINDS[Verified]))


def verified_block(
    name: str,
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    mask: Array | None,
    *,
    checked: bool,
) -> VerifiedBlock:
    """Check the arguments of a rule for one block, a function of both kinds of kernels; run it."""
    given, checked = (draft, target, drafts, uniforms, mask), as_flag(checked, "checked")
    if is_one_operation(draft, target, places=True):
        return VerifiedBlock(*operation(name)(*given))
    rule = BLOCK_RULES[name]
    rows = rows_of(*given, places=True)
    if rows is not None:
        verify = getattr(machine("drafted_block"), rule)
        return VerifiedBlock(*rows.run(verify, kinds=KINDS[VerifiedBlock]))
    library = check_block_problem(*given, checked)
    found: VerifiedBlock = getattr(drafted_block, rule)(problem_of(library, *given, checked))
    return found


def optimum(draft: Array, target: Array, k: int) -> Array:
    """Return the optimum for k i.i.d. drafts of rows that fit together."""
    rows = pairs_of(draft, target)
    if rows is None:
        return acceptance(library_of(draft), draft, target, k)
    return rows.run(machine("optimum").acceptance, k, kinds=("float64",))[0]


def optimal_cut(draft: Array, target: Array, k: int) -> tuple[Array, Array, Array]:
    """Return the c of which A, the tokens with q ≤ c·p, proves that optimum: c, p off A, q(A)."""
    rows = pairs_of(draft, target)
    if rows is None:
        return best_cut(library_of(draft), draft, target, k)
    scale, outside, cost = rows.run(machine("optimum").best_cut, k, kinds=("float64",) * 3)
    return scale, outside, cost
