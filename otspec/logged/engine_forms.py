"""Accept lengths in the forms that inference engines take for load tests without a draft."""

from collections.abc import Callable
from typing import Any

from otspec.logged.metrics import AcceptLengths

_DIGITS = 6


def vllm(lengths: AcceptLengths) -> dict[str, Any]:
    """Return what goes into vLLM's ``--speculative-config``, beside its method and draft model.

    Its synthetic rejection sampling keeps at least ℓ drafted tokens with the ℓ-th rate, so that the
    law of accept lengths is that of the logs. Read: ``vllm/config/speculative.py`` at commit
    002e77c1f0ef (``synthetic_acceptance_rates`` are without conditions and never rise).
    """
    return {
        "num_speculative_tokens": lengths.depth,
        "rejection_sample_method": "synthetic",
        "synthetic_acceptance_rates": [round(rate, _DIGITS) for rate in lengths.rates],
    }


def sglang(lengths: AcceptLengths) -> dict[str, Any]:
    """Return environment variables for SGLang, whose accept length counts the bonus token.

    A step keeps one of the two whole numbers around the mean, the same for all rows of its batch:
    the mean is that of the logs, the law is not. Read: ``srt/speculative/spec_utils.py`` at commit
    00731f0bc9fa (its other method, ``multinomial``, does not have the mean).
    """
    return {
        "SGLANG_SIMULATE_ACC_LEN": f"{1 + sum(lengths.rates):.{_DIGITS}f}",
        "SGLANG_SIMULATE_ACC_METHOD": "match-expected",
        "SGLANG_SIMULATE_ACC_TOKEN_MODE": "real-draft-token",
    }


def tensorrt_llm(lengths: AcceptLengths) -> dict[str, Any]:
    """Return the environment variable for TensorRT-LLM, which counts drafted tokens only.

    The whole part is kept in every step, and one token more with the rest as its probability, where
    one engine drafts and verifies; elsewhere only a whole number is read. Read:
    ``_torch/speculative/interface.py`` at commit 00b6d5a25c30.
    """
    return {"TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS": f"{sum(lengths.rates):.{_DIGITS}f}"}


def llama_cpp(lengths: AcceptLengths) -> dict[str, Any]:
    """Return options of llama-server, whose rates are without conditions.

    At least ℓ drafted tokens are kept with the ℓ-th rate, so that the law of accept lengths is
    that of the logs. Read: ``tools/server/README.md`` of llama.cpp at commit 00dc8057ab28 and
    ``common/speculative.h`` at 001d906a6d86; ``--spec-synth-len`` takes a mean alone.
    """
    return {
        "--spec-draft-n-max": str(lengths.depth),
        "--spec-synth-rates": ",".join(f"{rate:.{_DIGITS}f}" for rate in lengths.rates),
    }


def atom(lengths: AcceptLengths) -> dict[str, Any]:
    """Return options of ATOM (ROCm), whose acceptance length counts the target's token.

    A step keeps one of the two whole numbers around the mean: the mean is that of the logs, the
    law is not. Read: ``atom/config.py`` and ``atom/model_ops/rejection_sampler.py`` of ROCm/ATOM
    at commit ffdf3bb5ddf8.
    """
    return {
        "--num-speculative-tokens": str(lengths.depth),
        "--spec-decode-acceptance-length": f"{1 + sum(lengths.rates):.{_DIGITS}f}",
    }


ENGINE_FORMS: dict[str, Callable[[AcceptLengths], dict[str, Any]]] = {
    "vllm": vllm,
    "sglang": sglang,
    "tensorrt-llm": tensorrt_llm,
    "llama.cpp": llama_cpp,
    "atom": atom,
}
"""What each engine takes, by its name."""
