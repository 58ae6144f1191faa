"""One logged text after the other: a prompt, tokens of the target, and a block that is drafted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from otspec._base.arithmetic import Array, IntArray
from otspec._base.frozen import Frozen
from otspec.traces.collect.models import Models
from otspec.traces.warping import warp


@dataclass(frozen=True)
class Script:
    """How texts come about; each of them by itself, whatever the others are.

    Parameters
    ----------
    chat : bool
        Whether prompts are put into the turns of the tokenizer's chat template.
    sampled : int
        How many tokens are drawn from the target between prompt and block, at temperature 1, none
        of which ends the text.
    length : int
        Tokens in the drafted block, L, drawn from the draft at temperature 1.
    seed : int
        The random numbers of block b after prompt i are NumPy's ``default_rng([seed, i, b])``.
    """

    chat: bool = False
    sampled: int = 0
    length: int = 8
    seed: int = 0


@dataclass(frozen=True, eq=False)
class LoggedText(Frozen):
    """What both models say along a drafted block.

    Parameters
    ----------
    draft, target : ndarray of float16, shape (L + 1, n)
        Logits less the largest of their row, before each drafted token and after the last.
    tokens : ndarray of int32, shape (L,)
        Each drawn from the draft at temperature 1, as it was logged.
    """

    draft: Array
    target: Array
    tokens: IntArray


def log_text(models: Models, prompt: str, script: Script, index: int, block: int) -> LoggedText:
    """Log a text: a block after a prompt, both of which are numbered, for the random numbers."""
    rng = np.random.default_rng([script.seed, index, block])
    prefix = _continued(models, models.begun(prompt, chat=script.chat), script.sampled, rng)
    tokens, draft = _drafted(models, prefix, script.length, rng)
    target, _ = models.logits(models.target, prefix + tokens, None)
    return LoggedText(draft, target[len(prefix) - 1 :], np.array(tokens, np.int32))


def _continued(
    models: Models, prefix: list[int], number: int, rng: np.random.Generator
) -> list[int]:
    """Return a text with tokens drawn from the target, none of which ends it."""
    text, new, cache = prefix, prefix, None
    for _ in range(number):
        logits, cache = models.logits(models.target, new, cache)
        row = logits[-1]
        row[list(models.ends)] = -np.inf
        new = [_drawn(row, rng)]
        text = text + new
    return text


def _drafted(
    models: Models, prefix: list[int], length: int, rng: np.random.Generator
) -> tuple[list[int], Array]:
    """Draw a block from the draft model.

    ``rows``: shape (length + 1, n).
    """
    logits, cache = models.logits(models.draft, prefix, None)
    rows = [logits[-1]]
    tokens: list[int] = []
    for _ in range(length):
        tokens.append(_drawn(rows[-1], rng))
        logits, cache = models.logits(models.draft, tokens[-1:], cache)
        rows.append(logits[-1])
    return tokens, np.stack(rows)


def _drawn(row: Array, rng: np.random.Generator) -> int:
    """Draw a token at temperature 1."""
    chances = np.cumsum(warp(row))
    return int(np.searchsorted(chances, rng.random() * chances[-1], side="right"))
