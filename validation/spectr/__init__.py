"""The claims of SpecTr (Sun et al., 2023), in the order of the paper."""

from itertools import chain

from validation.claim import Claim
from validation.spectr import (
    bounds,
    examples,
    figures,
    guarantee,
    many_drafts,
    one_draft,
    proofs,
    selection,
    sequential,
    trees,
)

_PARTS = (
    one_draft,
    many_drafts,
    sequential,
    selection,
    bounds,
    figures,
    examples,
    proofs,
    guarantee,
    trees,
)
CLAIMS: tuple[Claim, ...] = tuple(chain.from_iterable(part.CLAIMS for part in _PARTS))
