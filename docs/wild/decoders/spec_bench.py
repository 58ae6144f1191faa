"""hemingkx/Spec-Bench: verification of the baseline of assisted generation, and of SPACE."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from checkout import Checkout
from small_models import TWO, Model, Output, of_block, padded
from verdict import Case, of_posterior, of_verifier

REPOSITORY = "hemingkx/Spec-Bench"
COMMIT = "fd2c1cd7d2201ef71db4c5f4e455008f017967bf"
SPS = "model/sps/decoding.py"
SPACE = "evaluation/inference_space.py"
SAMD = "model/samd/utils.py"
MASK = 2


def wrapped(checkout: Checkout) -> Any:
    """Return a verifier of blocks."""
    code = checkout.load(SPS, "_speculative_sampling")

    def verify(draft: Any, target: Any, drafts: Any) -> Any:
        size = drafts.shape[1]
        given = drafts, draft.log(), size, target.log(), False, size
        return padded(code._speculative_sampling(*given)[0], size + 1)

    return verify


def space(checkout: Checkout) -> Any:
    """Return a decoder whose mask tokens have the draft's rows: two of them draft two tokens."""
    masks = {"_make_causal_mask": lambda shape, *_, **__: torch.zeros(1, 1, shape[1], shape[1])}
    masks["_expand_mask"] = lambda mask, *_, **__: torch.zeros(1, 1, mask.shape[1], mask.shape[1])
    code = checkout.load(SPACE, "space_forward", **masks)

    def generate(draft: Model, target: Model, length: int) -> Any:
        def model(ids: Any, *_: Any, **__: Any) -> Any:
            rows = [draft(()) if x == MASK else target((x,)) for x in ids[0].tolist()]
            return Output(
                logits=torch.tensor([[[*map(float, row), 0] for row in rows]]).log(),
                past_key_values=None,
            )

        ends, prompt = (
            SimpleNamespace(eos_token_id=-1, pad_token_id=-1),
            torch.zeros(1, 1, dtype=int),
        )
        inputs = Output(input_ids=prompt, attention_mask=torch.ones_like(prompt))
        how = {"do_sample": True, "MASK_ID": MASK, "MASK_NUM": 1, "MAX_NEW_TOKENS": length}
        return code.space_forward(inputs, model, ends, length, **how)[0][0, 1:].tolist()

    return generate


def samd(checkout: Checkout) -> Any:
    """Return a verifier of paths, warped by temperature 1/2."""
    code = checkout.load(SAMD, "eval_posterior")

    def evaluate(logits: Any, candidates: Any, processor: Any) -> Any:
        config = SimpleNamespace(greedy=False, logits_processor=processor)
        path, kept, weights = code.eval_posterior(logits, candidates, config)
        return path, kept - 1, weights

    return evaluate


CASES = [
    of_posterior("eval_posterior (SAMD), warped", SAMD, "eval_posterior", samd),
    of_verifier(
        "_speculative_sampling (SpS)", SPS, "_speculative_sampling", wrapped, of_block, kind="block"
    ),
    Case(
        "space_forward (SPACE)", SPACE, "space_forward", "pipeline", TWO._replace(cells=4), 2, space
    ),
]
