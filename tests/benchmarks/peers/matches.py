"""Which rule of otspec does the work of which function that others run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import peer_loops as loops

Tensor = Any
WRITTEN = "written anew from its description"
INSTALLED = "the installed package"


@dataclass(frozen=True)
class Peer:
    """A function that verifies one row, or one block.

    Parameters
    ----------
    title : str
    origin : str
        :data:`WRITTEN` or :data:`INSTALLED`.
    verify : callable
        Takes draft, target and drafts of one row.
    logits : bool
        Whether the rule beside it is handed logits, too.
    """

    title: str
    origin: str
    verify: Callable[[Tensor, Tensor, Tensor], Any]
    logits: bool = False

    def over_rows(self, draft: Tensor, target: Tensor, drafts: Tensor) -> list[Any]:
        """Verify all rows of a batch, one after another."""
        return [self.verify(*row) for row in zip(draft, target, drafts, strict=True)]


def assisted(draft: Tensor, target: Tensor, drafts: Tensor) -> Any:
    """Call the function of transformers, which takes logits: any numbers are as good."""
    from transformers.generation import utils

    length = len(drafts)
    return utils._speculative_sampling(drafts[None], draft[None], length, target[None])


MCSD = Peer("MCSD, alg. 1", WRITTEN, loops.mcsd)
DISTINCT = Peer("MCSD, alg. 2", WRITTEN, loops.mcsd_without_replacement)
SPECINFER = Peer("SpecInfer", WRITTEN, loops.specinfer)
SEQUOIA = Peer("Sequoia, alg. 2", WRITTEN, loops.sequoia)
EAGLE = Peer("EAGLE", WRITTEN, loops.eagle)
SPECHUB = Peer("SpecHub, alg. 3", WRITTEN, loops.spechub)


def from_logits(peer: Peer) -> Peer:
    """Return a peer that begins with a softmax of both, beside a rule that is given logits."""

    def verify(draft: Tensor, target: Tensor, drafts: Tensor) -> Any:
        return peer.verify(draft.softmax(-1), target.softmax(-1), drafts)

    return Peer(f"{peer.title}, from logits", peer.origin, verify, logits=True)


ASSISTED = Peer("transformers, `_speculative_sampling`", INSTALLED, assisted)
FROM_LOGITS = Peer(f"{ASSISTED.title}, from logits", INSTALLED, assisted, logits=True)

MATCHES = {
    "maximal_coupling": (MCSD, from_logits(MCSD)),
    "recursive_rejection": (MCSD, from_logits(MCSD), SPECINFER, EAGLE),
    "k_sequential": (MCSD, from_logits(MCSD), SPECINFER),
    "pooled_selection": (MCSD, from_logits(MCSD), SPECINFER),
    "recursive_rejection_without_replacement": (DISTINCT, from_logits(DISTINCT), SEQUOIA),
    "pooled_selection_without_replacement": (DISTINCT, from_logits(DISTINCT), SEQUOIA),
    "spechub": (SPECHUB, from_logits(SPECHUB), DISTINCT),
    "token_verification": (ASSISTED, FROM_LOGITS),
    "block_verification": (ASSISTED, FROM_LOGITS),
}
"""Rules of :mod:`otspec.batch` and who does their work, the matching peer first."""
