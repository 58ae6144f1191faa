"""The tables of ``otspec blocks --budget``: the best tree of each rule, and dynamic trees."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, NamedTuple

from otspec._base import Number
from otspec._base.tables import print_table, say
from otspec.blocks import (
    TREE_RULES,
    BestTree,
    BestTrees,
    DynamicTree,
    Shape,
    StepCost,
    best_trees,
    fastest_tree,
)
from otspec.cli.shared import output, progress
from otspec.frames import Rows, Tokens
from otspec.logged import LoggedBlock, LoggedTrees, best_trees_on_blocks, dynamic_tree_on_blocks
from otspec.logged.comparison import shared_length
from otspec.models import Model
from otspec.rules import PairRule

DEEPEST = 8  # the most levels if none are named: no more than logged blocks have


class Search(NamedTuple):
    """What trees are searched for."""

    budget: int
    depth: int | None  # None: as many as there are, at most DEEPEST
    widest: int
    cost: StepCost | None

    def levels(self, most: int = DEEPEST) -> int:
        """Return the most levels."""
        return min(most, self.budget, DEEPEST) if self.depth is None else self.depth


class _Found(NamedTuple):
    """What was found for a rule."""

    rule: str
    trees: BestTrees
    logged: LoggedTrees | None

    @property
    def known(self) -> BestTrees | LoggedTrees:
        """Where the worth of the trees is known from."""
        return self.logged or self.trees


class _Dynamic(NamedTuple):
    """What a dynamic tree keeps."""

    title: str
    expected: Number
    error: float
    nodes: float


class TreeChoice(NamedTuple):
    """A tree that was found for a rule, or grown for every text, and what it is worth."""

    rule: str
    choice: str  # of which trees it is the best, or the fastest if seconds are known
    tree: Shape | None
    nodes: float
    expected: Tokens
    error: Annotated[float, "tokens"]
    seconds: float | None = None

    @property
    def efficiency(self) -> Tokens:
        """Tokens per call of the target."""
        return self.expected + 1


def best_on_models(models: tuple[Model, Model], search: Search, as_json: bool) -> output.TableMaker:
    """Print the best trees of two models."""
    nodes, depth = search.budget, search.levels()

    def found(rule: type[PairRule]) -> _Found:
        trees = best_trees(*models, rule, nodes, depth, widest=search.widest, keep="likely")
        return _Found(rule.title, trees, None)

    def dynamic() -> Iterator[_Dynamic]:
        for by in ("draft", "target"):
            tree = DynamicTree(*models, nodes, depth, by=by)
            title = tree.title if by == "draft" else "most of certain drafts"
            yield _Dynamic(title, tree.expected(), 0.0, len(tree.grown))

    return _print(found, dynamic, search, depth, "", as_json)


def best_on_blocks(
    blocks: Sequence[LoggedBlock], name: str, search: Search, as_json: bool
) -> output.TableMaker:
    """Print the best trees by logged blocks."""
    nodes, depth = search.budget, search.levels(shared_length(blocks, DEEPEST))

    def found(rule: type[PairRule]) -> _Found:
        logged = best_trees_on_blocks(blocks, rule, nodes, depth, widest=search.widest)
        return _Found(rule.title, logged.trees, logged)

    def dynamic() -> Iterator[_Dynamic]:
        grown = dynamic_tree_on_blocks(blocks, nodes, depth)
        yield _Dynamic(DynamicTree.title, grown.expected, grown.error, grown.nodes)

    origin = f", by {len(blocks)} drafted blocks of the {name}"
    return _print(found, dynamic, search, depth, origin, as_json)


def _print(
    search_for: Callable[[type[PairRule]], _Found],
    grow: Callable[[], Iterator[_Dynamic]],
    search: Search,
    depth: int,
    origin: str,
    as_json: bool,
) -> output.TableMaker:
    found = []
    rules = [rule for rule in TREE_RULES.values() if (rule.only_k or 1) <= search.widest]
    with progress.working(len(rules) + 1, "best trees") as done:
        for rule in rules:
            each = search_for(rule)
            each.trees.best  # noqa: B018 -- what takes long
            found.append(each)
            done()
        dynamic = list(grow())
    levels = f"{depth} level{'s' if depth > 1 else ''}"
    title = f"The best tree of at most {search.budget} drafted tokens and {levels}{origin}"
    table = Rows(_choices(found, dynamic, search.cost), TreeChoice, title)
    if as_json:
        output.print_json(
            {"budget": search.budget, "depth": depth, "widest": search.widest}
            | _document(found, dynamic, search.cost)
        )
        return table.to_arrow
    say(title)
    _print_worth(found, dynamic, bool(origin))
    say("", "Their nodes as brackets around those below them:")
    for each in found:
        say(f"{each.rule}: {each.trees.best.tree.text}")
    if search.cost is not None:
        _print_speed(found, search.cost)
    return table.to_arrow


def _choices(
    found: Sequence[_Found], dynamic: Sequence[_Dynamic], cost: StepCost | None
) -> Iterator[TreeChoice]:
    """Yield the rows of the table."""
    for each in found:
        known = each.known
        for choice, tree in (
            ("best", known.best), ("branching", known.branching), ("chain", known.chain)
        ):  # fmt: skip
            if tree is not None:
                size = tree.tree.size
                yield TreeChoice(each.rule, choice, tree.tree, size, tree.expected, tree.error)
        if cost is not None:
            timed = fastest_tree(each.trees, cost)
            error = 0.0 if each.logged is None else math.nan
            worth = (timed.tree.size, timed.expected, error, timed.seconds)
            yield TreeChoice(each.rule, "fastest", timed.tree, *worth)
    for grown in dynamic:
        yield TreeChoice(grown.title, "dynamic", None, grown.nodes, grown.expected, grown.error)


def _print_worth(found: Sequence[_Found], dynamic: Sequence[_Dynamic], logged: bool) -> None:
    rows = []
    for each in found:
        best, branching, chain = each.known.best, each.known.branching, each.known.chain
        rows.append((
            each.rule, output.shown(best.expected), *_error(best.error, logged), _calls(best),
            "x".join(map(str, best.tree.level_sizes)),
            branching.tree.text if branching else "", _calls(branching), _calls(chain),
        ))  # fmt: skip
    for tree in dynamic:
        error = _error(tree.error, logged)
        calls = f"{float(1 + tree.expected):.4f}"
        rows.append((tree.title, output.shown(tree.expected), *error, calls, *[""] * 4))
    print_table(
        ("rule", "E[kept]", *(["standard error"] if logged else []), "tokens per call",
         "nodes by level", "best branching", "tokens per call", "chain"),
        rows,
        text=1,
    )  # fmt: skip


def _error(error: float, logged: bool) -> tuple[str, ...]:
    return (f"{error:.4f}",) if logged else ()


def _calls(tree: BestTree | None) -> str:
    return f"{float(tree.efficiency):.4f}" if tree else ""


def _print_speed(found: Sequence[_Found], cost: StepCost) -> None:
    say("", "The most tokens per second, and the share that simpler choices lose")
    rows = []
    for each in found:
        fastest = fastest_tree(each.trees, cost)
        losses = fastest.losses
        rows.append((
            each.rule, f"{fastest.speed:.4f}", str(fastest.tree.size), str(fastest.tree.depth),
            *(output.percent(losses[name]) if name in losses else "" for name in _SIMPLER),
        ))  # fmt: skip
    print_table(("rule", "tokens per second", "nodes", "levels", *_SIMPLER), rows, text=1)


_SIMPLER = ("branching", "chain", "no draft")


def _document(
    found: Sequence[_Found], dynamic: Sequence[_Dynamic], cost: StepCost | None
) -> dict[str, Any]:
    return {
        "rules": [_rule_document(each, cost) for each in found],
        "dynamic": [
            {"title": tree.title, "nodes": tree.nodes, "expected": tree.expected,
             "error": tree.error, "efficiency": 1 + tree.expected}
            for tree in dynamic
        ],
    }  # fmt: skip


def _rule_document(each: _Found, cost: StepCost | None) -> dict[str, Any]:
    known = each.known
    document: dict[str, Any] = {
        "rule": each.rule,
        "best": _tree_document(known.best),
        "branching": _tree_document(known.branching),
        "chain": _tree_document(known.chain),
    }
    if cost is not None:
        fastest = fastest_tree(each.trees, cost)
        document["fastest"] = {
            "tree": fastest.tree.text, "expected": fastest.expected, "seconds": fastest.seconds,
            "speed": fastest.speed, "losses": fastest.losses,
        }  # fmt: skip
    return document


def _tree_document(tree: BestTree | None) -> dict[str, Any] | None:
    if tree is None:
        return None
    return {
        "tree": tree.tree.text, "nodes": tree.tree.size, "levels": tree.tree.level_sizes,
        "expected": tree.expected, "error": tree.error, "efficiency": tree.efficiency,
    }  # fmt: skip
