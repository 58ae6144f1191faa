"""The fastest cut of drafts at each batch size, from logs and costs by load (Theory, 37)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from otspec._base.arguments import as_instance, as_list, as_real
from otspec._base.arithmetic import Array
from otspec._base.frozen import Shown
from otspec.advice.evaluation.choices import Interval
from otspec.advice.evaluation.streaming import check_drawn
from otspec.advice.loads.cuts import NO_DRAFT, TREE, WHOLE, Cut, Tallied, cuts_of, tallied
from otspec.advice.on_texts import FoldedTally
from otspec.advice.reading import is_paths
from otspec.blocks import LoadSeconds, as_load_seconds
from otspec.blocks.trees.best.best_shape import as_depth
from otspec.distributions import as_k
from otspec.frames import Rows, Tabular
from otspec.logged import LoggedBlock
from otspec.traces import Trace, Warp, Warping
from otspec.traces.readers import Source, find_source
from otspec.traces.runs import temporary_folder

if TYPE_CHECKING:
    import pyarrow as pa

BATCHES = (1, 8, 32, 128)
THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Of confidences."""
PATHS = (0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005)
"""Of the probabilities of paths of dynamic trees."""
DEPTH = 8
KINDS = ("fixed length", "threshold", TREE, NO_DRAFT)


@dataclass(frozen=True)
class Load:
    """The fastest choice of a kind at one batch size.

    Parameters
    ----------
    batch : int
        Rows of a call.
    kind : str
        Chains of a fixed length, chains that are cut at a threshold, dynamic trees, or no draft.
    policy : str
        As :func:`otspec.blocks.policies.policies` calls it. A dynamic tree has all nodes whose
        path is at least as likely as the threshold.
    threshold : float
    length : int
        The most levels.
    drafted : float
        Mean drafted tokens of a row and call.
    tokens : float
        Mean tokens of a row and call, E[τ] + 1.
    rate : float
        Tokens of the batch per second.
    speed_up : float
        Over no draft at this batch size.
    speed_up_interval : tuple of float
        With 95% confidence over texts.
    best : bool
        Whether it is the fastest of all at this batch size.
    held_out : float
        The speed-up of choices among all that were each made on other texts than they were measured
        on; the same for all kinds.
    """

    batch: int
    kind: str
    policy: str
    threshold: float
    length: int
    drafted: float
    tokens: float
    rate: float
    speed_up: float
    speed_up_interval: Interval
    best: bool
    held_out: float


@dataclass(frozen=True)
class LoadAdvice(Tabular, Shown):
    """What to draft at each batch size.

    Parameters
    ----------
    choices : Rows of Load
        Of each batch size the fastest of each kind.
    texts : int
        How many independent texts it rests on.
    source : str
    """

    choices: Rows[Load]
    texts: int
    source: str

    @property
    def best(self) -> Rows[Load]:
        """The fastest choice of each batch size."""
        return Rows([one for one in self.choices if one.best], Load, self.source)

    def to_arrow(self) -> pa.Table:
        """Return the table of the choices."""
        return self.choices.to_arrow()


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
    costs = as_load_seconds(draft_cost, "draft_cost"), as_load_seconds(target_cost, "target_cost")
    sizes = [as_k(b, f"batches[{i}]") for i, b in enumerate(as_list(batches, "batches", "sizes"))]
    least, shares = (
        [float(as_real(each, f"{name}[{i}]", 0, 1)) for i, each in enumerate(values)]
        for name, values in (
            ("thresholds", as_list(thresholds, "thresholds", "confidences from 0 to 1")),
            ("paths", as_list(paths, "paths", "probabilities of paths")),
        )
    )
    if 0.0 in shares:
        raise ValueError(f"paths[{shares.index(0.0)}] is 0: no tree has all nodes, pass more")
    levels = None if depth is None else as_depth(depth)
    looked = Warping() if warping is None else as_instance(warping, "warping", Warping, "a Warping")
    as_drawn = Warp() if drawn is None else as_instance(drawn, "drawn", Warp, "a Warp")
    texts, shortest, source = _texts_of(logs, looked, as_drawn)
    most = min(levels or DEPTH, shortest)
    cuts = cuts_of(most, least, shares)
    sums: dict[int, Tallied] = {}
    for cluster, block in texts:
        found = tallied(block, cuts, most)
        before = sums.get(cluster)
        if before is not None:
            found = Tallied(*(a + b for a, b in zip(before, found, strict=True)))
        sums[cluster] = found
    if not sums:
        raise ValueError("logs is empty: at least one logged text is needed")
    parts = [np.stack(part) for part in zip(*sums.values(), strict=True)]
    rows = [row for batch in sizes for row in _at(batch, cuts, Tallied(*parts), *costs)]
    return LoadAdvice(Rows(rows, Load, source), len(sums), source)


def _at(
    batch: int, cuts: Sequence[Cut], found: Tallied, draft: LoadSeconds, target: LoadSeconds
) -> Iterator[Load]:
    """Yield the fastest choice of each kind at a batch size."""
    each = (
        _seconds(batch, cut, found.spent[:, place], draft, target) for place, cut in enumerate(cuts)
    )
    time = np.stack(list(each), axis=1)
    tally = FoldedTally.of_none(len(cuts)).with_texts(
        np.arange(len(found.tokens)), found.tokens, time
    )
    rates, ones = tally.tokens_per_call(), np.ones(len(cuts))
    alone = next(place for place, cut in enumerate(cuts) if cut.policy == NO_DRAFT)
    fastest = int(np.argmax(rates))
    held_out = tally.held_out(ones)[0] / rates[alone]
    for kind in KINDS:
        places = [place for place, cut in enumerate(cuts) if _kind(cut) == kind]
        if not places:
            continue
        place = max(places, key=lambda each: rates[each])
        cut, calls = cuts[place], found.calls[:, place].sum()
        loss, (low, high) = tally.loss(place, alone, ones)
        spent = found.spent[:, place].sum(axis=0)
        nodes = spent[1:].sum() if cut.policy == TREE else spent @ np.arange(len(spent))
        yield Load(
            batch, kind, cut.policy, cut.threshold, cut.length,
            drafted=float(nodes / calls),
            tokens=float(found.tokens[:, place].sum() / calls),
            rate=batch * float(rates[place]),
            speed_up=1 - loss,
            speed_up_interval=(1 - high, 1 - low),
            best=place == fastest,
            held_out=float(held_out),
        )  # fmt: skip


def _kind(cut: Cut) -> str:
    return {WHOLE: KINDS[0], TREE: TREE, NO_DRAFT: NO_DRAFT}.get(cut.policy, KINDS[1])


def _seconds(batch: int, cut: Cut, spent: Array, draft: LoadSeconds, target: LoadSeconds) -> Array:
    """Return the seconds of all calls along each text, shape (texts,)."""
    if cut.policy != TREE:
        each = [
            lengths * draft(batch, 1) + target(batch, 1 + lengths) if lengths <= cut.length else 0.0
            for lengths in range(spent.shape[1])
        ]
        whole: Array = spent @ np.array(each)
        return whole
    nodes = spent[:, 1:].sum(axis=0) / spent[:, 0].sum()
    drafting = draft(batch, 1) + sum(
        min(1.0, batch * count) * draft(batch, max(1.0, count))
        for count in nodes[: cut.length - 1].tolist()
    )
    calls: Array = spent[:, 0] * (drafting + target(batch, 1 + float(nodes.sum())))
    return calls


def _texts_of(
    logs: Any, warping: Warping, drawn: Warp
) -> tuple[Iterable[tuple[int, LoggedBlock]], int, str]:
    """Return texts with their clusters, how long the shortest is, and where they are from."""
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
    return enumerate(blocks), shortest, f"{len(blocks)} logged texts"


def texts_in(
    sources: Sequence[Source], warping: Warping, drawn: Warp
) -> tuple[Iterable[tuple[int, LoggedBlock]], int, str]:
    """Return the texts of files with their clusters, how long the shortest is, and their name."""
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

    return texts(), min(lengths), f"{name} ({warping})"
