"""Output that is not quite the target's: published rules, and what can be accepted at best."""

from otspec.lossy.attaining import rule_attaining
from otspec.lossy.frontier_program import FrontierProgram
from otspec.lossy.rules import RULES, LossyRule

__all__ = ["RULES", "FrontierProgram", "LossyRule", "rule_attaining"]
