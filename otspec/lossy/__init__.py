"""Rules that are not lossless, and how much they may accept: published ones are in ``rules``."""

from otspec.lossy.rules import RULES, LossyRule

__all__ = ["RULES", "LossyRule"]
