"""Asking a kernel about all drafts, twice, and trusting none of its answers."""

import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

import numpy as np

from otspec._base import Array, as_numbers, is_exact, plain
from otspec.auditing.declared import TEST_SAMPLERS, DisagreementError, NoDistributionError
from otspec.auditing.report import Audit, Problem, measured, unmeasured
from otspec.auditing.sandbox import attempt, takes_token, write_index
from otspec.distributions import Distribution

Kernel: TypeAlias = Callable[[tuple[int, ...]], Any]  # drafts → (n,), or a dict

_MOST_LISTED = 8


def enumerated(
    kernel: Kernel,
    problem: Problem,
    *,
    in_fractions: float,
    in_floats: float,
    declared: Distribution | None = None,
) -> Audit:
    """Audit a kernel over all drafts."""
    # in_fractions and in_floats: the error per token that counts as rounding if all is exact, and
    # if anything is not. declared, shape (n,): the output law that the rule declares.
    laws = [problem.masses] if declared is None else [problem.masses, declared]
    try:
        kernel, rows = _answers(kernel, problem)
        exact = all(map(is_exact, [*laws, *rows]))
        tolerance = in_fractions if exact else in_floats
        for x, row in zip(problem.drafts, rows, strict=True):
            _check_distribution(x, row, tolerance)
        _check_again(kernel, problem.drafts, rows, tolerance)
    except DisagreementError as found:
        return unmeasured(found, problem, declared)
    return measured(problem, rows, exact, tolerance, declared)


def _answers(kernel: Kernel, problem: Problem) -> tuple[Kernel, list[Array]]:
    """Return a kernel's answers, and the kernel as it is called: of a tuple or of one token."""
    n, first = len(problem.target), problem.drafts[0]
    try:
        return kernel, [_answer(kernel, x, n) for x in problem.drafts]
    except DisagreementError as found:
        if not first or found.drafts != (first,) or not takes_token(kernel, first, found.crash):
            raise
        if len(first) > 1:
            raise DisagreementError(
                "kernel", found.reason + write_index(first), found.crash, found.drafts
            ) from found

    def of_token(x: tuple[int, ...]) -> Any:
        return cast(Callable[[int], Any], kernel)(x[0])

    return of_token, [_answer(of_token, x, n) for x in problem.drafts]


def _answer(kernel: Kernel, x: tuple[int, ...], n: int) -> Array:
    """Return a kernel's answer as float64 or ``Fraction``."""
    answer, crash = attempt(kernel, x)
    if crash is not None:
        raise DisagreementError("kernel", f"{_asked(x)} {crash.what}", crash, (x,))
    # A copy: the kernel may keep the array and write to it. Reading may fail as asking may.
    row, crash = attempt(lambda: _as_row(answer, n).copy())
    fix = f"return {n} masses, one for each token of the target, or a dict of its likely tokens"
    drawn = _is_drawn(answer)
    if drawn:
        fix += f"; {TEST_SAMPLERS}"
    if crash is not None:
        how = _no_distribution(x, "answers what cannot be read")
        reason = f"{how}: it {crash.what}: {fix}"
        raise DisagreementError("kernel", reason, crash, (x,))
    if row.shape != (n,) or (drawn and row.sum() != 1):  # (token, index) over two tokens
        reason = f"{_no_distribution(x, f'answers {_described(row, n)}')}: {fix}"
        raise DisagreementError("kernel", reason, drafts=(x,))
    return cast(Array, row)


def _is_drawn(answer: Any) -> bool:
    """Return whether an answer begins with a token, as those of samplers do."""
    if isinstance(answer, np.ndarray) and answer.ndim:
        return False
    if type(answer) is tuple and len(answer) == 2:
        answer = answer[0]
    _, crash = attempt(operator.index, answer)
    return crash is None


def _as_row(answer: Any, n: int) -> Array:
    return as_numbers(row_of(answer, n) if isinstance(answer, Mapping) else answer, "the answer")


def row_of(masses: Mapping[int, Any], n: int) -> list[Any]:
    """Return the distribution of a token of which the chances are given, one entry per token."""
    for token in masses:
        if not 0 <= token < n:
            raise ValueError(f"token {token} is out of range: tokens are 0 to {n - 1}")
    nothing = 0.0 if any(isinstance(mass, float) for mass in masses.values()) else 0
    return [nothing + masses.get(token, nothing) for token in range(n)]


def _check_distribution(x: tuple[int, ...], row: Array, tolerance: float) -> None:
    tolerance = tolerance or 0  # fractions are compared faster with an integer
    # Written so that NaN is none.
    within = bool(((row >= -tolerance) & (row <= 1 + tolerance)).all())
    if not (within and abs(row.sum() - 1) <= len(row) * tolerance):
        reason = _no_distribution(x, f"answers {_listed_masses(row)}")
        raise NoDistributionError(
            "kernel", f"{reason}: {_why_none(row, tolerance)}", drafts=(x,), tolerance=tolerance
        )


def _why_none(row: Array, tolerance: float) -> str:
    """Say what is wrong with masses that are no distribution, and what is right."""
    # Written so that NaN is outside.
    outside = np.flatnonzero(~((row >= -tolerance) & (row <= 1 + tolerance)).astype(bool))
    if outside.size:
        token = int(outside[0])
        return f"token {token} has {plain(row[token])}, and a mass is from 0 to 1"
    return f"its masses sum to {plain(row.sum())}, and must sum to 1"


def _described(row: Array, n: int) -> str:
    if row.ndim == 0:
        return f"{plain(row.item())}, one number"
    if row.ndim == 1 and len(row) == n:
        return _listed_masses(row)
    if row.ndim == 1:
        return f"{len(row)} mass{'es' if len(row) != 1 else ''}"
    return f"an array of shape {row.shape}"


def _check_again(
    kernel: Kernel, drafts: tuple[tuple[int, ...], ...], rows: list[Array], tolerance: float
) -> None:
    """Ask once more about all drafts, in the other direction: the answers have to be the same."""
    for x, row in zip(reversed(drafts), reversed(rows), strict=True):
        try:
            again = _answer(kernel, x, len(row))
        except DisagreementError as found:
            changed = f"asked a second time, {found.reason}"
            raise DisagreementError("kernel", changed, found.crash, (x,), tolerance) from found
        if is_exact(row) and is_exact(again):
            same = bool((row == again).all())
        else:
            # Written so that NaN is not the same.
            same = bool((np.abs((row - again).astype(float)) <= tolerance).all())
        if not same:
            changed = (
                f"{_asked(x)} answers {_listed_masses(row)}, and asked a second time "
                f"{_listed_masses(again)}: the distribution must follow from the drafts alone; "
                + TEST_SAMPLERS
            )
            raise DisagreementError("kernel", changed, drafts=(x,), tolerance=tolerance)


def _no_distribution(x: tuple[int, ...], how: str) -> str:
    return f"{_asked(x)} {how}, which is no distribution over the tokens"


def _asked(x: tuple[int, ...]) -> str:
    """Say what was asked: a whole step gets no drafts."""
    return f"for drafts {x} the kernel" if x else "the step"


def _listed_masses(row: Array) -> str:
    more = ", ..." if len(row) > _MOST_LISTED else ""
    return f"[{', '.join(map(plain, row[:_MOST_LISTED].tolist()))}{more}]"
