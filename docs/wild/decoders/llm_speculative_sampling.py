"""feifeibear/LLMSpeculativeSampling: Google's and DeepMind's speculative sampling."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from checkout import Checkout
from small_models import TWO, Model, Silent, TableModel
from verdict import Case

REPOSITORY = "feifeibear/LLMSpeculativeSampling"
COMMIT = "59a209d37b2e463459057a784f8bd31c1136a58b"
FILE = "sampling/speculative_sampling.py"


def wrapped(checkout: Checkout, *, name: str) -> Any:
    """Return a decoder. Token 0, which ``sample`` takes for an error, is never said."""
    tools = "sample", "max_fn", "norm_logits", "top_k_top_p_filter"
    used = vars(checkout.load("sampling/utils.py", *tools))
    given = {"BloomForCausalLM": type(None), "use_debug": False, **used}
    cache = checkout.load("sampling/kvcache_model.py", "KVCacheModel", **given)
    code = checkout.load(FILE, name, tqdm=Silent, **used, **vars(cache))

    def generate(draft: Model, target: Model, length: int) -> Any:
        models = (TableModel(model, first=1) for model in (draft, target))
        text = getattr(code, name)(torch.ones(1, 1, dtype=int), *models, length, gamma=2)
        return [token - 1 for token in text[0, 1:].tolist()]

    return generate


CASES = [
    Case(name, FILE, name, "pipeline", TWO, 3, partial(wrapped, name=name))
    for name in ("speculative_sampling", "speculative_sampling_v2")
]
