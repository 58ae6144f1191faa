"""MasterGodzilla/Speculative_decoding_OT: SpecHub in EAGLE, beside recursive rejection."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from checkout import Checkout
from small_models import DISTINCT, Instance, Model, completed, rows, tensor
from verdict import Case

REPOSITORY = "MasterGodzilla/Speculative_decoding_OT"
COMMIT = "7d592b70e954bb1fb48516a5628f9c3439645464"
FILE = "EAGLE/eagle/model/utils.py"
FUNCTION = "evaluate_posterior"


def wrapped(checkout: Checkout, *, mode: str) -> Any:
    """Return a decoder of one step: two drafts of one token, drawn as the mode has them."""
    code = checkout.load(FILE, FUNCTION)
    drawn = checkout.load("EAGLE/eagle/model/cnets.py", "Model.sample")

    def generate(draft: Model, target: Model, length: int) -> Any:
        row = tensor(draft, [()])
        tokens, chances, op = drawn.sample(None, row.log(), lambda _, x: x, 2, mode)
        candidates = torch.nn.functional.pad(tokens.T, (1, 0))
        logits = tensor(target, [(), ()]).log().expand(2, 2, -1)
        cart = torch.nn.functional.pad(chances.T, (1, 0), value=1.0)
        tree = torch.nn.functional.pad(tokens, (1, 0))
        given = lambda _, x: x, cart, [op], [[0, 0]] * 2, tree, [[[], []], [[], [1]]]
        path, kept, weights = code.evaluate_posterior(logits, candidates, *given, mode=mode)
        token = candidates[path, 1] if kept else weights.multinomial(1)
        return completed([token], target, length)

    return generate


CASES = [
    Case(
        f"{FUNCTION}, mode {mode}",
        FILE,
        FUNCTION,
        "pipeline",
        DISTINCT,
        1,
        partial(wrapped, mode=mode),
    )
    for mode in ("RRS", "RRS_wo_replacement", "spechub")
]
CERTAIN = Instance(rows(*["1/2 1/2"] * 2), rows(*["1023/1024 1/1024"] * 2), 2)
CASES.append(
    CASES[-1]._replace(name=f"{FUNCTION}, mode spechub, a certain target", instance=CERTAIN)
)
