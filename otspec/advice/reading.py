"""What may be advised on in memory: language models, logged blocks, texts of the target."""

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any

import numpy as np

from otspec._base.arguments import as_instance, as_list
from otspec.advice.evaluation.candidates import LossyChain
from otspec.advice.evaluation.choices import Evidence, ModelEvidence
from otspec.advice.evaluation.numbers import Asked, TextNumbers, drafted_texts
from otspec.advice.evaluation.search import DEEPEST
from otspec.advice.on_texts import TextEvidence, Written, written_texts
from otspec.logged import LoggedBlock
from otspec.logged.comparison import shared_length
from otspec.models import as_models
from otspec.traces import Trace, Warp, Warping


def is_paths(logs: Any) -> bool:
    """Whether logs are named by a path, or a list of paths."""
    paths = (str, PathLike)
    if isinstance(logs, (list, tuple)) and logs:
        return all(isinstance(each, paths) for each in logs)
    return isinstance(logs, paths)


def refuse_lossy(asked: Sequence[Asked]) -> None:
    """Refuse to say what a lossy rule keeps of texts that it would not have written."""
    for each in asked:
        if isinstance(each.rule, LossyChain):
            raise ValueError(
                f"total_variation is {each.rule.total_variation}, but the logged tokens are the "
                "target's, which a lossy rule would not have written: log drafted blocks"
            )


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
        wanted = "LoggedBlock objects, a Trace, a pair of models or paths"
        blocks = [
            as_instance(each, f"logs[{i}]", LoggedBlock, wanted)
            for i, each in enumerate(as_list(logs, "logs", f"an iterable of {wanted}"))
        ]
    if not blocks:
        raise ValueError("logs is empty: at least one logged block is needed")
    levels = depth or shared_length(blocks, DEEPEST)
    part, words = _numbers(blocks, asked, levels)
    return TextEvidence(lambda: [part]), levels, words


def _numbers(
    blocks: Sequence[LoggedBlock], asked: Sequence[Asked], depth: int
) -> tuple[TextNumbers, str]:
    written = [_is_written(block) for block in blocks]
    if all(written):
        refuse_lossy(asked)
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
        yield Written(number, block.tokens, block.draft, block.target, block.ended)
