"""What may be advised on in memory: language models, logged blocks, texts of the target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from otspec.advice.drafted import drafted_texts
from otspec.advice.evidence import Evidence, ModelEvidence
from otspec.advice.numbers import Asked, TextNumbers
from otspec.advice.on_texts import TextEvidence
from otspec.advice.written import Written, written_texts
from otspec.logged import LoggedBlock
from otspec.logged.comparison import as_blocks
from otspec.models import as_models
from otspec.traces import Trace


def evidence_of(
    logs: Any, asked: Sequence[Asked], depth: int | None, deepest: int
) -> tuple[Evidence, int, str]:
    """Return the evidence of logs, how many levels it is for, and where it is from.

    Raises
    ------
    ValueError
        Something else; no block, or one that is shorter than ``depth``.
    """
    if isinstance(logs, tuple) and len(logs) == 2 and all(map(callable, logs)):
        return ModelEvidence(*as_models(*logs)), depth or deepest, "two models, exactly"
    blocks = list(logs.blocks()) if isinstance(logs, Trace) else as_blocks(logs)
    if not blocks:
        raise ValueError("logs is empty: at least one logged block is needed")
    levels = depth or min(deepest, *(len(block.tokens) for block in blocks))
    part, words = _numbers(blocks, asked, levels)
    return TextEvidence(lambda: [part]), levels, words


def _numbers(
    blocks: Sequence[LoggedBlock], asked: Sequence[Asked], depth: int
) -> tuple[TextNumbers, str]:
    written = [_is_written(block) for block in blocks]
    if all(written):
        texts = _texts(blocks, depth)
        return written_texts(texts, asked), f"{len(blocks)} texts of the target"
    if any(written):
        place = written.index(True)
        raise ValueError(
            f"logs[{place}] is a text of the target, and logs[{written.index(False)}] a drafted "
            "block: advise on the one or the other"
        )
    return drafted_texts(enumerate(blocks), asked, depth), f"{len(blocks)} drafted blocks"


def _is_written(block: LoggedBlock) -> bool:
    """Whether the tokens of a block were drawn from the target."""
    if block.sampling is None:
        return False
    return all(map(np.array_equal, block.sampling[: len(block.tokens)], block.target))


def _texts(blocks: Sequence[LoggedBlock], depth: int) -> Iterator[Written]:
    for number, block in enumerate(blocks):
        block.check(depth)
        yield Written(number, block.tokens, block.draft, block.target)
