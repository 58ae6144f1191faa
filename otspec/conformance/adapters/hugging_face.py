"""Whole decoders of Hugging Face form: small models that have logits, a cache, and a device."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from otspec._base.arguments import as_callable, as_flag
from otspec._base.extras import needed
from otspec.auditing.black_box import seeded
from otspec.conformance.adapters.shapes import Renamed, parameters_of
from otspec.conformance.adapters.tensors import Tensor, as_array, tensor_of, torch_itself
from otspec.conformance.engines import TextEngine, one_by_one
from otspec.models.callables import CallableModel

LONGEST = 1 << 16
"""What a model says is the most tokens of a text."""
DRAFTED = 2
"""Tokens that a step drafts where nothing else is asked for."""


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
    from what it holds: a cache that is not cut back after a rejection shows.

    Parameters
    ----------
    function : callable
        Takes ``draft``, ``target`` and ``ids``, (1, 1) of int64, and if it wants ``length`` (how
        many tokens to say), ``block`` (how many tokens a step drafts), ``temperature``, ``top_k``,
        ``top_p`` and ``seed``. It returns at least ``length`` token ids, as a tensor or a list.
    prompt : bool
        Whether what it returns begins with the prompt.
    batch : bool
        Whether it takes many prompts at once, (B, 1), and returns (B, T) or (B, T + 1).
    transformers : bool
        Whether the models are ``PreTrainedModel`` of the installed transformers, with
        ``generate``; the cache is then what the library makes.

    Returns
    -------
    callable
        For ``check(engine, kind="block", mode="pipeline", arrays="torch")``, and for
        :func:`otspec.conformance.exact_texts`, where the models may depend on the whole text;
        the text begins after a prompt of one token 0.

    Raises
    ------
    ValueError
        No callable or no flag. When it is called: PyTorch (or transformers) is not installed; or
        the decoder returns too few tokens.

    Examples
    --------
    A repository's ``generate`` that returns the prompt and what follows it::

        def engine(draft, target, ids, length):
            return generate(draft, target, ids, max_new_tokens=length)

        check(hugging_face_decoder(engine), kind="block", mode="pipeline", arrays="torch")
    """
    names = _taken(function)
    begins, at_once = as_flag(prompt, "prompt"), as_flag(batch, "batch")
    library = as_flag(transformers, "transformers")
    if library:
        _table_class(library)

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


def _taken(function: Any) -> tuple[str, ...]:
    """Return the parameters that a decoder is given: without a default, or known by name."""
    parameters_of(function)
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return tuple(
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind not in variable
        and (
            parameter.default is parameter.empty or name in (*TextEngine.names, *TextEngine.random)
        )
    )


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


class Output(NamedTuple):
    """What a model of Hugging Face form returns."""

    logits: Tensor  # (B, t, V), for the tokens that were handed over
    past_key_values: Any


def table_model(model: Any, library: bool = False) -> Any:
    """Return a model of Hugging Face form.

    Parameters
    ----------
    model : SmallModel, or a map from a prefix to a distribution
        In the second case prefixes begin after the first token.
    library : bool
        Whether to make a ``PreTrainedModel``.
    """
    if hasattr(model, "logits"):
        read = model.logits
        vocabulary = model(np.zeros((1, 1), dtype=np.int64)).shape[-1]
    else:
        named = model if hasattr(model, "n") else CallableModel(model, "a model")
        read, vocabulary = _reader(named), named.n
    return _table_class(library)(lambda texts: tensor_of(read(texts)), vocabulary)


def _reader(model: Any) -> Callable[[Tensor], Any]:
    """Return the logits after each token of texts, of a model of prefixes, in float64."""

    def read(texts: Tensor) -> Any:
        rows = [
            [np.asarray(model(tuple(text[1:end])), dtype=float) for end in range(1, len(text) + 1)]
            for text in texts.tolist()
        ]
        with np.errstate(divide="ignore"):
            return np.log(np.array(rows))

    return read


@cache
def _table_class(library: bool) -> Any:
    """Return the class of models, which has PyTorch's below it, or transformers' as well."""
    torch = torch_itself()
    bases: tuple[Any, ...] = (torch.nn.Module,)
    if library:
        whole = needed("transformers", "models that generate", "hf")
        bases = (whole.PreTrainedModel, whole.GenerationMixin)

    class Table(*bases):  # type: ignore[misc]
        """A model whose logits follow from the tokens that its cache holds, and the new ones."""

        def __init__(self, read: Callable[[Tensor], Tensor], vocabulary: int) -> None:
            config = _config(library, vocabulary)
            super().__init__(*([config] if library else []))
            self.config, self.read = config, read
            self.unused = torch.nn.Parameter(torch.zeros(1), requires_grad=False)
            if not library:
                self.device, self.dtype = self.unused.device, torch.float32

        def forward(
            self,
            input_ids: Tensor,
            past_key_values: Any = None,
            cache: Any = None,
            use_cache: bool | None = None,
            **_unused: Any,
        ) -> Any:
            """Return the logits after each token that is handed over."""
            held = past_key_values if cache is None else cache
            text, kept = _remembered(held, input_ids)
            logits = self.read(text)[:, -input_ids.shape[1] :]
            return _output(library, logits, None if use_cache is False else kept)

    if library:
        Table.config_class = _config_class()
        _generate_once(Table)
    return Table


def _generate_once(table: Any) -> None:
    """Generate a text: the first one imports modules, which draw random numbers meanwhile."""
    torch = torch_itself()
    target, draft = (table(lambda texts: torch.zeros(*texts.shape, 2), 2) for _ in range(2))
    ids = torch.zeros(1, 1, dtype=torch.int64)
    with seeded(0):
        target.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            assistant_model=draft,
            do_sample=True,
            max_new_tokens=2,
            pad_token_id=0,
        )


def _remembered(held: Any, ids: Tensor) -> tuple[Tensor, Any]:
    """Return the whole text, shape (B, t), and the cache with the new tokens."""
    new = ids[:, None, :, None]
    if hasattr(held, "update") and not isinstance(held, Mapping):
        keys, _ = held.update(new, new, 0)
        return keys[:, 0, :, 0].long(), held
    layers = [] if held is None else list(held)
    keys = torch_itself().cat([layers[0][0], new], dim=2) if layers else new
    return keys[:, 0, :, 0].long(), ((keys, keys),)


def _output(library: bool, logits: Tensor, kept: Any) -> Any:
    if not library:
        return Output(logits, kept)
    from transformers.modeling_outputs import CausalLMOutputWithPast

    # Transformers renamed it in version 5.24.
    fields = CausalLMOutputWithPast.__dataclass_fields__
    name = "past_key_values" if "past_key_values" in fields else "cache"
    return CausalLMOutputWithPast(logits=logits.float(), **{name: kept})


@cache
def _config_class() -> Any:
    whole: Any = needed("transformers", "models that generate", "hf")

    class TableConfig(whole.PretrainedConfig):  # type: ignore[misc]
        """Of a model that is a table."""

        model_type = "otspec_table"

    return TableConfig


def _config(library: bool, vocabulary: int) -> Any:
    make = _config_class() if library else SimpleNamespace
    ends = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"))
    sizes = ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads")
    return make(
        vocab_size=vocabulary,
        max_position_embeddings=LONGEST,
        is_encoder_decoder=False,
        **dict.fromkeys(sizes, 1),
        **ends,
    )


def candidates(
    make: Callable[..., Any],
) -> Callable[..., Tensor]:
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
