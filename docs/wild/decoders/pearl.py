"""smart-lty/ParallelSpeculativeDecoding (PEARL): its own speculative decoding, for comparison."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from checkout import Checkout
from small_models import TWO, Model, TableModel
from verdict import Case

REPOSITORY = "smart-lty/ParallelSpeculativeDecoding"
COMMIT = "5a6f3690118aabc101cc3e812f1d8d689c634fc3"
FILE = "src/engine.py"
FUNCTION = "Decoding.speculative_decoding"


def wrapped(checkout: Checkout) -> Any:
    """Return a decoder."""
    tools = "sample", "max_fn", "norm_logits", "top_k_top_p_filter"
    used = vars(checkout.load("src/util.py", *tools))
    cache = checkout.load("src/kvcache.py", "KVCacheModel", **used)
    code = checkout.load(FILE, FUNCTION, **used, **vars(cache))

    def generate(draft: Model, target: Model, length: int) -> Any:
        args = SimpleNamespace(max_tokens=length, temp=1, top_k=0, top_p=0, gamma=2)
        here = SimpleNamespace(args=args, vocab_size=2, num_acc_tokens=[])
        here.accelerator = SimpleNamespace(is_main_process=False)
        here.draft_model, here.target_model = TableModel(draft), TableModel(target)
        return code.speculative_decoding(here, torch.zeros(1, 1, dtype=int))[0, 1:].tolist()

    return generate


CASES = [Case("speculative_decoding", FILE, FUNCTION, "pipeline", TWO, 3, wrapped)]
