"""What every rule for one token does: arguments are checked, and go to the kernel of the table."""

from __future__ import annotations

from otspec.batch._arguments import check_problem, problem_of
from otspec.batch._kernels.library import Array
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
    checked: bool = False,
) -> Verified:
    """Check the arguments of a rule of the table, and run its kernel."""
    rule = RULES[name]
    library = check_problem(draft, target, drafts, uniforms, mask, checked, only_k=rule.k)
    problem = problem_of(library, draft, target, drafts, uniforms, mask, checked)
    return rule.kernel(problem, *options)
