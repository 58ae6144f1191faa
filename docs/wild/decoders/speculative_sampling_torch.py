"""shreyansh26/Speculative-Sampling: DeepMind's speculative sampling in PyTorch."""

from __future__ import annotations

from typing import Any

import torch
from checkout import Checkout
from small_models import TWO, Model, TableModel
from verdict import Case

REPOSITORY = "shreyansh26/Speculative-Sampling"
COMMIT = "81fb3b2720dfc0725ac688f485da9dfbc3c02e22"
FILE = "speculative_sampling.py"


def wrapped(checkout: Checkout) -> Any:
    """Return a decoder."""
    used = checkout.load("utils.py", "sample", "get_distribution", "sample_from_draft_model")
    code = checkout.load(FILE, "speculative_sampling", **vars(used))

    def generate(draft: Model, target: Model, length: int) -> Any:
        models = TableModel(target), TableModel(draft)
        prompt, how = torch.zeros(1, 1, dtype=int), {"lookahead": 2, "debug": False}
        return code.speculative_sampling(*models, prompt, length + 1, None, **how)[0, 1:].tolist()

    return generate


CASES = [Case("speculative_sampling", FILE, "speculative_sampling", "pipeline", TWO, 3, wrapped)]
