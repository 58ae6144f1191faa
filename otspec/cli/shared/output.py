"""Tables and JSON on standard output; numbers in their own arithmetic."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from otspec._base.arithmetic import Number
from otspec._base.digits import shortened, written
from otspec._base.tables import say
from otspec.estimate import Estimate, Quantity, value_of


def print_json(content: Any) -> None:
    """Print one JSON document in ASCII; fractions are strings such as ``"17/20"``."""
    text = json.dumps(content, default=_jsonable, indent=2)
    # The one control character that JSON leaves as it is.
    say(*text.replace("\x7f", "\\u007f").split("\n"))


def _jsonable(value: Any) -> Any:
    if isinstance(value, Fraction):
        return written(value)
    if isinstance(value, Quantity):
        return value.value
    raise TypeError(f"{type(value).__name__} has no JSON form")


def shown(value: Number | Quantity, digits: int = 4) -> str:
    """Return a number for a table: decimals, the fraction if exact, ≈ if it is an estimate."""
    decimal = f"{float(value):z.{digits}f}"
    if isinstance(value, Estimate):
        return f"≈{decimal}"
    number = value_of(value)
    if not isinstance(number, Fraction):
        return decimal
    fraction = shortened(number)
    return f"{decimal} {'≈' if '…' in fraction else '='} {fraction}"


def shown_set(tokens: Sequence[int], most: int = 8) -> str:
    """Return a token set, cut short if it is large."""
    listed = ", ".join(map(str, tokens[:most]))
    return f"{{{listed}}}" if len(tokens) <= most else f"{{{listed}, … {len(tokens):,} tokens}}"


def percent(value: Number | Quantity) -> str:
    """Return a probability as a percentage for a sentence."""
    return f"{100 * float(value):.1f}%"
