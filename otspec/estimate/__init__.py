"""Numbers that say how well they are known: exactly, or as estimates with intervals."""

from otspec.estimate.means import CONFIDENCE, Estimates, average, radius_of
from otspec.estimate.quantity import Estimate, Exact, Known, Quantity, value_of

__all__ = [
    "CONFIDENCE",
    "Estimate",
    "Estimates",
    "Exact",
    "Known",
    "Quantity",
    "average",
    "radius_of",
    "value_of",
]
