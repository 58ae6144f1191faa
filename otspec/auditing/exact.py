"""Is a rule lossless, what does it accept, and how far is it from the optimum: exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from otspec.arithmetic import Array, Number, as_number, as_numbers, is_exact, positive_part, zeros
from otspec.digits import plain
from otspec.distributions import Distribution, DistributionLike, as_distribution
from otspec.drafts import DraftLaw
from otspec.optimum import optimal_acceptance
from otspec.rules.contract import Rule

Kernel: TypeAlias = Callable[[tuple[int, ...]], Any]
"""Drafts → distribution of the output, shape (n,)."""


@dataclass(frozen=True)
class Witness:
    """Why a rule is not lossless.

    Parameters
    ----------
    token : int
        The token whose output probability is most wrong; −1 for an improper kernel.
    error : float or Fraction
        Output probability minus target probability.
    drafts : tuple of tuple of int
        The fewest draft tuples that can account for the error: those that put most mass on the
        token if it comes out too often, or most elsewhere if too seldom. For an improper kernel,
        the drafts where it is no distribution.
    reason : str
        In words.
    """

    token: int
    error: Number
    drafts: tuple[tuple[int, ...], ...]
    reason: str


@dataclass(frozen=True, eq=False)
class Audit:
    """What enumerating all drafts says about a rule.

    Parameters
    ----------
    lossless : bool
        The output is distributed as the target: exactly, or in floats within ``tolerance``.
    output : ndarray, shape (n,)
        The law of the output.
    target : ndarray, shape (n,)
    acceptance : float or Fraction
        The probability that the output is one of the drafts.
    optimum : float or Fraction
        The most that a lossless rule accepts under this draft law.
    total_variation : float or Fraction
        Between the output and the target.
    tolerance : float
        The error per token that counts as rounding; 0 in exact arithmetic.
    witness : Witness or None
        Why not, if it is not lossless.
    """

    lossless: bool
    output: Distribution
    target: Distribution
    acceptance: Number
    optimum: Number
    total_variation: Number
    tolerance: float
    witness: Witness | None

    @property
    def gap(self) -> Number:
        """How far the acceptance is below the optimum; negative only for a rule that is lossy."""
        return self.optimum - self.acceptance


def audit(
    rule: Rule | Kernel,
    *,
    law: DraftLaw | None = None,
    target: DistributionLike | None = None,
    tolerance: float | None = None,
) -> Audit:
    """Enumerate the drafts and return exactly what a rule does.

    Parameters
    ----------
    rule : Rule or callable
        A rule, or any callable from a draft tuple to the distribution of the output.
    law : DraftLaw, optional
        The law of the drafts; for a rule by default its own.
    target : array_like, optional
        What the output should be distributed as; for a rule by default its own.
    tolerance : float, optional
        The error per token that counts as rounding in floats. By default one rounding error per
        draft tuple and eight per token, and what the rule says of its own accuracy.

    Returns
    -------
    Audit
        Exact if the law, the target and the kernel are.

    Raises
    ------
    ValueError
        A callable without ``law`` or ``target``, a target unlike the law, or too many draft
        tuples to enumerate.

    Examples
    --------
    >>> from otspec import IID
    >>> from otspec.rules import RecursiveRejection
    >>> report = audit(RecursiveRejection(["1/2", "1/2"], ["1/4", "3/4"], k=2))
    >>> report.lossless, report.acceptance, report.gap
    (True, Fraction(7, 8), Fraction(1, 8))
    >>> greedy = audit(
    ...     lambda x: [1, 0] if 0 in x else [0, 1],
    ...     law=IID(["1/2", "1/2"], k=2), target=["1/4", "3/4"],
    ... )
    >>> greedy.lossless, greedy.witness.token, greedy.witness.error, greedy.witness.drafts
    (False, 0, Fraction(1, 2), ((0, 0), (0, 1)))
    """
    kernel: Kernel = rule.kernel if hasattr(rule, "kernel") else rule
    law = law if law is not None else getattr(rule, "law", None)
    wanted = target if target is not None else getattr(rule, "target", None)
    if law is None or wanted is None:
        missing = "law" if law is None else "target"
        raise ValueError(f"{missing} is missing: a callable is audited with law=... and target=...")
    checked = as_distribution(wanted, "target")
    law.check_alike(checked, "target")
    tuples, masses = law.tuples()
    drafts = [tuple(x) for x in tuples.tolist()]
    rows: list[Array] = []
    optimum = optimal_acceptance(law, checked).acceptance
    for x in drafts:
        row = _answer(kernel, x, law.n)
        if isinstance(row, str):
            return _improper(x, row, checked, optimum)
        rows.append(row)
    exact = law.exact and all(is_exact(row) for row in rows)
    if tolerance is None:
        rounding = np.finfo(float).eps * (len(drafts) + 8 * law.n)
        tolerance = 0.0 if exact else max(rounding, getattr(rule, "accuracy", 0.0))
    for x, row in zip(drafts, rows, strict=True):
        if not _is_distribution(row, tolerance):
            listed = ", ".join(map(plain, row[:8]))
            return _improper(x, f"answers [{listed}]", checked, optimum, tolerance)
    if not exact:
        masses, checked, optimum = masses.astype(float), checked.astype(float), float(optimum)
        rows = [row.astype(float) for row in rows]
    output, acceptance = zeros(law.n, like=masses), as_number(0, like=masses)
    for x, mass, row in zip(drafts, masses, rows, strict=True):
        output = output + mass * row
        acceptance += as_number(mass * row[sorted(set(x))].sum(), like=masses)
    errors = output - checked
    lossless = bool((np.abs(errors) <= tolerance).all())
    return Audit(
        lossless,
        output,
        checked,
        acceptance,
        optimum,
        as_number(positive_part(errors).sum(), like=masses),
        tolerance,
        None if lossless else _witness(drafts, masses, np.array(rows), errors),
    )


def _answer(kernel: Kernel, x: tuple[int, ...], n: int) -> Array | str:
    """Return a kernel's answer as float64 or ``Fraction``, or what is wrong with it in words."""
    try:
        row = as_numbers(kernel(x), "the answer")
    except Exception as error:  # whatever a rule under audit does wrong is a finding
        return f"fails with {type(error).__name__}: {error}"
    return row if row.shape == (n,) else f"answers an array of shape {row.shape}"


def _is_distribution(row: Array, tolerance: float) -> bool:
    # Written so that NaN is none.
    slack = max(tolerance, 0)
    within = bool(((row >= -slack) & (row <= 1 + slack)).all())
    return within and abs(row.sum() - 1) <= len(row) * slack


def _improper(
    x: tuple[int, ...], how: str, target: Distribution, optimum: Number, tolerance: float = 0.0
) -> Audit:
    reason = f"for drafts {x} the kernel {how}, which is no distribution over the tokens"
    zero, one = (as_number(value, like=target) for value in (0, 1))
    witness = Witness(-1, zero, (x,), reason)
    nothing = zeros(len(target), like=target)
    return Audit(False, nothing, target, zero, optimum, one, tolerance, witness)


def _witness(
    drafts: Sequence[tuple[int, ...]], masses: Array, rows: Array, errors: Array
) -> Witness:
    """Name the token most wrong and the fewest draft tuples that can account for it."""
    token = int(np.argmax(np.abs(errors)))
    error = errors[token]
    too_often = error > 0
    movable = masses * (rows[:, token] if too_often else 1 - rows[:, token])
    # Most mass first; of equal masses the simplest drafts.
    order = sorted(range(len(drafts)), key=lambda i: (-movable[i], len(set(drafts[i])), drafts[i]))
    chosen: list[tuple[int, ...]] = []
    explained = error * 0
    for i in order:
        if explained >= abs(error):
            break
        chosen.append(drafts[i])
        explained += movable[i]
    how = "too often" if too_often else "too seldom"
    return Witness(
        token,
        error,
        tuple(chosen),
        f"token {token} comes out {how}, by {plain(abs(error))}; drafts "
        f"{_listed(chosen)} account for it",
    )


def _listed(drafts: Sequence[tuple[int, ...]], most: int = 4) -> str:
    text = ", ".join(map(str, drafts[:most]))
    return text if len(drafts) <= most else f"{text} and {len(drafts) - most} more"
