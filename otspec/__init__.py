"""Exact theory of speculative-decoding verification.

How much can be accepted at best, which rule gets there, and is a rule lossless.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from otspec.version import __version__

if TYPE_CHECKING:
    from otspec.advice import advise
    from otspec.auditing import Audit, BlockAudit, audit, audit_blocks, audit_over, audit_samples
    from otspec.drafts import (
        IID,
        DraftLaw,
        Fixed,
        Hub,
        Independent,
        Joint,
        Masked,
        TopK,
        TopPlusOne,
        TwoHubs,
        WithoutReplacement,
    )
    from otspec.optimum import LossyOptimum, Optimum, optimal_acceptance, optimal_acceptances
    from otspec.optimum.plan import Plan, optimal_plan

__all__ = [
    "IID",
    "Audit",
    "BlockAudit",
    "DraftLaw",
    "Fixed",
    "Hub",
    "Independent",
    "Joint",
    "LossyOptimum",
    "Masked",
    "Optimum",
    "Plan",
    "TopK",
    "TopPlusOne",
    "TwoHubs",
    "WithoutReplacement",
    "__version__",
    "advise",
    "audit",
    "audit_blocks",
    "audit_over",
    "audit_samples",
    "optimal_acceptance",
    "optimal_acceptances",
    "optimal_plan",
]

_SUBPACKAGES = (
    "advice auditing batch blocks chance closed_forms cones conformance datasets decoding "
    "distributions drafts frames learning logged models optimum plots programs rules solvers traces"
)
_PLACES = {
    "otspec.advice": "advise",
    "otspec.auditing": "Audit BlockAudit audit audit_blocks audit_over audit_samples",
    "otspec.drafts": "IID DraftLaw Fixed Hub Independent Joint Masked TopK TopPlusOne TwoHubs "
    "WithoutReplacement",
    "otspec.optimum": "LossyOptimum Optimum optimal_acceptance optimal_acceptances",
    "otspec.optimum.plan": "Plan optimal_plan",
}
_LATER = {name: place for place, names in _PLACES.items() for name in names.split()}
"""Public names whose modules are imported when they are first used."""


def __getattr__(name: str) -> Any:
    """Import a part when it is first used: pytest imports the package, for its plugin."""
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    if name in _SUBPACKAGES.split():
        return import_module(f"otspec.{name}")
    raise AttributeError(f"module 'otspec' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBPACKAGES.split()])
