"""Verifiers of engines, in the form that is checked: each takes the engine's own function.

Nothing of an engine is imported: a function of the same signature will do.
"""

from otspec.conformance.adapters.chains import flashinfer_chain, transformers_chain
from otspec.conformance.adapters.shapes import linked, on_logits, one_at_a_time, paths_tree
from otspec.conformance.adapters.trees import eagle_tree, links_of, paths_of, sglang_tree
from otspec.conformance.adapters.vllm import vllm_chain, vllm_runner_chain

__all__ = [
    "eagle_tree",
    "flashinfer_chain",
    "linked",
    "links_of",
    "on_logits",
    "one_at_a_time",
    "paths_of",
    "paths_tree",
    "sglang_tree",
    "transformers_chain",
    "vllm_chain",
    "vllm_runner_chain",
]
