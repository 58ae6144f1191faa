"""Verifiers of engines, in the form that is checked: each takes the engine's own function.

Nothing of an engine is imported: a function of the same signature will do. All adapters raise a
``ValueError``: at once if what they are given is no callable, or no flag where one is wanted; and
when they are called, if PyTorch is needed and not installed, or if an answer contradicts itself.
Emitted tokens have shape (B, L + 1), with −1 behind; nodes, kept lengths and tokens shape (B,).
"""

from otspec.conformance.adapters.chains import (
    flashinfer_chain,
    llama_cpp_chain,
    transformers_chain,
    vllm_chain,
    vllm_runner_chain,
)
from otspec.conformance.adapters.decoders import candidates, hugging_face_decoder, mlx_decoder
from otspec.conformance.adapters.forms import eagle_tree, links_of, paths_of
from otspec.conformance.adapters.shapes import (
    draft_to_target,
    linked,
    on_logits,
    one_at_a_time,
    paths_tree,
)
from otspec.conformance.adapters.slots import (
    sglang_chain,
    sglang_tree,
    tensorrt_chain,
    tensorrt_tree,
)

__all__ = [
    "candidates",
    "draft_to_target",
    "eagle_tree",
    "flashinfer_chain",
    "hugging_face_decoder",
    "linked",
    "links_of",
    "llama_cpp_chain",
    "mlx_decoder",
    "on_logits",
    "one_at_a_time",
    "paths_of",
    "paths_tree",
    "sglang_chain",
    "sglang_tree",
    "tensorrt_chain",
    "tensorrt_tree",
    "transformers_chain",
    "vllm_chain",
    "vllm_runner_chain",
]
