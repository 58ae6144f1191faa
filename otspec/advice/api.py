"""Which draft law, rule, number of drafts, depth and tree: the choice by tokens per second."""

from collections.abc import Sequence
from typing import Any

from otspec._base.arguments import as_instance
from otspec.advice.advice import Advice
from otspec.advice.evaluation.search import WIDEST, Search, advice_from
from otspec.advice.evaluation.streaming import advise_on_files
from otspec.advice.reading import evidence_of, is_paths
from otspec.blocks.trees.best.best_shape import as_depth
from otspec.traces import Warp, Warping


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

    Compared are the rules of :data:`otspec.blocks.TREE_RULES` on the trees that keep most of 1, 2,
    4, … nodes and on those that are fastest, also among branchings and chains; token verification
    and published block verification of chains; and no draft. Trees are searched for by the mean
    chances of all positions, as Sequoia does it, and then measured text by text without bias.

    Parameters
    ----------
    logs : path, sequence of paths, Trace, iterable of LoggedBlock, or pair of language models
        Files are read a chunk at a time, see :func:`otspec.traces.readers.find_source`. They hold
        drafted blocks, or texts of the target, along which calls are counted as an engine would
        count them. Two models are followed through all their texts, exactly if they are exact.
    draft_cost, target_cost : Seconds, number, str, mapping or sequence
        Seconds of a call by the tokens that it reads at once, see :func:`otspec.blocks.as_seconds`.
    nodes : int
        The most drafted tokens.
    depth : int, optional
        The most levels; by default 8, or as many as all blocks have.
    widest : int
        The most children of a node.
    rules : sequence of str, optional
        Names in :data:`otspec.blocks.TREE_RULES`; by default all that take so many children.
    trees : sequence
        Trees of yours that are compared besides, with every rule that serves them, see
        :func:`otspec.blocks.as_shape`.
    total_variation : number, optional
        Also say what a lossy shortcut gains at best on chains: the law of every token, after the
        text before it, may be off by so much. Drafted blocks say it, texts of the target do not.
    warping : Warping, optional
        How the logits of files or of a trace are looked at; by default at temperature 1.
    drawn : Warp, optional
        How the logged tokens were drawn; by default at temperature 1.
    workers : int, optional
        Processes that read files; by default one per core.

    Returns
    -------
    Advice
        The fastest choice first; of equally fast ones that with fewer nodes.

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
