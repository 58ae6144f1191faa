"""The verifier of chains of FlashInfer: whole batches, on probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from otspec._base.arguments import as_callable
from otspec.conformance.adapters.tensors import Tensor, tensor_of


def flashinfer_chain(function: Callable[..., Any]) -> Callable[..., Tensor]:
    """Return a verifier of blocks of ``chain_speculative_sampling`` of FlashInfer.

    Its signature is that of ``flashinfer.sampling.chain_speculative_sampling``. It draws from the
    default generator of the device, which PyTorch's global seed sets.

    Parameters
    ----------
    function : callable
        ``(draft_probs, draft_token_ids, target_probs)``, which returns the emitted tokens, shape
        (B, L + 1) with −1 behind; how many tokens pass by themselves; and how many are kept.

    Returns
    -------
    callable
        ``(draft, target, drafts) -> emitted tokens``, shape (B, L + 1), with −1 behind.

    Raises
    ------
    ValueError
        No callable. When it is called: PyTorch is not installed; or the function emits another
        number of tokens than it says.
    """
    as_callable(function, "function", "chain_speculative_sampling of FlashInfer, or one like it")

    def verify(draft: Any, target: Any, drafts: Any) -> Tensor:
        emitted, _, kept = function(tensor_of(draft), tensor_of(drafts, "int32"), tensor_of(target))
        if ((emitted >= 0).sum(-1) != kept + 1).any():
            raise ValueError(
                "the function emits another number of tokens than output_emitted_draft_token_num "
                "and one more"
            )
        return emitted

    return verify
