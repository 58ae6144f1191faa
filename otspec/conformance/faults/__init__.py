"""Known faults of verifiers, each with its exact law on every case."""

from otspec.conformance.faults import (  # noqa: F401 (each registers its faults)
    acceptance,
    answers,
    declared,
    draws,
    randomness,
    residuals,
    shared_noise,
    steps,
)
from otspec.conformance.faults.base import FAULTS, Fault, joint_law
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.rules import RIGHT_RULES, RightRule, rules_of

__all__ = ["FAULTS", "RIGHT_RULES", "Fault", "Machine", "RightRule", "joint_law", "rules_of"]
