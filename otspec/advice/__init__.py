"""From logs to a decision: which draft law, rule, number of drafts and tree to use."""

from otspec.advice.advice import Advice
from otspec.advice.charts import draw_pareto
from otspec.advice.choices import Choice, Loss
from otspec.advice.front import advise

__all__ = ["Advice", "Choice", "Loss", "advise", "draw_pareto"]
