"""Exact theory of speculative-decoding verification.

How much can be accepted at best, which rule gets there, and is a rule lossless.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from otspec.drafts import IID, DraftLaw, Hub, Independent, Joint, TopPlusOne, WithoutReplacement
from otspec.optimum import Optimum, optimal_acceptance, optimal_acceptances
from otspec.version import __version__

__all__ = [
    "IID",
    "DraftLaw",
    "Hub",
    "Independent",
    "Joint",
    "Optimum",
    "TopPlusOne",
    "WithoutReplacement",
    "__version__",
    "optimal_acceptance",
    "optimal_acceptances",
]

_SUBPACKAGES = ("closed_forms", "datasets", "rules", "traces")


def __getattr__(name: str) -> ModuleType:
    """Import a subpackage when it is first used, so that ``import otspec`` stays quick."""
    if name in _SUBPACKAGES:
        return import_module(f"otspec.{name}")
    raise AttributeError(f"module 'otspec' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBPACKAGES])
