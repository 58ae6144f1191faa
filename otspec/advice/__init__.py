"""From logs to a decision: which draft law, rule, number of drafts and tree to use."""

from otspec.advice.advice import Advice
from otspec.advice.api import advise
from otspec.advice.evaluation.choices import Choice, Loss
from otspec.advice.loads.advice import Load, LoadAdvice
from otspec.advice.loads.search import advise_by_load
from otspec.advice.report import draw_pareto

__all__ = [
    "Advice",
    "Choice",
    "Load",
    "LoadAdvice",
    "Loss",
    "advise",
    "advise_by_load",
    "draw_pareto",
]
