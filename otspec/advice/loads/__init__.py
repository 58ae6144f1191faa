"""Which cut of drafts is fastest at each load: thresholds for chains, and dynamic trees."""

from otspec.advice.loads.advice import COLUMNS, Load, LoadAdvice
from otspec.advice.loads.api import advise_by_load, texts_in
from otspec.advice.loads.search import LoadSearch

__all__ = ["COLUMNS", "Load", "LoadAdvice", "LoadSearch", "advise_by_load", "texts_in"]
