"""The preprint on optimal block-level draft verification.

Models are tables: the rows of an instance are the next-token distributions after the prefixes (),
0, 1, .., 00, 01, .. in this order; after longer prefixes only the last tokens count. M_s is the
draft, M_b the target, L the draft length.
"""

from __future__ import annotations

from validation.block import (
    block_level,
    block_proofs,
    causality,
    comparison,
    loop,
    memoryless,
    optimum,
    speculative,
    tables,
    token_proofs,
    transport,
)
from validation.claim import Claim

CLAIMS: tuple[Claim, ...] = (
    *speculative.CLAIMS,
    *transport.CLAIMS,
    *causality.CLAIMS,
    *optimum.CLAIMS,
    *comparison.CLAIMS,
    *memoryless.CLAIMS,
    *block_level.CLAIMS,
    *loop.CLAIMS,
    *tables.SECTION_5,
    *loop.COMPARISON,
    *token_proofs.CLAIMS,
    *block_proofs.CLAIMS,
    *tables.APPENDIX_C,
)
