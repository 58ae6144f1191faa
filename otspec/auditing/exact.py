"""Is a rule lossless, what does it accept, and how far is it from the optimum: exactly."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from otspec._base import as_callable, as_real
from otspec.auditing.declared import DisagreementError, as_declared, is_step, kernel_of
from otspec.auditing.enumeration import Kernel, enumerated
from otspec.auditing.report import Audit, Problem, problem_of, step_problem
from otspec.auditing.sandbox import attempt, attribute
from otspec.distributions import Distribution, DistributionLike, as_distribution
from otspec.drafts import DraftLaw, Masked
from otspec.drafts.base import as_law
from otspec.rules.base.rule import Rule

T = TypeVar("T")

MOST_ACCURACY = 1e-8  # of a rule's own accuracy no more is believed: ten times what plans need


def audit(
    rule: Rule | Kernel,
    *,
    law: DraftLaw | None = None,
    target: DistributionLike | None = None,
    tolerance: float | None = None,
) -> Audit:
    """Enumerate the drafts and return exactly what a rule does.

    The kernel is asked twice about all drafts, in both directions. If its answers change, are no
    masses of n tokens, or if it raises anything (``SystemExit`` included), it could not be audited:
    then ``lossless`` is None, and ``witness`` says why.

    Parameters
    ----------
    rule : Rule or callable
        A rule, or one of three callables. A kernel ``kernel(x)`` takes a tuple of drafts and
        returns the distribution of the output. For one draft it may also take the bare token in
        place of the tuple ``(token,)``: it is called so if the tuple makes it raise a
        ``TypeError`` or ``LookupError`` and the token does not. A program ``verify(drafts,
        chance)`` is what :class:`otspec.rules.ProgramRule` takes. A step ``step(chance)`` drafts,
        verifies and corrects, and returns the output or its distribution; a step has no
        acceptance, and no optimum.
    law : DraftLaw, optional
        The law of the drafts; for a rule by default its own. A step has none. For a
        :class:`otspec.Masked` law a kernel may leave out the null token.
    target : array_like, optional
        What the output should be distributed as; for a rule by default its own, and then the
        caller must know that it is the right one (:func:`otspec.audit_over` checks it).
    tolerance : float, optional
        The error per token that counts as rounding, from 0 to below 1. By default none in exact
        arithmetic; in floats one rounding error per draft tuple and eight per token, or what the
        rule says of its own ``accuracy``, of which no more than 1e-8 is believed.

    Returns
    -------
    Audit
        Exact if the law, the target, the kernel and what the rule declares are. An attribute
        ``declared_output`` of a lossy rule is compared with the law of the output.

    Raises
    ------
    ValueError
        A callable without ``law`` or ``target``, or a rule that fails to tell its own; a sampler,
        which :func:`otspec.audit_samples` tests; a target unlike the law, too many draft tuples to
        enumerate, or an unusable tolerance.

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

    Naive sampling as a program, and a whole step with it:

    >>> target = ["1/4", "3/4"]
    >>> def verify(drafts, chance):
    ...     token = chance.choose([1, 3])
    ...     return drafts.index(token) if token in drafts else [1 - token, token]
    >>> law = IID(["1/2", "1/2"], k=2)
    >>> report = audit(verify, law=law, target=target)
    >>> report.lossless, report.acceptance
    (True, Fraction(3, 4))
    >>> def step(chance):
    ...     drafts = law.draw(chance)
    ...     found = verify(drafts, chance)
    ...     return found if isinstance(found, list) else drafts[found]
    >>> audit(step, target=target).lossless
    True
    """
    tolerance = checked_tolerance(tolerance)
    kernel = asked(rule, "kernel")
    law = law if law is not None else asked(rule, "law")
    wanted = target if target is not None else asked(rule, "target")
    step = law is None and callable(rule) and is_step(rule)
    if wanted is None or (law is None and not step):
        missing = "target" if wanted is None else "law"
        raise ValueError(f"{missing} is missing: a callable is audited with law=... and target=...")
    if kernel is None and asked(rule, "verify") is None and asked(rule, "sample") is None:
        as_callable(rule, "rule", "a Rule, or a callable from a draft tuple to a distribution")
    if step:
        problem, kernel = told(step_problem, rule, wanted)
    else:
        problem = told(_problem, law, wanted)
        kernel = _kernel_of(rule, as_law(law), problem.target)
    declared = asked(rule, "declared_output")
    if declared is not None:
        declared = told(as_declared, declared, len(problem.target))
    accuracy = 0.0 if tolerance is not None else told(_believed, asked(rule, "accuracy"))
    return enumerated(
        kernel,
        problem,
        in_fractions=tolerance or 0.0,
        in_floats=max(problem.rounding, accuracy) if tolerance is None else tolerance,
        declared=declared,
    )


def _kernel_of(rule: Any, law: DraftLaw, target: Distribution) -> Kernel:
    try:
        kernel = kernel_of(rule, law, target)
    except DisagreementError as found:
        raise ValueError(f"rule cannot be audited: {found.reason}") from found
    return _with_null(kernel, law.null) if isinstance(law, Masked) else kernel


def _with_null(kernel: Kernel, null: int) -> Kernel:
    """Return a kernel whose answers may leave out the null token, which is never the output."""

    def answer(x: tuple[int, ...]) -> Any:
        row = kernel(x)
        return [*row, 0] if hasattr(row, "__len__") and len(row) == null else row

    return answer


def checked_tolerance(tolerance: float | None) -> float | None:
    """Return a tolerance as a float, None as it is."""
    if tolerance is None:
        return None
    number = float(as_real(tolerance, "tolerance"))
    if not 0 <= number < 1:
        raise ValueError(f"tolerance is {tolerance}: it must be at least 0 and below 1, as 1e-6 is")
    return number


def asked(rule: Any, name: str) -> Any:
    """Return what a rule says of itself, None if it does not; a failure is a ``ValueError``."""
    value, crash = attempt(attribute, rule, name)
    if crash is not None:
        raise ValueError(f"asking the rule for its {name} {crash.what}") from crash.error
    return value


def told(function: Callable[..., T], *arguments: Any) -> T:
    """Return what follows from what a rule says of itself; a failure is a ``ValueError``."""
    value, crash = attempt(function, *arguments)
    if crash is None:
        return cast(T, value)
    if isinstance(crash.error, ValueError):
        raise crash.error
    raise ValueError(f"what the rule says of itself {crash.what}") from crash.error


def _problem(law: Any, target: Any) -> Problem:
    problem = problem_of(as_law(law), target)
    as_distribution(problem.masses, "the masses of the law's draft tuples")
    return problem


def _believed(accuracy: Any) -> float:
    """Return how much of a rule's own accuracy counts."""
    if accuracy is None:
        return 0.0
    if not accuracy >= 0:
        raise ValueError(f"the rule's accuracy is {accuracy}: it must be a number from 0")
    return min(float(accuracy), MOST_ACCURACY)
