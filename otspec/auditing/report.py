"""What an audit reports: the law of the output, and a witness where it is not what it should be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from otspec.arithmetic import Array, Number, as_number, is_exact, positive_part, zeros
from otspec.auditing.declared import DisagreementError, rounding
from otspec.cards import Carded, Masses, Row
from otspec.digits import plain
from otspec.distributions import Distribution, DistributionLike
from otspec.drafts import DraftLaw
from otspec.frozen import Frozen
from otspec.lossy.rules.divergences import kullback_leibler
from otspec.optimum import optimal_acceptance


@dataclass(frozen=True)
class Witness(Carded):
    """Why a rule is not what it should be: lossless, or of the output law that it declares.

    Parameters
    ----------
    token : int
        The token whose output probability is most wrong; −1 for an improper kernel.
    error : float or Fraction
        Output probability minus target probability, or what the rule declares in its place.
    drafts : tuple of tuple of int
        The fewest draft tuples that can account for the error: those that put most mass on the
        token if it comes out too often, or most elsewhere if too seldom. For an improper kernel,
        the drafts where it is no distribution, if there are such.
    reason : str
        In words.
    about : str
        What is wrong: the ``output``, the ``kernel``, ``making`` the rule, or what the rule says of
        itself: its ``k``, ``target``, ``law``, ``drafts`` or ``declared_output``.
    traceback : str or None
        Of what the rule raised, if it did.
    """

    token: int
    error: Number
    drafts: tuple[tuple[int, ...], ...]
    reason: str
    about: str = "output"
    traceback: str | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class Audit(Frozen):
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
        Why not, if it is not lossless; of a rule that declares another output law why that is
        wrong, if it is.
    declared : ndarray, shape (n,), or None
        The output law that the rule declares, in the place of the target.
    """

    lossless: bool
    output: Distribution
    target: Distribution
    acceptance: Number
    optimum: Number
    total_variation: Number
    tolerance: float
    witness: Witness | None
    declared: Distribution | None = None

    @property
    def as_declared(self) -> bool | None:
        """Whether the output has the law that the rule declares; None if it declares none."""
        return None if self.declared is None else self.witness is None

    @cached_property
    def kullback_leibler(self) -> float:
        """KL(output ‖ target) in nats; infinite if the output has a token that the target lacks."""
        return kullback_leibler(self.output, self.target)

    @property
    def gap(self) -> Number:
        """How far the acceptance is below the optimum; negative only for a rule that is lossy."""
        return self.optimum - self.acceptance

    @property
    def frontier(self) -> Number:
        """The most that any rule accepts with this total variation: min(1, optimum + that)."""
        return min(self.optimum * 0 + 1, self.optimum + self.total_variation)

    @property
    def lossy_gap(self) -> Number:
        """How far the acceptance is below the frontier: never negative, but for rounding."""
        return self.frontier - self.acceptance

    @property
    def spare_variation(self) -> Number:
        """How much less total variation some other rule needs for this acceptance: from 0."""
        return self.total_variation - max(self.optimum * 0, self.acceptance - self.optimum)

    @property
    def exact(self) -> bool:
        """Whether the audit was in exact arithmetic."""
        return is_exact(self.output)

    @property
    def largest_error(self) -> Number:
        """The largest |output − target| of a token."""
        return as_number(np.abs(self.output - self.target).max(), like=self.output)

    def _card_title(self) -> str:
        within = "exactly" if self.exact else f"within {self.tolerance:.1g} per token"
        if self.lossless:
            return f"The rule is lossless, {within}"
        lossy = {None: "", True: ", as it declares", False: ", and not as it declares"}
        return f"The rule is NOT lossless{lossy[self.as_declared]}"

    def _card_rows(self) -> Iterator[Row]:
        yield "lossless", self.lossless
        yield "witness", None if self.witness is None else self.witness.reason
        yield "as_declared", self.as_declared
        yield "acceptance", self.acceptance
        yield "optimum", self.optimum
        yield "gap", self.gap
        yield "total_variation", self.total_variation
        yield "output", self.output
        yield "target", self.target

    def _card_masses(self) -> Masses:
        return {"target": self.target, "output": self.output}


@dataclass(frozen=True, eq=False)
class Problem(Frozen):
    """What a kernel is held to.

    Parameters
    ----------
    drafts : tuple of tuple of int
        Every draft tuple of positive probability.
    masses : ndarray, shape (len(drafts),)
    target : ndarray, shape (n,)
    optimum : float or Fraction
        The most that a lossless rule accepts.
    """

    drafts: tuple[tuple[int, ...], ...]
    masses: Array
    target: Distribution
    optimum: Number

    @property
    def rounding(self) -> float:
        """The error per token that counts as rounding in floats."""
        return rounding(len(self.drafts), len(self.target))


def problem_of(law: DraftLaw, target: DistributionLike) -> Problem:
    """Enumerate the drafts of a law, and find its optimum for a target."""
    checked = law.as_target(target)
    law = law.for_target(checked)
    tuples, masses = law.tuples()
    optimum = optimal_acceptance(law, checked).acceptance
    drafts = tuple(tuple(x) for x in tuples.tolist())
    return Problem(drafts, masses, checked, optimum)


def improper(
    found: DisagreementError, problem: Problem, declared: Distribution | None = None
) -> Audit:
    """Return the report on a rule that says nothing about its output."""
    target = problem.target
    zero, one = (as_number(value, like=target) for value in (0, 1))
    witness = Witness(-1, zero, found.drafts, found.reason, found.about, found.traceback)
    nothing = zeros(len(target), like=target)
    return Audit(
        False, nothing, target, zero, problem.optimum, one, found.tolerance, witness, declared
    )


def measured(
    problem: Problem,
    rows: list[Array],
    exact: bool,
    tolerance: float,
    declared: Distribution | None = None,
) -> Audit:
    """Return the report on a kernel whose answers are distributions, a row per draft tuple."""
    drafts, masses, target, optimum = (
        problem.drafts, problem.masses, problem.target, problem.optimum
    )  # fmt: skip
    if not exact:
        masses, target, optimum = masses.astype(float), target.astype(float), float(optimum)
        rows = [row.astype(float) for row in rows]
        declared = None if declared is None else declared.astype(float)
    output, acceptance = zeros(len(target), like=masses), as_number(0, like=masses)
    for x, mass, row in zip(drafts, masses, rows, strict=True):
        output = output + mass * row
        acceptance += as_number(mass * row[sorted(set(x))].sum(), like=masses)
    errors = output - target
    wrong = errors if declared is None else output - declared
    return Audit(
        bool((np.abs(errors) <= tolerance).all()),
        output,
        target,
        acceptance,
        optimum,
        as_number(positive_part(errors).sum(), like=masses),
        tolerance,
        None
        if bool((np.abs(wrong) <= tolerance).all())
        else _witness(drafts, masses, np.array(rows), wrong, declared is not None),
        declared,
    )


def _witness(
    drafts: Sequence[tuple[int, ...]], masses: Array, rows: Array, errors: Array, declared: bool
) -> Witness:
    """Name the token most wrong and the fewest draft tuples that can account for it."""
    token = int(np.argmax(np.abs(errors)))
    error = as_number(errors[token], like=errors)
    too_often = error > 0
    movable = masses * (rows[:, token] if too_often else 1 - rows[:, token])
    # Most mass first; of equal masses the simplest drafts.
    order = sorted(range(len(drafts)), key=lambda i: (-movable[i], len(set(drafts[i])), drafts[i]))
    chosen: list[tuple[int, ...]] = []
    explained: Any = error * 0
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
        f"token {token} comes out {how}{' for what the rule declares' if declared else ''}, by "
        f"{plain(abs(error))}; drafts {_listed(chosen)} account for it",
        "declared_output" if declared else "output",
    )


def _listed(drafts: Sequence[tuple[int, ...]], most: int = 4) -> str:
    text = ", ".join(map(str, drafts[:most]))
    return text if len(drafts) <= most else f"{text} and {len(drafts) - most} more"
