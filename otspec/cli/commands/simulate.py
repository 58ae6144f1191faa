"""``otspec simulate``: accept lengths from logs as engines count them, for any rule and tree."""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import click

from otspec._base.tables import print_table, say
from otspec.blocks import BLOCK_RULES, Shape
from otspec.blocks.trees.best.comparison import rules_for
from otspec.cli.shared import arguments, options, output, run_paths
from otspec.cli.shared.trees import MEANING, read_tree
from otspec.cli.shared.warpings import Drawn, drawn_options, warping_options
from otspec.frames import Rows
from otspec.logged import ENGINE_FORMS, AcceptLengths, Ratio
from otspec.logged.replay import as_rule_tree
from otspec.reports.findings import interval_document, interval_words, warpings_document
from otspec.traces import Warping
from otspec.traces.accept_lengths import CountedCalls, check_depth, of_target, rule_named
from otspec.traces.readers import Source

_COLUMNS = (
    "tree", "rule", "accept length", "95% interval", "tokens per call", "accepted of drafted",
)  # fmt: skip
_MEANING = {  # by whether the tokens are those of texts of the target
    True: "Counted are the calls of the target that decode these texts.",
    False: "Estimated is one call of the target after each prompt, without bias.",
}
_SAMPLED = "Intervals are 95% confidence intervals for the mean over texts."


class _Row(NamedTuple):
    """What is said of a rule on a tree."""

    rule: Any
    tree: Shape
    warping: Warping
    lengths: AcceptLengths


class Simulated(NamedTuple):
    """What is written of a rule on a tree: rates by position are lists."""

    rule: str
    tree: Shape
    temperature: float
    draft_temperature: float
    drafted: int
    texts: int
    calls: float
    acceptance_length: Annotated[Ratio, "tokens"]
    accepted: Annotated[Ratio, "tokens"]
    tokens_per_call: Annotated[Ratio, "tokens"]
    acceptance_rate: Annotated[Ratio, "probability"]
    marginal: Annotated[tuple[float, ...], "probability"]
    conditional: Annotated[tuple[float, ...], "probability"]

    @classmethod
    def of(cls, row: _Row) -> "Simulated":
        """Return what is written of a row."""
        lengths, target, draft = row.lengths, row.warping.of("target"), row.warping.of("draft")
        return cls(
            row.rule.title, row.tree, target.temperature, draft.temperature,
            lengths.drafted, lengths.tally.texts, float(lengths.tally.sums[0]),
            lengths.acceptance_length, lengths.accepted, lengths.tokens_per_call,
            lengths.acceptance_rate,
            tuple(rate.value for rate in lengths.marginal),
            tuple(rate.value for rate in lengths.conditional),
        )  # fmt: skip


@click.command()
@click.argument("files", nargs=-1)
@click.option(
    "--rule", "names", multiple=True, metavar="NAME",
    help="A rule for one token or for one block; may be given several times. [default: all that "
    "serve the tree]",
)  # fmt: skip
@click.option(
    "--tree", "trees", multiple=True, default=("1x1x1x1",), metavar="TREE",
    help=f"What is drafted, {MEANING}; may be given several times.",
)  # fmt: skip
@warping_options
@click.option("--end", type=arguments.TOKENS, default=(), help="Tokens that end a text.")
@click.option("--cut", is_flag=True, help="Logged texts were cut off: they continue after the log.")
@drawn_options
@click.option(
    "--export", "engine", type=arguments.Choice(tuple(ENGINE_FORMS)),
    help="Print the accept lengths of one rule and tree in the format of an engine's load test.",
)  # fmt: skip
@run_paths.run_options("positions/ and accept_lengths.json", pictures=False)
@options.filled(files=run_paths.FILES, pairs=run_paths.PAIRS)
def simulate(
    files: tuple[str, ...],
    names: tuple[str, ...],
    trees: tuple[str, ...],
    warpings: tuple[Warping, ...],
    end: tuple[int, ...],
    cut: bool,
    drawn: Drawn,
    engine: str | None,
    place: run_paths.RunPlace,
) -> int:
    """Accept lengths from logged tokens, as an engine would count them.

    FILES are {files} with target_tokens, which are texts of the target, or draft_tokens, which are
    drafted blocks; or {pairs} and a third file of tokens. The default is the bundled SmolLM2 trace.
    For texts of the target the decoding calls are counted; for each drafted block one call is
    estimated.

    Exit status: 0 fine, 1 some chunks were skipped, or the table could not
    be written after the results, 2 bad input.

    Example: otspec simulate --tree 2x2x1 --rule pooled-selection
    """
    shapes = [read_tree(tree, "--tree") for tree in trees]
    with place.sources(files, tokens=True) as named:
        sources = drawn.sources(named)
        on_texts = of_target(sources)
        check_depth(sources, shapes)
        how = drawn.how(sources, warpings)
        asked = [(rule, tree) for tree in shapes for rule in _rules(names, tree, on_texts)]
        if engine is not None and len(asked) * len(warpings) != 1:
            raise ValueError(
                f"--export {engine} is of one rule, tree and temperature, and "
                f"{len(asked) * len(warpings)} are asked for: add --rule NAME, such as token"
            )
        by_name = tuple((rule.name, tree.text) for rule, tree in asked)
        work = CountedCalls(by_name, warpings, end, cut, how, known=not names)
        with place.run(sources, work) as run:
            found, failures = work.lengths_in(run.tables()), run.failures()
            rows = [
                _Row(*work.rules[asked], warpings[warping], lengths)
                for (asked, warping), lengths in found.items()
            ]
            if not rows:
                raise ValueError(run_paths.all_failed(failures))
            document = [_document(row) for row in rows]
            numbers = place.numbers("accept_lengths.json", document)
    if engine is not None:
        output.print_json(ENGINE_FORMS[engine](rows[0].lengths))
    elif place.as_json:
        output.print_json(document)
    else:
        for warping in warpings:
            _print([row for row in rows if row.warping is warping], sources, warping, on_texts)
        say(f"{_MEANING[on_texts]} {_SAMPLED}", *numbers)
    simulated = Rows(map(Simulated.of, rows), Simulated, ", ".join(each.name for each in sources))
    silent = place.as_json or engine is not None
    return place._replace(as_json=silent).end(failures, simulated.to_arrow)


def _rules(names: Sequence[str], tree: Shape, on_texts: bool) -> list[Any]:
    """Return the rules that are named, or all that serve a tree."""
    if names:
        rules = [rule_named(name) for name in names]
    elif tree.chain:  # where all rules that couple one draft are token verification
        rules = [rule for rule in BLOCK_RULES.values() if rule.renews or not on_texts]
        rules += [rule for rule in rules_for(tree) if not rule.couples_one]
    else:
        rules = list(rules_for(tree))
    for rule in rules:
        as_rule_tree(rule, tree)
    return rules


def _document(row: _Row) -> dict[str, Any]:
    """Return a row for programs."""
    lengths = row.lengths
    return {
        "rule": row.rule.name,
        "tree": row.tree.text,
        **warpings_document([row.warping]),
        "drafted": lengths.drafted,
        "texts": lengths.tally.texts,
        "calls": lengths.tally.sums[0],
        "mean_acceptance_length": _number(lengths.acceptance_length),
        "accepted_per_call": _number(lengths.accepted),
        "tokens_per_call": _number(lengths.tokens_per_call),
        "draft_acceptance_rate": _number(lengths.acceptance_rate),
        "per_position_acceptance_rate": [_number(rate) for rate in lengths.marginal],
        "conditional_acceptance_rate": [_number(rate) for rate in lengths.conditional],
    }


def _number(ratio: Ratio) -> dict[str, Any]:
    """Return a number with its interval; null where nothing is known."""
    value = ratio.value if ratio.value == ratio.value else None
    return {"value": value, "interval": interval_document((ratio.low, ratio.high))}


def _print(
    rows: Sequence[_Row], sources: Sequence[Source], warping: Warping, on_texts: bool
) -> None:
    texts = sum(source.positions // source.text_length for source in sources)
    target, draft = (str(warping.of(side)) for side in ("target", "draft"))
    apart = "" if draft == target else f"; draft {draft}"
    kind = "texts of the target" if on_texts else "drafted blocks"
    names = sources[0].name if len(sources) == 1 else f"{len(sources):,} files"
    say(f"Accept lengths of {texts:,} {kind} of {names} ({target}{apart})")
    print_table(_COLUMNS, [_cells(row) for row in rows], text=2)
    say(
        "",
        "Share of calls that keep at least so many drafted tokens "
        "(in brackets: of those that keep at least one less)",
    )
    positions = range(1, max(row.lengths.depth for row in rows) + 1)
    print_table(("tree", "rule", *map(str, positions)), [_levels(row) for row in rows], text=2)
    say()


def _levels(row: _Row) -> tuple[str, ...]:
    rates = zip(row.lengths.marginal, row.lengths.conditional, strict=True)
    cells = [f"{one.value:.4f} ({other.value:.4f})" for one, other in rates]
    return row.tree.text, row.rule.title, *cells


def _cells(row: _Row) -> tuple[str, ...]:
    lengths = row.lengths
    length = lengths.acceptance_length
    return (
        row.tree.text, row.rule.title, f"{length.value:.4f}",
        interval_words(length[1:], 4),
        f"{lengths.tokens_per_call.value:.4f}", f"{lengths.acceptance_rate.value:.4f}",
    )  # fmt: skip
