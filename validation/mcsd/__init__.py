"""The claims of multi-candidate speculative decoding (Yang et al., 2024)."""

from validation.claim import Claim
from validation.mcsd import (
    appendix_b,
    appendix_c,
    efficiency,
    one_candidate,
    tables,
    trees,
    with_replacement,
)

CLAIMS: tuple[Claim, ...] = (
    *one_candidate.CLAIMS,
    *efficiency.SECTIONS_2_AND_3,
    *with_replacement.CLAIMS,
    *appendix_b.CLAIMS,
    *trees.CLAIMS,
    *efficiency.SECTION_4,
    *appendix_c.SECTION_4_5,
    *appendix_c.APPENDIX_C,
    *tables.CLAIMS,
)
