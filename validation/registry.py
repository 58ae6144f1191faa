"""All claims by identifier, in the order of the papers, and those of others."""

from importlib import import_module
from typing import Any

from otspec._base.coerce import shown
from otspec._base.registry import Registry
from validation.claim import BOOK, Claim

PAPERS = {
    "spectr": "SpecTr: fast speculative decoding via optimal transport (2023)",
    "canonical": "Multi-draft speculative sampling: canonical architectures and limits (2024)",
    "spechub": "SpecHub: provable acceleration to multi-draft speculative decoding (2024)",
    "block": "Optimal block-level draft verification for accelerating speculative decoding (2024)",
    "mcsd": "Multi-candidate speculative decoding (2024)",
    "traversal": "Traversal Verification for speculative tree decoding (2025)",
    "gbv": "Greedy multi-path block verification (2026)",
    "spectr_gbv": "SpecTr-GBV (2026)",
    "univer": "UniVer: tree verification as conditional optimal transport (2026)",
    "hsd": "Lossless hierarchical speculative decoding (2026)",
    "delayed": "Delayed trees for multi-path speculative decoding (2026)",
    "layer": "Layer Verification accelerates speculative tree decoding (2026)",
    "since": "Works that came since (2025 and 2026)",
    "beyond": "Facts beyond the papers",
}


def _check_claim(name: str, claim: Any) -> None:
    if not isinstance(claim, Claim):
        raise ValueError(f"{shown(claim)} is no Claim")
    if claim.id != name or claim.paper not in PAPERS:
        papers = ", ".join(PAPERS)
        raise ValueError(f"the claim {claim.id} is to be named {name} and of one of {papers}")


CLAIMS: Registry[Claim] = Registry("claim", "otspec.claims", _check_claim)
"""The claims, those of a paper in the order in which its package imports its modules."""

for _paper in PAPERS:
    import_module(f"validation.{_paper}")
for _paper in PAPERS:
    for _claim in [each for each in BOOK.values() if each.paper == _paper]:
        CLAIMS.add(_claim.id, _claim)
