"""The conformance check, with the kinds and examples of arguments."""

from functools import partial

from hostile_rows import SEED, Row

from otspec import batch, conformance

CONFORMANCE = {
    "conformance.check": Row(
        partial(conformance.check, detect=0.9, false_alarm=0.1, budget=9, vocabulary=8, shape=1),
        {
            "verifier": ("callable", lambda: batch.maximal_coupling),
            "kind": ("name", "tokens"),
            "mode": ("name", "kernel"),
            "distinct": ("flag", False),
            "same_seed": ("flag", False),
            "policy": ("object?", None),
            "arrays": ("name", "numpy"),
            "dtype": ("name", "float64"),
            "drafts": ("name?", "iid"),
            "seed": SEED,
            "progress": ("callable?", lambda: divmod),
        },
    ),
    "numbers of conformance.check": Row(
        partial(conformance.check, batch.maximal_coupling),
        {
            "detect": ("real", 0.9),
            "false_alarm": ("real", 0.1),
            "rounding": ("real?", 0.1),
            "budget": ("count", 9),
            "vocabulary": ("few", 8),
            "least_vocabulary": ("few", 8),
            "shape": ("count?", 1),
        },
    ),
    "conformance.exact_law": Row(
        partial(conformance.exact_law, len, (0,)),
        {"least": ("real", 0.1), "most": ("count", 2)},
    ),
    "conformance.exact_kernel": Row(
        conformance.exact_kernel,
        {
            "function": ("callable", lambda: len),
            "n": ("count?", 2),
            "least": ("real", 0.1),
            "most": ("count", 2),
        },
    ),
    "conformance.one_by_one": Row(
        conformance.one_by_one, {"engine": ("callable", lambda: lambda prompts: prompts)}
    ),
    "conformance.check_texts": Row(
        partial(conformance.check_texts, budget=100),
        {
            "engine": ("callable", lambda: lambda size: [[0]] * size),
            "target": ("callable", lambda: lambda _: [1.0]),
            "length": ("count", 1),
            "detect": ("real", 0.1),
            "false_alarm": ("real", 0.1),
            "budget": ("count", 100),
            "seed": ("natural", 0),
            "rounding": ("real", 1e-6),
        },
    ),
    "conformance.exact_texts": Row(
        conformance.exact_texts,
        {
            "generate": ("callable", lambda: lambda *_: (0,)),
            "draft": ("callable", lambda: lambda _: [1]),
            "target": ("callable", lambda: lambda _: [1]),
            "length": ("count", 1),
            "tolerance": ("real?", 0.1),
            "least": ("real", 0.1),
            "most": ("count", 2),
        },
    ),
    "conformance.reference_vectors": Row(
        conformance.reference_vectors,
        {
            "kinds": ("names", ("block",)),
            "detect": ("real", 0.5),
            "false_alarm": ("real", 0.1),
            "rounding": ("real", 0.0),
        },
    ),
}
