"""What an inference engine runs in its own tests: is its verification lossless, and if not, why."""

from otspec.conformance.branches import CannotFollowError, Chance, branches, law_of
from otspec.conformance.exact import exact_kernel, exact_law
from otspec.conformance.uniform import Uniform

__all__ = [
    "CannotFollowError",
    "Chance",
    "Uniform",
    "branches",
    "exact_kernel",
    "exact_law",
    "law_of",
]
