"""All claims, by paper."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from validation.claim import Claim

PAPERS = {
    "spectr": "SpecTr: fast speculative decoding via optimal transport (2023)",
    "canonical": "Multi-draft speculative sampling: canonical architectures and limits (2024)",
    "spechub": "SpecHub: provable acceleration to multi-draft speculative decoding (2024)",
    "block": "Optimal block-level draft verification for accelerating speculative decoding (2024)",
    "mcsd": "Multi-candidate speculative decoding (2024)",
    "beyond": "Facts beyond the papers",
}


@cache
def all_claims() -> dict[str, Claim]:
    """Return every claim by its identifier, in the order of the papers.

    Raises
    ------
    ValueError
        Two claims of one name, or a claim in the file of another paper.
    """
    claims: dict[str, Claim] = {}
    for paper in PAPERS:
        for claim in import_module(f"validation.{paper}").CLAIMS:
            if claim.id in claims or claim.paper != paper:
                raise ValueError(f"the claim {claim.id} is listed twice, or in the file of {paper}")
            claims[claim.id] = claim
    return claims
