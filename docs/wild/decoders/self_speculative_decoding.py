"""dilab-zju/self-speculative-decoding: drafts of the same model without some layers."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from checkout import Checkout
from small_models import TWO, Model, TableModel
from verdict import Case

REPOSITORY = "dilab-zju/self-speculative-decoding"
COMMIT = "688db8b74a782af21777b7ad5aeb399d7eb26faf"
FILE = "decoding.py"


FUNCTION = "self_speculative_sample"


class Both(TableModel):
    """The target, and the draft while it drafts."""

    def __init__(self, draft: Model, target: Model) -> None:
        super().__init__(target)
        self.models = draft, target

    @contextmanager
    def self_draft(self) -> Any:
        """Leave out layers."""
        self.model = self.models[0]
        yield
        self.model = self.models[1]


def wrapped(checkout: Checkout, *, sampled: bool) -> Any:
    """Return a decoder: without some layers the target is the draft."""
    warp = {"top_k_top_p_filtering": lambda logits, **_: logits}
    code = checkout.load(FILE, FUNCTION, "sample", "max_fn", **warp)

    def generate(draft: Model, target: Model, length: int) -> Any:
        how = {"do_sample": True, "do_sample_draft": sampled, "top_p": 1.0, "temperature": 1.0}
        given = Both(draft, target), None, torch.zeros(1, 1, dtype=int), length + 1
        said = code.self_speculative_sample(*given, max_step_draft=2, **how)
        return said["generate_ids"][0].tolist()

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
