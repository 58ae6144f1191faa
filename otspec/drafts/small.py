"""Which laws are so small that cards ask them anything."""

from __future__ import annotations

from otspec.cards import MOST_BARS
from otspec.drafts.base import DraftLaw

_FEW = 256


def is_small(law: DraftLaw) -> bool:
    """Whether whatever is asked of a law takes next to no time."""
    return law.n <= MOST_BARS and law.table_rows() <= _FEW
