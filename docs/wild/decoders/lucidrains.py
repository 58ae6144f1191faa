"""lucidrains/speculative-decoding: speculative decoding of a batch."""

from __future__ import annotations

from typing import Any

import torch
from checkout import Checkout
from small_models import RACE, Model, TableModel
from verdict import Case

REPOSITORY = "lucidrains/speculative-decoding"
COMMIT = "72171ac91cd040ad6b67c186ac985e4f50a0c269"
FILE = "speculative_decoding/speculative_decoding.py"
TOOLS = "speculative_decoding", "gumbel_sample", "top_k", "safe_div", "find_first_true_index"
SHAPES = {
    "b -> b 1 1": lambda t: t[:, None, None],
    "b n 1 -> b n": lambda t: t[..., 0],
    "b -> b 1": lambda t: t[:, None],
    "b 1 d -> b d": lambda t: t[:, 0],
    "... -> ... 1": lambda t: t[..., None],
}
"""What is used of einops."""


def wrapped(checkout: Checkout) -> Any:
    """Return a decoder. Gumbel's noise is drawn as minus the logarithm of exponential numbers."""
    tools = {"rearrange": lambda t, shape: SHAPES[shape](t)}
    tools["gumbel_noise"] = lambda t: -torch.empty(t.shape).exponential_().log()
    code = checkout.load(FILE, *TOOLS, **tools)

    def net_of(model: Model) -> Any:
        def net(text: Any, cache: Any = None, **_: Any) -> Any:
            seen = cache[0].shape[-2] if cache else 0
            return TableModel(model)(text[:, seen:]).logits, (
                torch.zeros(1, 1, text.shape[1], 1),
                None,
            )

        return net

    def generate(draft: Model, target: Model, length: int) -> Any:
        prompt, how = torch.zeros(1, 1, dtype=int), {"gamma": 1, "filter_thres": 0.0}
        return code.speculative_decoding(net_of(target), net_of(draft), prompt, length + 1, **how)[
            0
        ][0].tolist()

    return generate


CASES = [Case("speculative_decoding", FILE, "speculative_decoding", "pipeline", RACE, 2, wrapped)]
