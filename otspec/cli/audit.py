"""``otspec audit``: is a rule lossless?"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from otspec.auditing import Instance, SearchReport, audit_over, random_instances
from otspec.cli.options import json_option
from otspec.cli.output import print_json, shown
from otspec.digits import plain
from otspec.drafts import LAW_NAMES


@click.command()
@click.argument("rule", metavar="MODULE:NAME")
@click.option(
    "--drafts", type=click.Choice(LAW_NAMES), default="iid", show_default=True,
    help="How the drafts of a kernel are drawn; a rule says so itself.",
)  # fmt: skip
@click.option(
    "--instances", type=click.IntRange(1, 1_000_000), default=300, show_default=True,
    help="How many random instances to audit.",
)  # fmt: skip
@click.option("--most-tokens", type=click.IntRange(1, 8), default=4, show_default=True)
@click.option("--most-drafts", type=click.IntRange(1, 6), default=3, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@json_option
def audit(
    rule: str,
    drafts: str,
    instances: int,
    most_tokens: int,
    most_drafts: int,
    seed: int,
    as_json: bool,
) -> int:
    """Is a rule lossless? Exactly, on random rational instances.

    MODULE:NAME is importable from here and makes a rule or a kernel: NAME(draft, target, k) returns
    an object with kernel(x), law and target, or a function x -> distribution of the output.
    Drafts and targets are lists of Fraction, with zeros, ties and draft = target among them. A
    failure is shrunk to a small counterexample. Exit status: 0 lossless, 1 not.

    Example: otspec audit otspec.rules:RecursiveRejection
    """
    factory = _imported(rule)
    found = _with_progress(instances, most_tokens=most_tokens, most_drafts=most_drafts, seed=seed)
    try:
        report = audit_over(factory, found, drafts=drafts)
    except Exception as error:  # of the code under audit
        raise ValueError(f"{rule} failed with {type(error).__name__}: {error}") from error
    if report.audited == 0:
        raise ValueError(
            f"{rule} refused all {report.refused} instances: it must take (draft, target, k)"
        )
    if as_json:
        print_json(_document(rule, report))
    else:
        _print(rule, report)
    return 0 if report.lossless else 1


def _imported(name: str) -> Callable[..., Any]:
    module_name, colon, attribute = name.partition(":")
    if not colon or not module_name or not attribute:
        raise ValueError(f"{name!r} is no MODULE:NAME: write for instance my_rules:my_rule")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # of the code under audit
        raise ValueError(f"cannot import {name}: {error}") from error
    if not callable(found):
        raise ValueError(f"{name} is not callable: it must take (draft, target, k)")
    return found


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


def _print(rule: str, report: SearchReport) -> None:
    refused = f" ({report.refused} more were refused by the rule)" if report.refused else ""
    if report.failure is None or report.report is None:
        click.echo(f"{rule} is lossless on all {report.audited} exact instances{refused}.")
        click.echo(f"At worst it is {shown(report.worst_gap)} below the optimum for its drafts.")
        return
    found = report.report
    click.echo(f"{rule} is NOT lossless: found on instance {report.audited}, shrunk to")
    click.echo(f"  {report.failure}")
    if found.witness is not None:
        click.echo(f"  {found.witness.reason}.")
    click.echo(f"  output {_listed(found.output)}, target {_listed(found.target)}")
    click.echo(f"  total variation {shown(found.total_variation)}")


def _listed(values: Any) -> str:
    return ",".join(map(plain, values))


def _document(rule: str, report: SearchReport) -> dict[str, Any]:
    failure: Instance | None = report.failure
    found = report.report
    return {
        "rule": rule,
        "lossless": report.lossless,
        "audited": report.audited,
        "refused": report.refused,
        "worst_gap": report.worst_gap,
        "counterexample": None
        if failure is None or found is None or found.witness is None
        else {
            "draft": failure.draft,
            "target": failure.target,
            "k": failure.k,
            "output": list(found.output),
            "token": found.witness.token,
            "error": found.witness.error,
            "drafts": found.witness.drafts,
            "total_variation": found.total_variation,
        },
    }
