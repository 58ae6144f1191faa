"""What one sees first of a result: on one line, in a shell, and in a notebook."""

from otspec.cards.card import MOST_BARS, Card, Carded, Masses, Row
from otspec.cards.values import Verbatim, decimal, said, token_set

__all__ = [
    "MOST_BARS",
    "Card",
    "Carded",
    "Masses",
    "Row",
    "Verbatim",
    "decimal",
    "said",
    "token_set",
]
