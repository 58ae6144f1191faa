"""hsj576/GRIFFIN: the verification of trees."""

from __future__ import annotations

from typing import Any

from checkout import Checkout
from verdict import of_posterior

REPOSITORY = "hsj576/GRIFFIN"
COMMIT = "b27cfb96352a14a148d56ceb30aae005e1e43aea"
FILE = "model/utils.py"


def wrapped(checkout: Checkout) -> Any:
    """Return the function."""
    return checkout.load(FILE, "evaluate_posterior").evaluate_posterior


CASES = [of_posterior("evaluate_posterior, warped", FILE, "evaluate_posterior", wrapped)]
