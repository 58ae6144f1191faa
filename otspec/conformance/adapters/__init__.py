"""Verifiers of engines, in the form that is checked: each takes the engine's own function.

Nothing of an engine is imported: a function of the same signature will do.
"""

from otspec.conformance.adapters.eagle import eagle_tree
from otspec.conformance.adapters.flashinfer import flashinfer_chain
from otspec.conformance.adapters.links import links_of, paths_of
from otspec.conformance.adapters.sglang import sglang_tree
from otspec.conformance.adapters.shapes import linked, on_logits, one_at_a_time, paths_tree
from otspec.conformance.adapters.transformers import transformers_chain
from otspec.conformance.adapters.vllm import vllm_chain
from otspec.conformance.adapters.vllm_runner import vllm_runner_chain

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
