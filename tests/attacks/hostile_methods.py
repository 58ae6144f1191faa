"""Draft laws and rules, and what they are asked, with the kinds and examples of arguments."""

from hostile_rows import (
    DRAFT,
    NORMALIZE,
    PAIR,
    RNG,
    SEED,
    SIZE,
    TARGET,
    K,
    Row,
    iid,
    method,
)

import otspec
from otspec import rules


def law_rows():
    laws = {
        "IID": iid,
        "WithoutReplacement": lambda: otspec.WithoutReplacement(DRAFT, 2),
        "TopPlusOne": lambda: otspec.TopPlusOne(DRAFT, 2),
        "TwoHubs": lambda: otspec.TwoHubs(DRAFT),
        "Hub": lambda: otspec.Hub(DRAFT),
        "TopK": lambda: otspec.TopK(DRAFT, 2),
        "Fixed": lambda: otspec.Fixed([2, 0], 3),
        "Independent": lambda: otspec.Independent([DRAFT, TARGET]),
        "Joint": lambda: otspec.Joint([[0.5, 0.0], [0.25, 0.25]]),
    }
    for name, make in laws.items():
        n = 2 if name == "Joint" else 3
        yield f"{name}.inside", Row(method(make, "inside"), {"tokens": ("token set", [0, 1])})
        yield (
            f"{name}.inside_prefixes",
            Row(method(make, "inside_prefixes"), {"order": ("order", list(range(n)))}),
        )
        yield f"{name}.marginal", Row(method(make, "marginal"), {"i": ("natural", 1)})
        yield f"{name}.sample", Row(method(make, "sample"), {"rng": RNG, "size": SIZE})


def rule_rows():
    plan = otspec.optimal_plan(iid(), TARGET)
    extra = {
        rules.KSequential: {"rho": ("real?", 2.0)},
        rules.PooledSelection: {"pools": ("pools", "tokens")},
        rules.EarliestPooledSelection: {"pools": ("pools", "tokens")},
        rules.ImportanceSampling: {
            "others": ("others?", [TARGET]),
            "free": ("natural", 2),
            "alphabet": ("count?", 2),
            "solver": ("name?", "highs"),
        },
        rules.TruncatedAlphabet: {
            "kept": ("kept", 2),
            "rule": ("callable", lambda: rules.RecursiveRejection),
        },
    }
    made = {
        cls: ({**PAIR, **K, **NORMALIZE, **extra.get(cls, {})}, cls.only_k or 2)
        for cls in (
            *rules.compared_rules(),
            rules.SpecTwoHubs,
            rules.EarliestPooledSelection,
            rules.TruncatedAlphabet,
            rules.GumbelCoupling,
            rules.GumbelLists,
        )
    }
    for cls, (arguments, k) in made.items():
        name = f"rules.{cls.__name__}"
        yield name, Row(cls, {**arguments, "k": ("count", k)})
        yield from asked(name, lambda cls=cls, k=k: cls(DRAFT, TARGET, k), k)
    mixture = {"draft_law": ("object", iid), "target": PAIR["target"], **NORMALIZE}
    mixture |= {"gap": ("real", 1e-3), "most": ("count", 5), "pools": ("pools of tokens", 2)}
    yield "rules.PriorityMixture", Row(rules.PriorityMixture, mixture)
    yield from asked("rules.PriorityMixture", lambda: rules.PriorityMixture(iid(), TARGET), 2)
    in_turn = {name: mixture[name] for name in ("draft_law", "target", "normalize")}
    make = rules.RecursiveRejectionIndependent
    yield "rules.RecursiveRejectionIndependent", Row(make, in_turn)
    yield from asked("rules.RecursiveRejectionIndependent", lambda: make(iid(), TARGET), 2)
    yield (
        "rules.RecursiveRejectionIndependent.in_order",
        Row(method(lambda: make(iid(), TARGET), "in_order"), {"order": ("order", [1, 0])}),
    )
    program = {**in_turn, "function": ("callable", lambda: lambda drafts, chance: 0)}  # noqa: ARG005
    yield "rules.ProgramRule", Row(rules.ProgramRule, program)
    yield "rules.PlannedRule", Row(rules.PlannedRule, {"plan": ("object", lambda: plan)})
    yield from asked("rules.PlannedRule", lambda: rules.PlannedRule(plan), 2)
    yield (
        "PooledSelection.within",
        Row(rules.PooledSelection.within, {**PAIR, **K, "loss": ("loss", 0.01), **NORMALIZE}),
    )
    for partition in (rules.Bins, rules.Graded):
        yield f"rules.{partition.__name__}", Row(partition, {"count": ("few", 4)})
    yield "rules.Thresholds", Row(rules.Thresholds, {"values": ("pools", [0.5, 2.0])})


def asked(name, make, k):
    """Yield the methods of a rule that take arguments."""
    drafts_of_k = ("tokens", [1, 0][:k])
    for question in ("kernel", "joint_kernel"):
        yield f"{name}.{question}", Row(method(make, question), {"x": drafts_of_k})
    yield f"{name}.sample", Row(method(make, "sample"), {"x": drafts_of_k, "rng": RNG})
    arguments = {"size": ("draws", 5), "seed": SEED}
    yield f"{name}.estimate", Row(method(make, "estimate"), arguments)
