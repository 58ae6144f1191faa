"""dilab-zju/self-speculative-decoding: drafts of the same model without some layers."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from checkout import Checkout
from instances import TWO, Model, TableModel
from verdict import Case

REPOSITORY = "dilab-zju/self-speculative-decoding"
COMMIT = "688db8b74a782af21777b7ad5aeb399d7eb26faf"
FILE = "decoding.py"


def wrapped(checkout: Checkout, *, sampled: bool) -> Any:
    """Return a decoder: without some layers the target is the draft."""
    code = checkout.load(
        FILE, "self_speculative_sample", "sample", "max_fn", top_k_top_p_filtering=lambda x, **_: x
    )

    def generate(draft: Model, target: Model, length: int) -> Any:
        class Both(TableModel):
            @contextmanager
            def self_draft(self) -> Any:
                self.model = draft
                yield
                self.model = target

        how = {
            "max_step_draft": 2,
            "do_sample": True,
            "do_sample_draft": sampled,
            "top_p": 1.0,
            "temperature": 1.0,
        }
        prompt = torch.zeros(1, 1, dtype=int)
        return code.self_speculative_sample(Both(target), None, prompt, length + 1, **how)[
            "generate_ids"
        ][0].tolist()

    return generate


CASES = [
    Case(
        name, FILE, "self_speculative_sample", "pipeline", TWO, 3, partial(wrapped, sampled=sampled)
    )
    for name, sampled in (
        ("self_speculative_sample, drafts sampled", True),
        ("self_speculative_sample, by default", False),
    )
]
