"""Texts, and which of their positions are logged: a whole block, or one at a rotating depth."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from otspec._base import Array, Frozen, IntArray
from otspec.traces.collect.models import Models
from otspec.traces.readers.logged_numbers import DRAFTED, warp


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
    """What both models say along a drafted block, as it was logged."""

    draft: Array  # (L + 1, n): logits less the largest of their row
    target: Array
    tokens: IntArray  # (L,): each drawn from the draft at temperature 1


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
    """Draw a block from the draft model."""
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


@dataclass(frozen=True)
class Part:
    """One text of a trace."""

    prompt: str
    index: int  # the number of the prompt
    block: int = 0  # the number of the block after it
    depth: int | None = None  # the only position to keep, as the number of drafted tokens before it
    group: str = ""  # what the names of the arrays begin with that the text goes into

    def arrays(self, models: Models, script: Script) -> dict[str, Array]:
        """Log the text; return its rows of each array of the trace."""
        return self._kept(log_text(models, self.prompt, script, self.index, self.block))

    def _kept(self, text: LoggedText) -> dict[str, Array]:
        logits = {"draft_logits": text.draft, "target_logits": text.target}
        if self.depth is not None:
            found = {name: rows[self.depth : self.depth + 1] for name, rows in logits.items()}
            found["depths"] = np.array([self.depth], np.int32)
        elif self.group:  # to verify a block, what comes after its last token is not needed
            found = {name: rows[:-1] for name, rows in logits.items()}
            found["draft_tokens"] = text.tokens
        else:
            found = logits | {"draft_tokens": text.tokens}
        found["prompts"] = np.array(self.prompt)
        return {self.group + name: rows for name, rows in found.items()}


def gathered(models: Models, parts: Sequence[Part], script: Script) -> dict[str, Array]:
    """Log texts; return the arrays of their trace."""
    found: dict[str, list[Array]] = {}
    for part in parts:
        for name, rows in part.arrays(models, script).items():
            found.setdefault(name, []).append(rows)
    return {name: np.stack(rows) for name, rows in found.items()}


def collect(
    models: Models,
    prompts: Sequence[str],
    *,
    length: int,
    blocks: int = 1,
    seed: int = 0,
    chat: bool = False,
    sampled: int = 0,
) -> dict[str, Array]:
    """Draft tokens after each prompt and log the logits of both models.

    Parameters
    ----------
    models : Models
    prompts : sequence of str
    blocks : int
        Blocks that are drafted after each prompt, independently.
    length, seed, chat, sampled
        As in :class:`Script`.

    Returns
    -------
    dict of str to ndarray
        ``draft_logits`` and ``target_logits``, float16, shape (B, L + 1, n), where B is the
        number of prompts times ``blocks``: before each drafted token and after the last, less the
        largest of their row; ``draft_tokens``, int32, shape (B, L), each drawn from the draft at
        temperature 1, as it was logged; ``prompts``, shape (B,). A text does not depend on how
        many others there are.

    Raises
    ------
    ValueError
        No prompt, one without a token, or a model whose logits are no numbers.
    """
    script = Script(chat, sampled, length, seed)
    return gathered(models, whole_blocks(prompts, blocks), script)


def whole_blocks(prompts: Sequence[str], blocks: int = 1) -> list[Part]:
    """Return all positions of blocks after each prompt."""
    _refuse_none(prompts, 1)
    return [Part(prompt, i, b) for i, prompt in enumerate(prompts) for b in range(blocks)]


def fair_sample(prompts: Sequence[str], texts: int, blocks: int, length: int) -> list[Part]:
    """Return one position of each first text, at depth i mod (L + 1), and blocks of the next."""
    _refuse_none(prompts, texts + blocks)
    positions = [Part(prompts[i], i, depth=i % (length + 1)) for i in range(texts)]
    return positions + [Part(prompts[i], i, group=DRAFTED) for i in range(texts, texts + blocks)]


def _refuse_none(prompts: Sequence[str], wanted: int) -> None:
    if not prompts:
        raise ValueError("there is no prompt: write one a line")
    if len(prompts) < wanted:
        raise ValueError(f"there are {len(prompts)} prompts for {wanted} texts: write more")
