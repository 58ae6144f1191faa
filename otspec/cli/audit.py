"""``otspec audit``: is a rule lossless?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from math import isfinite
from typing import Any

import click

from otspec.auditing import Instance, SearchReport, audit_over, random_instances
from otspec.cli.importing import imported
from otspec.cli.options import json_option, law_option
from otspec.cli.output import print_json, shown
from otspec.digits import plain
from otspec.lossy import RULES as LOSSY_RULES
from otspec.rules import RULES
from otspec.tables import say


@click.command()
@click.argument("rule")
@law_option(
    None, "How the drafts are drawn.  [default: as the rule says in its attribute drafts, else iid]"
)
@click.option(
    "--instances", type=click.IntRange(1, 1_000_000), default=300, show_default=True,
    help="How many random instances to audit.",
)  # fmt: skip
@click.option("--most-tokens", type=click.IntRange(1, 8), default=4, show_default=True)
@click.option("--most-drafts", type=click.IntRange(1, 6), default=3, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--tolerance", type=float, metavar="ERROR",
    help="The error per token that is rounding in answers of floats, such as 1e-6 for float32.  "
    "[default: rounding of float64]",
)  # fmt: skip
@click.option("--traceback", is_flag=True, help="Show where the code under audit failed.")
@json_option
def audit(
    rule: str,
    drafts: str | None,
    instances: int,
    most_tokens: int,
    most_drafts: int,
    seed: int,
    tolerance: float | None,
    traceback: bool,
    as_json: bool,
) -> int:
    """Is a rule lossless? Exactly, on random rational instances.

    RULE is MODULE:NAME, importable from here, which makes a rule or a kernel; or a rule of the
    package or of one that adds to it, by its name, such as pooled-selection, or of a published
    lossy one, such as typical-acceptance. NAME(draft, target, k) returns a function x ->
    distribution of the output, or an object with such a kernel(x). Drafts and targets are lists of
    Fraction, with zeros, ties and draft = target among them. If the object has a law, target or k,
    they have to be those of the instance; its attribute drafts may name its draft law, and
    declared_output be the law of its output, where that is not the target: then all instances are
    audited, to see if it is lossy as it declares. Whatever it raises is a failure, other than a
    ValueError of NAME, which refuses the instance. A failure is shrunk to a small counterexample.

    The code runs in this process, and what it prints goes to standard error. Exit status: 0
    lossless, 1 not, 2 it cannot be said.

    Example: otspec audit otspec.rules:RecursiveRejection
    """
    with redirect_stdout(sys.stderr):
        factory = _imported(rule, traceback)
        found = _with_progress(
            instances, most_tokens=most_tokens, most_drafts=most_drafts, seed=seed
        )
        report = audit_over(factory, found, drafts=drafts, tolerance=tolerance)
    if not report.conclusive:
        raise ValueError(
            f"{rule} refused {_how_many(report)} of {report.audited + report.refused} instances, "
            f"which leaves too little to judge it by; the first: {report.refusal}"
        )
    if as_json:
        print_json(_document(rule, report, traceback))
    else:
        _print(rule, report, traceback)
    return 0 if report.lossless else 1


def _imported(name: str, traceback: bool) -> Callable[..., Any]:
    for registry in (RULES, LOSSY_RULES):
        if name in registry:
            return registry[name].of_pair
    instead = f"my_rules:my_rule, or one of {', '.join([*RULES, *LOSSY_RULES])}"
    return imported(name, instead, "(draft, target, k)", traceback)


def _with_progress(count: int, **options: Any) -> Any:
    from rich.console import Console
    from rich.progress import track

    return track(
        random_instances(count, **options),
        description="instances",
        total=count,
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    )


def _print(rule: str, report: SearchReport, traceback: bool) -> None:
    if report.failure is None or report.report is None:
        say(f"{rule} is lossless {_scope(report)}{_refusals(report)}.")
        say(f"At worst it is {shown(report.worst_gap)} below the optimum for its drafts.")
        return
    found, witness = report.report, report.report.witness
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
    if witness is not None:
        say(f"  {witness.reason}.")
    if witness is None or witness.token >= 0:
        say(f"  output {_listed(found.output)}, target {_listed(found.target)}")
        say(
            f"  total variation {shown(found.total_variation)}, KL {found.kullback_leibler:.4f}, "
            f"acceptance {shown(found.acceptance)}, at most {shown(found.frontier)}"
        )
    if witness is not None and witness.traceback is not None:
        lines = witness.traceback.splitlines() if traceback else ["add --traceback to see where"]
        say(*(f"  {line}" for line in lines))


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


def _refusals(report: SearchReport) -> str:
    if not report.refused:
        return ""
    return f" ({report.refused} more were refused, the first: {report.refusal})"


def _how_many(report: SearchReport) -> str:
    return str(report.refused) if report.audited else f"all {report.refused}"


def _listed(values: Any) -> str:
    return ",".join(map(plain, values))


def _document(rule: str, report: SearchReport, traceback: bool) -> dict[str, Any]:
    return {
        "rule": rule,
        "lossless": report.lossless,
        "drafts": report.laws,
        "audited": report.audited,
        "exact": report.exact,
        "tolerance": report.tolerance,
        "largest_error": report.largest_error,
        "refused": report.refused,
        "refusal": report.refusal,
        "worst_gap": report.worst_gap,
        "as_declared": report.as_declared,
        "worst_total_variation": report.worst_total_variation,
        "worst_kullback_leibler": _finite(report.worst_kullback_leibler),
        "worst_lossy_gap": report.worst_lossy_gap,
        "counterexample": _counterexample(report.failure, report, traceback),
    }


def _counterexample(
    failure: Instance | None, report: SearchReport, traceback: bool
) -> dict[str, Any] | None:
    found = report.report
    if failure is None or found is None:
        return None
    witness = found.witness
    told: dict[str, Any] = {}
    if witness is not None:
        told = {
            "token": witness.token,
            "error": witness.error,
            "drafts": witness.drafts,
            "reason": witness.reason,
        }
        if traceback:
            told["traceback"] = witness.traceback
    return {
        "draft": failure.draft,
        "target": failure.target,
        "k": failure.k,
        "drawn": report.laws[-1],
        "output": list(found.output),
        "total_variation": found.total_variation,
        "kullback_leibler": _finite(found.kullback_leibler),
        "acceptance": found.acceptance,
        "frontier": found.frontier,
    } | told


def _finite(number: float) -> float | None:
    """Return a number as JSON has it: nothing for infinity."""
    return number if isfinite(number) else None
