"""``otspec audit``: is a rule lossless?"""

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from typing import Any

import click

from otspec._base import meant
from otspec._base.tables import say
from otspec.auditing import Instance, SearchReport, audit_over, random_instances
from otspec.auditing.declared import (
    TEST_SAMPLERS,
    is_program,
    is_step,
    named_parameters,
    takes,
)
from otspec.auditing.sandbox import attempt
from otspec.cli.commands import audit_kernel as kernels
from otspec.cli.shared import arguments, options, output, progress
from otspec.rules import RULES
from otspec.rules.lossy import LOSSY_RULES


@click.command()
@click.argument("rule")
@options.law_option(
    None, "How the drafts are drawn.  [default: as the rule says in its attribute drafts, else iid]"
)
@click.option("--draft", metavar="DRAFT", help="For a kernel: the distribution of its drafts.")
@click.option(
    "--target", metavar="TARGET", help="For a kernel: the distribution that its output should have."
)
@click.option(
    "-k", type=click.IntRange(1, 1_000_000), metavar="K", help="For a kernel: its number of drafts."
)
@options.reading_options
@click.option(
    "--instances", type=click.IntRange(1, 1_000_000), default=300,
    help="How many random instances to audit.",
)  # fmt: skip
@click.option("--most-tokens", type=click.IntRange(1, 8), default=4)
@click.option("--most-drafts", type=click.IntRange(1, 6), default=3)
@click.option("--seed", type=click.IntRange(min=0), default=0)
@click.option(
    "--tolerance", type=float, metavar="ERROR",
    help="The largest error per token that counts as rounding, such as 1e-6 for float32.  "
    "[default: rounding of float64]",
)  # fmt: skip
@click.option("--traceback", is_flag=True, help="Show where the code under audit failed.")
@options.json_option
def audit(
    rule: str,
    drafts: str | None,
    draft: str | None,
    target: str | None,
    k: int | None,
    how: options.Reading,
    tolerance: float | None,
    traceback: bool,
    as_json: bool,
    **instances: int,
) -> int:
    """Is a rule lossless? Exactly, on random rational instances.

    RULE is MODULE:NAME, importable from here: a function that makes a rule or a kernel. It may also
    be the name of a rule of the package or of a plugin, such as pooled-selection, or of a published
    lossy rule, such as typical-acceptance. NAME(draft, target, k) returns a function x ->
    distribution of the output, or an object with such a kernel(x). Drafts and targets are lists of
    Fraction, with zeros, ties and draft = target among them. If the object has law, target or k,
    they must be those of the instance. Its attribute drafts may name its draft law. Its attribute
    declared_output may be the distribution of its output if that is not the target; then all
    instances are audited, to see if it is lossy as it declares. NAME refuses an instance by a
    ValueError. If it raises anything else, or returns no distribution, it cannot be audited. A
    failure is shrunk to a small counterexample.

    NAME may also be a kernel, NAME(x), where x is a tuple of drafts (or the token, for one draft),
    or a program, NAME(drafts, chance). It is audited for one law and target, given by --draft,
    --target and -k as for otspec accept. A whole step, NAME(chance), needs only --target. A
    sampler, which returns a token, is tested in Python, by otspec.audit_samples.

    The code runs in this process; what it prints goes to standard error.
    Exit status: 0 lossless, 1 not lossless, 2 undecided.

    Example: otspec audit otspec.rules:RecursiveRejection

    Example: otspec audit my_rules:verify --draft 1/2,1/2 --target 1/4,3/4 -k 2
    """
    with redirect_stdout(sys.stderr):
        function = _imported(rule, traceback)
        of_one = {"--draft": draft, "--target": target, "-k": k}
        given = any(value is not None for value in of_one.values())
        of_kernel = is_kernel(rule, function, given=given)
        _refuse_options_of_others(rule, of_kernel)
        if of_kernel:
            found, of = kernels.audit_kernel(rule, function, how, of_one, drafts, tolerance)
        else:
            found_instances = _with_progress(instances.pop("instances"), **instances)
            report = audit_over(function, found_instances, drafts=drafts, tolerance=tolerance)
    if of_kernel:
        if found.lossless is None and found.witness is not None:
            raise ValueError(
                f"{rule} could not be audited{of and f' for {of}'}: "
                + kernels.why_not_audited(found.witness, traceback)
            )
        if as_json:
            kernels.print_kernel_json(rule, found, drafts, k)
        else:
            kernels.print_kernel(rule, found, of)
        return 0 if found.lossless else 1
    return _reported(rule, report, traceback, as_json)


_OF_KERNEL = ("draft", "target", "k", *options.Reading._fields)
_OF_MAKERS = ("instances", "most_tokens", "most_drafts", "seed")


def _refuse_options_of_others(rule: str, of_kernel: bool) -> None:
    """Refuse options for kernels beside what makes a rule, and the other way round."""
    for name, parameter in options.given_options():
        option = parameter.opts[0]
        if of_kernel and name in _OF_MAKERS:
            raise ValueError(
                f"{option} is for what makes a rule for each of many instances, and {rule} is a "
                f"kernel or a program, audited for one --draft, --target and -k: leave {option} out"
            )
        if not of_kernel and name in _OF_KERNEL:
            raise ValueError(
                f"{option} is for a kernel or a program, and {rule} takes (draft, target, k): "
                f"it is audited on random instances: leave {option} out"
            )


def _reported(rule: str, report: SearchReport, traceback: bool, as_json: bool) -> int:
    """Print what was found of what makes rules, and return the exit status."""
    found = report.report
    if found is not None and found.lossless is None and found.witness is not None:
        raise ValueError(
            f"{rule} could not be audited for {report.failure}, {report.laws[-1]} drafts: "
            + kernels.why_not_audited(found.witness, traceback)
        )
    if not report.conclusive:
        refused = str(report.refused) if report.audited else f"all {report.refused}"
        raise ValueError(
            f"{rule} refused {refused} of {report.audited + report.refused} instances, "
            f"which leaves too little to judge it by; the first: {report.refusal}"
        )
    if as_json:
        output.print_json(_document(rule, report))
    else:
        _print(rule, report)
    return 0 if report.lossless else 1


def _imported(name: str, traceback: bool) -> Callable[..., Any]:
    for registry in (RULES, LOSSY_RULES):
        if name in registry:
            return registry[name].of_pair
    known = [*RULES, *LOSSY_RULES]
    all_of_them = f", or one of {', '.join(known)}"
    instead = f"my_rules:my_rule{meant(name, known) or all_of_them}"
    return arguments.imported(name, instead, f"{MAKES}; or {AUDITED}", traceback)


def _with_progress(count: int, **asked: Any) -> Iterator[Instance]:
    instances = random_instances(count, **asked)
    with progress.working(count, "instances") as done:
        for instance in instances:
            yield instance
            done()


def _print(rule: str, report: SearchReport) -> None:
    if report.failure is None or report.report is None:
        more = f" ({report.refused} more were refused, the first: {report.refusal})"
        say(f"{rule} is lossless {_scope(report)}{more if report.refused else ''}.")
        say(
            f"At worst it is {kernels.if_known(report.worst_gap)} below the optimum for its drafts."
        )
        return
    found = report.report
    if report.as_declared:
        say(f"{rule} is NOT lossless, and has the output that it declares {_scope(report)}.")
        say(
            f"At worst that is off by {float(report.worst_total_variation):.4f} in total variation "
            f"and by {report.worst_kullback_leibler:.4f} nats in KL(output, target),",
            f"and accepts {float(report.worst_lossy_gap):.4f} less than a rule may at its total "
            "variation. An instance:",
        )
    else:
        say(f"{rule} is NOT lossless: found on instance {report.audited}, shrunk to")
    say(f"  {report.failure}  {report.laws[-1]} drafts")
    say(*(f"  {line}" for line in kernels.what_is_wrong(found)))


def _scope(report: SearchReport) -> str:
    """Say on what a rule is lossless, and how far."""
    drafts = f"{' and '.join(report.laws)} drafts"
    if report.exact == report.audited:
        return f"on all {report.audited} exact instances of {drafts}"
    exactly = f", exactly on {report.exact} of them" if report.exact else ""
    return (
        f"to within {report.tolerance:.1e} per token on all {report.audited} instances of {drafts}"
        f"{exactly}; the largest error is {float(report.largest_error):.1e}"
    )


_REPORTED = (
    "audited", "exact", "tolerance", "largest_error", "refused", "refusal", "worst_gap",
    "as_declared", "worst_total_variation", "worst_kullback_leibler", "worst_lossy_gap",
)  # fmt: skip


def _document(rule: str, report: SearchReport) -> dict[str, Any]:
    found = kernels.attributes(report, *_REPORTED)
    return {
        "rule": rule,
        "lossless": report.lossless,
        "drafts": report.laws,
        **found | {"worst_kullback_leibler": kernels.finite(report.worst_kullback_leibler)},
        "counterexample": _counterexample(report.failure, report),
    }


def _counterexample(failure: Instance | None, report: SearchReport) -> dict[str, Any] | None:
    found = report.report
    if failure is None or found is None:
        return None
    about = kernels.attributes(failure, "draft", "target", "k") | {"drawn": report.laws[-1]}
    return about | kernels.law_document(found) | kernels.witness_document(found)


MAKES = "(draft, target, k) and return a rule or a kernel"
ANSWERS = "x, a tuple of drafts, and return the distribution of the output"
AUDITED = f"{ANSWERS}; or be a program of (drafts, chance) or (chance) ({TEST_SAMPLERS} in Python)"


def is_kernel(name: str, function: Callable[..., Any], *, given: bool) -> bool:
    """Return whether code is a kernel or a program, which is audited for one law and target."""
    # What can be called with one argument and with three is one if drafts or a target are given.
    # name: what messages call it. given: whether the command line has what only kernels need.
    if is_program(function) or is_step(function):
        return True
    signature, crash = attempt(inspect.signature, function)
    if crash is not None:
        return given  # what does not tell
    if takes(signature, 3):
        return given and takes(signature, 1)
    if takes(signature, 1):
        return True
    raise ValueError(
        f"{name} takes {named_parameters(signature)}: it must take {MAKES}; or {AUDITED}"
    )
