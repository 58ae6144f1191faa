"""Verifiers of other shapes: single rows, logits, trees as links, draft vocabularies."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec._base import as_callable, as_flag, shown
from otspec.conformance.adapters.forms import as_array, links_of, padded, paths_of, tensor_of

ROWS = ("draft", "target", "drafts", "uniforms")  # arrays with one row for each text of a batch


def one_at_a_time(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a verifier of batches, from one of a single text.

    Parameters
    ----------
    function : callable
        A verifier whose arrays have no batch axis, so that a block has drafts of shape (L,). It
        returns numbers in place of arrays of shape (B,); or for a block the emitted tokens, as
        many as there are, as a list or an array. It gets the same generator for all rows, and of
        a seed one for each.

    Returns
    -------
    callable
        With the same parameters.

    Raises
    ------
    ValueError
        No callable, or one that does not tell its parameters.
    """
    names = parameters_of(function)

    def verify(**given: Any) -> Any:
        count = len(next(given[name] for name in names if name in ROWS))
        if "seed" in given:
            given["seed"] = np.random.default_rng(given["seed"]).integers(2**31, size=count)
        split = (*ROWS, "lengths", "mask", "seed")
        answers = [
            function(**{n: x[row] if n in split else x for n, x in given.items()})
            for row in range(count)
        ]
        return _stacked(answers, given)

    return Renamed(verify, names)


def _stacked(answers: list[Any], given: dict[str, Any]) -> Any:
    """Return the answers of rows as arrays: parts of tuples, numbers, or emitted tokens."""
    if isinstance(answers[0], tuple):
        return tuple(
            np.array([int(as_array(part).item()) for part in parts])
            for parts in zip(*answers, strict=True)
        )
    one = any(name in given and np.ndim(as_array(given[name])) == 2 for name in ("draft", "target"))
    if one or np.ndim(as_array(answers[0])) == 0:
        return np.array([int(as_array(answer).item()) for answer in answers])
    return padded(answers, as_array(given["drafts"]).shape[1] + 1)


def on_logits(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a verifier of probabilities, from one of logits.

    Parameters
    ----------
    function : callable
        A verifier whose ``draft`` and ``target`` are logits: the logarithms of probabilities,
        minus infinity of 0.

    Returns
    -------
    callable
        With the same parameters.

    Raises
    ------
    ValueError
        No callable, or one that does not tell its parameters.
    """
    names = parameters_of(function)

    def verify(**given: Any) -> Any:
        logarithms = {n: _logarithms(given[n]) for n in ("draft", "target") if n in given}
        return function(**given | logarithms)

    return Renamed(verify, names)


def _logarithms(values: Any) -> Any:
    if hasattr(values, "detach"):
        return values.log()
    with np.errstate(divide="ignore"):
        return np.log(values)


def linked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a verifier of trees as parents, from one of trees as links.

    Parameters
    ----------
    function : callable
        A verifier that takes ``next_token`` and ``next_sibling``, shape (N + 1,), instead of
        ``parents``: :func:`links_of`. It returns the last slot that is kept, 0 for none, and the
        token after it, each of shape (B,).

    Returns
    -------
    callable
        With ``parents`` instead.

    Raises
    ------
    ValueError
        No callable, or one that does not tell its parameters.
    """
    names = (name for name in parameters_of(function) if name not in ("next_token", "next_sibling"))

    def verify(*, parents: Any, **given: Any) -> Any:
        next_token, next_sibling = links_of(parents)
        slot, *rest = function(**given, next_token=next_token, next_sibling=next_sibling)
        return slot - 1, *rest

    return Renamed(verify, (*names, "parents"))


def paths_tree(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a verifier of trees whose paths part at the beginning, from one of paths.

    Parameters
    ----------
    function : callable
        Takes draft, shape (B, K, L, V), target, shape (B, K, L + 1, V), drafts, shape (B, K, L),
        and uniforms, shape (B, L + 1), in this order. It returns which path is kept, how many
        tokens of it, and the token after them, shape (B,) each: as
        :func:`otspec.batch.greedy_multi_path`.

    Returns
    -------
    callable
        Of ``draft``, ``target``, ``drafts``, ``parents`` and ``rng``, for shapes such as
        ``"3x1"``.

    Raises
    ------
    ValueError
        No callable; when it is called, a tree that is no such paths.
    """
    as_callable(function, "function", "a verifier of paths")

    def verify(draft: Any, target: Any, drafts: Any, parents: Any, rng: Any) -> Any:
        slots = paths_of(parents)
        if slots[:, 1:].size != len(parents):
            raise ValueError(
                f"parents is {shown(parents)}: the tree must be paths that part at the beginning, "
                "such as shape='3x1'"
            )
        uniforms = rng.random((len(drafts), slots.shape[1]))
        if hasattr(draft, "detach"):
            uniforms = tensor_of(uniforms).to(draft)
        rows = draft[:, slots[:, :-1]], target[:, slots], drafts[:, slots[:, 1:] - 1]
        path, length, token = map(as_array, function(*rows, uniforms))
        return slots[path, length] - 1, token

    return verify


def parameters_of(function: Any) -> tuple[str, ...]:
    """Return the names of a function's parameters."""
    as_callable(function, "function", "a verifier")
    try:
        return tuple(inspect.signature(function).parameters)
    except ValueError:
        raise ValueError("function does not tell its parameters: wrap it in a def") from None


@dataclass(frozen=True)
class Renamed:
    """A function of keywords that says which ones it takes, so that it is handed those."""

    function: Callable[..., Any]
    names: tuple[str, ...]

    @property
    def __signature__(self) -> inspect.Signature:
        kind = inspect.Parameter.KEYWORD_ONLY
        return inspect.Signature([inspect.Parameter(name, kind) for name in self.names])

    def __call__(self, **given: Any) -> Any:
        """Call the function."""
        return self.function(**given)


INDEX = "draft_to_target"


def draft_to_target(
    function: Callable[..., Any], *, offsets: bool = False, own_ids: bool = False
) -> Callable[..., Any]:
    """Return a verifier over one vocabulary, from one whose draft has fewer tokens.

    The draft's rows are handed over on the tokens that it can draw, from the last to the first, so
    that no id is the same in both vocabularies by chance alone.

    Parameters
    ----------
    function : callable
        A verifier whose ``draft`` has D tokens on its last axis, and which takes
        ``draft_to_target``, shape (D,): the target's id of each.
    offsets : bool
        Whether ``draft_to_target`` is that id minus the draft's, as ``d2t`` of EAGLE-3.
    own_ids : bool
        Whether ``drafts`` are ids of the draft's vocabulary; those that are not read are 0.

    Returns
    -------
    callable
        Without ``draft_to_target``.

    Raises
    ------
    ValueError
        No callable, one that does not tell its parameters, or no flag.
    """
    names = parameters_of(function)
    relative, own = as_flag(offsets, "offsets"), as_flag(own_ids, "own_ids")

    def verify(**given: Any) -> Any:
        rows = as_array(given["draft"])
        tokens = np.flatnonzero((rows > 0).reshape(-1, rows.shape[-1]).any(axis=0))[::-1].copy()
        index = tokens - np.arange(len(tokens)) if relative else tokens
        new = {"draft": given["draft"][..., tokens], INDEX: _like(index, given["draft"])}
        if own:
            ids = np.zeros(rows.shape[-1], dtype=np.int64)
            ids[tokens] = np.arange(len(tokens))
            new["drafts"] = _like(ids, given["draft"])[given["drafts"]]
        return function(**given | new)

    return Renamed(verify, tuple(name for name in names if name != INDEX))


def _like(values: Any, like: Any) -> Any:
    """Return integers in the library, and on the device, of other arrays."""
    return tensor_of(values).to(like.device) if hasattr(like, "detach") else values
