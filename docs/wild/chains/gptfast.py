"""MDK8888/GPTFast: speculative decoding of one text."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from checkout import Checkout
from small_models import of_block, padded
from verdict import of_verifier

REPOSITORY = "MDK8888/GPTFast"
COMMIT = "926b7553cfbaf1ec2a702a4bfb477132ce98c2e1"
FILE = "GPTFast/Core/Decode/SpeculativeDecode.py"
FUNCTION = "speculative_decode_kv_cache"


class Cached(SimpleNamespace):
    """A model with a cache, of which nothing is used but its rows."""

    def __call__(self, **_: Any) -> None:
        """Do nothing."""

    def rollback_cache(self, _: int) -> None:
        """Do nothing."""


def wrapped(checkout: Checkout) -> Any:
    """Return a verifier of blocks."""
    code = checkout.load(FILE, FUNCTION, KVCacheModel=Cached)

    def verify(draft: Any, target: Any, drafts: Any) -> Any:
        drafter = Cached(decode_function=lambda **_: (drafts, draft[0]), _cached_len=0)
        model = Cached(draft_model=drafter, _cached_len=0, _prob_history=target.log())
        model.forward = lambda _: None
        model.sample = lambda weights: weights.multinomial(1)[None]
        tokens = getattr(code, FUNCTION)(model, drafts[:, :1], drafts.shape[1])
        return padded(tokens, target.shape[1])

    return verify


CASES = [of_verifier(FUNCTION, FILE, FUNCTION, wrapped, of_block, kind="block")]
