"""A causal model of transformers that reads trees, by tree attention (MCSD, sec. 3.3)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np

from otspec._base import Array
from otspec.blocks import TokenTree
from otspec.decoding.verification import Reader, Reading, Request
from otspec.distributions import Distribution, as_distribution
from otspec.models.pretrained import cache_name, takes
from otspec.traces import Warp
from otspec.traces.readers import TextRows

ATTENTION = ("eager", "sdpa")
"""Implementations of attention that take a mask of their own for each pair of tokens."""
Layers: TypeAlias = tuple[tuple[Any, Any], ...]
"""Keys and values of each layer, of shape (1, heads, tokens, size of a head)."""
FULL = "full_attention"
"""What transformers calls layers in which every token sees all that are before it."""


@dataclass(frozen=True, eq=False)
class TransformerReader(Reader):
    """A causal model of transformers, with the keys and values of what it has read.

    Law: its distributions are those that the model gives for each text by itself, up to rounding:
    every token sees its ancestors only, and has the position that it has in its own text.
    """

    model: Any  # as :func:`check_model` wants it
    n: int  # vocabulary size; further logits of the model are padding
    warping: Warp  # what makes a distribution of logits
    length: int = 0  # tokens of the text
    parents: tuple[int, ...] = ()  # of all that was read behind it, as :meth:`read` takes them
    layers: Layers = field(default=(), repr=False)  # keys and values of each layer

    def read(self, tokens: Sequence[int], parents: Sequence[int], last: int) -> Reading:
        """Read more tokens in one call of the model."""
        return self.read_all([Request(self, tokens, parents, last)])[0]

    @classmethod
    def read_all(cls, requests: Sequence[Request]) -> list[Reading]:
        """Read for several texts in one call of the model."""
        # In a row of the batch stand, from the left, what the text has in its cache, padding up to
        # the longest of the caches, padding again, and the new tokens, which end together.
        import torch
        from transformers import DynamicCache

        readers = cast("list[TransformerReader]", [each.reader for each in requests])
        trees = [
            TokenTree((*reader.parents, *each.parents))
            for reader, each in zip(readers, requests, strict=True)
        ]
        model = readers[0].model
        past = max(reader.read_tokens for reader in readers)
        width = max(len(each.tokens) for each in requests)
        tokens = np.zeros((len(requests), width), np.int64)
        positions = np.zeros_like(tokens)
        seen = np.zeros((len(requests), width, past + width), bool)
        # Padding sees itself: without anything to see it would be NaN, of which 0 times is NaN.
        seen[:, range(width), range(past, past + width)] = True
        for row, (reader, tree, each) in enumerate(zip(readers, trees, requests, strict=True)):
            new, known = len(each.tokens), reader.read_tokens
            tokens[row, width - new :] = each.tokens
            positions[row, width - new :] = tree.positions(reader.length)[-new:]
            mask = tree.attention_mask(reader.length)[-new:]
            seen[row, width - new :, :known] = mask[:, :known]
            seen[row, width - new :, past + width - new :] = mask[:, known:]
        hidden = torch.tensor(torch.finfo(model.dtype).min, dtype=model.dtype, device=model.device)
        cache = DynamicCache()
        for index, layer in enumerate(_stacked([reader.layers for reader in readers], past)):
            cache.update(*layer, index)
        last = max(each.last for each in requests)
        with torch.inference_mode():
            output = model(
                torch.from_numpy(tokens).to(model.device),
                attention_mask=torch.where(
                    torch.from_numpy(seen).to(model.device), hidden * 0, hidden
                )[:, None],
                position_ids=torch.from_numpy(positions).to(model.device),
                use_cache=True,
                **{cache_name(model): cache},
                **({"logits_to_keep": last} if takes(model, "logits_to_keep") else {}),
            )
            logits = output.logits[:, -last:].double().cpu().numpy()
        found = []
        for row, (reader, tree, each) in enumerate(zip(readers, trees, requests, strict=True)):
            own = (slice(reader.read_tokens), slice(past + width - len(each.tokens), None))
            layers = tuple(
                (_row(layer.keys, row, own), _row(layer.values, row, own)) for layer in cache.layers
            )
            asked = logits[row, -each.last :, : reader.n]
            rows = TextRows(range(len(asked)), partial(_distribution, asked, reader.warping))
            found.append(Reading(rows, replace(reader, parents=tree.parents, layers=layers)))
        return found

    @property
    def read_tokens(self) -> int:
        """How many tokens are in the cache: those of the text, and of what was read behind it."""
        return self.length + len(self.parents)

    def keep(self, path: Sequence[int]) -> "TransformerReader":
        """Return the reader of a longer text; keys and values of all else are dropped."""
        import torch

        kept = [*range(self.length), *(self.length + place for place in path)]
        rows = torch.tensor(kept, device=self.model.device)
        layers = tuple(
            (keys.index_select(2, rows), values.index_select(2, rows))
            for keys, values in self.layers
        )
        return replace(self, length=len(kept), parents=(), layers=layers)


def _stacked(texts: Sequence[Layers], past: int) -> Iterator[tuple[Any, Any]]:
    """Yield the keys and values of each layer for a batch, padded to one number of tokens."""
    import torch

    if len(texts) == 1:
        yield from texts[0]
        return
    for index, like in enumerate(next(filter(None, texts), ())):
        pairs = [text[index] if text else tuple(each[:1, :, :0] for each in like) for text in texts]
        keys, values = (
            [torch.nn.functional.pad(each, (0, 0, 0, past - each.shape[2])) for each in side]
            for side in zip(*pairs, strict=True)
        )
        yield torch.cat(keys), torch.cat(values)


def _row(batch: Any, row: int, own: Sequence[slice]) -> Any:
    """Return the keys or values of a text of a batch, shape (1, heads, tokens, size of a head)."""
    import torch

    if len(batch) == 1:
        return batch
    return torch.cat([batch[row : row + 1, :, each] for each in own], dim=2)


def _distribution(logits: Array, warping: Warp, place: int) -> Distribution:
    row = warping.distribution(logits[place], "logits", "logits")
    return as_distribution(row, "the model's probabilities")


def check_model(model: Any, name: str) -> None:
    """Refuse what cannot read a tree."""
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
