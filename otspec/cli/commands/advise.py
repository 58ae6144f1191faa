"""``otspec advise``: which draft law, rule and tree is fastest, from logs and costs."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from otspec._base import ArrowTable, needed
from otspec._base.tables import listed, print_table, say
from otspec.advice.advice import (
    Advice,
    document_of,
    percent_words,
    sentences,
    short,
    shown_choices,
    too_few,
)
from otspec.advice.evaluation.search import DEEPEST, WIDEST, Search
from otspec.advice.evaluation.streaming import advice_on, work_on
from otspec.advice.loads.advice import COLUMNS, LoadAdvice
from otspec.advice.loads.search import LoadSearch, texts_in
from otspec.blocks import TREE_RULES, Shape, as_load_seconds
from otspec.cli.shared import arguments, options, output, run_paths
from otspec.cli.shared.trees import read_tree
from otspec.cli.shared.warpings import Drawn, drawn_options, warping_options
from otspec.datasets.english_letters import logged_file
from otspec.reports.findings import interval_words
from otspec.traces import Warping
from otspec.traces.readers import Source

_BUNDLED_CHUNK = 60  # positions of a chunk of the bundled texts: enough chunks for workers
_ROWS = 10  # choices that are shown, beside the best of each rule


@click.command()
@click.argument("files", nargs=-1)
@options.cost_options()
@click.option(
    "--nodes", type=click.IntRange(1, 1_000), default=64, help="The most drafted tokens of a tree.",
)  # fmt: skip
@click.option(
    "--depth", type=click.IntRange(1, 100),
    help=f"The most levels. [default: {DEEPEST}, or as many as all texts have]",
)  # fmt: skip
@click.option(
    "--widest", type=click.IntRange(1, 100), default=WIDEST, help="The most children of a node.",
)  # fmt: skip
@click.option(
    "--rule", "rules", type=arguments.Choice(tuple(TREE_RULES)), multiple=True, metavar="RULE",
    help="Compare these rules on trees; may be given several times. RULE is "
    f"{listed(list(TREE_RULES), 'or')}.  [default: all]",
)  # fmt: skip
@click.option(
    "--tree", "trees", multiple=True, metavar="TREE",
    help="Also compare this tree of yours, with every rule that serves it; may be given "
    "several times.",
)  # fmt: skip
@click.option(
    "--total-variation", type=float, metavar="DISTANCE",
    help="Also say how much a lossy shortcut can gain on a chain, if the distribution of each "
    "token may be off by this much.",
)  # fmt: skip
@click.option(
    "--batch", "batches", type=click.IntRange(1, 1_000_000), multiple=True, metavar="ROWS",
    help="Also say which chain, confidence threshold or dynamic tree is fastest with so many rows "
    "in a call; may be given several times.  [default: the batches of a table of costs]",
)  # fmt: skip
@warping_options
@drawn_options
@run_paths.run_options("positions/, advice.json and pareto.png")
@options.filled(files=run_paths.FILES, pairs=run_paths.PAIRS)
def advise(
    files: tuple[str, ...],
    draft_cost: str,
    target_cost: str,
    nodes: int,
    depth: int | None,
    widest: int,
    rules: tuple[str, ...],
    trees: tuple[str, ...],
    total_variation: float | None,
    batches: tuple[int, ...],
    warpings: tuple[Warping, ...],
    drawn: Drawn,
    place: run_paths.RunPlace,
) -> int:
    """Which draft law, rule and tree are fastest, from logs and costs.

    FILES are {files}, or {pairs}, DRAFT.npy+TARGET.npy+TOKENS.npy. They hold the logits of both
    models, and draft_tokens (drafted blocks) or target_tokens (texts of the target). The default is
    40 texts of the letters, a small pair of models that ships with the package.

    Pooled selection without replacement takes most of the time: --rule names others.

    Costs by load are a .csv of three columns: batch, tokens of a row, and seconds. With them, or
    with --batch, another table shows how many tokens to draft at each batch size. The other tables
    are for one row, or for the smallest batch of the .csv.

    Exit status: 0 fine, 1 some chunks were skipped, or a picture, the report or the table
    could not be written after the results, 2 bad input.

    Example: otspec advise --draft-cost 0.05 --target-cost 1:1,64:1.5 --nodes 16 --rule spechub
    """
    if not files and place.chunk is None:
        place = place._replace(chunk=_BUNDLED_CHUNK)
    own = [read_tree(tree, "--tree") for tree in trees]
    drafting = as_load_seconds(draft_cost, "--draft-cost")
    verifying = as_load_seconds(target_cost, "--target-cost")
    search = Search.of(
        drafting.alone, verifying.alone, nodes, widest, rules or None, own, total_variation
    )
    sizes = batches or verifying.batches or drafting.batches
    by_load = LoadSearch.of(drafting, verifying, sizes, depth)
    with place.sources(files, logged_file, "the bundled letters", tokens=True) as named:
        sources = drawn.sources(named)
        work = work_on(sources, search, depth, warpings, drawn.how(sources, warpings))
        with place.run(sources, work) as run:
            failures = run.failures()
            if not run.finished():
                raise ValueError(run_paths.all_failed(failures))
            advices = advice_on(run, work, search)
        how = drawn.how(sources, warpings)
        loads = [by_load.advice(texts_in(sources, each, how)) for each in warpings if sizes]
        documents = _documents(advices, loads)
        if place.as_json:
            output.print_json(documents)
        else:
            _print(advices, loads, own)
        complete = _kept(advices, documents, place, sources)
    return place.end(failures, partial(_table, advices), complete=complete)


def _documents(advices: Sequence[Advice], loads: Sequence[LoadAdvice]) -> list[dict[str, Any]]:
    """Return documents of all advices, with those by batch size if there are any."""
    found = [document_of(advice) for advice in advices]
    for document, load in zip(found, loads, strict=False):
        document["loads"] = load.document()
    return found


def _print(advices: Sequence[Advice], loads: Sequence[LoadAdvice], own: Sequence[Shape]) -> None:
    for number, advice in enumerate(advices):
        if number:
            say()
        _print_one(advice, own)
        for load in loads[number : number + 1]:
            say("", "Tokens per second by batch size")
            print_table(COLUMNS, load.cells(), text=2)
            say("", *load.sentences())


def _print_one(advice: Advice, own: Sequence[Shape]) -> None:
    texts = f"{advice.texts:,} text{'s' if advice.texts > 1 else ''}"
    say(*too_few(advice), f"Speed-up and tokens per call on {texts}, {advice.source}")
    shown = shown_choices(advice, _ROWS, own)
    print_table(
        ("rule", "drafts", "tree", "nodes", "tokens per call", "95% interval", "time", "speed-up",
         "95% interval"),
        [
            (one.rule, one.drafts, short(one.tree), str(one.nodes), f"{float(one.tokens):.4f}",
             interval_words(one.tokens_interval), f"{one.seconds:.4g}", f"{one.speed_up:.3f}",
             interval_words(one.speed_up_interval))
            for one in shown
        ],
        text=3,
    )  # fmt: skip
    if left_out := len(advice.choices) - len(shown):
        say(f"Slower choices left out: {left_out:,} (--json and --table have all)")
    say("", "Speed lost by simpler choices")
    print_table(
        ("simpler", "rule", "tree", "loss", "95% interval"),
        [
            (
                one.kind,
                one.rule,
                short(one.tree),
                output.percent(one.loss),
                percent_words(one.loss_interval),
            )
            for one in advice.simpler
        ],
        text=3,
    )
    say("", *sentences(advice))


def _kept(
    advices: Sequence[Advice],
    documents: Sequence[dict[str, Any]],
    place: run_paths.RunPlace,
    sources: Sequence[Source],
) -> bool:
    """Write what is asked for; return whether all of it was written."""
    from otspec.advice.report import pareto_figure, write_report
    from otspec.plots import save
    from otspec.plots.pictures import DPI

    def charts(out: Path) -> Iterator[Path]:
        for number, advice in enumerate(advices):
            chart = out / f"pareto{f'-{number}' if len(advices) > 1 else ''}.png"
            save(pareto_figure(advice, title=advice.source), chart, dpi=DPI)
            yield chart

    numbers = place.numbers("advice.json", documents)
    lines, complete = place.written(
        charts, lambda path, origin: write_report(path, advices, origin), sources
    )
    for line in () if place.as_json else numbers + lines:
        say(line)
    return complete


def _table(advices: Sequence[Advice]) -> ArrowTable:
    """Return the choices of all advices, with a column that says what they are of."""
    pa = needed("pyarrow", "a table", "runs")
    tables = [advice.to_arrow() for advice in advices]
    models = [[advice.source] * len(advice.choices) for advice in advices]
    return pa.concat_tables(
        table.append_column("models", pa.array(names))
        for table, names in zip(tables, models, strict=True)
    )
