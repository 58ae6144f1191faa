"""Traces and the bundled data, with the kinds and examples of arguments."""

from hostile_rows import DRAFT, NORMALIZE, PAIR, TARGET, Row, method, trace

from otspec import datasets, traces

WARP = {
    "temperature": ("real", 1.0),
    "top_k": ("count?", 2),
    "top_p": ("real?", 0.5),
    "min_p": ("real?", 0.5),
    "order": ("names", ("top_k", "top_p", "min_p", "temperature")),
}

TRACES = {
    "traces.compare": Row(
        traces.compare,
        {
            **PAIR,
            "ks": ("counts", [1]),
            "laws": ("names", ("iid",)),
            **NORMALIZE,
        },
    ),
    "traces.warp": Row(
        traces.warp,
        {"logits": ("logits", DRAFT), **WARP},
    ),
    "traces.Warp": Row(traces.Warp, {**WARP, **NORMALIZE}),
    "traces.Warping": Row(
        traces.Warping, {**WARP, **NORMALIZE, "draft": ("object?", lambda: traces.Warp(0.5))}
    ),
    "traces.Trace": Row(
        traces.Trace,
        {
            "draft_logits": ("object", lambda: trace().draft_logits),
            "target_logits": ("object", lambda: trace().target_logits),
        },
    ),
    "Trace.pairs": Row(
        method(trace, "pairs"),
        {
            "warping": ("object?", None),
            "temperature": ("real", 1.0),
            "top_k": ("count?", 2),
            "top_p": ("real?", 0.5),
            "draft_temperature": ("real?", 0.5),
        },
    ),
    "Trace.blocks": Row(
        method(trace, "blocks"),
        {"warping": ("object", traces.Warping), "drawn": ("object", traces.Warp)},
    ),
    "traces.load_trace": Row(traces.load_trace, {"path": ("path", None)}),
    "traces.summarize": Row(
        traces.summarize,
        {"positions": ("objects", lambda: [traces.compare(DRAFT, TARGET, [1])])},
    ),
    "datasets.load_smollm2": Row(datasets.load_smollm2, {"path": ("path?", None)}),
    "datasets.letters": Row(datasets.letters, {"exact": ("flag", True)}),
    "datasets.logged_letters": Row(
        datasets.logged_letters,
        {"texts": ("small", 2), "tokens": ("small", 2), "seed": ("natural", 0)},
    ),
    "datasets.Letters": Row(datasets.Letters, {"exact": ("flag", True)}),
    "Letters.write": Row(method(datasets.letters, "write"), {"tokens": ("tokens", (0, 1))}),
}
