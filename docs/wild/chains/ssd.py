"""tanishqkumar/ssd: speculative speculative decoding, its verification."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from checkout import Checkout
from small_models import of_block, padded
from verdict import of_verifier

REPOSITORY = "tanishqkumar/ssd"
COMMIT = "6ed3022256dd7661e0ad53356f1eccda6239340f"
FILE = "ssd/utils/verify.py"


def wrapped(checkout: Checkout, *, hit: bool) -> Any:
    """Return a verifier of blocks."""
    code = checkout.load(FILE, "verify")

    def verify(draft: Any, target: Any, drafts: Any) -> Any:
        one, hits = torch.ones(1), torch.tensor([hit])
        texts = torch.nn.functional.pad(drafts, (1, 0))
        (kept,), token = code.verify(target.log(), draft.log(), texts, one, one, hits)
        return padded([*kept[1:], token[0]], target.shape[1])

    return verify


CASES = [
    of_verifier(name, FILE, "verify", partial(wrapped, hit=hit), of_block, kind="block")
    for name, hit in (
        ("verify, drafts of a cache hit", True),
        ("verify, after a cache miss", False),
    )
]
