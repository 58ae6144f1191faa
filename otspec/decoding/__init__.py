"""Decoding of real language models: drafted trees, verified without loss (extra ``hf``)."""

from otspec.decoding.choices import usable_rules
from otspec.decoding.decoder import Generated, Step
from otspec.decoding.generation import generate, generate_batch

__all__ = ["Generated", "Step", "generate", "generate_batch", "usable_rules"]
