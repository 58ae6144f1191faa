"""The verifiers of chains of vLLM, FlashInfer, transformers and llama.cpp."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from otspec._base import IntArray, as_callable, as_flag
from otspec.conformance.adapters.forms import (
    Tensor,
    as_array,
    draw,
    in_rows,
    logits_of,
    padded,
    tensor_of,
    torch_itself,
)
from otspec.conformance.adapters.shapes import on_logits, one_at_a_time, parameters_of


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


def vllm_chain(
    function: Callable[..., Any],
    *,
    certain: bool = False,
    logits: bool = False,
    seeded: bool = False,
    empty: bool = False,
    metadata: Callable[..., Any] = SimpleNamespace,
) -> Callable[..., Tensor]:
    """Return a verifier of blocks of ``rejection_sample`` of vLLM.

    Its signature is that of ``vllm.v1.sample.rejection_sampler.rejection_sample``. The adapter
    draws the token after a whole block, by ``torch.multinomial``.

    Parameters
    ----------
    function : callable
        ``(draft_token_ids, num_draft_tokens, max_spec_len, cu_num_draft_tokens, draft_probs,
        target_probs, bonus_token_ids, sampling_metadata)``, which returns the emitted tokens, shape
        (B, max_spec_len + 1) with −1 behind.
    certain : bool
        Whether ``draft_probs`` is None, as for n-grams and drafts that are the likeliest tokens:
        each drafted token then counts as certain.
    logits : bool
        Whether the sixth argument is ``target_logits``, as in later versions.
    seeded : bool
        Whether each request has a generator of its own, as a request with a seed; else all draw
        from PyTorch's global state.
    empty : bool
        Whether it is called where no row has a draft, too. vLLM does not do so: each row then has
        the token that the caller draws.
    metadata : callable
        What makes ``sampling_metadata`` of ``temperature``, ``all_greedy``, ``all_random``,
        ``top_p``, ``top_k`` and ``generators``; for vLLM's own class a ``functools.partial`` with
        the rest of its fields.

    Returns
    -------
    callable
        ``(draft, target, drafts, lengths) -> emitted tokens``; also with ``seed`` if seeded.
    """
    as_callable(function, "function", "rejection_sample of vLLM, or one like it")
    as_callable(metadata, "metadata", "SamplingMetadata of vLLM, or one like it")
    certainly, in_logits = as_flag(certain, "certain"), as_flag(logits, "logits")
    always = as_flag(empty, "empty")

    def emitted(
        draft: Any, target: Any, drafts: Any, lengths: Any, bonus: Any = None, own: Any = ()
    ) -> Tensor:
        probabilities, counts = tensor_of(target), as_array(lengths)
        rows = (logits_of if in_logits else tensor_of)(target)[:, :-1]
        last = draw(probabilities[np.arange(len(counts)), counts], bonus)[:, None]
        behind = torch_itself().nn.functional.pad
        if not (always or counts.any()):
            return behind(last, (0, len(probabilities[0]) - 1), value=-1)
        settings = metadata(
            temperature=probabilities.new_ones(len(probabilities)),
            all_greedy=False,
            all_random=True,
            top_p=None,
            top_k=None,
            generators=dict(enumerate(own)),
        )
        found = function(
            _flat(tensor_of(drafts, "int32"), counts),
            counts.tolist(),
            int(counts.max(initial=0)),
            tensor_of(np.cumsum(counts), "int32").to(probabilities.device),
            None if certainly else _flat(tensor_of(draft), counts),
            _flat(rows, counts),
            last.to(torch_itself().int32),
            settings,
        )
        # The rows are as wide as the longest one wants.
        found = in_rows(found, len(counts))
        return behind(found, (0, len(probabilities[0]) - found.shape[1]), value=-1)

    def verify(draft: Any, target: Any, drafts: Any, lengths: Any) -> Tensor:
        return emitted(draft, target, drafts, lengths)

    def verify_with_seeds(draft: Any, target: Any, drafts: Any, lengths: Any, seed: int) -> Tensor:
        bonus, *own = _generators(tensor_of(target).device, len(drafts) + 1, seed)
        return emitted(draft, target, drafts, lengths, bonus, own)

    return verify_with_seeds if as_flag(seeded, "seeded") else verify


def _flat(values: Tensor, counts: Any) -> Tensor:
    """Return the places of all rows that count, one after the other."""
    counted = np.arange(values.shape[1]) < counts[:, None]
    return values[tensor_of(counted).to(values.device)].contiguous()


def _generators(device: Any, count: int, seed: int) -> list[Any]:
    # A sequence of seeds is no random number, so that exact mode follows the generators.
    seeds = (np.random.SeedSequence(seed).generate_state(count, np.uint64) >> 2).tolist()
    generator = torch_itself().Generator
    return [generator(device=device).manual_seed(each) for each in seeds]


FIRST = 100  # the position of the first drafted token in its text


def vllm_runner_chain(
    function: Callable[..., Any], *, certain: bool = False, **options: Any
) -> Callable[..., Tensor]:
    """Return a verifier of blocks of ``rejection_sample`` of vLLM's newer runner.

    Its signature is that of ``vllm.v1.worker.gpu.spec_decode.rejection_sampler_utils``. Each of its
    random numbers follows from the seed of a request and a position, so the adapter gives each
    request a seed of its own; the states of requests are in another order than the requests.

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
        ``(draft, target, drafts, lengths, seed) -> emitted tokens``.
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
        behind = sent(np.arange(places), "int64") >= number.reshape(-1, 1)
        return in_rows(emitted, rows).masked_fill(behind, -1)

    return verify


def llama_cpp_chain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a verifier of blocks of ``common_sampler_sample_and_accept_n`` of llama.cpp.

    It is a function of C++ in ``common/sampling.cpp``, of which a binding or a port is handed over:
    a token is drawn from each row of the target, up to the first one that is not the draft. The
    draft's probabilities are not looked at.

    Parameters
    ----------
    function : callable
        ``(logits, draft)`` of one text, (L + 1, V) in float32 and a list of L tokens → the tokens
        that are kept, and the one after them. Where it does not draw from the shared generators of
        Python, NumPy or PyTorch, it has to take ``seed`` as well.

    Returns
    -------
    callable
        ``(target, drafts) -> emitted tokens``, shape (B, L + 1), with −1 behind; also with ``seed``
        if the function takes one.

    Raises
    ------
    ValueError
        No callable, or one that does not tell its parameters.
    """
    seeded = "seed" in parameters_of(function)

    def verify(target: Any, drafts: Any) -> Any:
        return function(as_array(target), as_array(drafts).tolist())

    def verify_with_seed(target: Any, drafts: Any, seed: int) -> Any:
        return function(as_array(target), as_array(drafts).tolist(), seed=seed)

    return on_logits(one_at_a_time(verify_with_seed if seeded else verify))
