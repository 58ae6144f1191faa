"""Rules whose output is not quite the target, and what they can accept at best."""

from otspec.lossy.attaining import rule_attaining
from otspec.lossy.frontier_program import FrontierProgram

__all__ = ["FrontierProgram", "rule_attaining"]
