"""Asking a kernel about all drafts, twice, and trusting none of its answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np

from otspec.arithmetic import Array, as_numbers, is_exact
from otspec.auditing.declared import Disagreement
from otspec.auditing.foreign import attempt
from otspec.auditing.report import Audit, Problem, improper, measured
from otspec.digits import plain

Kernel: TypeAlias = Callable[[tuple[int, ...]], Any]
"""Drafts → distribution of the output, shape (n,)."""

_MOST_LISTED = 8


def enumerated(kernel: Kernel, problem: Problem, *, in_fractions: float, in_floats: float) -> Audit:
    """Audit a kernel over all drafts.

    Parameters
    ----------
    kernel : callable
    problem : Problem
    in_fractions, in_floats : float
        The error per token that counts as rounding if all is exact, and if anything is not.
    """
    rows: list[Array] = []
    for x in problem.drafts:
        row = _answer(kernel, x, len(problem.target))
        if isinstance(row, Disagreement):
            return improper(row, problem, (x,))
        rows.append(row)
    exact = is_exact(problem.masses) and all(is_exact(row) for row in rows)
    tolerance = in_fractions if exact else in_floats
    for x, row in zip(problem.drafts, rows, strict=True):
        if not _is_distribution(row, tolerance):
            how = f"answers {_listed_masses(row)}"
            return improper(
                Disagreement("kernel", _no_distribution(x, how)), problem, (x,), tolerance
            )
    report = measured(problem, rows, exact, tolerance)
    return _asked_again(kernel, problem, rows, report) if report.lossless else report


def _asked_again(kernel: Kernel, problem: Problem, rows: list[Array], report: Audit) -> Audit:
    """Ask once more about all drafts, in the other direction; a report of what has changed."""
    for x, row in zip(reversed(problem.drafts), reversed(rows), strict=True):
        again = _answer(kernel, x, len(row))
        if isinstance(again, Disagreement):
            changed = f"asked a second time, {again.reason}"
            return improper(
                Disagreement("kernel", changed, again.crash), problem, (x,), report.tolerance
            )
        if is_exact(row) and is_exact(again):
            same = bool((row == again).all())
        else:
            # Written so that NaN is not the same.
            same = bool((np.abs((row - again).astype(float)) <= report.tolerance).all())
        if not same:
            changed = (
                f"for drafts {x} the kernel answers {_listed_masses(row)}, and asked a second time "
                f"{_listed_masses(again)}: what it does is no function of the drafts"
            )
            return improper(Disagreement("kernel", changed), problem, (x,), report.tolerance)
    return report


def _answer(kernel: Kernel, x: tuple[int, ...], n: int) -> Array | Disagreement:
    """Return a kernel's answer as float64 or ``Fraction``, or what is wrong with it in words."""
    # A copy: the kernel may keep the array and write to it. Reading may fail as asking may.
    row, crash = attempt(lambda: as_numbers(kernel(x), "the answer").copy())
    if crash is not None:
        return Disagreement("kernel", _no_distribution(x, crash.what), crash)
    if row.shape != (n,):
        return Disagreement("kernel", _no_distribution(x, f"answers an array of shape {row.shape}"))
    return cast(Array, row)


def _no_distribution(x: tuple[int, ...], how: str) -> str:
    return f"for drafts {x} the kernel {how}, which is no distribution over the tokens"


def _listed_masses(row: Array) -> str:
    more = ", ..." if len(row) > _MOST_LISTED else ""
    return f"[{', '.join(map(plain, row[:_MOST_LISTED].tolist()))}{more}]"


def _is_distribution(row: Array, tolerance: float) -> bool:
    # Written so that NaN is none.
    slack = max(tolerance, 0)
    within = bool(((row >= -slack) & (row <= 1 + slack)).all())
    return within and abs(row.sum() - 1) <= len(row) * slack
