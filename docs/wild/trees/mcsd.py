"""NJUNLP/MCSD: multi-candidate speculative decoding, its three acceptance checks."""

from __future__ import annotations

from functools import partial
from typing import Any

from checkout import Checkout
from small_models import DISTINCT, THREE, of_tokens
from verdict import of_verifier

REPOSITORY = "NJUNLP/MCSD"
COMMIT = "8aadd6501a9e987ba5fca6cc8f9ad5949e480ec7"
FILE = "MCSD/inference/strategies.py"


def wrapped(checkout: Checkout, *, name: str) -> Any:
    """Return a verifier of several drafts of one token."""
    check = getattr(checkout.load(FILE, name), name)

    def verify(draft: Any, target: Any, drafts: Any) -> Any:
        wanted = target[0].clone()
        kept = check(wanted, draft[0].clone(), drafts[0])
        return wanted.multinomial(1) if kept is None else drafts[:, kept]

    return verify


CASES = [
    of_verifier(
        name,
        FILE,
        name,
        partial(wrapped, name=name),
        partial(of_tokens, distinct=distinct),
        instance=DISTINCT if distinct else THREE,
        length=1,
        kind="tokens",
        shape=2,
        distinct=distinct,
    )
    for name, distinct in (
        ("_MCSSwReplacement", False),
        ("_MCSSwoReplacement", True),
        ("_MCNS", False),
    )
]
