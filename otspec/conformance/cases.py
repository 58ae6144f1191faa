"""What a verifier is tried on: pairs of small models, embedded in a vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec.arithmetic import Array, IntArray
from otspec.frozen import Frozen


@dataclass(frozen=True, eq=False)
class Case(Frozen):
    """A pair of small models whose rows depend on the last symbol.

    Parameters
    ----------
    name : str
        What is hard about it.
    draft, target : ndarray, shape (variants, n + 1, n)
        Row 0 is that of the text before, row s + 1 that after symbol s. The rows of a batch take
        one of the variants at random.
    vocabulary : int
        Tokens; all that are no symbol have probability 0.
    places : ndarray of int, shape (n,)
        The tokens that are the symbols.
    uneven : bool
        Whether the rows of a batch have different numbers of drafts, as far as the kind allows.
    """

    name: str
    draft: Array
    target: Array
    vocabulary: int
    places: IntArray
    uneven: bool = False

    @property
    def n(self) -> int:
        """Symbols."""
        return int(self.draft.shape[-1])

    @property
    def variants(self) -> int:
        """Pairs of models."""
        return int(self.draft.shape[0])

    def texts(self, length: int) -> Array:
        """Return the law of the target's texts, shape (variants, n ** length)."""
        law = np.ones((self.variants, 1, 1))
        for _ in range(length):
            rows = self.target[:, :1] if law.shape[1] == 1 else self.target[:, 1:]
            # The last symbol of each text says which row follows.
            law = (law.reshape(self.variants, -1, rows.shape[1], 1) * rows[:, None]).reshape(
                self.variants, -1, 1
            )
        return law[..., 0]


def memoryless(name: str, draft: Any, target: Any, **options: Any) -> Case:
    """Return a case whose rows do not depend on the text.

    Parameters
    ----------
    name : str
    draft, target : array_like, shape (n,)
        Weights, which are scaled to sum 1.
    **options
        Of :class:`Case`.
    """
    rows = [_scaled(np.asarray(weights, dtype=float)) for weights in (draft, target)]
    repeated = [np.broadcast_to(row, (1, len(row) + 1, len(row))) for row in rows]
    return _case(name, *repeated, **options)


def remembering(name: str, draft: Any, target: Any, **options: Any) -> Case:
    """Return a case of tables, shape (n + 1, n) each: the first row, and those after a symbol."""
    tables = [_scaled(np.asarray(weights, dtype=float))[None] for weights in (draft, target)]
    return _case(name, *tables, **options)


def prompted(name: str, draft: Any, target: Any, prompts: int) -> Case:
    """Return a case whose texts begin after a prompt of one symbol.

    Parameters
    ----------
    name : str
    draft, target : array_like, shape (n, n)
        Weights after each symbol.
    prompts : int
        The first so many symbols are prompts, one for each variant.
    """
    tables = [_scaled(np.asarray(weights, dtype=float)) for weights in (draft, target)]
    after = [
        np.stack([np.concatenate([table[prompt][None], table]) for prompt in range(prompts)])
        for table in tables
    ]
    return _case(name, *after)


def mixed(name: str, cases: Sequence[Case]) -> Case:
    """Return a case whose batches have rows of several cases with one number of symbols."""
    drafts, targets = zip(*((case.draft, case.target) for case in cases), strict=True)
    return _case(name, np.concatenate(drafts), np.concatenate(targets))


def embedded(case: Case, vocabulary: int) -> Case:
    """Return a case whose symbols are tokens of a vocabulary, the first and the last among them."""
    places = np.linspace(0, vocabulary - 1, case.n).astype(np.intp)
    name = f"{case.name}, among {vocabulary:,} tokens"
    return Case(name, case.draft, case.target, vocabulary, places, case.uneven)


def _case(name: str, draft: Array, target: Array, **options: Any) -> Case:
    n = draft.shape[-1]
    return Case(name, draft, target, n, np.arange(n), **options)


def _scaled(weights: Array) -> Array:
    scaled: Array = weights / weights.sum(axis=-1, keepdims=True)
    return scaled
