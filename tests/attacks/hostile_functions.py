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
)

import otspec
from otspec import (
    auditing,
    blocks,
    closed_forms,
    cones,
    distributions,
    drafts,
    models,
    programs,
    rules,
    solvers,
)
from otspec.blocks.policies import policies
from otspec.rules import lossy


def reduced():
    return programs.formulate("reduced", iid(), TARGET).build()


FUNCTIONS = {
    "distributions.as_distribution": Row(
        distributions.as_distribution, {"values": ("distribution", DRAFT), **NORMALIZE}
    ),
    "distributions.as_pair": Row(distributions.as_pair, {**PAIR, **NORMALIZE}),
    "distributions.as_k": Row(distributions.as_k, K),
    "drafts.on_target_tokens": Row(
        drafts.on_target_tokens,
        {
            "draft": PAIR["draft"],
            "tokens": ("tokens", [0, 2]),
            "become": ("tokens", [1, 2]),
            "n": ("count", 3),
        },
    ),
    "drafts.on_target_strings": Row(
        drafts.on_target_strings,
        {
            "draft": ("callable", lambda: lambda _: [0.5, 0.5]),
            "writes": ("names", ("a", "b")),
            "strings": ("names", ("a", "ab")),
        },
    ),
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
    "optimal_acceptance, divergences": Row(
        lambda **given: otspec.optimal_acceptance(iid(), TARGET, **given),
        {
            "kullback_leibler": ("real?", None),
            "reverse_kullback_leibler": ("real?", None),
            "renyi": ("pair of numbers?", (2, 0.1)),
        },
    ),
    "optimum.FrontierProgram": Row(
        otspec.optimum.FrontierProgram,
        {**LAW, "sets": ("flag", True), "total_variation": ("real", 0.05)},
    ),
    "optimum.best_law": Row(
        otspec.optimum.best_law,
        {"targets": ("distributions", [DRAFT, TARGET]), **K, "worst": ("flag", True)},
    ),
    "optimum.safest_law": Row(
        otspec.optimum.safest_law,
        {"draft": PAIR["draft"], **K, "total_variation": ("real", 0.05)},
    ),
    "optimum.inclusion_bound": Row(
        otspec.optimum.inclusion_bound, {"targets": ("distributions", [DRAFT, TARGET]), **K}
    ),
    "optimum.safest_bound": Row(
        otspec.optimum.safest_bound,
        {"draft": PAIR["draft"], **K, "total_variation": ("real", 0.05)},
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
            "available": ("callable", lambda: solvers.cvxpy.available),
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
    "closed_forms.entropy_bound": Row(
        closed_forms.entropy_bound, {"target": ("distribution", TARGET), "nodes": ("count", 3)}
    ),
    "closed_forms.missing_divergence": Row(
        closed_forms.missing_divergence,
        {"target": ("distribution", TARGET), "m": ("count", 2), "of_target": ("flag", True)},
    ),
    "closed_forms.k_sequential_guarantee": Row(closed_forms.k_sequential_guarantee, K),
    **{
        f"closed_forms.{name}": Row(getattr(closed_forms, name), {"n": ("count", 2)})
        for name in ("single_draft_expression", "iid_expression", "always_accepted_expression")
    },
    **{
        f"closed_forms.{name}": Row(getattr(closed_forms, name), {**PAIR, **K, **NORMALIZE})
        for name in ("top_plus_one_acceptance", "iid_acceptance", "always_accepted")
    },
    "closed_forms.set_bound": Row(
        closed_forms.set_bound, {**PAIR, **K, "tokens": ("token set", [0]), **NORMALIZE}
    ),
    "closed_forms.set_bound_expression": Row(
        closed_forms.set_bound_expression, {"n": ("count", 3), **K, "tokens": ("token set", [0])}
    ),
    **{
        f"closed_forms.{name}_verification_tokens": Row(
            getattr(closed_forms, f"{name}_verification_tokens"),
            {"draft": ("real", 0.5), "target": ("real", 0.25), "length": ("count", 2)},
        )
        for name in ("token", "block")
    },
    **{
        f"closed_forms.{name}_verification_tokens_expression": Row(
            getattr(closed_forms, f"{name}_verification_tokens_expression"),
            {"length": ("count", 2)},
        )
        for name in ("token", "block")
    },
    **{
        f"closed_forms.{name}": Row(getattr(closed_forms, name), {**PAIR, **NORMALIZE})
        for name in ("single_draft_acceptance", "limit_acceptance", "hub_acceptance")
    },
    "Masked": Row(otspec.Masked, {"law": ("object", iid), "keep": ("token set", [0, 2])}),
    "auditing.small_pairs": Row(otspec.auditing.small_pairs, {"largest": ("few", 2)}),
    "auditing.audit_policy": Row(
        otspec.auditing.audit_policy,
        {
            "policy": ("object", lambda: policies(length=1)["confidence-dropped"]),
            "verify": ("callable?", None),
            "pairs": ("objects?", None),
        },
    ),
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
            "rule": ("object", lambda: blocks.BlockVerificationPreprint(*small(), 1)),
            "tokens": ("count?", 1),
            "optimum": ("flag", False),
            "tolerance": ("signed?", 0.0),
        },
    ),
    "auditing.best_expected": Row(
        auditing.best_expected,
        {"rule": ("object", lambda: blocks.BlockVerificationPreprint(*small(), 1))},
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
    "blocks.load_model": Row(models.load_model, {"path": ("path", None)}),
}
