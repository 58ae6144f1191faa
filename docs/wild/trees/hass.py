"""HArmonizedSS/HASS: the verification of trees."""

from __future__ import annotations

from typing import Any

from checkout import Checkout
from verdict import of_posterior

REPOSITORY = "HArmonizedSS/HASS"
COMMIT = "38922e43fec95f0bd2993f33aaa6ee82371741a5"
FILE = "model/utils.py"


def wrapped(checkout: Checkout) -> Any:
    """Return the function."""
    return checkout.load(FILE, "evaluate_posterior").evaluate_posterior


CASES = [of_posterior("evaluate_posterior, warped", FILE, "evaluate_posterior", wrapped)]
