"""The claims of SpecHub (2024), in the order of the paper."""

from validation.claim import Claim
from validation.spechub import (
    algorithms,
    background,
    equivalence,
    hub,
    more_drafts,
    programs,
    proofs,
    tables,
    theorem3,
    theorem4,
    toy,
)

CLAIMS: tuple[Claim, ...] = (
    *tables.ABSTRACT,
    *toy.INTRODUCTION,
    *background.CLAIMS,
    *programs.CLAIMS,
    *hub.SECTION_4,
    *tables.SECOND_DRAFT_CLAIMS,
    *hub.SECTION_5,
    *tables.BATCH_EFFICIENCY,
    *equivalence.APPENDIX_A,
    *algorithms.CLAIMS,
    *proofs.CLAIMS,
    *theorem3.CLAIMS,
    *theorem4.CLAIMS,
    *more_drafts.CLAIMS,
    *toy.APPENDIX_D,
    *equivalence.APPENDIX_E,
    *tables.APPENDIX_F,
)
