"""Advice on logs that are larger than the memory: the work of a run, and what its parts say."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from otspec._base import Array, ArrowTable, needed
from otspec.advice import on_texts
from otspec.advice.advice import Advice
from otspec.advice.evaluation.choices import CheckedRule, LossyChain
from otspec.advice.evaluation.numbers import DraftedTexts, TextNumbers, drafted_texts
from otspec.advice.evaluation.search import DEEPEST, Search, advice_from
from otspec.blocks import TREE_RULES
from otspec.blocks.trees.best.best_shape import as_widths
from otspec.logged.chances import Asked
from otspec.traces import Warp, Warping
from otspec.traces.accept_lengths import of_target
from otspec.traces.readers import Source, find_source
from otspec.traces.runs import Chunk, Run, Work, open_run, temporary_folder
from otspec.traces.statistics import with_offsets

_PLAIN = ("warping", "cluster", "length", "beside")


@dataclass(frozen=True)
class TextChances(Work):
    """How likely drafts are kept along whole texts, by all numbers of drafts of each rule."""

    rules: tuple[str, ...]  # names in :data:`otspec.blocks.TREE_RULES`
    # widest, depth: the most children of a node, and levels
    widest: int
    depth: int
    warpings: tuple[Warping, ...]  # how both models are looked at
    drawn: Warp  # how the tokens were drawn from what was logged
    total_variation: float | None = None  # of a lossy chain

    def unit(self, source: Source) -> int:
        """Return how many positions depend on each other."""
        return source.cluster_length

    def asked(self) -> list[Asked]:
        """Return what each rule is asked."""
        rules: list[CheckedRule] = [TREE_RULES[name] for name in self.rules]
        if self.total_variation is not None:
            rules.append(LossyChain(self.total_variation))
        return [Asked(rule, tuple(as_widths(rule, self.widest))) for rule in rules]

    def table_of(self, chunk: Chunk) -> ArrowTable:
        """Ask all rules at the positions of a chunk: a row for each text and warping."""
        pa = needed("pyarrow", "a run over traces", "runs")

        names = [each.rule.name for each in self.asked()]
        columns: dict[str, list[Any]] = {name: [] for name in (*_PLAIN, *names)}
        for number, warping in enumerate(self.warpings):
            part = self._numbers(chunk, warping)
            ends = part.starts[1:]
            columns["warping"] += [number] * len(part.lengths)
            columns["cluster"] += part.clusters.tolist()
            columns["length"] += part.lengths.tolist()
            columns["beside"] += _rows(part.beside, ends)
            for name, answers in zip(names, part.answers, strict=True):
                columns[name] += _rows(answers, ends)
        whole = {name: pa.int64() for name in _PLAIN[:-1]}
        types = [whole.get(name, pa.list_(pa.float64())) for name in columns]
        return pa.table(
            [pa.array(column, kind) for column, kind in zip(columns.values(), types, strict=True)],
            names=list(columns),
        )

    def _numbers(self, chunk: Chunk, warping: Warping) -> TextNumbers:
        texts = chunk.source.texts(chunk.start, chunk.stop, warping, self.drawn)
        if chunk.source.sampled == "target":
            written = (
                on_texts.TargetText(each.cluster, each.tokens, each.draft, each.target)
                for each in texts
            )
            return on_texts.target_texts(written, self.asked())
        blocks = ((each.cluster, each.block(self.depth)) for each in texts)
        return drafted_texts(blocks, self.asked(), self.depth)

    def numbers_in(
        self, tables: Iterable[tuple[Source, ArrowTable]], warping: int
    ) -> Iterator[TextNumbers]:
        """Yield the numbers of the parts of a run for one of the warpings, one at a time."""
        asked = self.asked()
        for offset, source, table in with_offsets(tables):
            rows = table.filter(table["warping"].to_numpy() == warping)
            kind = on_texts.TargetTexts if source.sampled == "target" else DraftedTexts
            yield kind(
                offset + rows["cluster"].to_numpy(),
                rows["length"].to_numpy(),
                asked,
                [_joined(rows, each.rule.name, sum(each.counts)) for each in asked],
                _joined(rows, "beside", None),
            )


def _rows(numbers: Array, ends: Array) -> list[list[float]]:
    """Return the numbers of each text as one list: (..., positions) -> texts."""
    return [part.ravel().tolist() for part in np.split(numbers, ends, axis=-1)]


def _joined(table: ArrowTable, name: str, counts: int | None) -> Array:
    """Undo :func:`_rows`: (2, positions), or (2, Σ counts, positions) of a rule."""
    shape = (2, -1) if counts is None else (2, counts, -1)
    flat = table[name].combine_chunks()
    parts = np.split(flat.flatten().to_numpy(), flat.offsets.to_numpy()[1:-1])
    return np.concatenate([np.reshape(part, shape) for part in parts], axis=-1)


def _parts(run: Run, work: TextChances, warping: int) -> Iterator[TextNumbers]:
    return work.numbers_in(run.tables(), warping)


def sources_at(paths: Any) -> list[Source]:
    """Return the sources of logged tokens at one or more paths."""
    given = [paths] if isinstance(paths, (str, PathLike)) else list(paths)
    try:
        return [find_source(str(path), tokens=True) for path in given]
    except ValueError as error:
        raise ValueError(f"logs: {error}") from error


def work_on(
    sources: Sequence[Source],
    search: Search,
    depth: int | None,
    warpings: Iterable[Warping],
    drawn: Warp,
) -> TextChances:
    """Return what must be computed of sources to advise on them."""
    looked = tuple(warpings)
    lengths = lengths_of(sources)
    shortest = min(lengths)
    if depth is not None and depth > shortest:
        name = sources[lengths.index(shortest)].name
        raise ValueError(
            f"depth is {depth}, but texts of {name} have {shortest} tokens: use fewer levels"
        )
    if of_target(sources):
        on_texts.refuse_lossy(search.asked)
        for warping in looked:
            check_drawn(sources[0], warping, drawn)
    rules = tuple(rule.name for rule in search.rules)
    levels = min(depth or DEEPEST, shortest, search.nodes)
    search.check_levels(levels)
    off = None if search.lossy is None else float(search.lossy.total_variation)
    return TextChances(rules, search.widest, levels, looked, drawn, off)


def name_of(sources: Sequence[Source]) -> str:
    """Return the name of one source, or how many there are."""
    first, *others = sources
    return f"{len(sources)} sources" if others else first.name


def lengths_of(sources: Sequence[Source]) -> list[int]:
    """Return how many tokens each text of a source has, of sources found with their tokens."""
    return [source.tokens.shape[-1] for source in sources if source.tokens is not None]


def check_drawn(source: Source, warping: Warping, drawn: Warp) -> None:
    """Refuse texts of the target that were drawn in another way than they are looked at."""
    if warping.of("target").options() != drawn.options():
        raise ValueError(
            f"the target is looked at with {warping.of('target')}, but the texts of {source.name} "
            f"were drawn from it with {drawn}: calls are counted along texts that were drawn as "
            "the target is looked at; say how they were drawn, or log drafted blocks"
        )


def advice_on(run: Run, work: TextChances, search: Search) -> list[Advice]:
    """Return the advice for each warping of a run that is finished."""
    sources = list(dict.fromkeys(chunk.source for chunk in run.chunks))
    name = name_of(sources)
    return [
        advice_from(
            on_texts.TextEvidence(partial(_parts, run, work, number)),
            search,
            work.depth,
            f"{name} ({warping})",
        )
        for number, warping in enumerate(work.warpings)
    ]


def advise_on_files(
    paths: Any,
    search: Search,
    depth: int | None,
    warping: Warping | None,
    drawn: Warp | None,
    workers: int | None,
) -> Advice:
    """Advise on files, by a run in a folder that is removed."""
    sources = sources_at(paths)
    work = work_on(sources, search, depth, [warping or Warping()], drawn or Warp())
    with temporary_folder() as folder, open_run(folder, sources, work) as run:
        run.compute(workers=workers)
        for failure in run.failures():
            raise ValueError(failure.reason)
        [advice] = advice_on(run, work, search)
        return advice
