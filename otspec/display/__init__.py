"""What one sees first of a result: on one line, in a shell, and in a notebook."""

from otspec.display.card import Card, card_of, line, parts, pretty, rows_html, rows_pretty
from otspec.display.fields import MOST_BARS, fields_of, is_small
from otspec.display.values import Verbatim, aligned, decimal, said, token_set

__all__ = [
    "MOST_BARS",
    "Card",
    "Verbatim",
    "aligned",
    "card_of",
    "decimal",
    "fields_of",
    "is_small",
    "line",
    "parts",
    "pretty",
    "rows_html",
    "rows_pretty",
    "said",
    "token_set",
]
