"""Small models of Hugging Face form: they have logits, a cache, a device and a configuration."""

from collections.abc import Callable, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from otspec._base import needed
from otspec.auditing.black_box import seeded
from otspec.conformance.adapters.forms import Tensor, tensor_of, torch_itself
from otspec.models.base import CallableModel

LONGEST = 1 << 16  # longest text that a model accepts, in tokens


class Output(NamedTuple):
    """What a model of Hugging Face form returns."""

    logits: Tensor  # (B, t, V), for the tokens that were handed over
    past_key_values: Any


def table_model(model: Any, library: bool) -> Any:
    """Return a model of Hugging Face form."""
    if hasattr(model, "logits"):
        read = model.logits
        vocabulary = model(np.zeros((1, 1), dtype=np.int64)).shape[-1]
    else:
        named = model if hasattr(model, "n") else CallableModel(model, "a model")
        read, vocabulary = _reader(named), named.n
    return table_class(library)(lambda texts: tensor_of(read(texts)), vocabulary)


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
def table_class(library: bool) -> Any:
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
