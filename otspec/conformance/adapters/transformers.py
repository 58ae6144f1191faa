"""The verifier of transformers: one text at a time, on logits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from otspec._base.arguments import as_callable
from otspec._base.arithmetic import IntArray
from otspec.conformance.adapters.tensors import Tensor, logits_of, padded, tensor_of


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
        answers = (function(ids, first, length, second) for ids, first, second in texts)
        return padded((_emitted(*answer) for answer in answers), length + 1)

    return verify


def _emitted(tokens: Tensor, kept: Any) -> Tensor:
    if tokens.shape[-1] != int(kept) + 1:
        raise ValueError(
            f"the function returned {tokens.shape[-1]} tokens and {int(kept)} as the number of "
            "those that are kept: there must be one token more"
        )
    return tokens
