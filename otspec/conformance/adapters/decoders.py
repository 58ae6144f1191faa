"""Whole decoders of Hugging Face form and of mlx-lm: small models that have logits and a cache."""

from collections.abc import Callable
from typing import Any

import numpy as np

from otspec._base import as_callable, as_flag, needed
from otspec.conformance.adapters.forms import Tensor, as_array, tensor_of, torch_itself
from otspec.conformance.adapters.shapes import Renamed, parameters_of
from otspec.conformance.adapters.table_models import table_class, table_model
from otspec.conformance.cases.calling import wanted_by
from otspec.conformance.engines import TextEngine, one_by_one

DRAFTED = 2  # default number of tokens that a step drafts


def hugging_face_decoder(
    function: Callable[..., Any],
    *,
    prompt: bool = True,
    batch: bool = False,
    transformers: bool = False,
) -> Callable[..., Any]:
    """Return an engine for pipeline mode, from a decoder that takes two models and token ids.

    The models are small tables in the form of Hugging Face: ``model(ids, past_key_values=...,
    use_cache=...)`` gives ``logits`` and ``past_key_values``, and a model has ``device`` and
    ``config``. The cache holds the tokens themselves, shape (B, 1, t, 1), and the logits follow
    from it: a cache that is not cut back after a rejection shows.

    Parameters
    ----------
    function : callable
        Takes ``draft``, ``target`` and ``ids``, (1, 1) of int64, and if it wants ``length`` (how
        many tokens to generate), ``block`` (how many a step drafts), ``temperature``, ``top_k``,
        ``top_p`` and ``seed``. It returns at least ``length`` token ids, as a tensor or a list.
    prompt : bool
        Whether what it returns begins with the prompt.
    batch : bool
        Whether it takes many prompts at once, (B, 1), and returns (B, T) or (B, T + 1).
    transformers : bool
        Whether the models are ``PreTrainedModel`` of the installed transformers, with
        ``generate``; the library then makes the cache.

    Returns
    -------
    callable
        For ``check(engine, kind="block", mode="pipeline", arrays="torch")``, and for
        :func:`otspec.conformance.exact_texts`, where the models may depend on the whole text;
        the text begins after a prompt of one token 0.

    Examples
    --------
    A repository's ``generate`` that returns the prompt and what follows it::

        def engine(draft, target, ids, length):
            return generate(draft, target, ids, max_new_tokens=length)

        check(hugging_face_decoder(engine), kind="block", mode="pipeline", arrays="torch")
    """
    parameters_of(function)  # refuses what has none
    names = tuple(wanted_by(function, (*TextEngine.names, *TextEngine.random)))
    begins, at_once = as_flag(prompt, "prompt"), as_flag(batch, "batch")
    library = as_flag(transformers, "transformers")
    if library:
        table_class(library)

    def said(*, draft: Any, target: Any, prompts: Any, length: int, **given: Any) -> Any:
        ids = tensor_of(prompts, "int64")
        models = {"draft": table_model(draft, library), "target": table_model(target, library)}
        known = {**given, **models, "ids": ids, "length": length}
        texts = function(**{name: value for name, value in known.items() if name in names})
        rows = as_array(texts).reshape(len(ids), -1)[:, int(begins) :]
        if rows.shape[1] < length:
            raise ValueError(
                f"the decoder returned {rows.shape[1]} tokens after the prompt: it must return "
                f"{length} at least; prompt={begins} says whether they begin with the prompt"
            )
        return rows[:, :length]

    fixed = ("draft", "target", "prompts", "length")
    taken = (*fixed, *(name for name in names if name not in (*fixed, "ids")))
    engine = Renamed(said, taken)
    return _Decoder(engine if at_once else one_by_one(engine), taken)


class _Decoder(Renamed):
    """An engine that may also be called by place, as exact texts do it, without a prompt."""

    def __call__(self, *models: Any, **given: Any) -> Any:
        """Generate texts after prompts, or one text from its beginning."""
        given |= dict(zip(("draft", "target", "length"), models, strict=False))
        if "prompts" in given:
            return self.function(**given)
        alone = {"prompts": np.zeros((1, 1), dtype=np.int64), "block": DRAFTED}
        given |= {name: value for name, value in alone.items() if name in self.names}
        return np.ravel(self.function(**given))


def candidates(make: Callable[..., Any]) -> Callable[..., Tensor]:
    """Return a decoder whose drafts are those of a candidate generator of transformers.

    They are verified token by token with what the generator declares, or as certain where it
    declares nothing: what is off is then the generator's, such as logits that drafts were not
    sampled from. Hand it to :func:`hugging_face_decoder` with ``transformers=True``.

    Parameters
    ----------
    make : callable
        ``(draft, target, ids, block)`` → an object with ``get_candidates(ids)``, which returns
        the ids with drafts behind them and their logits, (1, L, V), or None, as
        ``CandidateGenerator`` of ``transformers/generation/candidate_generator.py`` 5.24; and
        ``update_candidate_strategy``, if it has that.

    Returns
    -------
    callable
        ``(draft, target, ids, length, block) -> ids`` with what follows them.

    Raises
    ------
    ValueError
        No callable.
    """
    as_callable(make, "make", "what makes a candidate generator of draft, target, ids and block")

    def decode(draft: Any, target: Any, ids: Tensor, length: int, block: int) -> Tensor:
        torch, wanted = torch_itself(), ids.shape[1] + length
        source = make(draft, target, ids, block)
        while ids.shape[1] < wanted:
            drafted, declared = source.get_candidates(ids)
            start, logits = ids.shape[1], target(drafted).logits[:, ids.shape[1] - 1 :]
            tokens = drafted[0, start:].tolist()
            rows = logits[0].double().softmax(-1)
            kept, last = _verified(tokens, declared, rows)
            ids = torch.cat([drafted[:, : start + kept], last[None]], dim=1)
            if hasattr(source, "update_candidate_strategy"):
                source.update_candidate_strategy(ids, logits, kept)
        return ids

    return decode


def _verified(tokens: list[int], declared: Tensor | None, target: Tensor) -> tuple[int, Tensor]:
    """Verify drafts token by token; return how many are kept, and the token after them."""
    torch = torch_itself()
    for place, token in enumerate(tokens):
        draft = torch.zeros_like(target[place])
        draft[token] = 1
        if declared is not None:
            draft = declared[0, place].double().softmax(-1)
        if not torch.rand((), dtype=torch.float64) * draft[token] < target[place, token]:
            residual = (target[place] - draft).clamp(min=0)
            return place, torch.multinomial(residual, 1)
    return len(tokens), torch.multinomial(target[len(tokens)], 1)


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
