"""The verifiers of SGLang and TensorRT-LLM, whose trees are slots with links."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from otspec._base import Array, IntArray, as_callable, as_flag, as_real
from otspec.conformance.adapters.forms import (
    Tensor,
    as_array,
    in_rows,
    links_of,
    logits_of,
    paths_of,
    tensor_of,
    torch_itself,
)


def sglang_tree(
    function: Callable[..., Any], *, threshold_single: float = 1.0, threshold_acc: float = 1.0
) -> Callable[..., tuple[IntArray, IntArray]]:
    """Return a verifier of trees of ``tree_speculative_sampling_target_only`` of SGLang.

    Its signature is that of ``sgl_kernel.tree_speculative_sampling_target_only``, which takes its
    random numbers as arrays: the adapter draws them by ``torch.rand``, as SGLang does. At
    thresholds of 1 it keeps the target's law whatever the drafts are drawn from, if siblings are
    distinct; below 1 it is lossy.

    Parameters
    ----------
    function : callable
        ``(predicts, accept_index, accept_token_num, candidates, retrive_index,
        retrive_next_token, retrive_next_sibling, uniform_samples,
        uniform_samples_for_final_sampling, target_probs, draft_probs, threshold_single,
        threshold_acc, deterministic)``, which writes to the first three.
    threshold_single : float
        From 0 to 1: a child of at least this probability is kept whenever it is reached.
    threshold_acc : float
        From 0 to 1: what the accumulated probability of the children is divided by.

    Returns
    -------
    callable
        ``(target, drafts, parents) -> (node, token)``.
    """
    as_callable(function, "function", "tree_speculative_sampling_target_only, or one like it")
    thresholds = (
        float(as_real(threshold_single, "threshold_single", 0, 1)),
        float(as_real(threshold_acc, "threshold_acc", 0, 1)),
    )

    def verify(target: Any, drafts: Any, parents: Sequence[int]) -> tuple[IntArray, IntArray]:
        torch, probabilities = torch_itself(), tensor_of(target)
        rows, slots = probabilities.shape[:2]
        coins = [torch.rand(shape, device=probabilities.device) for shape in ((rows, slots), rows)]
        # The draft's probabilities are scratch memory.
        scratch = torch.zeros_like(probabilities)
        return _called(function, drafts, parents, coins, probabilities, scratch, thresholds)

    return verify


def sglang_chain(
    function: Callable[..., Any], *, final_per_place: bool = False
) -> Callable[..., tuple[IntArray, IntArray]]:
    """Return a verifier of blocks of ``chain_speculative_sampling_triton`` of SGLang.

    Its signature is that of ``python/sglang/srt/speculative/reject_sampling.py`` at commit
    0c23aa807d69 (later under ``sglang.kernels.ops.speculative``), which is that of
    :func:`sglang_tree`'s function; ``draft_probs`` has a row for each draft. The random numbers
    are the caller's: the adapter draws them by ``torch.rand``, as SGLang does.

    Parameters
    ----------
    function : callable
        As for :func:`sglang_tree`.
    final_per_place : bool
        Whether ``uniform_samples_for_final_sampling`` has a number for each place, shape
        (B, L + 1), as at that commit; later versions take one for each row, shape (B,).

    Returns
    -------
    callable
        ``(draft, target, drafts) -> (length, token)``, each of shape (B,).

    Raises
    ------
    ValueError
        No callable, or no flag. When it is called: PyTorch is not installed; or what the function
        wrote is no chain.
    """
    as_callable(function, "function", "chain_speculative_sampling_triton, or one like it")
    each_place = as_flag(final_per_place, "final_per_place")

    def verify(draft: Any, target: Any, drafts: Any) -> tuple[IntArray, IntArray]:
        torch, probabilities = torch_itself(), tensor_of(target)
        rows, slots = probabilities.shape[:2]
        shapes = (rows, slots - 1), (rows, slots) if each_place else (rows,)
        coins = [torch.rand(shape, device=probabilities.device) for shape in shapes]
        chain = tuple(range(-1, slots - 2))
        node, token = _called(
            function, drafts, chain, coins, probabilities, tensor_of(draft), (1.0, 1.0)
        )
        return node + 1, token

    return verify


def _called(
    function: Callable[..., Any],
    drafts: Any,
    parents: Sequence[int],
    coins: Sequence[Any],
    target: Any,
    draft: Any,
    thresholds: tuple[float, float],
) -> tuple[IntArray, IntArray]:
    """Call a function of 14 arguments that writes to the first three, and read what it wrote."""
    rows, slots = target.shape[:2]
    numbers = np.arange(rows * slots).reshape(rows, slots)
    # The root holds the last token of the text, by which nothing is chosen.
    tokens = np.pad(as_array(drafts), ((0, 0), (1, 0)))
    links = [np.tile(link, (rows, 1)) for link in links_of(parents)]
    outputs = np.full(rows * slots, -1), np.full((rows, depth_of(parents)), -1), np.zeros(rows)
    written = [tensor_of(output, "int32").to(target.device) for output in outputs]
    inputs = [tensor_of(array, "int64").to(target.device) for array in (tokens, numbers, *links)]
    function(*written, *inputs, *coins, target, draft, *thresholds, True)
    predicts, kept, count = map(as_array, written)
    return read_path(predicts.reshape(rows, slots), kept - numbers[:, :1], count, tokens, parents)


def depth_of(parents: Sequence[int]) -> int:
    """Return how many slots the longest path of a tree has, the text included."""
    return int(paths_of(parents).shape[1])


def read_path(
    predicts: Array, kept: Array, count: Array, tokens: Array, parents: Sequence[int]
) -> tuple[IntArray, IntArray]:
    """Return the last node that is kept and the token behind it, and check the way to it."""
    # Shapes: predicts (B, slots), what follows each kept slot; kept (B, depth + 1), the kept slots,
    # the root first; count (B,), how many there are without the root; tokens (B, slots).
    if not ((count >= 0) & (count < kept.shape[1])).all():
        raise ValueError("accept_token_num says more than the depth of the tree, or less than 0")
    # The root is the child of no slot.
    rows, above = np.arange(len(predicts)), np.array([-2, *parents]) + 1
    slot = np.zeros(len(rows), dtype=np.int64)
    for depth in range(1, kept.shape[1]):
        on = depth <= count
        below = np.where(on, kept[:, depth], slot)
        if not (
            (below >= 0) & (below < len(above)) & ((above[below % len(above)] == slot) | ~on)
        ).all():
            raise ValueError("accept_index has a slot that is no child of the one before it")
        if (predicts[rows, slot] != tokens[rows, below])[on].any():
            raise ValueError("predicts has another token than the child that is kept")
        slot = below
    return slot - 1, predicts[rows, slot].astype(np.int64)


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
