"""Advice on logs that are larger than the memory: from the parts of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from os import PathLike
from typing import Any

from otspec.advice.advice import Advice
from otspec.advice.evaluation.numbers import TextNumbers
from otspec.advice.evaluation.search import DEEPEST, Search, advice_from
from otspec.advice.evaluation.work import TextChances
from otspec.advice.on_texts import TextEvidence
from otspec.advice.reading import refuse_lossy
from otspec.traces import Warp, Warping
from otspec.traces.accept_lengths import of_target
from otspec.traces.readers import Source, find_source
from otspec.traces.runs import Run, open_run, temporary_folder


def work_on(
    sources: Sequence[Source],
    search: Search,
    depth: int | None,
    warpings: Iterable[Warping],
    drawn: Warp,
) -> TextChances:
    """Return what must be computed of sources to advise on them."""
    looked = tuple(warpings)
    shortest = min(sources, key=_tokens)
    if depth is not None and depth > _tokens(shortest):
        raise ValueError(
            f"depth is {depth}, but texts of {shortest.name} have {_tokens(shortest)} tokens: use "
            "fewer levels"
        )
    if of_target(sources):
        refuse_lossy(search.asked)
        for warping in looked:
            _check_drawn(sources[0], warping, drawn)
    rules = tuple(rule.name for rule in search.rules)
    levels = min(depth or DEEPEST, _tokens(shortest), search.nodes)
    search.check_levels(levels)
    off = None if search.lossy is None else float(search.lossy.total_variation)
    return TextChances(rules, search.widest, levels, looked, drawn, off)


def _tokens(source: Source) -> int:
    """Return how many tokens each text of a source has."""
    return source.tokens.shape[-1] if source.tokens is not None else 0


def _check_drawn(source: Source, warping: Warping, drawn: Warp) -> None:
    if warping.of("target").options() != drawn.options():
        raise ValueError(
            f"the target is looked at with {warping.of('target')}, but the texts of {source.name} "
            f"were drawn from it with {drawn}: calls are counted along texts that were drawn as "
            "the target is looked at; say how they were drawn, or log drafted blocks"
        )


def advice_on(run: Run, work: TextChances, search: Search) -> list[Advice]:
    """Return the advice for each warping of a run that is finished."""
    sources = list(dict.fromkeys(chunk.source for chunk in run.chunks))
    name = sources[0].name if len(sources) == 1 else f"{len(sources)} sources"
    return [
        advice_from(
            TextEvidence(partial(_parts, run, work, number)),
            search,
            work.depth,
            f"{name} ({warping})",
        )
        for number, warping in enumerate(work.warpings)
    ]


def _parts(run: Run, work: TextChances, warping: int) -> Iterator[TextNumbers]:
    return work.numbers_in(run.tables(), warping)


def advise_on_files(
    paths: Any,
    search: Search,
    depth: int | None,
    warping: Warping | None,
    drawn: Warp | None,
    workers: int | None,
) -> Advice:
    """Advise on files, by a run in a folder that is removed."""
    given = [paths] if isinstance(paths, (str, PathLike)) else list(paths)
    try:
        sources = [find_source(str(path), tokens=True) for path in given]
    except ValueError as error:
        raise ValueError(f"logs: {error}") from error
    work = work_on(sources, search, depth, [warping or Warping()], drawn or Warp())
    with temporary_folder() as folder, open_run(folder, sources, work) as run:
        run.compute(workers=workers)
        for failure in run.failures():
            raise ValueError(failure.reason)
        return advice_on(run, work, search)[0]
