"""Decoding of real language models: drafted trees, verified without loss (extra ``hf``)."""

from otspec.decoding.choices import usable_rules
from otspec.decoding.generation import generate
from otspec.decoding.results import Generated, Step

__all__ = ["Generated", "Step", "generate", "usable_rules"]
