"""Losses that train a draft for the drafts it will make, for PyTorch and JAX."""

from otspec.learning.exact import acceptance_gradient
from otspec.learning.lengths import length_loss
from otspec.learning.losses import (
    acceptance_loss,
    kullback_leibler_loss,
    rule_loss,
    total_variation_loss,
)

__all__ = [
    "acceptance_gradient",
    "acceptance_loss",
    "kullback_leibler_loss",
    "length_loss",
    "rule_loss",
    "total_variation_loss",
]
