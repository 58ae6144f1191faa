"""shreyansh26/Speculative-Decoding: several methods with one verification."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from checkout import Checkout
from small_models import of_block, padded
from verdict import of_verifier

REPOSITORY = "shreyansh26/Speculative-Decoding"
COMMIT = "76335be2f8f1a7bf25739310ae80435b83782b23"
FILE = "common/verification.py"


def wrapped(checkout: Checkout) -> Any:
    """Return a verifier of blocks."""
    code = checkout.load(
        FILE, "probabilistic_verify", "_as_batch_tensor", VerificationResult=SimpleNamespace
    )

    def verify(draft: Any, target: Any, drafts: Any) -> Any:
        def model(_: Any) -> Any:
            return SimpleNamespace(logits=target.log())

        found = code.probabilistic_verify(
            model, [0], drafts[0].tolist(), draft[0], torch.Generator()
        )
        return padded(found.emitted_ids, target.shape[1])

    return verify


CASES = [
    of_verifier(
        "probabilistic_verify", FILE, "probabilistic_verify", wrapped, of_block, kind="block"
    )
]
