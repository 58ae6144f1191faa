"""vllm-project/vllm-ascend: its rejection sampler in PyTorch."""

from __future__ import annotations

from functools import partial
from math import log
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import torch
from checkout import Checkout
from small_models import RACE, Instance, of_block, rows
from verdict import of_verifier

REPOSITORY = "vllm-project/vllm-ascend"
COMMIT = "182b75ea84ff13ece27b57391331ef8935410aea"
FILE = "vllm_ascend/sample/rejection_sampler.py"
FUNCTION = "rejection_sample"
PARTS = (
    FUNCTION,
    "sample_recovered_tokens",
    "sample_recovered_tokens_pytorch",
    "rejection_random_sample_pytorch",
    "rejection_random_sample_block_verify_pytorch",
)


class Unpinned:
    """PyTorch without pinned memory, which needs a device."""

    def __getattr__(self, name: str) -> Any:
        """Return a function that forgets ``pin_memory``."""
        found = getattr(torch, name)
        if name not in ("tensor", "arange", "ones", "zeros", "full"):
            return found

        def unpinned(*given: Any, **how: Any) -> Any:
            return found(*given, **{key: how[key] for key in how if key != "pin_memory"})

        return unpinned


DEFAULTS = {
    "enable_block_verify": False,
    "enable_entropy_verify": False,
    "posterior_threshold": 0.95,
    "posterior_alpha": 0.4,
}
GIVEN = {
    "logger": MagicMock(),
    "HAS_TRITON": False,
    "PLACEHOLDER_TOKEN_ID": -1,
    "GREEDY_TEMPERATURE": -1,
    "torch": Unpinned(),
    "generate_uniform_probs": lambda size, *_: torch.rand(size),
}
SETTINGS = {"all_greedy": False, "all_random": True, "generators": {}}


def wrapped(checkout: Checkout, **switches: Any) -> Any:
    """Return a verifier of blocks."""
    sampler = SimpleNamespace(**{**DEFAULTS, **switches})
    config = SimpleNamespace(rejection_sampler_config=sampler, enable_reduce_sample=False)
    code = checkout.load(FILE, *PARTS, get_ascend_config=lambda: config, **GIVEN)

    def verify(draft: Any, target: Any, drafts: Any) -> Any:
        size, metadata = drafts.shape[1], SimpleNamespace(temperature=torch.ones(1), **SETTINGS)
        bonus = target[:, -1].multinomial(1)
        flat = drafts[0].contiguous(), [size], size, torch.tensor([size]), draft[0].contiguous()
        return code.rejection_sample(*flat, target[0, :-1].log().contiguous(), bonus, metadata)

    return verify


COINS = Instance(rows("1/2 1/2", "1/2 1/2"), rows("1/4 3/4", "1/4 3/4"), 8)


def by_integration() -> float:
    """Return the total variation of the first token in blocks of three, by integration.

    Draft k is kept with all before it where U1 … Uk is at most π_k, the product of the ratios, 1/2
    for token 0 and 1 for token 1. No draft is kept with the probability that U1 > a, U1 U2 > b and
    U1 U2 U3 > c, where c ≤ b ≤ a; the first token is then 1.
    """
    first = 0.0
    for b in (1 / 2, 1 / 4):
        for c in (b, b / 2):
            a, weight = 1 / 2, 1 / 8
            none = (1 - a) + b * log(a) - c / 2 * (log(1 / b) ** 2 - log(a / b) ** 2)
            first += weight * (1 - none)
    return abs(first - 1 / 4)


CASES = [
    of_verifier(
        FUNCTION,
        FILE,
        FUNCTION,
        wrapped,
        partial(of_block, size=1),
        instance=RACE,
        length=2,
        kind="block",
    ),
    of_verifier(
        f"{FUNCTION}, enable_entropy_verify",
        FILE,
        FUNCTION,
        partial(wrapped, enable_entropy_verify=True, posterior_alpha=0.0, posterior_threshold=0.5),
        partial(of_block, size=1),
        instance=RACE,
        length=2,
        kind="block",
        shape=1,
    ),
    of_verifier(
        f"{FUNCTION}, enable_block_verify",
        FILE,
        PARTS[-1],
        partial(wrapped, enable_block_verify=True),
        partial(of_block, size=3),
        instance=COINS,
        length=1,
        kind="block",
        shape=3,
    )._replace(alone=by_integration),
]
