"""Decoders and verifiers of mlx-lm and llama.cpp, which verify by drawing from the target."""

from collections.abc import Callable
from typing import Any

import numpy as np

from otspec._base import as_callable, needed
from otspec.conformance.adapters.forms import as_array
from otspec.conformance.adapters.shapes import Renamed, on_logits, one_at_a_time, parameters_of
from otspec.conformance.engines import one_by_one


def mlx_decoder(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an engine for pipeline mode, from a decoder that takes two models of mlx-lm.

    The models are small tables in the form that ``speculative_generate_step`` of
    ``mlx_lm/generate.py`` takes, at commit d78bf58e217c: ``model(ids, cache=...)`` gives logits,
    and ``make_cache()`` a list of one cache, which holds tokens and can be trimmed. Each text has
    a seed of its own, which is given to ``mx.random.seed``.

    Parameters
    ----------
    function : callable
        ``(draft, target, prompt, length)`` with the prompt's ids as an array of mlx, (1,); it
        returns the tokens after it.

    Returns
    -------
    callable
        For ``check(engine, kind="block", mode="pipeline")``.

    Raises
    ------
    ValueError
        No callable. When it is called: mlx is not installed.
    """
    as_callable(function, "function", "a decoder of draft, target, prompt and length")

    def said(*, draft: Any, target: Any, prompts: Any, length: int, seed: int) -> Any:
        mx = _mlx()
        mx.random.seed(seed)
        prompt = mx.array(as_array(prompts)[0].astype(np.uint32))
        tokens = list(function(_Table(draft), _Table(target), prompt, length))[:length]
        return np.array([int(token) for token in tokens])

    names = ("draft", "target", "prompts", "length", "seed")
    return one_by_one(Renamed(said, names))


def _mlx() -> Any:
    return needed("mlx.core", "a decoder of mlx-lm", "hf", " mlx")


class _Table:
    """A model of mlx-lm whose logits follow from the tokens that its cache holds."""

    def __init__(self, model: Any) -> None:
        self.model, self.layers = model, [None]

    def make_cache(self) -> "list[_Tokens]":
        """Return the caches of all layers."""
        return [_Tokens()]

    def __call__(self, ids: Any, cache: "list[_Tokens] | None" = None) -> Any:
        """Return the logits after each token that is handed over, shape (1, t, V)."""
        mx: Any = _mlx()
        held = self.make_cache()[0] if cache is None else cache[0]
        new = np.array(ids).astype(np.int64)[0].tolist()
        held.tokens += new
        logits = as_array(self.model.logits(np.array([held.tokens])))
        return mx.array(logits[:, -len(new) :].astype(np.float32))


class _Tokens:
    """A cache that holds the tokens themselves."""

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.state: list[Any] = []

    def is_trimmable(self) -> bool:
        """Return whether the last tokens can be forgotten."""
        return True

    def trim(self, count: int) -> int:
        """Forget the last tokens."""
        del self.tokens[len(self.tokens) - count :]
        return count


def llama_cpp_chain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a verifier of blocks of ``common_sampler_sample_and_accept_n`` of llama.cpp.

    It is a function of C++ in ``common/sampling.cpp``, of which a binding or a port is handed over:
    a token is drawn from each row of the target, up to the first one that is not the draft. The
    draft's probabilities are not looked at.

    Parameters
    ----------
    function : callable
        ``(logits, draft)`` of one text, (L + 1, V) in float32 and a list of L tokens → the tokens
        that are kept, and the one after them. Where it does not draw from the shared generators of
        Python, NumPy or PyTorch, it has to take ``seed`` as well.

    Returns
    -------
    callable
        ``(target, drafts) -> emitted tokens``, shape (B, L + 1), with −1 behind; also with ``seed``
        if the function takes one.

    Raises
    ------
    ValueError
        No callable, or one that does not tell its parameters.
    """
    seeded = "seed" in parameters_of(function)

    def verify(target: Any, drafts: Any) -> Any:
        return function(as_array(target), as_array(drafts).tolist())

    def verify_with_seed(target: Any, drafts: Any, seed: int) -> Any:
        return function(as_array(target), as_array(drafts).tolist(), seed=seed)

    return on_logits(one_at_a_time(verify_with_seed if seeded else verify))
