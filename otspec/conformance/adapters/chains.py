"""The verifiers of chains of FlashInfer and transformers."""

from collections.abc import Callable
from typing import Any

from otspec._base.arguments import as_callable
from otspec._base.arithmetic import IntArray
from otspec.conformance.adapters.tensors import Tensor, in_rows, logits_of, padded, tensor_of


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
        found, _, kept = function(tensor_of(draft), tensor_of(drafts, "int32"), tensor_of(target))
        emitted = in_rows(found, len(drafts))
        if ((emitted >= 0).sum(-1) != kept + 1).any():
            raise ValueError(
                "the function emits another number of tokens than output_emitted_draft_token_num "
                "and one more"
            )
        return emitted

    return verify


def transformers_chain(function: Callable[..., Any]) -> Callable[..., IntArray]:
    """Return a verifier of blocks of ``_speculative_sampling`` of transformers.

    Its signature is that of ``transformers.generation.utils._speculative_sampling``. It verifies
    one text per call, and draws from PyTorch's global state.

    Parameters
    ----------
    function : callable
        ``(candidate_input_ids, candidate_logits, candidate_length, new_logits)``, which returns
        the tokens, shape (1, kept + 1), and how many are kept.

    Returns
    -------
    callable
        ``(draft, target, drafts) -> emitted tokens``, shape (B, L + 1), with −1 behind.

    Raises
    ------
    ValueError
        No callable. When it is called: PyTorch is not installed; or the function returns another
        number of tokens than it says.
    """
    as_callable(function, "function", "_speculative_sampling of transformers, or one like it")

    def verify(draft: Any, target: Any, drafts: Any) -> IntArray:
        before, after, tokens = logits_of(draft), logits_of(target), tensor_of(drafts)
        rows, length = tokens.shape
        texts = ((tokens[i : i + 1], before[i : i + 1], after[i : i + 1]) for i in range(rows))
        answers = [function(ids, first, length, second) for ids, first, second in texts]
        for emitted, kept in answers:
            if emitted.shape[-1] != int(kept) + 1:
                raise ValueError(
                    f"the function returned {emitted.shape[-1]} tokens and {int(kept)} as the "
                    "number of those that are kept: there must be one token more"
                )
        return padded((emitted for emitted, _ in answers), length + 1)

    return verify
