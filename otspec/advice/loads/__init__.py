"""Which cut of drafts is fastest at each load: thresholds for chains, and dynamic trees."""

from otspec.advice.loads.api import Load, LoadAdvice, advise_by_load

__all__ = ["Load", "LoadAdvice", "advise_by_load"]
