"""The rejection sampler of vLLM's newer runner: random numbers are functions of seed and place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from otspec._base.arguments import as_callable, as_flag
from otspec.conformance.adapters.tensors import Tensor, as_array, logits_of, tensor_of

FIRST = 100
"""The position of the first drafted token in its text."""


def vllm_runner_chain(
    function: Callable[..., Any], *, certain: bool = False, **options: Any
) -> Callable[..., Tensor]:
    """Return a verifier of blocks of ``rejection_sample`` of vLLM's newer runner.

    Its signature is that of ``vllm.v1.worker.gpu.spec_decode.rejection_sampler_utils``. Each of its
    random numbers follows from the seed of a request and a position, so that the adapter gives
    each request a seed of its own; and the states of requests are in another order than the
    requests.

    Parameters
    ----------
    function : callable
        ``(target_logits, draft_logits, draft_sampled, cu_num_logits, pos, idx_mapping,
        expanded_idx_mapping, expanded_local_pos, temperature, seed, num_speculative_steps)``, which
        returns tokens, shape (B, L + 1), and how many of each row count.
    certain : bool
        Whether ``draft_logits`` is None: each drafted token then counts as certain.
    **options
        Handed over, such as ``use_block_verification=True``.

    Returns
    -------
    callable
        ``(draft, target, drafts, lengths, seed) -> emitted tokens``, shape (B, L + 1), with −1
        behind.

    Raises
    ------
    ValueError
        No callable, or no flag. When it is called: PyTorch is not installed.
    """
    as_callable(function, "function", "rejection_sample of vLLM's runner, or one like it")
    certainly = as_flag(certain, "certain")

    def verify(draft: Any, target: Any, drafts: Any, lengths: Any, seed: int) -> Tensor:
        after, counts = logits_of(target), as_array(lengths)
        rows, places = after.shape[:2]
        counted = np.arange(places) <= counts[:, None]
        state = np.arange(rows)[::-1].copy()
        request, local = np.nonzero(counted)

        def sent(values: Any, dtype: str) -> Tensor:
            return tensor_of(values, dtype).to(after.device)

        # Each row begins with the last token of its text, which is no draft.
        tokens = np.pad(as_array(drafts), ((0, 0), (1, 0)))
        emitted, number = function(
            after[sent(counted, "bool")].contiguous(),
            None if certainly else logits_of(draft)[sent(state, "int64")],
            sent(tokens[counted], "int64"),
            sent(np.append(0, np.cumsum(counts + 1)), "int32"),
            sent(FIRST + local, "int64"),
            sent(state, "int32"),
            sent(state[request], "int32"),
            sent(local, "int32"),
            after.new_ones(rows).float(),
            sent(np.random.default_rng(seed).integers(2**62, size=rows), "int64"),
            places - 1,
            **options,
        )
        behind = sent(np.arange(places), "int64") >= number[:, None]
        return emitted.masked_fill(behind, -1)

    return verify
