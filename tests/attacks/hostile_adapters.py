"""Adapters of engines, with the kinds and examples of arguments."""

from hostile_rows import Row

from otspec.conformance import adapters

FUNCTION = {"function": ("callable", lambda: lambda *arrays: arrays)}
VERIFIER = {"function": ("callable", lambda: lambda drafts: drafts)}
FLAG = ("flag", False)
THRESHOLD = ("real", 0.5)
PARENTS = {"parents": ("parents", (-1, 0))}

ADAPTERS = {
    "adapters.transformers_chain": Row(adapters.transformers_chain, FUNCTION),
    "adapters.flashinfer_chain": Row(adapters.flashinfer_chain, FUNCTION),
    "adapters.eagle_tree": Row(adapters.eagle_tree, FUNCTION),
    "adapters.vllm_chain": Row(
        adapters.vllm_chain,
        {
            **FUNCTION,
            "certain": FLAG,
            "logits": FLAG,
            "seeded": FLAG,
            "empty": FLAG,
            "metadata": FUNCTION["function"],
        },
    ),
    "adapters.vllm_runner_chain": Row(adapters.vllm_runner_chain, {**FUNCTION, "certain": FLAG}),
    "adapters.sglang_tree": Row(
        adapters.sglang_tree,
        {**FUNCTION, "threshold_single": THRESHOLD, "threshold_acc": THRESHOLD},
    ),
    "adapters.sglang_chain": Row(adapters.sglang_chain, {**FUNCTION, "final_per_place": FLAG}),
    "adapters.tensorrt_chain": Row(adapters.tensorrt_chain, FUNCTION),
    "adapters.tensorrt_tree": Row(adapters.tensorrt_tree, FUNCTION),
    "adapters.llama_cpp_chain": Row(adapters.llama_cpp_chain, FUNCTION),
    "adapters.mlx_decoder": Row(adapters.mlx_decoder, FUNCTION),
    "adapters.hugging_face_decoder": Row(
        adapters.hugging_face_decoder,
        {**FUNCTION, "prompt": FLAG, "batch": FLAG, "transformers": FLAG},
    ),
    "adapters.candidates": Row(adapters.candidates, {"make": FUNCTION["function"]}),
    "adapters.draft_to_target": Row(
        adapters.draft_to_target, {**VERIFIER, "offsets": FLAG, "own_ids": FLAG}
    ),
    "adapters.paths_tree": Row(adapters.paths_tree, FUNCTION),
    "adapters.one_at_a_time": Row(adapters.one_at_a_time, VERIFIER),
    "adapters.on_logits": Row(adapters.on_logits, VERIFIER),
    "adapters.linked": Row(adapters.linked, VERIFIER),
    "adapters.links_of": Row(adapters.links_of, PARENTS),
    "adapters.paths_of": Row(adapters.paths_of, PARENTS),
}
