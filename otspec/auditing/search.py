"""Auditing a rule on many instances, which say what is right, and shrinking what fails."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from otspec._base import Number, Shown, as_callable, as_choice, as_instance, as_steps
from otspec.auditing import declared as claims
from otspec.auditing.enumeration import enumerated
from otspec.auditing.exact import checked_tolerance
from otspec.auditing.instances import Instance, simpler
from otspec.auditing.report import Audit, problem_of, unmeasured
from otspec.auditing.sandbox import attempt
from otspec.distributions import as_distribution
from otspec.drafts import IID, LAWS, named_law


@dataclass(frozen=True)
class SearchReport(Shown):
    """The outcome of auditing many instances.

    It says something only if it is :attr:`conclusive`: a rule may refuse instances, or fail on one,
    so that it cannot be audited. A rule that declares another output law than the target, and has
    it on all instances, is lossy as declared: then the failure is a shrunk instance on which it is
    lossy.

    Parameters
    ----------
    audited : int
        How many instances were audited.
    refused : int
        How many the rule refused with a ``ValueError`` (too small a support, say), or have no
        drafts of the law.
    worst_gap : float, Fraction or None
        The largest distance from the optimum among those that passed; None if none did.
    failure : Instance or None
        The shrunk counterexample, or instance on which the rule could not be audited.
    report : Audit or None
        Its audit.
    exact : int
        How many of the audited instances were in exact arithmetic, with no error allowed.
    tolerance : float
        The largest error per token that counted as rounding; 0 if all were exact.
    largest_error : float or Fraction
        The largest error of a token on the instances that passed.
    laws : tuple of str
        The draft laws of the audited instances, by name.
    refusal : str or None
        Why the first of the refused instances was.
    worst_total_variation, worst_lossy_gap : float or Fraction
        The largest distance of the output from the target, and of the acceptance from what a rule
        may accept at that distance, among instances on which it was lossy as declared.
    worst_kullback_leibler : float
        The largest KL(output ‖ target) among them.
    """

    audited: int
    refused: int
    worst_gap: Number | None
    failure: Instance | None
    report: Audit | None
    exact: int = 0
    tolerance: float = 0.0
    largest_error: Number = Fraction(0)
    laws: tuple[str, ...] = ()
    refusal: str | None = None
    worst_total_variation: Number = Fraction(0)
    worst_lossy_gap: Number = Fraction(0)
    worst_kullback_leibler: float = 0.0

    @property
    def as_declared(self) -> bool | None:
        """Whether the rule is lossy as it declares; None if it is not lossy, or tells nothing."""
        return None if self.report is None else self.report.as_declared

    @property
    def conclusive(self) -> bool:
        """Whether a counterexample was found, or enough audited: one instance of twenty, or more.

        A rule that could not be audited on one of them is neither lossless nor lossy.
        """
        if self.report is not None:
            return self.report.lossless is not None
        return self.audited >= max(Fraction(1), LEAST_AUDITED * (self.audited + self.refused))

    @property
    def lossless(self) -> bool | None:
        """Whether nothing failed; None if it is not conclusive."""
        return self.failure is None if self.conclusive else None


LEAST_AUDITED = Fraction(1, 20)  # the share of instances that a rule has to take

RuleFactory = Callable[[Any, Any, int], Any]  # (draft, target, k) → rule, or → kernel


def audit_over(
    rule_factory: RuleFactory,
    instances: Iterable[Instance],
    *,
    drafts: str | None = None,
    tolerance: float | None = None,
) -> SearchReport:
    """Audit a rule on many exact instances; stop at the first failure and shrink it.

    The instance says what is right. The drafts are drawn from a law of this package over the draft
    and k of the instance, and the output is held to its target; if what is made has ``target``,
    ``law`` or ``k``, they have to agree. Its ``accuracy`` does not count.

    Parameters
    ----------
    rule_factory : callable
        (draft, target, k) → a rule, or a kernel. A ``ValueError`` from it means that the rule
        does not take the instance; anything else that it or the rule raises ends the search.
    instances : iterable of Instance
        Such as :func:`random_instances`.
    drafts : str, optional
        The law of the drafts, by name. By default what the rule says in an attribute ``drafts``,
        and i.i.d. drafts for a rule or kernel that has none.
    tolerance : float, optional
        The error per token that counts as rounding where answers are floats; by default one
        rounding error of float64 per draft tuple and eight per token. A float32 verifier needs
        about 1e-6. Exact answers have to be right exactly.

    Raises
    ------
    ValueError
        An unknown law, or a tolerance that is not from 0 to below 1; ``KeyboardInterrupt``: Ctrl-C;
        not one that the rule raises itself.
    """
    tolerance = checked_tolerance(tolerance)
    as_callable(rule_factory, "rule_factory", "a callable from a draft, a target and k to a rule")
    if drafts is not None:
        as_choice(drafts, "drafts", LAWS)
    passed: list[_Audited] = []
    refusals: list[str] = []
    lossy: tuple[Instance, _Audited] | None = None

    def result(
        seen: list[_Audited], failure: Instance | None = None, last: _Audited | None = None
    ) -> SearchReport:
        off = [each.report for each in passed if not each.report.lossless]
        return SearchReport(
            sum(each.report.lossless is not None for each in seen),
            len(refusals),
            _largest(each.report.gap for each in passed) if passed else None,
            failure,
            None if last is None else last.report,
            sum(each.report.exact for each in passed),
            max((each.report.tolerance for each in passed), default=0.0),
            _largest(each.report.largest_error for each in passed),
            tuple(dict.fromkeys(each.law for each in seen)),
            refusals[0] if refusals else None,
            _largest(report.total_variation for report in off),
            _largest(report.lossy_gap for report in off),
            float(_largest(report.kullback_leibler for report in off)),
        )

    for given in as_steps(instances, "instances", "instances, such as random_instances(100)"):
        instance = as_instance(given, "instances", Instance, "Instance objects")
        found = _audited(rule_factory, instance, drafts, tolerance)
        if isinstance(found, str):
            refusals.append(found)
        elif found.report.witness is not None:
            failed = _shrunk(rule_factory, instance, found, drafts, tolerance)
            return result([*passed, failed[1]], *failed)
        else:
            passed.append(found)
            lossy = lossy or (None if found.report.lossless else (instance, found))
    if lossy is None:
        return result(passed)
    return result(passed, *_shrunk(rule_factory, *lossy, drafts, tolerance))


def _largest(numbers: Iterable[Number | None]) -> Number:
    """Return the largest of the numbers that were measured, 0 if none was."""
    return max((number for number in numbers if number is not None), default=Fraction(0))


class _Audited(NamedTuple):
    report: Audit
    law: str


def _audited(
    rule_factory: RuleFactory, instance: Instance, drafts: str | None, tolerance: float | None
) -> _Audited | str:
    """Audit one instance, or say why the rule or the law refuses it."""
    rule, crash = attempt(rule_factory, instance.draft, instance.target, instance.k)
    if crash is not None and isinstance(crash.error, ValueError):
        return f"making the rule {crash.what}"
    name, finding = drafts or IID.name, None
    try:
        if crash is not None:
            raise claims.DisagreementError("making", f"making the rule {crash.what}", crash)
        name = claims.law_name_of(rule, drafts)
    except claims.DisagreementError as found:
        finding = found
    try:
        law = named_law(name, as_distribution(instance.draft, "draft"), instance.k)
    except ValueError as error:
        return str(error)
    target = as_distribution(instance.target, "target")
    problem = problem_of(law, target)
    try:
        if finding is not None:
            raise finding
        claims.check_declared(rule, name, law, target, tolerance)
        declared = claims.declared_by(rule, law.n)
        kernel = claims.kernel_of(rule, law, target)
    except claims.DisagreementError as found:
        return _Audited(unmeasured(found, problem), name)
    limit = problem.rounding if tolerance is None else tolerance
    report = enumerated(kernel, problem, in_fractions=0.0, in_floats=limit, declared=declared)
    return _Audited(report, name)


def _shrunk(
    rule_factory: RuleFactory,
    instance: Instance,
    found: _Audited,
    drafts: str | None,
    tolerance: float | None,
) -> tuple[Instance, _Audited]:
    """Simplify a failing instance step by step while it fails in the same way."""
    progress = True
    while progress:
        progress = False
        for candidate in simpler(instance):
            again = _audited(rule_factory, candidate, drafts, tolerance)
            if not isinstance(again, str) and _alike(again.report, found.report):
                instance, found, progress = candidate, again, True
                break
    return instance, found


def _alike(report: Audit, first: Audit) -> bool:
    """Whether two failures are about the same: one of another kind would hide the one found."""
    if report.witness is None or first.witness is None:
        return report.witness is first.witness and not report.lossless
    same_verdict = report.lossless is first.lossless
    return same_verdict and report.witness.about == first.witness.about
