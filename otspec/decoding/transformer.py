"""A causal model of transformers that reads trees, by tree attention (MCSD, sec. 3.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

from otspec.arithmetic import Array
from otspec.decoding.reader import Reader, Reading
from otspec.distributions import Distribution, as_distribution
from otspec.frozen import Frozen
from otspec.pretrained import cache_name, takes
from otspec.traces.readers import Warp
from otspec.trees import TokenTree

ATTENTION = ("eager", "sdpa")
"""Implementations of attention that take a mask of their own for each pair of tokens."""
FULL = "full_attention"
"""What transformers calls layers in which every token sees all that are before it."""


@dataclass(frozen=True, eq=False)
class TransformerReader(Reader):
    """A causal model of transformers, with the keys and values of what it has read.

    Law: its distributions are those that the model gives for each text by itself, up to rounding:
    every token sees its ancestors only, and has the position that it has in its own text.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        As :func:`check_model` wants it.
    n : int
        Vocabulary size; further logits of the model are padding.
    warping : Warp
        What makes a distribution of logits.
    length : int
        Tokens of the text.
    parents : tuple of int
        Of all that was read behind it, as :meth:`read` takes them.
    layers : tuple
        Keys and values of each layer, of shape (1, heads, tokens, size of a head).
    """

    model: Any
    n: int
    warping: Warp
    length: int = 0
    parents: tuple[int, ...] = ()
    layers: tuple[tuple[Any, Any], ...] = field(default=(), repr=False)

    def read(self, tokens: Sequence[int], parents: Sequence[int], last: int) -> Reading:
        """Read more tokens in one call of the model."""
        import torch
        from transformers import DynamicCache

        tree = TokenTree((*self.parents, *parents))
        device = self.model.device
        seen = torch.from_numpy(tree.attention_mask(self.length)[-len(tokens) :]).to(device)
        dtype = self.model.dtype
        hidden = torch.tensor(torch.finfo(dtype).min, dtype=dtype, device=device)
        cache = DynamicCache()
        for index, (keys, values) in enumerate(self.layers):
            cache.update(keys, values, index)
        positions = tree.positions(self.length)[-len(tokens) :]
        with torch.inference_mode():
            output = self.model(
                torch.tensor([list(tokens)], device=device),
                attention_mask=torch.where(seen, hidden * 0, hidden)[None, None],
                position_ids=torch.from_numpy(positions)[None].to(device),
                use_cache=True,
                **{cache_name(self.model): cache},
                **({"logits_to_keep": last} if takes(self.model, "logits_to_keep") else {}),
            )
        logits = output.logits[0, -last:, : self.n].double().cpu().numpy()
        layers = tuple((layer.keys, layer.values) for layer in cache.layers)
        return Reading(
            WarpedRows(logits, self.warping), replace(self, parents=tree.parents, layers=layers)
        )

    def keep(self, path: Sequence[int]) -> TransformerReader:
        """Return the reader of a longer text; keys and values of all else are dropped."""
        import torch

        kept = [*range(self.length), *(self.length + place for place in path)]
        rows = torch.tensor(kept, device=self.model.device)
        layers = tuple(
            (keys.index_select(2, rows), values.index_select(2, rows))
            for keys, values in self.layers
        )
        return replace(self, length=len(kept), parents=(), layers=layers)


class WarpedRows(Frozen, Sequence[Distribution]):
    """Distributions of rows of logits, each made when it is looked at.

    Parameters
    ----------
    logits : ndarray, shape (m, n)
    warping : Warp
    """

    def __init__(self, logits: Array, warping: Warp) -> None:
        self._hold(logits=logits)
        self.warping = warping

    logits: Array

    def __len__(self) -> int:
        return len(self.logits)

    @overload
    def __getitem__(self, index: int) -> Distribution: ...
    @overload
    def __getitem__(self, index: slice) -> WarpedRows: ...
    def __getitem__(self, index: int | slice) -> Distribution | WarpedRows:
        if isinstance(index, slice):
            return WarpedRows(self.logits[index], self.warping)
        row = self.warping.distribution(self.logits[index], "logits", "logits")
        return as_distribution(row, "the model's probabilities")


def check_model(model: Any, name: str) -> None:
    """Refuse what cannot read a tree.

    Raises
    ------
    ValueError
        No causal model of transformers, one that is being trained, or one whose attention does
        not take a mask for each pair of tokens.
    """
    if not (callable(getattr(model, "forward", None)) and hasattr(model, "config")):
        raise ValueError(
            f"{name} is {type(model).__name__}: it must be a causal model of transformers, such as "
            "AutoModelForCausalLM.from_pretrained(...)"
        )
    if model.training:
        raise ValueError(f"{name} is being trained, with chance in it: call {name}.eval() first")
    if not takes(model, "position_ids"):
        raise ValueError(
            f"{name} is {type(model).__name__}, which takes no position_ids: the tokens of a tree "
            "need positions of their own, so use a model that takes them, such as Llama"
        )
    config = model.config.get_text_config()
    attention = getattr(config, "_attn_implementation", None)
    if attention not in ATTENTION:
        raise ValueError(
            f"{name} has the attention {attention}, which takes no mask of a tree: load it with "
            f'attn_implementation="{ATTENTION[-1]}"'
        )
    kinds = set(getattr(config, "layer_types", None) or (FULL,))
    if kinds != {FULL} or getattr(config, "sliding_window", None) is not None:
        raise ValueError(
            f"{name} is {type(model).__name__} with layers that do not see the whole text: use a "
            "model with full attention in all layers"
        )


def vocabulary(model: Any) -> int:
    """Return the number of logits of a model."""
    return int(model.config.get_text_config().vocab_size)


def positions(model: Any) -> float:
    """Return how many tokens a text may have; infinity where the configuration does not say."""
    most = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    return math.inf if most is None else int(most)


def end_tokens(model: Any) -> tuple[int, ...]:
    """Return the tokens that end a text, as the configurations of a model name them."""
    for config in (getattr(model, "generation_config", None), model.config.get_text_config()):
        named = getattr(config, "eos_token_id", None)
        if named is not None:
            return tuple(named) if isinstance(named, (list, tuple)) else (int(named),)
    return ()
