"""What an inference engine runs in its own tests: is its verification lossless, and if not, why."""

from otspec.conformance.check import check
from otspec.conformance.engines import one_by_one
from otspec.conformance.exact import exact_kernel, exact_law
from otspec.conformance.following.uniform import Uniform
from otspec.conformance.report.certificate import Certificate
from otspec.conformance.report.report import Finding, Report, Tried
from otspec.conformance.texts import TextAudit, check_texts, exact_texts
from otspec.conformance.vectors.vectors import reference_vectors

__all__ = [
    "Certificate",
    "Finding",
    "Report",
    "TextAudit",
    "Tried",
    "Uniform",
    "check",
    "check_texts",
    "exact_kernel",
    "exact_law",
    "exact_texts",
    "one_by_one",
    "reference_vectors",
]
