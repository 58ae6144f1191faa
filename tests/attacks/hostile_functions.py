"""Functions and classes, but for rules and blocks, with the kinds and examples of arguments."""

from functools import partial

from hostile_adapters import ADAPTERS
from hostile_programs import PROGRAMS
from hostile_rows import (
    DRAFT,
    LAW,
    LAW_TARGET,
    NORMALIZE,
    PAIR,
    SEED,
    TARGET,
    TOKENS,
    WANTED,
    K,
    Row,
    exact_law,
    iid,
    method,
    small,
    trace,
)

import otspec
from otspec import (
    auditing,
    batch,
    blocks,
    closed_forms,
    cones,
    conformance,
    datasets,
    distributions,
    drafts,
    lossy,
    programs,
    rules,
    solvers,
    traces,
)

WARP = {
    "temperature": ("real", 1.0),
    "top_k": ("count?", 2),
    "top_p": ("real?", 0.5),
    "min_p": ("real?", 0.5),
    "order": ("names", ("top_k", "top_p", "min_p", "temperature")),
}


def reduced():
    return programs.formulate("reduced", iid(), TARGET).build()


FUNCTIONS = {
    "distributions.as_distribution": Row(
        distributions.as_distribution, {"values": ("distribution", DRAFT), **NORMALIZE}
    ),
    "distributions.as_pair": Row(distributions.as_pair, {**PAIR, **NORMALIZE}),
    "distributions.as_k": Row(distributions.as_k, K),
    "IID": Row(otspec.IID, {"draft": PAIR["draft"], **K, **NORMALIZE}),
    "WithoutReplacement": Row(
        otspec.WithoutReplacement, {"draft": PAIR["draft"], **K, **NORMALIZE}
    ),
    "TopPlusOne": Row(otspec.TopPlusOne, {"draft": PAIR["draft"], **K, **NORMALIZE}),
    "TopK": Row(otspec.TopK, {"draft": PAIR["draft"], **K, **NORMALIZE}),
    "Fixed": Row(
        otspec.Fixed, {"tokens": ("tokens", [2, 0]), "n": ("count", 3), "exact": ("flag", True)}
    ),
    "TwoHubs": Row(otspec.TwoHubs, {"draft": PAIR["draft"], **K, **NORMALIZE}),
    "Hub": Row(otspec.Hub, {"draft": PAIR["draft"], **K, **NORMALIZE}),
    "Independent": Row(
        otspec.Independent, {"drafts": ("distributions", [DRAFT, TARGET]), **NORMALIZE}
    ),
    "Joint": Row(otspec.Joint, {"table": ("table", [[0.5, 0.0], [0.25, 0.25]]), **NORMALIZE}),
    "drafts.named_law": Row(
        drafts.named_law, {"name": ("name", "iid"), "draft": PAIR["draft"], **K}
    ),
    "optimal_acceptance": Row(
        otspec.optimal_acceptance, {**LAW_TARGET, "total_variation": ("real?", 0.05)}
    ),
    "lossy.FrontierProgram": Row(
        lossy.FrontierProgram, {**LAW, "sets": ("flag", True), "total_variation": ("real", 0.05)}
    ),
    "lossy.rule_attaining": Row(
        lossy.rule_attaining, {"best": ("object", lambda: otspec.optimal_acceptance(iid(), TARGET))}
    ),
    "optimal_acceptances": Row(
        otspec.optimal_acceptances,
        {
            **PAIR,
            "ks": ("counts", [1, 2]),
            "law": ("name", "iid"),
            "total_variation": ("real?", 0.05),
            **NORMALIZE,
        },
    ),
    "optimal_plan": Row(
        otspec.optimal_plan,
        {
            **LAW_TARGET,
            "total_variation": ("real?", 0.05),
            "program": ("name", "reduced"),
            "solver": ("name?", "highs"),
            "sets": ("flag", True),
        },
    ),
    "Plan.kernel": Row(method(lambda: otspec.optimal_plan(iid(), TARGET), "kernel"), {"x": TOKENS}),
    **PROGRAMS,
    **ADAPTERS,
    "solvers.solve": Row(
        solvers.solve,
        {
            "program": ("object", reduced),
            "solver": ("name?", "highs"),
        },
    ),
    "solvers.Solver": Row(
        partial(solvers.Solver, "mine"),
        {
            "solve": ("callable", lambda: solvers.highs.solve),
            "exact": ("flag", False),
            "available": ("callable", lambda: solvers.rational.available),
        },
    ),
    "solvers.certify": Row(
        solvers.certify,
        {
            "program": ("object", reduced),
            "primal": ("table", lambda: [0.0] * reduced().shape[1]),
            "duals": ("table", lambda: [0.0] * reduced().shape[0]),
        },
    ),
    "closed_forms.bernoulli_acceptance": Row(
        closed_forms.bernoulli_acceptance, {"draft": ("real", 0.5), "target": ("real", 0.25), **K}
    ),
    "closed_forms.uniform_acceptance": Row(
        closed_forms.uniform_acceptance, {"ratio": ("real", 4.0), **K}
    ),
    "closed_forms.uniform_rho": Row(closed_forms.uniform_rho, {"ratio": ("real", 4.0), **K}),
    "closed_forms.k_sequential_guarantee": Row(closed_forms.k_sequential_guarantee, K),
    "closed_forms.single_draft_expression": Row(
        closed_forms.single_draft_expression, {"n": ("count", 2)}
    ),
    "closed_forms.top_plus_one_acceptance": Row(
        closed_forms.top_plus_one_acceptance, {**PAIR, **K, **NORMALIZE}
    ),
    **{
        f"closed_forms.{name}": Row(getattr(closed_forms, name), {**PAIR, **NORMALIZE})
        for name in ("single_draft_acceptance", "limit_acceptance", "hub_acceptance")
    },
    "audit": Row(
        otspec.audit,
        {
            "rule": ("callable", lambda: rules.MaximalCoupling(DRAFT, TARGET)),
            "law": ("object?", lambda: otspec.IID(DRAFT, 1)),
            "target": ("distribution?", TARGET),
            "tolerance": ("signed?", 0.0),
        },
    ),
    "audit_samples": Row(
        otspec.audit_samples,
        {
            "sampler": ("callable", lambda: lambda x: x[0]),
            **LAW,
            "size": ("few", 2),
            "seed": SEED,
            "false_alarm": ("real", 0.01),
            "batched": ("flag", False),
            "chunk": ("few?", None),
            "rule": ("object?", None),
        },
    ),
    "audit_over": Row(
        otspec.audit_over,
        {
            "rule_factory": ("callable", lambda: rules.KSequential),
            "instances": ("objects", lambda: list(auditing.random_instances(1))),
            "drafts": ("name?", "iid"),
            "tolerance": ("signed?", 0.0),
        },
    ),
    "audit_blocks": Row(
        otspec.audit_blocks,
        {
            "rule": ("object", lambda: blocks.BlockVerify(*small(), 1)),
            "tokens": ("count?", 1),
            "optimum": ("flag", False),
            "tolerance": ("signed?", 0.0),
        },
    ),
    "auditing.best_expected": Row(
        auditing.best_expected, {"rule": ("object", lambda: blocks.BlockVerify(*small(), 1))}
    ),
    "auditing.random_instances": Row(
        auditing.random_instances,
        {
            "count": ("natural", 1),
            "most_tokens": ("count", 2),
            "most_drafts": ("count", 2),
            "seed": SEED,
        },
    ),
    "auditing.Instance": Row(
        auditing.Instance,
        {"draft_weights": ("weights", (1, 2)), "target_weights": ("weights", (1, 1)), **K},
    ),
    "cones.certainty_cone": Row(
        cones.certainty_cone, {"n": ("count", 2), "k": ("count", 2), "rows": ("name", "sets")}
    ),
    "cones.optimum_cone": Row(
        cones.optimum_cone, {"n": ("count", 2), "k": ("count", 2), "rows": ("name", "tuples")}
    ),
    "cones.eliminate": Row(
        cones.eliminate,
        {"n": ("count", 2), "target": ("name", "certainty"), "reduce": ("flag", True)},
    ),
    "cones.selection_polytope": Row(cones.selection_polytope, {"law": ("object", exact_law)}),
    "Cone.conditions": Row(
        method(lambda: cones.certainty_cone(2, 2), "conditions"), {"drafts": ("name", "iid")}
    ),
    "Cone.violated": Row(
        method(lambda: cones.optimum_cone(3, 2), "violated"),
        {
            "law": ("object", exact_law),
            "target": ("distribution", WANTED),
            "acceptance": ("signed", 1),
        },
    ),
    "Cone.optimum": Row(
        method(lambda: cones.optimum_cone(3, 2), "optimum"),
        {"law": ("object", exact_law), "target": ("distribution", WANTED)},
    ),
    **{
        f"Condition.{name}": Row(
            method(lambda: cones.certainty_cone(2, 1).rays[0], name),
            {"values": ("table", ["1", "0", "1", "0"])},
        )
        for name in ("slack", "holds")
    },
    "Condition.written": Row(
        method(lambda: cones.certainty_cone(2, 1).rays[0], "written"), {"drafts": ("name", "iid")}
    ),
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
    "traces.summarise": Row(
        traces.summarise,
        {"positions": ("objects", lambda: [traces.compare(DRAFT, TARGET, [1])])},
    ),
    "datasets.load_smollm2": Row(datasets.load_smollm2, {"path": ("path?", None)}),
    "datasets.letters": Row(datasets.letters, {"exact": ("flag", True)}),
    "datasets.Letters": Row(datasets.Letters, {"exact": ("flag", True)}),
    "Letters.write": Row(method(datasets.letters, "write"), {"tokens": ("tokens", (0, 1))}),
    "conformance.check": Row(
        partial(conformance.check, detect=0.9, false_alarm=0.1, budget=9, vocabulary=8, shape=1),
        {
            "verifier": ("callable", lambda: batch.maximal_coupling),
            "kind": ("name", "tokens"),
            "mode": ("name", "kernel"),
            "distinct": ("flag", False),
            "arrays": ("name", "numpy"),
            "dtype": ("name", "float64"),
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
    "blocks.load_model": Row(blocks.load_model, {"path": ("path", None)}),
}
