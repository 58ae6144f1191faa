"""The pair of language models that a trace is logged from, and what they say along a text."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from otspec._base import Array
from otspec.models import pretrained


@dataclass(frozen=True)
class Models:
    """A draft and a target model over one vocabulary.

    Parameters
    ----------
    draft, target : transformers.PreTrainedModel
        Causal models.
    tokenizer : transformers.PreTrainedTokenizerBase
        The one that both use.
    device : str
        Where the models are.
    """

    draft: Any
    target: Any
    tokenizer: Any
    device: str

    @property
    def vocabulary(self) -> int:
        """Number of logits that both models have; what one has more is padding."""
        models = (self.draft, self.target)
        return min(int(model.config.get_text_config().vocab_size) for model in models)

    @property
    def ends(self) -> tuple[int, ...]:
        """The tokens that end a text of the target."""
        of_model = self.target.config.get_text_config().eos_token_id
        named = of_model if isinstance(of_model, list) else [of_model]
        tokens = {self.tokenizer.eos_token_id, *named} - {None}
        return tuple(sorted(token for token in tokens if token < self.vocabulary))

    def begun(self, prompt: str, *, chat: bool) -> list[int]:
        """Return the tokens of a prompt, as it is or in the turns of a chat: at least one."""
        if chat:
            if not self.tokenizer.chat_template:
                raise ValueError("the tokenizer has no chat template: leave out --chat")
            turns = [{"role": "user", "content": prompt}]
            prompt = self.tokenizer.apply_chat_template(
                turns, add_generation_prompt=True, tokenize=False
            )
        tokens: list[int] = self.tokenizer(prompt, add_special_tokens=not chat)["input_ids"]
        if not tokens:
            raise ValueError(f"prompt {prompt!r} has no token: write at least one word")
        return tokens

    def logits(self, model: Any, tokens: list[int], cache: Any) -> tuple[Array, Any]:
        """Return what a model says after each of the tokens that follow its cache, and the cache.

        The rows are float16, shape (m, n): logits less the largest of their row, so that the likely
        tokens have the most digits. A ValueError refuses logits that are no numbers.
        """
        import torch

        with torch.inference_mode():
            ids = torch.tensor([tokens], device=self.device)
            output = model(ids, use_cache=True, **{pretrained.cache_name(model): cache})
            numbers = output.logits[0, :, : self.vocabulary].float()
            rows: Array = (numbers - numbers.amax(dim=-1, keepdim=True)).cpu().numpy()
        if np.isnan(rows).any():
            raise ValueError("a model's logits are NaN or infinite: load it in another type")
        with np.errstate(over="ignore"):  # a token that is never drawn
            return rows.astype(np.float16), getattr(output, pretrained.cache_name(model))


@dataclass(frozen=True)
class NamedModels:
    """The options of a command that say which models it asks, checked."""

    target: str | None
    draft: str | None
    gguf: str | None  # in place of both
    skip_layers: tuple[int, ...] | None  # of a target without a draft; by default SmolLM2's

    def __post_init__(self) -> None:
        if (self.target is None) == (self.gguf is None):
            raise ValueError("name the target by either --target or --gguf")
        if self.gguf is not None:
            if self.draft is not None:
                raise ValueError(
                    "--gguf is target and draft: use --skip-layers in place of --draft"
                )
            if self.skip_layers is None:
                object.__setattr__(self, "skip_layers", pretrained.SMOLLM2_SKIPPED)
        elif (self.draft is None) == (self.skip_layers is None):
            raise ValueError("name the draft by either --draft or --skip-layers")

    def load(self, device: str | None) -> Models:
        """Load the models; errors are those of :func:`load_models` and :func:`load_gguf`."""
        if self.gguf is not None:
            return load_gguf(self.gguf, self.skip_layers or (), device=device)
        models = load_models(self.draft or str(self.target), str(self.target), device=device)
        if self.skip_layers is None:
            return models
        return replace(models, draft=pretrained.without_layers(models.target, self.skip_layers))


def load_models(draft: str, target: str, *, device: str | None = None) -> Models:
    """Load two models and their tokenizer, from folders or the Hugging Face hub.

    ``device`` is such as ``"cuda"`` or ``"cpu"``; by default a GPU if there is one. A ValueError
    says which packages are missing, why a model cannot be loaded, or that tokenizers differ.
    """
    where = _device(device)
    transformers = pretrained.model_package("transformers")
    try:
        tokenizers = [transformers.AutoTokenizer.from_pretrained(name) for name in (draft, target)]
        if tokenizers[0].get_vocab() != tokenizers[1].get_vocab():
            raise ValueError("they have different tokenizers: use two models of one family")
        with pretrained.quiet():
            models = [
                transformers.AutoModelForCausalLM.from_pretrained(name).to(where).eval()
                for name in (draft, target)
            ]
    except (OSError, ValueError, RuntimeError) as error:
        raise ValueError(f"cannot use {draft} and {target}: {error}") from error
    return Models(models[0], models[1], tokenizers[1], where)


def load_gguf(name: str, skipped: Iterable[int], *, device: str | None = None) -> Models:
    """Load a model from a GGUF file, with itself as the draft, some layers left out.

    ``name`` is the file, or an installed package that holds it, see
    :func:`otspec.models.pretrained.find_gguf`; ``skipped`` are the layers that the draft leaves
    out. Otherwise as :func:`load_models`.
    """
    where = _device(device)
    target, tokenizer = pretrained.read_gguf(pretrained.find_gguf(name))
    target = target.to(where)
    return Models(pretrained.without_layers(target, skipped), target, tokenizer, where)


def _device(device: str | None) -> str:
    torch = pretrained.model_package("torch")
    return device or ("cuda" if torch.cuda.is_available() else "cpu")
