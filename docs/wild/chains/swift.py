"""hemingkx/SWIFT: the verification of drafts of skipped layers."""

from __future__ import annotations

from typing import Any

import torch
from checkout import Checkout
from small_models import WARPED, of_block, padded
from verdict import Case

REPOSITORY = "hemingkx/SWIFT"
COMMIT = "88caed753c601a718c8ac39bb48c52fd6ef62025"
FILE = "model/swift/utils.py"
FUNCTION = "evaluate_posterior"


def wrapped(checkout: Checkout, *, heat: float) -> Any:
    """Return a verifier of blocks of one token: logits times ``heat`` are warped by 1/heat."""
    code = checkout.load(FILE, FUNCTION)

    def verify(draft: Any, target: Any, drafts: Any) -> Any:
        candidates = torch.nn.functional.pad(drafts, (1, 0))
        given = target.log() / heat, candidates, lambda _, logits: logits * heat
        chance = draft[0].gather(1, candidates.T[1:])
        chances = torch.nn.functional.pad(chance, (1, 0), value=1.0)
        _, kept, weights = code.evaluate_posterior(
            *given, chances, [draft[0]], [[0, 0]], candidates, [[[], []]]
        )
        return padded([*drafts[0, :kept], weights.multinomial(1)], 2)

    return verify


CASES = [
    Case(
        name,
        FILE,
        FUNCTION,
        "exact",
        WARPED,
        2,
        lambda checkout, heat=heat: of_block(wrapped(checkout, heat=heat), 1),
        lambda checkout, heat=heat: (
            wrapped(checkout, heat=heat),
            {"kind": "block", "shape": 1, "arrays": "torch", "rounding": 1e-5},
        ),
    )
    for name, heat in (
        ("evaluate_posterior, temperature 1", 1),
        ("evaluate_posterior, temperature 1/2", 2),
    )
]
