"""``python -m validation``: check the claims of the papers."""

import json
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

from otspec._base.tables import print_table, say
from otspec._base.writing import write_text
from otspec.cli.main import run
from otspec.cli.shared.output import print_json
from validation import report
from validation.registry import CLAIMS, PAPERS
from validation.running import Finding, check_claims
from validation.search import Search

RECORDED = Path(__file__).with_name("recorded.json")
SOME, FILE = click.IntRange(min=1), click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("identifiers", nargs=-1, metavar="[CLAIM]...")
@click.option("--paper", "papers", multiple=True, type=click.Choice(list(PAPERS)))
@click.option("--list", "listing", is_flag=True, help="Name the claims and check none.")
@click.option("--budget", default=5.0, show_default=True, help="Seconds per claim.",
              type=click.FloatRange(min=0, min_open=True))  # fmt: skip
@click.option(
    "--instances", default=1_000, show_default=True, help="Instances per claim.", type=SOME
)
@click.option("--jobs", default=2, show_default=True, help="Processes.", type=SOME)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0))
@click.option("--json", "json_output", is_flag=True, help="Print JSON.")
@click.option("--html", type=FILE, help="Write a page.")
@click.option("--errata", type=FILE, help="Write what is refuted, as Markdown.")
@click.option("--record", is_flag=True, help="Record these verdicts as those to expect.")
def main(identifiers, papers, listing, budget, instances, jobs, seed, json_output, html, errata,
         record):  # fmt: skip
    """Check the claims of the papers, as printed and as corrected.

    All claims, those of a --paper, or single ones, such as: python -m validation spechub.thm4

    The exit status is 1 if a verdict differs from the recorded one."""
    chosen = _chosen(identifiers, papers)
    if listing:
        print_table(("claim", "where"), [(name, CLAIMS[name].where) for name in chosen])
        return
    search = Search(budget, instances, seed)
    findings = _with_progress(chosen, search, jobs)
    if json_output:
        print_json(report.as_json(findings))
    else:
        print_table(report.COLUMNS, [report.row(finding) for finding in findings], text=3)
    if html:
        write_text(html, report.as_html(findings))
    if errata:
        write_text(errata, report.as_errata(findings))
    if record:
        _record(findings, search)
    sys.exit(_compare(findings))


def _chosen(identifiers: tuple[str, ...], papers: tuple[str, ...]) -> list[str]:
    unknown = [name for name in identifiers if name not in CLAIMS]
    if unknown:
        told = f"{unknown[0]!r} is no claim: --list names them"
        raise click.BadParameter(told, param_hint="CLAIM")
    if not identifiers and not papers:
        return list(CLAIMS)
    return [name for name, each in CLAIMS.items() if name in identifiers or each.paper in papers]


def _with_progress(chosen: list[str], search: Search, jobs: int) -> list[Finding]:
    """Check the claims and return the findings in the order of the registry."""
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress("checking claims", *columns, console=Console(stderr=True),
                  transient=True) as progress:  # fmt: skip
        findings = progress.track(check_claims(chosen, search, jobs=jobs), total=len(chosen))
        return sorted(findings, key=lambda finding: chosen.index(finding.id))


def recorded() -> dict[str, dict[str, str]]:
    """Return the recorded verdicts by claim."""
    if not RECORDED.exists():
        return {}
    return json.loads(RECORDED.read_text(encoding="utf-8"))["verdicts"]


def _record(findings: list[Finding], search: Search) -> None:
    """Write the verdicts, and from which seed and on how many instances they were found."""
    verdicts = recorded() | {finding.id: finding.verdicts() for finding in findings}
    kept = {name: verdicts[name] for name in CLAIMS if name in verdicts}
    looked = {"seed": search.seed, "instances": search.instances, "seconds": search.seconds}
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(found)}" for name, found in kept.items())
    write_text(RECORDED, f'{{"search": {json.dumps(looked)}, "verdicts": {{\n{lines}\n}}}}\n')


def _compare(findings: list[Finding]) -> int:
    """Say on standard error which verdicts are not as recorded; return the exit status."""
    expected = recorded()
    differing = [each for each in findings if each.verdicts() != expected.get(each.id)]
    for finding in differing:
        told = expected.get(finding.id, "nothing")
        say(f"{finding.id}: recorded is {told}, found {finding.verdicts()}", err=True)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(run(main, None, "python -m validation"))
