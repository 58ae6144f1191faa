"""jaymody/speculative-sampling: DeepMind's speculative sampling in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from checkout import Checkout
from small_models import TWO, Model, Silent
from verdict import Case

REPOSITORY = "jaymody/speculative-sampling"
COMMIT = "03b4759da6e894bacdc2f396dc4fd88c913bf94d"
FILE = "main.py"


def wrapped(checkout: Checkout) -> Any:
    """Return a decoder."""
    code = checkout.load(FILE, "speculative_sampling", "sample", "max_fn", tqdm=Silent)

    def generate(draft: Model, target: Model, length: int) -> Any:
        def rows_of(model: Model) -> Any:
            return lambda text: np.array([list(map(float, model((int(x),)))) for x in text])

        prompt = np.zeros(1, dtype=int)
        return code.speculative_sampling(prompt, rows_of(draft), rows_of(target), length, 2)[1:]

    return generate


CASES = [Case("speculative_sampling", FILE, "speculative_sampling", "pipeline", TWO, 3, wrapped)]
