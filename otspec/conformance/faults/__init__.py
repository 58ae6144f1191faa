"""Known faults of verifiers, each with its exact law on every case."""

from otspec.conformance.faults import acceptance as _acceptance
from otspec.conformance.faults import answers as _answers
from otspec.conformance.faults import cuts as _cuts
from otspec.conformance.faults import declared as _declared
from otspec.conformance.faults import drafted as _drafted
from otspec.conformance.faults import draws as _draws
from otspec.conformance.faults import randomness as _randomness
from otspec.conformance.faults import residuals as _residuals
from otspec.conformance.faults import shared_noise as _shared_noise
from otspec.conformance.faults.base import FAULTS, Fault, joint_law
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.rules import RIGHT_RULES, RightRule, rules_of

_ = (
    _cuts,
    _declared,
    _drafted,
    _acceptance,
    _randomness,
    _residuals,
    _draws,
    _answers,
    _shared_noise,
)

__all__ = ["FAULTS", "RIGHT_RULES", "Fault", "Machine", "RightRule", "joint_law", "rules_of"]
