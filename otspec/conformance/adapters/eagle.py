"""The verifier of trees of EAGLE: one text at a time, as paths, drafts certain (Theory, 13)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from otspec._base.arguments import as_callable
from otspec._base.arithmetic import IntArray
from otspec.conformance.adapters.links import paths_of
from otspec.conformance.adapters.tensors import as_array, draw, logits_of, tensor_of


def eagle_tree(function: Callable[..., Any]) -> Callable[..., tuple[IntArray, IntArray]]:
    """Return a verifier of trees of ``evaluate_posterior`` of EAGLE.

    Its signature is that of ``eagle.model.utils.evaluate_posterior`` of EAGLE-2 and EAGLE-3, whose
    trees are the likeliest tokens: a child counts as certain, whatever it was drafted with. It
    verifies one text per call and draws from Python's ``random``; the token after the kept ones is
    the caller's to draw, which the adapter does, by ``torch.multinomial``.

    Parameters
    ----------
    function : callable
        ``(logits, candidates, logits_processor)`` with paths from the root to each leaf, the
        shorter ones with −1 behind; it returns a path, how many of its nodes are kept, and what
        the next token is drawn from.

    Returns
    -------
    callable
        ``(target, drafts, parents) -> (node, token)``, each of shape (B,).

    Raises
    ------
    ValueError
        No callable. When it is called: PyTorch is not installed; or the function keeps more nodes
        than its path has.
    """
    as_callable(function, "function", "evaluate_posterior of EAGLE, or one like it")

    def verify(target: Any, drafts: Any, parents: Sequence[int]) -> tuple[IntArray, IntArray]:
        paths, logits = paths_of(parents), logits_of(target)
        # The root holds the last token of the text, which no path is chosen by.
        tokens = np.pad(as_array(drafts), ((0, 0), (1, 0)))
        nodes, drawn = [], []
        for row, slots in enumerate(tokens):
            candidates = tensor_of(np.where(paths < 0, -1, slots[paths])).to(logits.device)
            path, kept, weights = function(logits[row, paths], candidates, _unchanged)
            slot = paths[int(path), int(kept)]
            if slot < 0:
                raise ValueError(f"the function keeps {int(kept)} nodes of a shorter path")
            nodes.append(slot - 1)
            drawn.append(int(draw(weights[None])[0]))
        return np.array(nodes, dtype=np.int64), np.array(drawn, dtype=np.int64)

    return verify


def _unchanged(_: Any, logits: Any) -> Any:
    """Warp logits by nothing, as a processor of transformers at temperature 1."""
    return logits
