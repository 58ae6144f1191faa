"""The verifiers of TensorRT-LLM: one-model chains, and dynamic trees."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from otspec._base.arguments import as_callable
from otspec._base.arithmetic import IntArray
from otspec.conformance.adapters.sglang import depth_of, read_path
from otspec.conformance.adapters.tensors import (
    Tensor,
    as_array,
    in_rows,
    logits_of,
    tensor_of,
    torch_itself,
)
from otspec.conformance.adapters.trees import links_of


def tensorrt_chain(function: Callable[..., Any]) -> Callable[..., Tensor]:
    """Return a verifier of blocks of ``rejection_sampling_one_model`` of TensorRT-LLM.

    Its signature is that of ``tensorrt_llm/_torch/speculative/interface.py`` at commit
    00b6d5a25c30, which calls FlashInfer: the generator of the device is drawn from.

    Parameters
    ----------
    function : callable
        ``(draft_probs, draft_token_ids, target_probs)``, which returns the emitted tokens, shape
        (B, L + 1), and how many of each row count, the last one included.

    Returns
    -------
    callable
        ``(draft, target, drafts) -> emitted tokens``, shape (B, L + 1), with −1 behind.

    Raises
    ------
    ValueError
        No callable. When it is called: PyTorch is not installed.
    """
    as_callable(function, "function", "rejection_sampling_one_model, or one like it")

    def verify(draft: Any, target: Any, drafts: Any) -> Tensor:
        found, count = function(tensor_of(draft), tensor_of(drafts, "int32"), tensor_of(target))
        emitted = in_rows(found, len(drafts))
        places = torch_itself().arange(emitted.shape[1], device=emitted.device)
        return emitted.masked_fill(places >= count.reshape(-1, 1), -1)

    return verify


def tensorrt_tree(function: Callable[..., Any]) -> Callable[..., tuple[IntArray, IntArray]]:
    """Return a verifier of trees of ``verify_dynamic_tree_rejection_from_logits_out``.

    It is a method of ``DynamicTreeOpsConverter`` of TensorRT-LLM, in
    ``tensorrt_llm/_torch/speculative/dynamic_tree_ops.py`` at commit 16f026718eab: hand over the
    bound method of a converter that is large enough for the tree, and for as many rows as calls
    have. Each call has a seed of its own, at offset 0.

    Parameters
    ----------
    function : callable
        Takes by name ``candidates``, ``draft_logits_tree``, ``target_logits_tree``,
        ``draft_prob_indices``, ``retrieve_next_token``, ``retrieve_next_sibling``,
        ``temperatures``, ``top_k``, ``top_p``, ``skip_temperature``, ``num_gens``,
        ``num_spec_step``, ``seed`` and ``offset``, and ``tree_valid`` if it has that; the last
        three of its results are the accepted slots, their number without the root, and the
        tokens. The later ``verify_dynamic_tree_rejection_out`` takes ``draft_tokens`` in place of
        all that is of the draft.

    Returns
    -------
    callable
        ``(draft, target, drafts, parents, seed) -> (node, token)``.
    """
    as_callable(
        function, "function", "verify_dynamic_tree_rejection_from_logits_out, or one like it"
    )

    def verify(
        draft: Any, target: Any, drafts: Any, parents: Sequence[int], seed: int
    ) -> tuple[IntArray, IntArray]:
        after, before = logits_of(target), logits_of(draft)
        rows, slots = after.shape[:2]
        tokens = np.pad(as_array(drafts), ((0, 0), (1, 0)))
        next_token, next_sibling = links_of(parents)
        # The draft has a row for each slot, of which each node uses that of its parent.
        above = np.array([0, *(parent + 1 for parent in parents)])

        def sent(values: Any, dtype: str = "int32") -> Tensor:
            return tensor_of(values, dtype).to(after.device)

        asked = inspect.signature(function).parameters
        options: dict[str, Any] = {}
        if "tree_valid" in asked:
            options["tree_valid"] = sent(np.ones(rows), "bool")
        if "draft_tokens" in asked:  # of the target alone
            options["draft_tokens"] = sent(tokens[:, 1:], "int64")
        else:
            options |= {
                "candidates": sent(tokens, "int64"),
                "draft_logits_tree": before.flatten(0, 1),
                "draft_prob_indices": sent(np.tile(above, (rows, 1))),
                "skip_temperature": False,
            }
        kept, count, emitted = (
            in_rows(as_array(part), rows)
            for part in function(
                target_logits_tree=after.flatten(0, 1),
                retrieve_next_token=sent(np.tile(next_token, (rows, 1))),
                retrieve_next_sibling=sent(np.tile(next_sibling, (rows, 1))),
                temperatures=after.new_ones(rows),
                top_k=None,
                top_p=None,
                num_gens=rows,
                num_spec_step=depth_of(parents),
                seed=seed,
                offset=0,
                **options,
            )[-3:]
        )
        count = count.reshape(-1)
        on = np.arange(kept.shape[1]) <= count[:, None]
        predicts = np.full((rows, slots), -1, dtype=np.int64)
        row, depth = np.nonzero(on)
        predicts[row, kept[row, depth] % slots] = emitted[row, depth]
        return read_path(predicts, kept, count, tokens, parents)

    return verify
