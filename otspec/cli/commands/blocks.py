"""``otspec blocks``: rules for drafted blocks and trees side by side."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from otspec._base import ArrowTable, needed
from otspec._base.tables import print_table, say
from otspec.blocks import (
    BlockComparison,
    BlockVerification,
    Shape,
    StepCost,
    TokenVerification,
    TreeComparison,
    as_seconds,
    compare_block_rules,
    compare_trees,
)
from otspec.cli.commands.best_trees import Search, best_on_blocks, best_on_models
from otspec.cli.shared import arguments, options, output, progress, warpings
from otspec.cli.shared.trees import MEANING, read_tree
from otspec.datasets import load_smollm2
from otspec.frames import Rows
from otspec.logged import LoggedBlock, compare_on_blocks, compare_trees_on_blocks
from otspec.models import EndingModel, Model, TableModel, as_models, load_model
from otspec.traces import Warping, load_trace

_LARGEST = 200  # most tokens of a block, levels of a tree and children of a node


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--draft", "draft", help="The draft model: FILE.json, or one distribution.")
@click.option("--target", "target", help="The target model, in the same way.")
@click.option(
    "-L", "--length", "lengths", type=arguments.COUNTS, default="1,2,4",
    help="Lengths of the drafted block, separated by commas.",
)  # fmt: skip
@click.option(
    "--tree", "trees", multiple=True, metavar="TREE",
    help=f"Also verify this tree of drafts: {MEANING}; may be given several times.",
)  # fmt: skip
@click.option(
    "--budget",
    type=click.IntRange(1, 1_000),
    metavar="N",
    help="Instead, find each rule's best tree of N drafted tokens.",
)
@click.option(
    "--depth", type=click.IntRange(1, 100), metavar="D",
    help="The most levels of the best tree; by default 8, or as many as all blocks have.",
)  # fmt: skip
@click.option(
    "--widest", type=click.IntRange(1, 100), default=8, metavar="K",
    help="The most children of a node of the best tree.",
)  # fmt: skip
@options.cost_options("Also find the fastest tree. ", required=False)
@click.option("--end", type=arguments.TOKENS, default=(), help="Tokens that end a text.")
@warpings.warping_option
@click.option("--exact", is_flag=True, help="Read decimals exactly; print fractions.")
@click.option("--normalize", is_flag=True, help="Scale every row of the models to sum 1.")
@options.json_option
@options.table_option
def blocks(
    file: Path | None,
    draft: str | None,
    target: str | None,
    lengths: tuple[int, ...],
    trees: tuple[str, ...],
    budget: int | None,
    depth: int | None,
    widest: int,
    draft_cost: str | None,
    target_cost: str | None,
    end: tuple[int, ...],
    warping: Warping,
    exact: bool,
    normalize: bool,
    as_json: bool,
    table: Path | None,
) -> int:
    """How many tokens of a block or tree each rule keeps, and which tree is best.

    A model is a .json file of one object, from the last tokens to the distribution of the next:
    {"": ["1/2", "1/2"], "0": [...], "1": [...], "0 1": [...]}; the longest ending that is listed
    counts. One distribution such as 0.5,0.3,0.2 is a model that draws every token from it.

    Without models the drafted blocks of the trace FILE are verified, by default of the bundled
    SmolLM2 trace.

    With --end, nothing is drafted after an end token, and nothing counts there.

    With --budget N, the command finds the best tree of N drafted tokens for each rule. It compares
    it with the best branching, a chain, and trees of the likeliest tokens that follow the text.
    Exit status: 0 fine, 1 the table could not be written after the results, 2 bad input.

    Example: otspec blocks --draft 1/2,1/2 --target 1/4,3/4 -L 1,2,4 --tree 2x2
    """
    if max(lengths) > _LARGEST:
        raise ValueError(f"-L is {max(lengths)}: at most {_LARGEST:,} tokens of a block")
    output.check_table(table)
    search = _search(budget, depth, widest, (draft_cost, target_cost), trees)
    _check_both(draft, target)
    if draft is None or target is None:
        if exact or normalize:
            option = "--exact" if exact else "--normalize"
            raise ValueError(f"{option} needs models: add --draft and --target")
        trace = load_smollm2() if file is None else load_trace(file)
        logged = [replace(block, end=end) for block in trace.blocks(warping)]
        name = f"{'bundled SmolLM2 trace' if file is None else file.name} ({warping})"
        found = (
            _on_trace(logged, name, lengths, _read(trees), as_json)
            if search is None
            else best_on_blocks(logged, name, search, as_json)
        )
    else:
        if file is not None:
            raise ValueError(f"the trace {file} is given beside models: name the one or the other")
        if warping != Warping():
            raise ValueError(f"{warping} is for logs: models are taken as they are")
        first, second = _models({"draft": draft, "target": target}, exact, normalize)
        models = as_models(first, EndingModel(second, end))
        found = (
            _on_models(models, lengths, _read(trees), as_json)
            if search is None
            else best_on_models(models, search, as_json)
        )
    return 0 if output.table_written(table, found, silent=as_json) else 1


def _check_both(draft: str | None, target: str | None, ending: str = "") -> None:
    if (draft is None) != (target is None):
        given, missing = ("draft", "target") if target is None else ("target", "draft")
        raise ValueError(f"--{given}{ending} is given without --{missing}{ending}: name both")


def _search(
    budget: int | None,
    depth: int | None,
    widest: int,
    costs: tuple[str | None, str | None],
    trees: Sequence[str],
) -> Search | None:
    draft_cost, target_cost = costs
    _check_both(draft_cost, target_cost, "-cost")
    if budget is None:
        if depth is not None or draft_cost is not None:
            option = "--draft-cost" if depth is None else "--depth"
            raise ValueError(f"{option} is given without --budget: add --budget N")
        return None
    if trees:
        raise ValueError("--tree is given beside --budget: name trees, or have the best one found")
    times = None
    if draft_cost is not None and target_cost is not None:
        times = StepCost(
            as_seconds(draft_cost, "--draft-cost"), as_seconds(target_cost, "--target-cost")
        )
    return Search(budget, depth, min(widest, budget), times)


def _read(trees: Sequence[str]) -> list[Shape]:
    found = [read_tree(text, "--tree") for text in trees]
    for tree in found:
        if max(tree.depth, *tree.widths, 0) > _LARGEST:
            raise ValueError(
                f"--tree holds {tree.text[:40]}: at most {_LARGEST:,} children and levels"
            )
    return found


def _models(texts: dict[str, str], exact: bool, normalize: bool) -> list[Model]:
    tables = {name: text for name, text in texts.items() if text.endswith(".json")}
    rows = {name: text for name, text in texts.items() if name not in tables}
    try:
        found = {
            name: load_model(text, name, exact=exact, normalize=normalize)
            for name, text in tables.items()
        }
        beside = [model(()) for model in found.values()]
        for name, row in arguments.read_alike(rows, exact=exact, beside=beside).items():
            found[name] = TableModel({(): row}, name, normalize=normalize)
    except ValueError as error:
        # The library's fix, in the words of the command line.
        raise ValueError(str(error).replace("pass normalize=True", "add --normalize")) from error
    return [found[name] for name in texts]


def _on_models(
    models: tuple[Model, Model], lengths: Sequence[int], trees: list[Shape], as_json: bool
) -> output.TableMaker:
    compare = partial(compare_block_rules, *models, lengths), partial(compare_trees, *models)
    return _reported(*compare, trees, as_json, "One drafted block of L tokens", means=False)


def _on_trace(
    logged: Sequence[LoggedBlock],
    name: str,
    lengths: Sequence[int],
    trees: list[Shape],
    as_json: bool,
) -> output.TableMaker:
    compare = partial(compare_on_blocks, logged, lengths), partial(compare_trees_on_blocks, logged)
    title = f"Mean over the {len(logged)} drafted blocks of the {name}"
    return _reported(*compare, trees, as_json, title, means=True)


def _reported(
    compare: Callable[[], Rows[BlockComparison]],
    compare_on: Callable[[list[Shape]], Rows[TreeComparison]],
    shapes: list[Shape],
    as_json: bool,
    title: str,
    *,
    means: bool,
) -> output.TableMaker:
    """Print the rows of both tables, and return what makes one table of them."""
    trees = Rows[TreeComparison]((), TreeComparison)
    with progress.working(1 + len(shapes), "blocks and trees") as done:
        rows = compare()
        trees.source = rows.source
        for shape in shapes:
            done()
            trees += compare_on([shape])
    if as_json:
        by_length = [_document(row) | {"gap": row.gap} for row in rows]
        output.print_json({"blocks": by_length, "trees": [_document(row) for row in trees]})
        return partial(_table, rows, trees)
    say(title)
    _print_rows("L", [(str(row.length), row) for row in rows], means)
    say("", _meaning(rows))
    if trees:
        say("", "Trees of drafts")
        _print_rows("tree", [(row.tree, row) for row in trees], means)
    return partial(_table, rows, trees)


def _table(rows: Rows[BlockComparison], trees: Rows[TreeComparison]) -> ArrowTable:
    """Return a table with the columns of both, if there are trees."""
    pa = needed("pyarrow", "a table", "runs")
    parts = [part.to_arrow() for part in (rows, trees) if part]
    return pa.concat_tables(parts, promote_options="default")


def _print_rows(
    first: str, rows: Sequence[tuple[str, BlockComparison | TreeComparison]], means: bool
) -> None:
    last = ("standard error", "tokens per call") if means else ("tokens per call", "gap")
    cells = [(name, row.rule, *_cells(row, means)) for name, row in rows]
    print_table((first, "rule", "E[kept]", *last)[: len(cells[0])], cells, text=2)


def _cells(row: BlockComparison | TreeComparison, mean: bool) -> tuple[str, ...]:
    per_call = f"{float(row.efficiency):.4f}"
    if mean:
        return f"{row.expected:.4f}", f"{row.error:.4f}", per_call
    gap = (f"{float(row.gap):z.4f}",) if isinstance(row, BlockComparison) else ()
    return output.shown(row.expected), per_call, *gap


def _document(row: BlockComparison | TreeComparison) -> dict[str, Any]:
    return vars(row) | {"efficiency": row.efficiency}


def _meaning(rows: Sequence[BlockComparison]) -> str:
    most = max(row.length for row in rows)
    longest = {row.rule: row for row in rows if row.length == most}
    token, published = longest[TokenVerification.title], longest[BlockVerification.title]
    return (
        f"Of {token.length} drafted token{'s' if token.length > 1 else ''} at most "
        f"{float(token.optimum):.4f} can be kept; token by token {float(token.expected):.4f} are, "
        f"and {float(published.expected):.4f} by the best rule that corrects one token only."
    )
