"""What ``otspec trace`` prints: means at each pair of temperatures, and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from otspec._base.tables import print_table, say
from otspec.cli.shared.output import percent
from otspec.reports.findings import standing_of
from otspec.reports.summary_file import restrictions_of
from otspec.traces.comparison import OPTIMUM
from otspec.traces.statistics import Statistic
from otspec.traces.summary import attainment, price_of_independence
from otspec.traces.temperatures import by_heat


def print_means(rows: Sequence[Statistic], ks: Sequence[int], summary: dict[str, Any]) -> None:
    """Print the means of a run.

    Parameters
    ----------
    rows : sequence of Statistic
        At least one for each pair of temperatures.
    ks : sequence of int
        The columns; what is said is of the last that some law has.
    summary : dict
        As :func:`~otspec.reports.summary_file.summary_of` returns.
    """
    for index, (heat, of_one) in enumerate(by_heat(rows).items()):
        if index:
            say()
        restricted = "".join(f", {name} {value}" for name, value in restrictions_of(summary))
        say(f"Mean acceptance over {summary['positions']} positions ({heat}{restricted})")
        _print_table(of_one, ks)
        say()
        say(*_meaning(of_one, ks, summary["independent"]))


def _print_table(rows: Sequence[Statistic], ks: Sequence[int]) -> None:
    """Print a line for each rule, those for the same drafts together, which are named once."""
    cells = {(row.drafts, row.rule, row.k): f"{row.acceptance:.4f}" for row in rows}
    print_table(
        ("drafts", "rule", *(f"k={k}" for k in ks)),
        [
            (
                drafts if rule == OPTIMUM else "",
                rule,
                *(cells.get((drafts, rule, k), "") for k in ks),
            )
            for drafts in dict.fromkeys(row.drafts for row in rows)
            for rule in dict.fromkeys(row.rule for row in rows if row.drafts == drafts)
        ],
        text=2,
    )


def _meaning(rows: Sequence[Statistic], ks: Sequence[int], units: str) -> list[str]:
    """Return sentences on the best law: its optimum, which rules attain it, and how sure it is."""
    k = [k for k in ks if any(row.k == k for row in rows)][-1]
    standing = standing_of([row for row in rows if row.k == k])
    best, second = standing.optimum, standing.second
    most = percent(best.acceptance)
    clauses = [f"With {standing.drafts} one is accepted with mean probability {most} at best"]
    clauses += attainment(
        standing.rules,
        best.optimum,
        lambda rule: f"reaches {percent(rule.acceptance)}, {100 * rule.gap:z.1f} points less",
    )
    sentences = [*(f"{clause};" for clause in clauses[:-1]), f"{clauses[-1]}."]
    if second is not None:
        sentences.append(
            f"The best of the other draft laws, {second.drafts}, has the optimum "
            f"{percent(second.acceptance)}."
        )
    sentences += price_of_independence([row for row in rows if row.k == k])
    return [*sentences, _certainty(best, units)]


def _certainty(best: Statistic, units: str) -> str:
    if best.units < 2:
        return "One position says nothing about others."
    low, high = map(percent, best.acceptance_interval)
    return (
        f"If the {best.units:,} {units} are a random sample, the mean optimum of all such {units} "
        f"is {low} to {high} (95% confidence)."
    )
