"""facebookresearch/LayerSkip: self-speculation of one text."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from checkout import Checkout
from small_models import TWO, Model, TableModel
from verdict import Case

REPOSITORY = "facebookresearch/LayerSkip"
COMMIT = "f42c66965545747d42e27d4beab86b5c17956566"
FILE = "self_speculation/self_speculation_generator.py"
STRATEGY = "SelfSpeculativeGenerationStrategy"


HOW = {"num_speculations": 2, "exit_layer": 1, "sample": True}
WARP = {"temperature": 1.0, "top_k": 0, "top_p": 1.0}
TOOLS = "self_speculation/llama_model_utils.py"


def run(model: Model) -> Any:
    """Return what runs the first layers, or all."""

    def forward(_: Any, ids: Any, *__: Any) -> Any:
        return SimpleNamespace(exit_query_cache=None, **TableModel(model)(ids))

    return forward


def wrapped(checkout: Checkout) -> Any:
    """Return a decoder: the first layers are the draft."""
    used, warp = ("decode_next_token", "crop_past_key_values"), lambda logits, **_: logits
    given = vars(checkout.load(TOOLS, *used, top_k_top_p_filtering=warp))
    given |= {"GenerationStrategy": object, "GenerationStrategyResult": SimpleNamespace}

    def generate(draft: Model, target: Model, length: int) -> Any:
        layers = {"forward_early": run(draft), "forward_remainder": run(target)}
        code = checkout.load(FILE, STRATEGY, "max_fn", **given, **layers)
        model, how = SimpleNamespace(device="cpu"), SimpleNamespace(max_steps=length, **HOW, **WARP)
        said = getattr(code, STRATEGY)().generate_token_ids(model, [0], [-1], how)
        return said.predicted_tokens

    return generate


CASES = [
    Case(
        "single_step_speculation",
        FILE,
        f"{STRATEGY}.single_step_speculation",
        "pipeline",
        TWO,
        3,
        wrapped,
    )
]
