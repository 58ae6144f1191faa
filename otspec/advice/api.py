"""The choice by tokens per second: law, rule, drafts, depth and tree, on models or logs."""

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any

from otspec._base import as_instance, as_list
from otspec.advice import on_texts
from otspec.advice.advice import Advice
from otspec.advice.evaluation.choices import Evidence, ModelEvidence
from otspec.advice.evaluation.numbers import TextNumbers, drafted_texts
from otspec.advice.evaluation.search import DEEPEST, WIDEST, Search, advice_from
from otspec.advice.evaluation.streaming import advise_on_files
from otspec.blocks.trees.best.best_shape import as_depth
from otspec.logged import LoggedBlock
from otspec.logged.chances import Asked
from otspec.logged.comparison import shared_length
from otspec.models import as_models
from otspec.traces import Trace, Warp, Warping


def is_paths(logs: Any) -> bool:
    """Whether logs are named by a path, or a list of paths."""
    paths = (str, PathLike)
    if isinstance(logs, (list, tuple)) and logs:
        return all(isinstance(each, paths) for each in logs)
    return isinstance(logs, paths)


def blocks_in(logs: Any, wanted: str) -> list[LoggedBlock]:
    """Return logs that are blocks themselves."""
    given = as_list(logs, "logs", f"an iterable of {wanted}")
    return [as_instance(each, f"logs[{i}]", LoggedBlock, wanted) for i, each in enumerate(given)]


def evidence_of(
    logs: Any,
    asked: Sequence[Asked],
    depth: int | None,
    warping: Warping | None,
    drawn: Warp | None,
) -> tuple[Evidence, int, str]:
    """Return the evidence of logs, how many levels it is for, and where it is from."""
    if isinstance(logs, Trace):
        blocks = list(logs.blocks(warping or Warping(), drawn=drawn or Warp()))
    elif warping is not None or drawn is not None:
        name = "drawn" if warping is None else "warping"
        raise ValueError(
            f"{name} is given, but {type(logs).__name__} has distributions already: pass a Trace "
            "or files of logits, or leave it out"
        )
    elif isinstance(logs, tuple) and len(logs) == 2 and all(map(callable, logs)):
        return ModelEvidence(*as_models(*logs)), depth or DEEPEST, "two models, exactly"
    else:
        blocks = blocks_in(logs, "LoggedBlock objects, a Trace, a pair of models or paths")
    if not blocks:
        raise ValueError("logs is empty: at least one logged block is needed")
    levels = depth or shared_length(blocks, DEEPEST)
    part, words = _numbers(blocks, asked, levels)
    return on_texts.TextEvidence(lambda: [part]), levels, words


def _numbers(
    blocks: Sequence[LoggedBlock], asked: Sequence[Asked], depth: int
) -> tuple[TextNumbers, str]:
    written = [on_texts.is_of_target(block) for block in blocks]
    if all(written):
        on_texts.refuse_lossy(asked)
        texts = _texts(blocks, depth)
        return on_texts.target_texts(texts, asked), f"{len(blocks)} texts of the target"
    if any(written):
        place = written.index(True)
        raise ValueError(
            f"logs[{place}] is a text of the target, and logs[{written.index(False)}] a drafted "
            "block: advise on the one or the other"
        )
    return drafted_texts(enumerate(blocks), asked, depth), f"{len(blocks)} drafted blocks"


def _texts(blocks: Sequence[LoggedBlock], depth: int) -> Iterator[on_texts.TargetText]:
    for number, block in enumerate(blocks):
        block.check(depth)
        yield on_texts.TargetText(number, block.tokens, block.draft, block.target, block.ended)


def advise(
    logs: Any,
    *,
    draft_cost: Any,
    target_cost: Any,
    nodes: int = 64,
    depth: int | None = None,
    widest: int = WIDEST,
    rules: Sequence[str] | None = None,
    trees: Sequence[Any] = (),
    total_variation: Any = None,
    warping: Warping | None = None,
    drawn: Warp | None = None,
    workers: int | None = None,
) -> Advice:
    """Say which draft law, rule and tree give most tokens per second, and what others lose.

    Rules of :data:`otspec.blocks.TREE_RULES` are compared on the trees that keep most of 1, 2, 4, …
    nodes and on those that are fastest, also among branchings and chains; with token verification
    and published block verification of chains, and no draft. Trees are searched for by the mean
    chances of all positions, as Sequoia does it, and then measured text by text without bias. The
    fastest choice comes first; of equally fast ones that with fewer nodes.

    Parameters
    ----------
    logs : path, sequence of paths, Trace, iterable of LoggedBlock, or pair of language models
        Files are read a chunk at a time, see :func:`otspec.traces.readers.find_source`. They hold
        drafted blocks, or texts of the target, along which calls are counted as an engine would
        count them. Two models are followed through all their texts, exactly if they are exact.
    draft_cost, target_cost : Seconds, number, str, mapping or sequence
        Seconds of a call by the tokens that it reads at once, see :func:`otspec.blocks.as_seconds`.
    nodes, depth, widest : int
        The most drafted tokens, levels (by default 8, or as many as all blocks have) and children
        of a node.
    rules : sequence of str, optional
        Names in :data:`otspec.blocks.TREE_RULES`; by default all that take so many children.
    trees : sequence
        More trees to compare, see :func:`otspec.blocks.as_shape`.
    total_variation : number, optional
        Also say how much a lossy shortcut can gain on chains, if the distribution of every token,
        given the text before it, may be off by this much. Needs logs of drafted blocks.
    warping, drawn : Warping, Warp, optional
        How the logits of files or of a trace are looked at, and how logged tokens were drawn; by
        default at temperature 1.
    workers : int, optional
        Processes that read files; by default one per core.

    Raises
    ------
    ValueError
        Logs, costs, numbers or names that cannot be used.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> pair = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> advice = advise(pair, draft_cost=1, target_cost="10,10,10,12,14,16,18", nodes=6, depth=4)
    >>> advice.best.rule, advice.best.tree, str(advice.best.tokens)
    ('block verification (published)', '1x1', '19/8')
    >>> [(loss.kind, round(loss.loss, 3)) for loss in advice.simpler][-2:]
    [('token verification', 0.026), ('no draft', 0.495)]
    """
    search = Search.of(draft_cost, target_cost, nodes, widest, rules, trees, total_variation)
    levels = None if depth is None else as_depth(depth)
    looked, as_drawn = (
        None if value is None else as_instance(value, name, kind, f"a {kind.__name__}")
        for value, name, kind in ((warping, "warping", Warping), (drawn, "drawn", Warp))
    )
    if is_paths(logs):
        return advise_on_files(logs, search, levels, looked, as_drawn, workers)
    evidence, levels, source = evidence_of(logs, search.asked, levels, looked, as_drawn)
    return advice_from(evidence, search, min(levels, search.nodes), source)
