"""romsto/Speculative-Decoding: speculative decoding of one text."""

from __future__ import annotations

from typing import Any

from checkout import Checkout
from small_models import TWO, Model, TableModel
from verdict import Case

REPOSITORY = "romsto/Speculative-Decoding"
COMMIT = "db7db67604359d0380c330c240c276ec1f85ba65"
FILE = "sampling/speculative_decoding.py"


def wrapped(checkout: Checkout) -> Any:
    """Return a decoder."""
    warp = "LogitsProcessor", "MultinomialProcessor"
    warps = checkout.load("utils/logits_processor.py", *warp, abc=__import__("abc"), Tensor=None)
    given = {"GreedyProcessor": object, "LogitsProcessor": None, "printing": None}
    code = checkout.load(FILE, "speculative_generate", "max_fn", **given)

    def generate(draft: Model, target: Model, length: int) -> Any:
        models = TableModel(draft), TableModel(target)
        how = {"gamma": 2, "max_gen_len": length, "eos_tokens_id": -1, "first_target": False}
        warped = warps.MultinomialProcessor(1.0)
        return code.speculative_generate([0], *models, logits_processor=warped, **how)[0]

    return generate


CASES = [Case("speculative_generate", FILE, "speculative_generate", "pipeline", TWO, 3, wrapped)]
