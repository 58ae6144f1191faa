"""The verifiers of trees of EAGLE and SGLang, and trees as engines write them (Theory, 13)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from otspec._base.arguments import as_callable, as_real
from otspec._base.arithmetic import Array, IntArray
from otspec._base.parents import as_parents, children_of
from otspec.conformance.adapters.tensors import as_array, draw, logits_of, tensor_of, torch_itself


def links_of(parents: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Return the first child and the next sibling of each slot of a tree.

    Parameters
    ----------
    parents : sequence of int
        The parent of each node; −1 for the text.

    Returns
    -------
    next_token, next_sibling : ndarray of int, shape (nodes + 1,)
        Slot 0 is the text and slot i + 1 is node i; −1 where there is none.

    Raises
    ------
    ValueError
        A parent that does not come before its child.

    Examples
    --------
    >>> links_of((-1, -1, 0))
    (array([ 1,  3, -1, -1]), array([-1,  2, -1, -1]))
    """
    tree = children_of(as_parents(parents, "parents"))
    next_token = np.full(len(tree), -1)
    next_sibling = np.full(len(tree), -1)
    for slot, children in enumerate(tree):
        if children:
            next_token[slot] = children[0] + 1
        for child, sibling in pairwise(children):
            next_sibling[child + 1] = sibling + 1
    return next_token, next_sibling


def paths_of(parents: Sequence[int]) -> IntArray:
    """Return the slots on the way from the text to each leaf.

    Parameters
    ----------
    parents : sequence of int
        The parent of each node; −1 for the text.

    Returns
    -------
    ndarray of int, shape (leaves, depth + 1)
        Slot 0 is the text and slot i + 1 is node i; −1 behind the shorter paths.

    Raises
    ------
    ValueError
        A parent that does not come before its child.

    Examples
    --------
    >>> paths_of((-1, -1, 0))
    array([[ 0,  2, -1],
           [ 0,  1,  3]])
    """
    tree = as_parents(parents, "parents")
    paths: list[tuple[int, ...]] = [(0,)]
    for node, parent in enumerate(tree):
        paths.append((*paths[parent + 1], node + 1))
    leaves = [path for path, children in zip(paths, children_of(tree), strict=True) if not children]
    found = np.full((len(leaves), max(map(len, leaves))), -1)
    for row, path in enumerate(leaves):
        found[row, : len(path)] = path
    return found


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


def sglang_tree(
    function: Callable[..., Any],
    *,
    threshold_single: float = 1.0,
    threshold_acc: float = 1.0,
) -> Callable[..., tuple[IntArray, IntArray]]:
    """Return a verifier of trees of ``tree_speculative_sampling_target_only`` of SGLang.

    Its signature is that of ``sgl_kernel.tree_speculative_sampling_target_only``, which takes its
    random numbers as arrays: the adapter draws them by ``torch.rand``, as SGLang does. At
    thresholds of 1 it keeps the target's law whatever the drafts are drawn from, if siblings are
    distinct; below 1 it is lossy.

    Parameters
    ----------
    function : callable
        ``(predicts, accept_index, accept_token_num, candidates, retrive_index,
        retrive_next_token, retrive_next_sibling, uniform_samples,
        uniform_samples_for_final_sampling, target_probs, draft_probs, threshold_single,
        threshold_acc, deterministic)``, which writes to the first three.
    threshold_single : float
        A child of at least this probability is kept whenever it is looked at.
    threshold_acc : float
        What the accumulated probability of the children is divided by.

    Returns
    -------
    callable
        ``(target, drafts, parents) -> (node, token)``, each of shape (B,).

    Raises
    ------
    ValueError
        No callable, or thresholds outside 0 and 1. When it is called: PyTorch is not installed; or
        what the function wrote is no path of the tree.
    """
    as_callable(function, "function", "tree_speculative_sampling_target_only, or one like it")
    thresholds = (
        float(as_real(threshold_single, "threshold_single", 0, 1)),
        float(as_real(threshold_acc, "threshold_acc", 0, 1)),
    )

    def verify(target: Any, drafts: Any, parents: Sequence[int]) -> tuple[IntArray, IntArray]:
        torch, probabilities = torch_itself(), tensor_of(target)
        rows, slots = probabilities.shape[:2]
        depth = paths_of(parents).shape[1]
        numbers = np.arange(rows * slots).reshape(rows, slots)
        tokens = np.pad(as_array(drafts), ((0, 0), (1, 0)))
        links = [np.tile(link, (rows, 1)) for link in links_of(parents)]
        outputs = [np.full(rows * slots, -1), np.full((rows, depth), -1), np.zeros(rows)]
        device = probabilities.device
        written = [tensor_of(output, "int32").to(device) for output in outputs]
        function(
            *written,
            *(tensor_of(array, "int64").to(device) for array in (tokens, numbers, *links)),
            torch.rand((rows, slots), device=device),
            torch.rand((rows,), device=device),
            probabilities,
            torch.zeros_like(probabilities),
            *thresholds,
            True,
        )
        predicts, kept, count = map(as_array, written)
        predicted = predicts.reshape(rows, slots)
        return _read(predicted, kept - numbers[:, :1], count, tokens, parents)

    return verify


def _read(
    predicts: Array, kept: Array, count: Array, tokens: Array, parents: Sequence[int]
) -> tuple[IntArray, IntArray]:
    """Return the last node that is kept and the token behind it, and check the way to it.

    Parameters
    ----------
    predicts : ndarray of int, shape (B, slots)
        What follows each slot that is kept.
    kept : ndarray of int, shape (B, depth + 1)
        The slots that are kept, the root first.
    count : ndarray of int, shape (B,)
        How many there are, without the root.
    tokens : ndarray of int, shape (B, slots)
    """
    if not ((count >= 0) & (count < kept.shape[1])).all():
        raise ValueError("accept_token_num says more than the depth of the tree, or less than 0")
    rows, above = np.arange(len(predicts)), np.array([-1, *parents]) + 1
    slot = np.zeros(len(rows), dtype=np.int64)
    for depth in range(1, kept.shape[1]):
        on = depth <= count
        below = np.where(on, kept[:, depth], slot)
        if not (
            (below >= 0) & (below < len(above)) & ((above[below % len(above)] == slot) | ~on)
        ).all():
            raise ValueError("accept_index has a slot that is no child of the one before it")
        if (predicts[rows, slot] != tokens[rows, below])[on].any():
            raise ValueError("predicts has another token than the child that is kept")
        slot = below
    return slot - 1, predicts[rows, slot].astype(np.int64)
