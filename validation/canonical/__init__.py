"""The claims of Khisti et al. (2024), in the order of the paper."""

from validation.canonical import (
    architecture,
    cones,
    elimination,
    elimination_steps,
    faster,
    figure,
    full_elimination,
    two_drafts,
)
from validation.claim import Claim

CLAIMS: tuple[Claim, ...] = (
    *architecture.CLAIMS,
    *two_drafts.CLAIMS,
    *figure.CLAIMS,
    *faster.CLAIMS,
    *architecture.APPENDIX_A,
    *elimination.CLAIMS,
    *elimination_steps.APPENDIX_B,
    *cones.CLAIMS,
    *full_elimination.CLAIMS,
    *elimination_steps.APPENDIX_D,
    *faster.APPENDIX_G,
    *cones.APPENDIX_H,
)
