"""The claims of SpecTr (Sun et al., 2023), in the order of the paper."""

from validation.claim import Claim
from validation.spectr import many_drafts, one_draft, sequential

CLAIMS: tuple[Claim, ...] = (*one_draft.CLAIMS, *many_drafts.CLAIMS, *sequential.CLAIMS)
