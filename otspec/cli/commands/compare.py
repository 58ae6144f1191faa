"""``otspec compare``: every rule beside the optimum."""

from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import click

from otspec._base import Number, is_exact
from otspec._base.tables import listed, print_table, say
from otspec.cli.shared import arguments, options, output, progress
from otspec.cli.shared.different_models import compare_models
from otspec.distributions import Distribution
from otspec.drafts import LAWS, Independent
from otspec.estimate import Estimate, value_of
from otspec.frames import Rows
from otspec.rules import compared_rules
from otspec.traces.comparison import OPTIMUM, Comparison
from otspec.traces.comparison import compare as compare_rules
from otspec.traces.summary import attainment, attains, price_of_independence

_SHOWN = 8  # how many rules are shown of each k, unless all are wanted


def _of_models(law: Independent, target: Distribution, as_json: bool) -> int:
    _print(compare_models(law, target), as_json)
    return 0


@options.pair_command(
    "2", None, "Compare only rules for these drafts.  [default: all]", of_models=_of_models
)
@options.rules_option("all")
@click.option("--all", "every", is_flag=True, help=f"Show all rules, not the {_SHOWN} best only.")
@options.free_option
@options.json_option
@options.table_option
@click.option(
    "--plot", type=click.Path(path_type=Path, dir_okay=False), help="Write a chart to this file."
)
def compare(
    pair: tuple[Distribution, Distribution],
    ks: tuple[int, ...],
    drafts: str | None,
    only: tuple[str, ...],
    every: bool,
    free: int,
    as_json: bool,
    table: Path | None,
    plot: Path | None,
) -> int:
    """Which rule comes closest to the optimum?

    DRAFT and TARGET, and several --draft, are as for `otspec accept`. The rules are sorted by
    acceptance; the optimum and the gap to it are those of the same drafts.
    Exit status: 0 fine, 1 the chart or the table could not be written after the results,
    2 bad input.

    Example: otspec compare 0.5,0.3,0.2 0.1,0.6,0.3 -k 1,2,4 --plot rules.png
    """
    if plot is not None:
        output.check_picture(plot.suffix)
        output.check_place(plot)
    output.check_table(table)
    laws = tuple(LAWS) if drafts is None else (drafts,)
    missing = [k for k in ks if not any(LAWS[law].exists(pair[0], k) for law in laws)]
    if missing:
        raise ValueError(f"there are no {drafts} drafts with k = {missing[0]} for this draft")
    arguments.check_digits(laws, pair, ks, rules=True)
    names = only or [rule.name for rule in compared_rules() if rule.law_class.name in laws]
    rows = Rows[Comparison]((), Comparison, "one draft and one target")
    # In floats all of them share what takes the time; fractions take long one by one.
    steps = [(k,) for k in ks] if is_exact(pair[0]) else [ks]
    with progress.working(len(steps), "numbers of drafts") as done:
        for step in steps:
            rows += compare_rules(*pair, step, laws, only=names, free=free)
            done()
    _print(rows, as_json, None if every or only else _SHOWN)
    complete = output.table_written(table, rows.to_arrow, silent=as_json)
    if plot is not None:
        from otspec.plots import save_acceptance_chart

        title = "Acceptance against the number of drafts"
        draw = partial(save_acceptance_chart, rows, plot, title=title)
        drawn = output.was_written("the chart", draw)
        if drawn and not as_json:
            say(f"chart: {plot}")
        complete = complete and drawn
    return 0 if complete else 1


def _print(rows: list[Comparison], as_json: bool, most: int | None = None) -> None:
    """Print the rules of each k by acceptance, the ``most`` best of them."""
    if as_json:
        output.print_json([_document(row) for row in rows])
        return
    found, left_out = [], 0
    for k in dict.fromkeys(row.k for row in rows):
        rules = sorted((row for row in rows if row.k == k and row.rule != OPTIMUM), key=_place)
        found += rules[:most]
        left_out += len(rules[most:]) if most else 0
    print_table(
        ("k", "rule", "drafts", "acceptance", "optimum", "gap"),
        [
            (str(row.k), row.rule, row.drafts,
             *map(output.shown, (row.acceptance, row.optimum)), _shown_gap(row))
            for row in found
        ],
        text=3,
    )  # fmt: skip
    if left_out:
        say(f"(--all shows {left_out} more)")
    say()
    say(*_meaning(rows), *price_of_independence([row for row in rows if row.k == rows[-1].k]))


def _place(row: Comparison) -> Number:
    """Return what rules are sorted by: equal numbers stay equal where floats are rounded."""
    accepted = value_of(row.acceptance)
    return -accepted if isinstance(accepted, Fraction) else -round(accepted, 9)


def _shown_gap(row: Comparison) -> str:
    """Return the gap for a table, in which the acceptance beside it says if it is an estimate."""
    return output.shown(float(row.gap) if isinstance(row.gap, Estimate) else row.gap)


def _document(row: Comparison) -> dict[str, Any]:
    document = vars(row) | {"gap": row.gap}
    if isinstance(row.acceptance, Estimate):
        document["interval"] = [row.acceptance.low, row.acceptance.high]
    return document


def _meaning(rows: list[Comparison]) -> list[str]:
    last = [row for row in rows if row.k == rows[-1].k]
    optima = [row for row in last if row.rule == OPTIMUM]
    most = max(row.acceptance for row in optima)
    laws = listed([row.drafts for row in optima if attains(row.acceptance, most)], "or")
    rules = [row for row in last if row.rule != OPTIMUM]
    return [
        f"With k = {last[0].k}, at most {output.percent(most)} can be accepted ({laws} drafts).",
        *attainment(rules, most, lambda best: f"accepts {output.percent(best.acceptance)}"),
    ]
