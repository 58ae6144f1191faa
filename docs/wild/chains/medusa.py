"""FasterDecoding/Medusa: nucleus sampling of its heads' candidates."""

from __future__ import annotations

from typing import Any

import torch
from checkout import Checkout
from small_models import TWO, of_block, padded
from verdict import of_verifier

REPOSITORY = "FasterDecoding/Medusa"
COMMIT = "e2a5d20c048a9b0a4092e6933c34313687422518"
FILE = "medusa/model/utils.py"
FUNCTION = "evaluate_posterior"


def wrapped(checkout: Checkout) -> Any:
    """Return a verifier of blocks: the next step draws the token after what is kept."""
    code = checkout.load(FILE, FUNCTION, "get_nucleus_posterior_mask", "get_nucleus_one_token")

    def verify(target: Any, drafts: Any) -> Any:
        candidates = torch.nn.functional.pad(drafts, (1, 0))
        how = {"sampling": "nucleus", "top_p": 1.0}
        _, kept = code.evaluate_posterior(target.log(), candidates, 1.0, **how)
        token = code.get_nucleus_one_token(target[:, kept].log(), 1.0, 1.0)
        return padded(torch.cat([drafts[0, :kept], token[0]]), target.shape[1])

    return verify


CASES = [
    of_verifier(
        f"{FUNCTION}, nucleus",
        FILE,
        FUNCTION,
        wrapped,
        lambda verify: of_block(lambda _, target, drafts: verify(target, drafts)),
        instance=TWO,
        kind="block",
    )
]
