"""Models, rules for blocks and trees, and what they are asked, with examples of arguments."""

from hostile_rows import (
    DRAFT,
    MODELS,
    NORMALIZE,
    PAIR,
    RNG,
    SEED,
    SMALL,
    TARGET,
    TOKENS,
    Row,
    logged,
    method,
    models,
    positional,
    rng,
    selection,
    small,
)

import otspec
from otspec import blocks, rules
from otspec import models as models_room


def single():
    return blocks.TokenVerification(*small(), 2)


def multi_path():
    return blocks.GreedyMultiPath(*small(), paths=2, length=1)


def block_rows():
    for cls in (*blocks.BLOCK_RULES.values(), blocks.HierarchicalVerification):
        name = f"blocks.{cls.__name__}"

        def make(cls=cls):
            return cls(*models(), 2)

        yield name, Row(cls, {**MODELS, "length": ("count", 2)})
        yield f"{name}.kept", Row(method(make, "kept"), {"block": TOKENS})
        yield f"{name}.drafted", Row(method(make, "drafted"), {"block": TOKENS})
        yield f"{name}.sample", Row(method(make, "sample"), {"rng": RNG})
        yield (
            f"{name}.next_token",
            Row(
                method(make, "next_token"),
                {"outcome": ("object", lambda make=make: make().sample(rng())), "rng": RNG},
            ),
        )
    splits = {"first": ("natural?", 1), "parts": ("count?", 4)}
    yield (
        "blocks.CarryOverVerification",
        Row(blocks.CarryOverVerification, {**SMALL, "length": ("count", 2), **splits}),
    )
    yield (
        "CarryOverVerification.rate",
        Row(
            method(lambda: blocks.CarryOverVerification(*small(), 1), "rate"),
            {"most": ("count", 9)},
        ),
    )
    rule = ("object", lambda: blocks.BlockVerificationPreprint(*small(), 1))
    token_rule = ("callable", lambda: rules.RecursiveRejection)
    tree = {"tree": ("branching", (2, 1)), "rule": token_rule, "merge": ("flag", True)}
    program = {"function": ("callable", lambda: lambda *_: -1)}
    own = {"tree": tree["tree"], "merge": tree["merge"]} | program
    yield "blocks.ProgramTree", Row(blocks.ProgramTree, {**SMALL, **own})
    trees = ("trees", ("2x1",))
    yield "blocks.DraftSelection", Row(blocks.DraftSelection, {**SMALL, **tree})
    yield "DraftSelection.with_tree", Row(method(selection, "with_tree"), {"tree": tree["tree"]})
    whole = {"tree": tree["tree"], "merge": tree["merge"]}
    yield "blocks.PlannedTree", Row(blocks.PlannedTree, {**SMALL, "tree": tree["tree"]})
    for kind in (blocks.TraversalVerify, blocks.TraversalVerifyWithoutReplacement):
        yield f"blocks.{kind.__name__}", Row(kind, {**SMALL, **whole})
    for kind in (
        blocks.LayerVerification,
        blocks.UniversalTree,
        blocks.UniversalTreeEarliest,
        blocks.UniversalTreeWithoutReplacement,
    ):
        yield f"blocks.{kind.__name__}", Row(kind, {**SMALL, **tree})
    beginnings = ("mapping", lambda: {(): 1})
    for question, make in (("expected_after", selection), ("expected_up_to", single)):
        yield question, Row(method(make, question), {"beginnings": beginnings})
    yield "DraftSelection.sample", Row(method(selection, "sample"), {"rng": RNG})
    paths = {"paths": ("count", 2), "length": ("count", 2)}
    yield "blocks.GreedyMultiPath", Row(blocks.GreedyMultiPath, {**MODELS, **paths})
    of_tree = {**MODELS, "tree": tree["tree"]}
    yield "blocks.GreedyMultiPath of a tree", Row(blocks.GreedyMultiPath, of_tree)
    yield "blocks.FirstHighestPath", Row(blocks.FirstHighestPath, of_tree)
    yield "GreedyMultiPath.sample", Row(method(multi_path, "sample"), {"rng": RNG})
    yield (
        "blocks.long_run",
        Row(
            blocks.long_run,
            {
                **SMALL,
                "length": ("small", 1),
                "reach": ("natural", 1),
                "past": ("natural", 0),
            },
        ),
    )
    yield "blocks.decode", Row(blocks.decode, {"rule": rule, "tokens": ("few", 2), "rng": RNG})
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
             "merge": ("flag", True), "size": ("few?", 3), "seed": SEED},
        ),
    )  # fmt: skip
    yield "models.as_models", Row(models_room.as_models, SMALL)
    yield (
        "blocks.compare_block_rules",
        Row(blocks.compare_block_rules, {**SMALL, "lengths": ("counts", [1])}),
    )
    logged_blocks = ("objects", lambda: [logged()])
    yield (
        "blocks.compare_on_blocks",
        Row(otspec.logged.compare_on_blocks, {"blocks": logged_blocks, "lengths": ("counts", [1])}),
    )
    yield "blocks.compare_trees", Row(blocks.compare_trees, {**SMALL, "trees": trees})
    yield (
        "blocks.compare_trees_on_blocks",
        Row(otspec.logged.compare_trees_on_blocks, {"blocks": logged_blocks, "trees": trees}),
    )
    rows = {
        name: ("distributions", [value]) for name, value in (("draft", DRAFT), ("target", TARGET))
    }
    yield (
        "blocks.LoggedBlock",
        Row(
            otspec.logged.LoggedBlock,
            {
                **rows,
                "tokens": ("tokens", [0]),
                "end": ("token set", [1]),
                "sampling": ("distributions?", [TARGET]),
            },
        ),
    )
    block_rule = ("callable", lambda: blocks.BlockVerificationPreprint)
    for name in ("kept", "expected", "by_level"):
        yield (
            f"LoggedBlock.{name}",
            Row(method(logged, name), {"rule": block_rule, "length": ("count", 2)}),
        )
    yield (
        "LoggedBlock.expected_of_traversal",
        Row(method(logged, "expected_of_traversal"), whole),
    )
    yield (
        "LoggedBlock.expected_of_tree",
        Row(
            method(logged, "expected_of_tree"),
            {"tree": ("branching", (2, 1)), "rule": token_rule},
        ),
    )
    yield "trees.as_shape", Row(blocks.as_shape, {"tree": tree["tree"]})
    shapes = ("objects", lambda: [blocks.Shape()])
    flag = ("flag", False)
    yield "trees.Shape", Row(blocks.Shape, {"children": shapes, "top": flag})
    yield "trees.together", Row(blocks.together, {"shapes": shapes})
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
        yield f"TokenTree.{name}", Row(call, {"node": ("node", 1)})


def model_rows():
    yield "blocks.memoryless", Row(otspec.models.memoryless, {"row": PAIR["draft"]})
    yield (
        "blocks.markov",
        Row(
            otspec.models.markov,
            {
                "transition": ("table", [[0.5, 0.5], [0.25, 0.75]]),
                "first": ("distributions?", [[0.5, 0.5]]),
            },
        ),
    )
    yield (
        "blocks.TableModel",
        Row(otspec.models.TableModel, {"rows": ("mapping", lambda: {(): DRAFT}), **NORMALIZE}),
    )
    yield (
        "blocks.NGramModel",
        Row(
            otspec.models.NGramModel,
            {"text": TOKENS, "n": ("few", 2), "order": ("natural", 1), "start": ("tokens?", (0, 1)),
             "exact": ("flag", True)},
        ),
    )  # fmt: skip
    yield (
        "blocks.WarpedModel",
        Row(
            otspec.models.WarpedModel,
            {"model": MODELS["draft"], "temperature": ("real", 0.5), "top_k": ("count?", 2),
             "top_p": ("real?", 0.5), "min_p": ("real?", 0.5),
             "order": ("names", ("top_k", "top_p", "min_p", "temperature"))},
        ),
    )  # fmt: skip
    yield (
        "blocks.EndingModel",
        Row(otspec.models.EndingModel, {"model": MODELS["draft"], "end": ("token set", [1])}),
    )
    masked = {**SMALL, "keep": ("callable", lambda: lambda *_: [0])}
    yield "models.masked", Row(otspec.models.masked, masked)
    yield "blocks.CallableModel", Row(otspec.models.CallableModel, {"model": MODELS["draft"]})
    yield (
        "blocks.random_pair",
        Row(
            otspec.models.random_pair,
            {"n": ("few", 2), "divergence": ("real", 0.5), "rng": RNG, "order": ("natural", 1)},
        ),
    )
    made = {
        "TableModel": lambda: otspec.models.markov([[0.5, 0.5], [0.25, 0.75]]),
        "CallableModel": lambda: otspec.models.CallableModel(lambda _: DRAFT),
        "NGramModel": lambda: otspec.models.NGramModel((0, 1, 1), 2, 1),
        "WarpedModel": lambda: otspec.models.WarpedModel(
            otspec.models.memoryless([0.5, 0.5]), temperature=2
        ),
        "EndingModel": lambda: otspec.models.EndingModel(otspec.models.memoryless([0.5, 0.5]), [1]),
        "Continued": lambda: otspec.models.markov([[0.5, 0.5], [0.25, 0.75]]).after((1,)),
    }
    for name, make in made.items():
        for question in ("__call__", "context", "after", "mass"):
            call = positional(make, question)
            yield f"{name}.{question}", Row(call, {"prefix": ("tokens", (0, 1))})
        yield f"{name}.texts", Row(positional(make, "texts"), {"length": ("natural", 1)})
