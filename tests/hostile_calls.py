"""Every function, class and method of the package with hostile values for each argument in turn.

The table has a row per callable: its name, how it is called, and for each argument the kind of
values that it takes (see ``hostile_values``) and a valid example. ``hostile_calls()`` yields a call
per row, argument and value; ``hold(call)`` checks what must hold of each.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import fuzz_targets
import hostile_values
import numpy as np

import otspec
from otspec import auditing, blocks, closed_forms, cones, datasets, distributions, drafts
from otspec import programs, rules, solvers, traces

DRAFT, TARGET = [0.5, 0.3, 0.2], [0.1, 0.6, 0.3]
EXACT, WANTED = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
SECONDS = 5.0


class Row(NamedTuple):
    """How one callable is called."""

    call: object
    """Takes the arguments by name."""
    arguments: dict
    """name -> (kind, valid example or function that makes one)."""
    fixed: dict = {}  # noqa: RUF012
    """Arguments that stay as they are."""


def iid():
    return otspec.IID(DRAFT, 2)


def exact_law():
    return otspec.IID(EXACT, 2)


def rng():
    return np.random.default_rng(0)


def models():
    return blocks.memoryless(DRAFT), blocks.memoryless(TARGET)


def small():
    return blocks.memoryless(["1/2", "1/2"]), blocks.memoryless(["1/4", "3/4"])


def logged():
    return blocks.LoggedBlock([DRAFT, DRAFT], [TARGET, TARGET], [0, 1])


def selection():
    return blocks.DraftSelection(*small(), "2x1", rules.RecursiveRejection)


def trace():
    logits = np.log(np.array([[DRAFT, DRAFT]]))
    return traces.Trace(logits, logits + 0.0, np.array([[0]]))


def method(make, name):
    """Return a call of a method of an object that is made anew."""

    def call(**arguments):
        return getattr(make(), name)(**arguments)

    return call


def positional(make, name):
    """Return the same where the arguments have no names that can be passed."""
    return lambda **arguments: getattr(make(), name)(*arguments.values())


PAIR = {"draft": ("distribution", DRAFT), "target": ("distribution", TARGET)}
NORMALIZE = {"normalize": ("flag", False)}
K = {"k": ("count", 2)}
LAW = {"law": ("object", iid), "target": ("distribution", TARGET)}
LAW_TARGET = {**LAW, **NORMALIZE}
TOKENS = ("tokens", [0, 1])
SIZE, SEED = ("natural", 3), ("natural", 0)
RNG = ("object", rng)
MODELS = {"draft": ("callable", lambda: models()[0]), "target": ("callable", lambda: models()[1])}
SMALL = {"draft": ("callable", lambda: small()[0]), "target": ("callable", lambda: small()[1])}

TABLE = {
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
    "Hub": Row(otspec.Hub, {"draft": PAIR["draft"], **NORMALIZE}),
    "Independent": Row(
        otspec.Independent, {"drafts": ("distributions", [DRAFT, TARGET]), **NORMALIZE}
    ),
    "Joint": Row(otspec.Joint, {"table": ("table", [[0.5, 0.0], [0.25, 0.25]]), **NORMALIZE}),
    "drafts.named_law": Row(
        drafts.named_law, {"name": ("name", "iid"), "draft": PAIR["draft"], **K}
    ),
    "optimal_acceptance": Row(otspec.optimal_acceptance, LAW_TARGET),
    "optimal_acceptances": Row(
        otspec.optimal_acceptances, {**PAIR, "ks": ("counts", [1, 2]), **NORMALIZE}
    ),
    "optimal_plan": Row(
        otspec.optimal_plan,
        {
            **LAW_TARGET,
            "program": ("name", "reduced"),
            "solver": ("name?", "highs"),
            "sets": ("flag", True),
        },
    ),
    "Plan.kernel": Row(method(lambda: otspec.optimal_plan(iid(), TARGET), "kernel"), {"x": TOKENS}),
    "programs.formulate": Row(
        programs.formulate, {"program": ("name", "reduced"), **LAW, "sets": ("flag", True)}
    ),
    "programs.TruncatedImportance": Row(
        programs.TruncatedImportance, {**LAW, "free": ("natural", 1)}
    ),
    "programs.BlockProgram": Row(programs.BlockProgram, {**SMALL, "length": ("count", 1)}),
    "programs.CandidateProgram": Row(
        programs.CandidateProgram,
        {
            "candidates": ("mapping", lambda: selection().candidates()),
            "target": SMALL["target"],
            "length": ("count", 2),
        },
    ),
    "solvers.solve": Row(
        solvers.solve,
        {
            "program": ("object", lambda: programs.formulate("reduced", iid(), TARGET).build()),
            "solver": ("name?", "highs"),
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
            "size": ("count", 2),
            "seed": SEED,
            "false_alarm": ("real", 0.01),
            "batched": ("flag", False),
            "rule": ("object?", lambda: rules.KSequential(DRAFT, TARGET, 2)),
        },
    ),
    "audit_over": Row(
        otspec.audit_over,
        {
            "rule_factory": ("callable", lambda: rules.KSequential),
            "instances": ("objects", lambda: list(auditing.random_instances(1))),
            "drafts": ("name", "iid"),
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
        {
            "logits": ("logits", DRAFT),
            "temperature": ("real", 1.0),
            "top_k": ("count?", 2),
            "top_p": ("real?", 0.5),
        },
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
        {"temperature": ("real", 1.0), "top_k": ("count?", 2), "top_p": ("real?", 0.5)},
    ),
    "traces.load_trace": Row(traces.load_trace, {"path": ("path", None)}),
    "traces.summarise": Row(
        traces.summarise,
        {"positions": ("objects", lambda: [traces.compare(DRAFT, TARGET, [1])])},
    ),
    "datasets.load_smollm2": Row(datasets.load_smollm2, {"path": ("path?", None)}),
    "blocks.load_model": Row(blocks.load_model, {"path": ("path", None)}),
}


def _law_rows():
    laws = {
        "IID": iid,
        "WithoutReplacement": lambda: otspec.WithoutReplacement(DRAFT, 2),
        "TopPlusOne": lambda: otspec.TopPlusOne(DRAFT, 2),
        "Hub": lambda: otspec.Hub(DRAFT),
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


def _rule_rows():
    plan = otspec.optimal_plan(iid(), TARGET)
    extra = {
        rules.KSequential: {"rho": ("real?", 2.0)},
        rules.PooledSelection: {"pools": ("pools", "tokens")},
        rules.ImportanceSampling: {
            "others": ("distributions?", [TARGET]),
            "free": ("natural", 2),
            "alphabet": ("count?", 2),
            "solver": ("name?", "highs"),
        },
    }
    made = {
        cls: ({**PAIR, **K, **NORMALIZE, **extra.get(cls, {})}, cls.only_k or 2)
        for cls in (*rules.ALL_RULES, rules.ImportanceSampling)
    }
    for cls, (arguments, k) in made.items():
        name = f"rules.{cls.__name__}"
        yield name, Row(cls, {**arguments, "k": ("count", k)})
        yield from _asked(name, lambda cls=cls, k=k: cls(DRAFT, TARGET, k), k)
    mixture = {"draft_law": ("object", iid), "target": PAIR["target"], **NORMALIZE}
    mixture |= {"gap": ("real", 1e-3), "most": ("count", 5)}
    yield "rules.PriorityMixture", Row(rules.PriorityMixture, mixture)
    yield from _asked("rules.PriorityMixture", lambda: rules.PriorityMixture(iid(), TARGET), 2)
    yield "rules.PlannedRule", Row(rules.PlannedRule, {"plan": ("object", lambda: plan)})
    yield from _asked("rules.PlannedRule", lambda: rules.PlannedRule(plan), 2)
    yield (
        "PooledSelection.within",
        Row(rules.PooledSelection.within, {**PAIR, **K, "loss": ("real", 0.01), **NORMALIZE}),
    )
    simulated = {"size": ("count", 5), "seed": SEED}
    for cls, names in (
        (rules.ImportanceSampling, ("estimated_acceptance",)),
        (
            rules.RecursiveRejectionWithoutReplacement,
            ("estimated_acceptance", "estimated_law"),
        ),
    ):
        for name in names:
            call = method(lambda cls=cls: cls(DRAFT, TARGET, 2), name)
            yield f"{cls.__name__}.{name}", Row(call, simulated)


def _asked(name, make, k):
    """Yield the methods of a rule that take arguments."""
    drafts_of_k = ("tokens", [1, 0][:k])
    for question in ("kernel", "joint_kernel"):
        yield f"{name}.{question}", Row(method(make, question), {"x": drafts_of_k})
    yield f"{name}.sample", Row(method(make, "sample"), {"x": drafts_of_k, "rng": RNG})


def _block_rows():
    for cls in blocks.BLOCK_RULES:
        name = f"blocks.{cls.__name__}"

        def make(cls=cls):
            return cls(*models(), 2)

        yield name, Row(cls, {**MODELS, "length": ("count", 2)})
        yield f"{name}.kept", Row(method(make, "kept"), {"block": TOKENS})
        yield f"{name}.following", Row(method(make, "following"), {"head": TOKENS})
        yield f"{name}.sample", Row(method(make, "sample"), {"rng": RNG})
        yield f"{name}.verify", Row(method(make, "verify"), {"block": TOKENS, "rng": RNG})
        yield (
            f"{name}.next_token",
            Row(
                method(make, "next_token"),
                {"outcome": ("object", lambda make=make: make().sample(rng())), "rng": RNG},
            ),
        )
    rule = ("object", lambda: blocks.BlockVerify(*small(), 1))
    token_rule = ("callable", lambda: rules.RecursiveRejection)
    tree = {"branching": ("branching", (2, 1)), "rule": token_rule, "merge": ("flag", True)}
    trees = ("trees", ("2x1",))
    yield "blocks.DraftSelection", Row(blocks.DraftSelection, {**SMALL, **tree})
    yield (
        "DraftSelection.with_branching",
        Row(method(selection, "with_branching"), {"branching": tree["branching"]}),
    )
    for name in ("sample", "draw"):
        yield f"DraftSelection.{name}", Row(method(selection, name), {"rng": RNG})
    drafted = ("object", lambda: selection().draw(rng()))
    yield (
        "DraftSelection.verify",
        Row(method(selection, "verify"), {"drafted": drafted, "rng": RNG}),
    )
    yield "blocks.decode", Row(blocks.decode, {"rule": rule, "tokens": ("count", 2), "rng": RNG})
    yield "blocks.decoded_law", Row(blocks.decoded_law, {"rule": rule, "tokens": ("small", 2)})
    yield "blocks.decoded_after", Row(blocks.decoded_after, {"rule": rule, "blocks": ("small", 2)})
    yield (
        "blocks.simulate",
        Row(
            blocks.simulate,
            {"rule": rule, "size": ("few", 3), "seed": SEED, "confidence": ("real", 0.9)},
        ),
    )
    yield (
        "blocks.configurations",
        Row(blocks.configurations, {"budget": ("count", 4), "length": ("small", 2)}),
    )
    yield (
        "blocks.sweep",
        Row(
            blocks.sweep,
            {**SMALL, "budget": ("small", 2), "length": ("small", 2), "rule": token_rule,
             "merge": ("flag", True), "size": ("few?", None), "seed": SEED},
        ),
    )  # fmt: skip
    yield (
        "blocks.compare_block_rules",
        Row(blocks.compare_block_rules, {**SMALL, "lengths": ("counts", [1])}),
    )
    logged_blocks = ("objects", lambda: [logged()])
    yield (
        "blocks.compare_on_blocks",
        Row(blocks.compare_on_blocks, {"blocks": logged_blocks, "lengths": ("counts", [1])}),
    )
    yield "blocks.compare_trees", Row(blocks.compare_trees, {**SMALL, "trees": trees})
    yield (
        "blocks.compare_trees_on_blocks",
        Row(blocks.compare_trees_on_blocks, {"blocks": logged_blocks, "trees": trees}),
    )
    rows = {
        name: ("distributions", [value]) for name, value in (("draft", DRAFT), ("target", TARGET))
    }
    yield "blocks.LoggedBlock", Row(blocks.LoggedBlock, {**rows, "tokens": ("tokens", [0])})
    block_rule = ("callable", lambda: blocks.BlockVerify)
    for name in ("kept", "expected"):
        yield (
            f"LoggedBlock.{name}",
            Row(method(logged, name), {"rule": block_rule, "length": ("count", 2)}),
        )
    yield (
        "LoggedBlock.expected_of_tree",
        Row(
            method(logged, "expected_of_tree"),
            {"branching": ("branching", (2, 1)), "rule": token_rule},
        ),
    )
    yield "blocks.as_branching", Row(blocks.as_branching, {"branching": ("branching", (2, 1))})
    yield "TokenTree", Row(blocks.TokenTree, {"parents": ("parents", (-1, 0))})
    yield (
        "TokenTree.of_branching",
        Row(blocks.TokenTree.of_branching, {"branching": ("branching", (2, 1))}),
    )
    for name in ("attention_mask", "positions"):
        call = method(lambda: blocks.TokenTree((-1, 0)), name)
        yield f"TokenTree.{name}", Row(call, {"prompt": ("natural", 1)})
    for name in ("children", "path"):
        call = method(lambda: blocks.TokenTree((-1, 0)), name)
        yield f"TokenTree.{name}", Row(call, {"node": ("natural", 1)})


def _model_rows():
    yield "blocks.memoryless", Row(blocks.memoryless, {"row": PAIR["draft"]})
    yield (
        "blocks.markov",
        Row(
            blocks.markov,
            {
                "transition": ("table", [[0.5, 0.5], [0.25, 0.75]]),
                "first": ("distributions?", [[0.5, 0.5]]),
            },
        ),
    )
    yield (
        "blocks.TableModel",
        Row(blocks.TableModel, {"rows": ("mapping", lambda: {(): DRAFT}), **NORMALIZE}),
    )
    yield "blocks.CallableModel", Row(blocks.CallableModel, {"model": MODELS["draft"]})
    yield (
        "blocks.random_pair",
        Row(
            blocks.random_pair,
            {"n": ("few", 2), "divergence": ("real", 0.5), "rng": RNG, "order": ("natural", 1)},
        ),
    )
    made = {
        "TableModel": lambda: blocks.markov([[0.5, 0.5], [0.25, 0.75]]),
        "CallableModel": lambda: blocks.CallableModel(lambda _: DRAFT),
        "Continued": lambda: blocks.markov([[0.5, 0.5], [0.25, 0.75]]).after((1,)),
    }
    for name, make in made.items():
        for question in ("__call__", "context", "after", "mass"):
            call = positional(make, question)
            yield f"{name}.{question}", Row(call, {"prefix": ("tokens", (0, 1))})
        yield f"{name}.texts", Row(positional(make, "texts"), {"length": ("natural", 1)})


TABLE |= dict((*_law_rows(), *_rule_rows(), *_block_rows(), *_model_rows()))

NAMED_OTHERWISE = {
    "Joint": ("table",), "CandidateProgram.candidates": ("candidate",),
}  # fmt: skip


class Call(NamedTuple):
    """One call with one hostile value."""

    name: str
    """Of the callable."""
    argument: str
    number: int
    """Of the value among those of the argument's kind."""
    refused: bool
    """Whether nothing but a refusal will do."""
    call: object
    """Takes nothing."""

    def __str__(self) -> str:
        return f"{self.name}({self.argument}: value {self.number})"


def valid(row):
    """Return the valid arguments of a row."""
    return {
        name: example() if callable(example) and kind != "name" else example
        for name, (kind, example) in row.arguments.items()
    }


def hostile_calls(names=None):
    """Yield the calls of all rows, or of some, each with one hostile value."""
    for name in names or TABLE:
        row = TABLE[name]
        for argument, (kind, _) in row.arguments.items():
            values = [(make, True) for make in hostile_values.hostile(kind)]
            values += [(make, False) for make in hostile_values.odd(kind)]
            for number, (make, refused) in enumerate(values):

                def call(row=row, argument=argument, make=make):
                    return settled(row.call(**valid(row) | {argument: make()}))

                yield Call(name, argument, number, refused, call)


def settled(result):
    """Return a result; of an iterator its first entries."""
    return list(islice(result, 5)) if isinstance(result, Iterator) else result


def hold(case):
    """Check that a call returns, or is refused in one line that names the argument, and soon."""
    with fuzz_targets.time_limit(str(case), SECONDS):
        try:
            case.call()
        except ValueError as error:
            message = str(error)
        except ImportError:
            return
        else:
            assert not case.refused, f"{case} is taken"
            return
    assert message, f"{case} says nothing"
    assert "\n" not in message, f"{case}: {message}"
    if case.refused:
        assert case.argument in message, f"{case}: {message}"
