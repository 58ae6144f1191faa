"""The fastest cut of drafts at each batch size (Theory, 37): from logs and costs by load."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from otspec._base import Array, as_instance, as_list, as_real
from otspec.advice.api import blocks_in, is_paths
from otspec.advice.evaluation.choices import NO_DRAFT
from otspec.advice.evaluation.streaming import check_drawn, lengths_of, name_of, sources_at
from otspec.advice.loads.advice import Load, LoadAdvice
from otspec.advice.loads.cuts import TREE, WHOLE, Cut, Tallied, cuts_of, tallied
from otspec.advice.on_texts import FoldedTally
from otspec.blocks import LoadSeconds, as_load_seconds
from otspec.blocks.trees.best.best_shape import as_depth
from otspec.distributions import as_k
from otspec.frames import Rows
from otspec.logged import LoggedBlock
from otspec.traces import Trace, Warp, Warping
from otspec.traces.readers import Source
from otspec.traces.runs import temporary_folder

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # of confidences
PATHS = (0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005)
"""Of the probabilities of paths of dynamic trees."""
DEPTH = 8
KINDS = ("fixed length", "threshold", TREE, NO_DRAFT)


class LoggedTexts(NamedTuple):
    """Texts, each with its cluster."""

    texts: Iterable[tuple[Hashable, LoggedBlock]]
    shortest: int  # how many tokens the shortest has
    source: str  # where they are from


@dataclass(frozen=True)
class LoadSearch:
    """What is searched for at each batch size, all of it checked."""

    draft: LoadSeconds
    target: LoadSeconds
    batches: Sequence[int]
    depth: int
    thresholds: Sequence[float]
    paths: Sequence[float]

    @classmethod
    def of(
        cls,
        draft_cost: Any,
        target_cost: Any,
        batches: Any,
        depth: Any = None,
        thresholds: Any = THRESHOLDS,
        paths: Any = PATHS,
    ) -> "LoadSearch":
        """Return what arguments ask for."""
        sizes = as_list(batches, "batches", "numbers of rows")
        least, shares = (
            [float(as_real(each, f"{name}[{i}]", 0, 1)) for i, each in enumerate(values)]
            for name, values in (
                ("thresholds", as_list(thresholds, "thresholds", "confidences from 0 to 1")),
                ("paths", as_list(paths, "paths", "probabilities of paths")),
            )
        )
        if 0.0 in shares:
            raise ValueError(f"paths[{shares.index(0.0)}] is 0: no tree has all nodes, pass more")
        drafting = as_load_seconds(draft_cost, "draft_cost")
        verifying = as_load_seconds(target_cost, "target_cost")
        counts = [as_k(batch, f"batches[{i}]") for i, batch in enumerate(sizes)]
        for batch in counts:
            drafting(batch, 1), verifying(batch, 1)  # refused before logs are read
        return cls(
            drafting, verifying, counts, DEPTH if depth is None else as_depth(depth), least, shares
        )

    def advice(self, logged: LoggedTexts) -> LoadAdvice:
        """Look along texts, one after the other."""
        depth = min(self.depth, logged.shortest)
        cuts = cuts_of(depth, self.thresholds, self.paths)
        sums: dict[Hashable, Tallied] = {}
        for cluster, block in logged.texts:
            found = tallied(block, cuts, depth)
            before = [sums[cluster]] if cluster in sums else []
            sums[cluster] = Tallied.joined(lambda it: np.sum(it, axis=0), [*before, found])
        if not sums:
            raise ValueError("logs is empty: at least one logged text is needed")
        whole = Tallied.joined(np.stack, sums.values())
        rows = [
            row
            for batch in self.batches
            for row in _at(batch, cuts, whole, self.draft, self.target)
        ]
        return LoadAdvice(Rows(rows, Load, logged.source), len(sums), logged.source)


def _at(
    batch: int, cuts: Sequence[Cut], found: Tallied, draft: LoadSeconds, target: LoadSeconds
) -> Iterator[Load]:
    """Yield the fastest choice of each kind at a batch size."""
    drafted = [_steadier(found, place) for place in range(len(cuts))]
    time = np.stack(
        [
            _seconds(batch, cut, found.calls[:, place], drafted[place], draft, target)
            for place, cut in enumerate(cuts)
        ],
        axis=1,
    )
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
        yield Load(
            batch, kind, cut.policy, cut.threshold, cut.length,
            drafted=float(drafted[place].sum() / calls),
            tokens=float(found.tokens[:, place].sum() / calls),
            rate=batch * float(rates[place]),
            speed_up=1 - loss,
            speed_up_interval=(1 - high, 1 - low),
            best=place == fastest,
            held_out=float(held_out),
        )  # fmt: skip


def _kind(cut: Cut) -> str:
    return {WHOLE: KINDS[0], TREE: TREE, NO_DRAFT: NO_DRAFT}.get(cut.policy, KINDS[1])


def _steadier(found: Tallied, place: int) -> Array:
    """Return what a cut drafts at each level along each text, counted where it varies less."""
    ways, calls = found.drafted[:, place], found.calls[:, place]
    means = ways.sum(axis=0) / calls.sum()
    spread = ((ways - calls[:, None, None] * means) ** 2).sum(axis=0)
    return np.where(spread[1] < spread[0], ways[:, 1], ways[:, 0])


def _seconds(
    batch: int, cut: Cut, calls: Array, drafted: Array, draft: LoadSeconds, target: LoadSeconds
) -> Array:
    """Return the seconds of all calls along each text, shape (texts,)."""
    if cut.policy != TREE:
        times = [
            length * draft(batch, 1) + target(batch, 1 + length) for length in range(cut.length + 1)
        ]
        return calls * times[0] + drafted[:, : cut.length] @ np.diff(times)
    nodes = drafted.sum(axis=0) / calls.sum()
    drafting = draft(batch, 1) + sum(
        min(1.0, batch * count) * draft(batch, max(1.0, count))
        for count in nodes[: cut.length - 1].tolist()
    )
    return calls * (drafting + target(batch, 1 + float(nodes.sum())))


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
    draw from the target. What is kept and what is drafted are both estimated without bias. A row of
    a chain pays as if all rows of the batch were as long; a dynamic tree pays for its mean number
    of nodes, and for a level as often as the batch has a node there, at most.

    Parameters
    ----------
    logs : path, sequence of paths, Trace or iterable of LoggedBlock
        Drafted blocks, or texts of the target. They are read text after text, in one process.
    draft_cost, target_cost : LoadSeconds, mapping, str, number or sequence
        Seconds of a call by batch size and tokens, see :func:`otspec.blocks.as_load_seconds`.
    batches : sequence of int
        Numbers of rows.
    depth, warping, drawn
        As for :func:`otspec.advise`.
    thresholds, paths : sequence of float
        Of the confidences of chains, and of the paths of dynamic trees.

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
        return texts_in(sources_at(logs), warping, drawn)
    if isinstance(logs, Trace):
        logs = list(logs.blocks(warping, drawn=drawn))
    blocks = blocks_in(logs, "LoggedBlock objects, a Trace or paths")
    shortest = min((len(each.tokens) for each in blocks if not each.ended), default=DEPTH)
    return LoggedTexts(enumerate(blocks), shortest, f"{len(blocks)} logged texts")


def texts_in(sources: Sequence[Source], warping: Warping, drawn: Warp) -> LoggedTexts:
    """Return the texts of files, which are read as they are looked at."""

    def texts() -> Iterator[tuple[Hashable, LoggedBlock]]:
        for number, source in enumerate(sources):
            if source.sampled == "target":
                check_drawn(source, warping, drawn)
            with temporary_folder() as folder:
                folder.mkdir()
                whole = source.unpacked(folder, "text")
                for each in whole.texts(0, source.positions, warping, drawn):
                    yield (number, each.cluster), each.block()

    return LoggedTexts(texts(), min(lengths_of(sources)), f"{name_of(sources)} ({warping})")
