"""Tensors and trees as engines write them, and the verifier of trees of EAGLE (Theory, 13)."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from otspec._base import Array, IntArray, as_callable, as_parents, children_of, needed
from otspec.blocks.trees.token_tree import TokenTree

Tensor: TypeAlias = Any  # a tensor of PyTorch, which need not be installed


def torch_itself() -> Any:
    """Return PyTorch."""
    return needed("torch", "an adapter of an engine", "backends")


def tensor_of(values: Any, dtype: str | None = None) -> Tensor:
    """Return a contiguous tensor of an array, of its dtype and on its device if not told."""
    # It shares the memory if it can, so that what an engine writes to it is seen.
    torch = torch_itself()
    if not hasattr(values, "detach"):
        array = np.asarray(values)
        values = torch.from_numpy(array if array.flags.writeable else array.copy())
    return (values if dtype is None else values.to(getattr(torch, dtype))).contiguous()


def logits_of(probabilities: Any) -> Tensor:
    """Return logarithms, minus infinity of 0, in the dtype of the probabilities."""
    given = tensor_of(probabilities)
    return given.double().log().to(given.dtype)


def draw(weights: Tensor, generator: Any = None) -> Tensor:
    """Draw a token for each row of weights, shape (B, V); from PyTorch's state if not told."""
    return torch_itself().multinomial(weights, 1, generator=generator)[:, 0]


def as_array(values: Any) -> Array:
    """Return what an engine returned, on any device, as an array of NumPy."""
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def in_rows(values: Any, rows: int) -> Any:
    """Return tokens or slots of rows, which a call of one row may hand over without its axis."""
    return values.reshape(1, -1) if rows == 1 else values


def padded(rows: Iterable[Any], width: int) -> IntArray:
    """Return rows of emitted tokens as one array, with −1 behind each."""
    read = [as_array(row).reshape(-1) for row in rows]
    found = np.full((len(read), width), -1, dtype=np.int64)
    for row, tokens in enumerate(read):
        if len(tokens) > width:
            raise ValueError(f"row {row} has {len(tokens)} tokens: {width} at most are emitted")
        found[row, : len(tokens)] = tokens
    return found


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
    tree = TokenTree(as_parents(parents, "parents"))
    paths = [(0, *(node + 1 for node in tree.path(leaf))) for leaf in tree.leaves or (-1,)]
    return padded(paths, max(map(len, paths)))


def eagle_tree(function: Callable[..., Any]) -> Callable[..., tuple[IntArray, Tensor]]:
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
    paths_by_parents = cache(paths_of)

    def verify(target: Any, drafts: Any, parents: Sequence[int]) -> tuple[IntArray, Tensor]:
        paths, logits = paths_by_parents(tuple(parents)), logits_of(target)
        nodes, following = [], []
        for row, tokens in enumerate(as_array(drafts)):
            # The root holds the last token of the text, which no path is chosen by.
            slots = np.array([0, *tokens])
            candidates = tensor_of(np.where(paths < 0, -1, slots[paths])).to(logits.device)
            # A processor of transformers at temperature 1 leaves logits as they are.
            path, kept, weights = function(logits[row, paths], candidates, lambda _, rows: rows)
            slot = paths[int(path), int(kept)]
            if slot < 0:
                raise ValueError(f"the function keeps {int(kept)} nodes of a shorter path")
            nodes.append(slot - 1)
            following.append(weights)
        return np.array(nodes, dtype=np.int64), draw(torch_itself().stack(following))

    return verify
