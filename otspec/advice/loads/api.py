"""The fastest cut of drafts at each batch size, from logs and costs by load (Theory, 37)."""

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any

from otspec._base.arguments import as_instance, as_list
from otspec.advice.evaluation.streaming import check_drawn
from otspec.advice.loads.advice import LoadAdvice
from otspec.advice.loads.search import DEPTH, PATHS, THRESHOLDS, LoadSearch, LoggedTexts
from otspec.advice.reading import is_paths
from otspec.logged import LoggedBlock
from otspec.traces import Trace, Warp, Warping
from otspec.traces.readers import Source, find_source
from otspec.traces.runs import temporary_folder

BATCHES = (1, 8, 32, 128)


def advise_by_load(
    logs: Any,
    *,
    draft_cost: Any,
    target_cost: Any,
    batches: Sequence[int] = BATCHES,
    depth: int | None = None,
    thresholds: Sequence[float] = THRESHOLDS,
    paths: Sequence[float] = PATHS,
    warping: Warping | None = None,
    drawn: Warp | None = None,
) -> LoadAdvice:
    """Say which chain, threshold or dynamic tree gives most tokens per second at each batch size.

    Chains are verified by published block verification, and stop before or after a token by what
    was drafted before it, so that they are lossless. Dynamic trees are certain, and verified by a
    draw from the target. What is kept and what is drafted are both estimated without bias.

    Parameters
    ----------
    logs : path, sequence of paths, Trace or iterable of LoggedBlock
        Drafted blocks, or texts of the target. They are read text after text, in one process.
    draft_cost, target_cost : LoadSeconds, mapping, str, number or sequence
        Seconds of a call by batch size and tokens, see :func:`otspec.blocks.as_load_seconds`.
    batches : sequence of int
        Numbers of rows.
    depth : int, optional
        The most levels; by default 8, or as many as the shortest block has.
    thresholds, paths : sequence of float
        Of the confidences of chains, and of the paths of dynamic trees.
    warping : Warping, optional
        How the logits of files or of a trace are looked at; by default at temperature 1.
    drawn : Warp, optional
        How the logged tokens were drawn; by default at temperature 1.

    Returns
    -------
    LoadAdvice
        A row of a chain pays as if all rows of the batch were as long. A dynamic tree pays for its
        mean number of nodes, and for a level as often as the batch has a node there, at most.

    Raises
    ------
    ValueError
        Logs, costs or numbers that cannot be used; a draft that the logged law never draws.

    Examples
    --------
    >>> from otspec.logged import LoggedBlock
    >>> block = LoggedBlock([[0.9, 0.1]] * 2, [[0.8, 0.2]] * 2, [0, 0])
    >>> cost = {"draft_cost": 0.1, "target_cost": "1:1,8:1,64:8"}
    >>> found = advise_by_load([block] * 9, **cost, batches=[1, 64])
    >>> [(each.batch, each.kind, each.length) for each in found.best]
    [(1, 'dynamic tree', 2), (64, 'no draft', 0)]
    """
    search = LoadSearch.of(draft_cost, target_cost, batches, depth, thresholds, paths)
    looked = Warping() if warping is None else as_instance(warping, "warping", Warping, "a Warping")
    as_drawn = Warp() if drawn is None else as_instance(drawn, "drawn", Warp, "a Warp")
    return search.advice(_texts_of(logs, looked, as_drawn))


def _texts_of(logs: Any, warping: Warping, drawn: Warp) -> LoggedTexts:
    """Return the texts of files or of memory."""
    if is_paths(logs):
        given = [logs] if isinstance(logs, (str, PathLike)) else list(logs)
        try:
            sources = [find_source(str(path), tokens=True) for path in given]
        except ValueError as error:
            raise ValueError(f"logs: {error}") from error
        return texts_in(sources, warping, drawn)
    if isinstance(logs, Trace):
        logs = list(logs.blocks(warping, drawn=drawn))
    wanted = "LoggedBlock objects, a Trace or paths"
    blocks = [
        as_instance(each, f"logs[{i}]", LoggedBlock, wanted)
        for i, each in enumerate(as_list(logs, "logs", f"an iterable of {wanted}"))
    ]
    shortest = min((len(each.tokens) for each in blocks if not each.ended), default=DEPTH)
    return LoggedTexts(enumerate(blocks), shortest, f"{len(blocks)} logged texts")


def texts_in(sources: Sequence[Source], warping: Warping, drawn: Warp) -> LoggedTexts:
    """Return the texts of files, which are read as they are looked at."""
    lengths = [source.tokens.shape[-1] for source in sources if source.tokens is not None]
    name = sources[0].name if len(sources) == 1 else f"{len(sources)} sources"

    def texts() -> Iterator[tuple[int, LoggedBlock]]:
        first = 0
        for source in sources:
            if source.sampled == "target":
                check_drawn(source, warping, drawn)
            with temporary_folder() as folder:
                folder.mkdir()
                whole = source.unpacked(folder, "text")
                for each in whole.texts(0, source.positions, warping, drawn):
                    yield first + each.cluster, each.block()
            first += source.clusters

    return LoggedTexts(texts(), min(lengths), f"{name} ({warping})")
