"""SafeAILab/EAGLE: EAGLE-2 and EAGLE-3, the verification of trees."""

from __future__ import annotations

from typing import Any

from checkout import Checkout
from verdict import of_posterior

REPOSITORY = "SafeAILab/EAGLE"
COMMIT = "cb7e0841fe0c206c6ed74a197ad5e2a1f13f5a2b"
FILE = "eagle/model/utils.py"


def wrapped(checkout: Checkout) -> Any:
    """Return the function."""
    return checkout.load(FILE, "evaluate_posterior").evaluate_posterior


CASES = [of_posterior("evaluate_posterior, warped", FILE, "evaluate_posterior", wrapped)]
