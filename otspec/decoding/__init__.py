"""Decoding of real language models: drafted trees, verified without loss (extra ``hf``)."""

from otspec.decoding.choices import usable_rules
from otspec.decoding.generation import generate, generate_batch
from otspec.decoding.results import Generated, Step

__all__ = ["Generated", "Step", "generate", "generate_batch", "usable_rules"]
