"""Accept lengths on logged traces, text after text, of any length (Theory, 11, 27 and 28)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from otspec.arithmetic import Array
from otspec.logged import AcceptLengths, LoggedBlock, Tally
from otspec.logged.metrics import block_counts, counts_of
from otspec.logged.replay import levels_along, replayed
from otspec.rules.contract import NotExactError
from otspec.traces.readers import Source, Warping
from otspec.traces.readers.contract import SIDES
from otspec.traces.readers.texts import LoggedText
from otspec.trees.shapes import Shape

Asked: TypeAlias = tuple[Any, Shape]
"""A rule for one token or for one drafted block, and its tree."""


def lengths_on_sources(
    sources: Sequence[Source],
    asked: Sequence[Asked],
    warping: Warping,
    *,
    end: Collection[int] = (),
    cut: bool = False,
) -> list[AcceptLengths]:
    """Return the accept lengths of rules and trees on sources with tokens.

    Along texts of the target the calls are counted that decode them, at the warping at which they
    were drawn; after drafted blocks one call for each is estimated, whose tokens were drawn as they
    were logged. Texts that depend on each other are one unit of the intervals.

    Parameters
    ----------
    sources : sequence of Source
        Found with ``tokens=True``, all with tokens of one model.
    asked : sequence
        Rules and trees, see :func:`otspec.logged.lengths_on_texts`.
    warping : Warping
        What is done to both models.
    end : collection of int
        Tokens that end a text; what is logged behind the first is left out.
    cut : bool
        As for :func:`otspec.logged.replay`.

    Returns
    -------
    list of AcceptLengths
        For each that is asked.

    Raises
    ------
    ValueError
        Sources with tokens of both models; numbers, tokens or rules that cannot be used.
    """
    on_texts = of_target(sources)
    rows: list[list[Array]] = [[] for _ in asked]
    for source in sources:
        before = None
        for text in source.texts(0, source.positions, warping):
            cluster = source.cluster_of(text.text * source.text_length)
            counts = _along(text, asked, end, cut) if on_texts else _of_block(text, asked, end)
            for known, each in zip(rows, counts, strict=True):
                if cluster == before:
                    known[-1] = known[-1] + each
                else:
                    known.append(each)
            before = cluster
    return [
        AcceptLengths(tree.size, Tally.of(np.array(known)), bounded=on_texts)
        for (_, tree), known in zip(asked, rows, strict=True)
    ]


def of_target(sources: Sequence[Source]) -> bool:
    """Return whether the tokens of sources are those of the target's texts.

    Raises
    ------
    ValueError
        Those of some are, and of others not.
    """
    drawn = {source.sampled for source in sources}
    if len(drawn) > 1:
        names = [
            f"{next(s.name for s in sources if s.sampled == side)} ({side}_tokens)"
            for side in SIDES
        ]
        raise ValueError(
            f"sources hold tokens of both models: {' and '.join(names)}; ask about one kind"
        )
    return drawn == {"target"}


def known_exactly(source: Source, asked: Sequence[Asked], warping: Warping) -> list[bool]:
    """Return which rules are known without simulation at the first position of a source."""
    text = next(source.texts(0, source.text_length, warping))
    return [_is_known(text, each) for each in asked]


def _is_known(text: LoggedText, asked: Asked) -> bool:
    try:
        levels_along(text.tokens[:1], text.draft[:1], text.target[:1], [asked])
    except NotExactError:
        return False
    return True


def _along(
    text: LoggedText, asked: Sequence[Asked], end: Collection[int], cut: bool
) -> Iterator[Array]:
    """Yield what is counted of the calls along a text of the target."""
    stop = next((i for i, token in enumerate(text.tokens, 1) if token in end), None)
    for levels in levels_along(text.tokens[:stop], text.draft, text.target, asked):
        yield counts_of(replayed(levels, cut=cut and stop is None))


def _of_block(text: LoggedText, asked: Sequence[Asked], end: Collection[int]) -> Iterator[Array]:
    """Yield what is estimated of one call at the beginning of a drafted block."""
    sampling = None if text.sampling is None else list(text.sampling)
    block = LoggedBlock(list(text.draft), list(text.target), text.tokens, end, sampling)
    for rule, tree in asked:
        yield block_counts([block], rule, tree)[0]
