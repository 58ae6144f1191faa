"""What an audit reports: the law of the output, and a witness where it is not what it should be."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from otspec._base import Frozen, Shown, cached_property, plain
from otspec._base.arithmetic import Array, Number, as_number, is_exact, positive_part, zeros
from otspec.auditing.declared import DisagreementError, NoDistributionError, rounding
from otspec.chance import Chance
from otspec.distributions import Distribution, DistributionLike, as_distribution
from otspec.drafts import DraftLaw, Fixed
from otspec.optimum import optimal_acceptance
from otspec.rules.base.law_rule import ProgramRule
from otspec.rules.lossy.base import kullback_leibler


def difference(most: Number | None, value: Number | None) -> Number | None:
    """Return by how much a number is below another one, if both are known."""
    return None if most is None or value is None else most - value


@dataclass(frozen=True)
class Witness(Shown):
    """Why a rule is not lossless, is not as it declares, or could not be audited.

    Parameters
    ----------
    token : int
        The token whose output probability is most wrong; −1 where no output was measured.
    error : float, Fraction or None
        Output probability minus that of the target, or of the law that the rule declares; None
        where no output was measured.
    drafts : tuple of tuple of int
        The fewest draft tuples that can account for the error: those that put most mass on the
        token if it comes out too often, or most elsewhere if too seldom. Where no output was
        measured, the drafts for which the kernel gave none, if it was called.
    reason : str
        In words.
    about : str
        What is wrong: the ``output``, the ``kernel``, ``making`` the rule, or what the rule says of
        itself: its ``k``, ``target``, ``law``, ``drafts`` or ``declared_output``.
    traceback : str or None
        Of what the rule raised, if it did.
    """

    token: int
    error: Number | None
    drafts: tuple[tuple[int, ...], ...]
    reason: str
    about: str = "output"
    traceback: str | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class Audit(Frozen):
    """What enumerating all drafts says about a rule.

    Without an output to measure, each number that follows from it is None: if the rule could not be
    audited, and if an answer of its kernel is no distribution.

    Parameters
    ----------
    lossless : bool or None
        The output is distributed as the target: exactly, or in floats within ``tolerance``. None
        if the rule could not be audited: ``witness`` says why.
    output : ndarray, shape (n,), or None
        The distribution of the output.
    target : ndarray, shape (n,)
    acceptance : float, Fraction or None
        The probability that the output is one of the drafts.
    optimum : float, Fraction or None
        The most that a lossless rule accepts under this draft law; None for a whole step.
    total_variation : float, Fraction or None
        Between the output and the target.
    tolerance : float
        The error per token that counts as rounding; 0 in exact arithmetic.
    witness : Witness or None
        Why it is not lossless or could not be audited; for a rule that declares another output
        law, why that is wrong, if it is.
    declared : ndarray, shape (n,), or None
        The output law that the rule declares, in the place of the target.
    """

    lossless: bool | None
    output: Distribution | None
    target: Distribution
    acceptance: Number | None
    optimum: Number | None
    total_variation: Number | None
    tolerance: float
    witness: Witness | None
    declared: Distribution | None = None

    @property
    def as_declared(self) -> bool | None:
        """Whether the output has the law that the rule declares; None without a law or an audit."""
        if self.declared is None or self.lossless is None:
            return None
        return self.witness is None

    @cached_property
    def kullback_leibler(self) -> float | None:
        """KL(output ‖ target) in nats; infinite if the output has a token that the target lacks."""
        return None if self.output is None else kullback_leibler(self.output, self.target)

    @property
    def gap(self) -> Number | None:
        """How far the acceptance is below the optimum; negative only for a rule that is lossy."""
        return difference(self.optimum, self.acceptance)

    @property
    def frontier(self) -> Number | None:
        """The most that any rule accepts with this total variation: min(1, optimum + that)."""
        if self.total_variation is None or self.optimum is None:
            return None
        return min(self.optimum * 0 + 1, self.optimum + self.total_variation)

    @property
    def lossy_gap(self) -> Number | None:
        """How far the acceptance is below the frontier: never negative, but for rounding."""
        return difference(self.frontier, self.acceptance)

    @property
    def spare_variation(self) -> Number | None:
        """How much less total variation some other rule needs for this acceptance: from 0."""
        if self.gap is None or self.total_variation is None:
            return None
        return self.total_variation - max(self.gap * 0, -self.gap)

    @property
    def exact(self) -> bool:
        """Whether the audit was in exact arithmetic."""
        return is_exact(self.target if self.output is None else self.output)

    @property
    def largest_error(self) -> Number | None:
        """The largest |output − target| of a token."""
        if self.output is None:
            return None
        return as_number(np.abs(self.output - self.target).max(), like=self.output)


@dataclass(frozen=True, eq=False)
class Problem(Frozen):
    """What a kernel is held to."""

    drafts: tuple[tuple[int, ...], ...]  # every draft tuple of positive probability
    masses: Array  # (len(drafts),)
    target: Distribution  # (n,)
    # the most that a lossless rule accepts; None if nothing is known of the drafts
    optimum: Number | None

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


def step_problem(
    step: Callable[[Chance], Any], target: DistributionLike
) -> tuple[Problem, Callable[[tuple[int, ...]], Array]]:
    """Return what a whole step is held to, and its kernel."""
    # A step that returns a token is a rule that always accepts, where all tokens are drafted. The
    # audit asks it as a kernel without drafts.
    checked = as_distribution(target, "target")
    tokens = Fixed(range(len(checked)), len(checked), exact=is_exact(checked))
    rule = ProgramRule(tokens, checked, lambda _, chance: step(chance))
    drafts, masses = rule.law.tuples()
    return Problem(((),), masses, checked, None), lambda _: rule.kernel(drafts[0])


def unmeasured(
    found: DisagreementError, problem: Problem, declared: Distribution | None = None
) -> Audit:
    """Return the report on a rule whose output cannot be measured."""
    # An answer that is no distribution is wrong for every target. Otherwise nothing is known.
    lossless = False if isinstance(found, NoDistributionError) else None
    witness = Witness(-1, None, found.drafts, found.reason, found.about, found.traceback)
    return Audit(
        lossless, None, problem.target, None, problem.optimum, None, found.tolerance, witness,
        declared,
    )  # fmt: skip


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
        masses, target = masses.astype(float), target.astype(float)
        optimum = None if optimum is None else float(optimum)
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
        None if optimum is None else acceptance,
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
    chosen = [x for x in chosen if x]  # a whole step has no drafts
    accounting = f"; drafts {_listed(chosen)} account for it" if chosen else ""
    return Witness(
        token,
        error,
        tuple(chosen),
        f"token {token} comes out {how}{' for what the rule declares' if declared else ''}, by "
        f"{plain(abs(error))}{accounting}",
        "declared_output" if declared else "output",
    )


def _listed(drafts: Sequence[tuple[int, ...]], most: int = 4) -> str:
    text = ", ".join(map(str, drafts[:most]))
    return text if len(drafts) <= most else f"{text} and {len(drafts) - most} more"
