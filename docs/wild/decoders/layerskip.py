"""facebookresearch/LayerSkip: self-speculation of one text."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from checkout import Checkout
from instances import TWO, Model, TableModel
from verdict import Case

REPOSITORY = "facebookresearch/LayerSkip"
COMMIT = "f42c66965545747d42e27d4beab86b5c17956566"
FILE = "self_speculation/self_speculation_generator.py"
STRATEGY = "SelfSpeculativeGenerationStrategy"


def wrapped(checkout: Checkout) -> Any:
    """Return a decoder: the first layers are the draft."""
    used = "decode_next_token", "crop_past_key_values"
    given = vars(
        checkout.load(
            "self_speculation/llama_model_utils.py", *used, top_k_top_p_filtering=lambda x, **_: x
        )
    )
    given["decode_next_token"].__kwdefaults__ = None

    def generate(draft: Model, target: Model, length: int) -> Any:
        def run(model: Any) -> Any:
            return lambda _, ids, *__: SimpleNamespace(
                exit_query_cache=None, **TableModel(model)(ids)
            )

        result = {"GenerationStrategy": object, "GenerationStrategyResult": SimpleNamespace}
        more = {"forward_early": run(draft), "forward_remainder": run(target), **given, **result}
        code = checkout.load(FILE, STRATEGY, "max_fn", **more)
        how = SimpleNamespace(
            max_steps=length,
            num_speculations=2,
            exit_layer=1,
            sample=True,
            temperature=1.0,
            top_k=0,
            top_p=1.0,
        )
        return (
            getattr(code, STRATEGY)()
            .generate_token_ids(SimpleNamespace(device="cpu"), [0], [-1], how)
            .predicted_tokens
        )

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
