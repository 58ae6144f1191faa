"""Rules whose output is not quite the target, and what they can accept at best."""

from otspec.lossy.attaining import rule_attaining

__all__ = ["rule_attaining"]
