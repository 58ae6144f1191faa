"""What is searched for, and the advice that follows from evidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec._base import Array, as_choice, as_list
from otspec.advice.advice import LOSSY, Advice, short, simpler_kinds
from otspec.advice.evaluation.choices import (
    Candidate,
    CheckedRule,
    Choice,
    Evidence,
    Interval,
    Loss,
    LossyChain,
    Worth,
    candidates,
)
from otspec.blocks import TREE_RULES, StepCost, as_seconds
from otspec.blocks.trees.best.best_shape import as_nodes, as_widths
from otspec.blocks.trees.best.comparison import as_trees
from otspec.blocks.trees.shapes import LEAF, Shape
from otspec.distributions import as_k
from otspec.frames import Rows
from otspec.logged.chances import Asked
from otspec.rules import PairRule

DEEPEST = 8  # the most levels, if none are named
WIDEST = 8  # the most children of a node, if none are named


@dataclass(frozen=True)
class Search:
    """What is searched for, all of it checked."""

    rules: Sequence[type[PairRule]]
    # nodes, widest: the most drafted tokens, and the most children of a node
    nodes: int
    widest: int
    cost: StepCost
    trees: tuple[Shape, ...] = ()  # that are compared besides, with every rule that serves them
    lossy: LossyChain | None = None  # what may be off, of chains

    @classmethod
    def of(
        cls,
        draft_cost: Any,
        target_cost: Any,
        nodes: Any,
        widest: Any,
        rules: Any,
        trees: Any = (),
        total_variation: Any = None,
    ) -> "Search":
        """Return what arguments ask for."""
        costs = as_seconds(draft_cost, "draft_cost"), as_seconds(target_cost, "target_cost")
        cost, most = StepCost(*costs), as_nodes(nodes)
        children = min(as_k(widest, "widest"), most)
        return cls(
            _as_rules(rules, children),
            most,
            children,
            cost,
            _as_trees(trees, children),
            None if total_variation is None else LossyChain(total_variation),
        )

    def check_levels(self, depth: int) -> None:
        """Refuse trees that are deeper than what is looked at."""
        for tree in self.trees:
            if tree.depth > depth:
                raise ValueError(
                    f"the tree {short(tree.text)} has {tree.depth} levels, but {depth} are looked "
                    "at: allow more levels or nodes, or log longer texts"
                )

    @property
    def every(self) -> list[CheckedRule]:
        """All rules, and what a lossy one accepts."""
        return [*self.rules, *([] if self.lossy is None else [self.lossy])]

    @property
    def asked(self) -> list[Asked]:
        """What each rule is asked."""
        return [Asked(rule, tuple(as_widths(rule, self.widest))) for rule in self.every]


def advice_from(evidence: Evidence, search: Search, depth: int, source: str) -> Advice:
    """Return the advice that follows from evidence."""
    nodes, cost = search.nodes, search.cost
    found = {
        rule.name: evidence.best_trees(rule, nodes, depth, search.widest) for rule in search.every
    }
    search.check_levels(depth)
    compared = candidates(search.every, found, nodes, depth, cost, search.trees)
    seconds = np.array([cost(candidate.tree) for candidate in compared])
    worth = evidence.worth(compared, found)
    alone = float(cost(LEAF))
    choices = [_choice(candidate, i, worth, seconds, alone) for i, candidate in enumerate(compared)]
    order = sorted(range(len(choices)), key=lambda i: (-choices[i].speed_up, choices[i].nodes))
    lossless = [i for i in order if not choices[i].lossy]
    # What is lossy is never chosen there.
    speed, interval = worth.held_out(np.where([one.lossy > 0 for one in choices], np.inf, seconds))
    return Advice(
        Rows([choices[i] for i in order], Choice, source),
        Rows(_losses(choices, order, lossless[0], worth, seconds), Loss, source),
        speed * alone,
        _times(interval, alone),
        worth.texts,
        source,
    )


def _choice(candidate: Candidate, place: int, worth: Worth, seconds: Array, alone: float) -> Choice:
    tree, rate = candidate.tree, alone / float(seconds[place])
    tokens, (low, high) = worth.tokens(place), worth.interval(place)
    interval = max(low, 1.0), min(high, 1.0 + tree.depth)  # NaN stays
    return Choice(
        rule=candidate.title,
        drafts=candidate.drafts,
        tree=tree.text if tree.size else "",
        nodes=tree.size,
        depth=tree.depth,
        widest=max(tree.widths, default=0),
        tokens=tokens,
        tokens_interval=interval,
        seconds=float(seconds[place]),
        speed_up=float(tokens) * rate,
        speed_up_interval=_times(interval, rate),
        lossy=candidate.lossy,
    )


def _times(interval: Interval, factor: float) -> Interval:
    low, high = interval
    return low * factor, high * factor


def _losses(
    choices: Sequence[Choice], order: Sequence[int], best: int, worth: Worth, seconds: Array
) -> list[Loss]:
    found = []
    for kind, simpler in simpler_kinds():
        among = [i for i in order if bool(choices[i].lossy) == (kind == LOSSY)]
        place = next((i for i in among if simpler(choices[i])), None)
        if place is not None:
            loss, interval = worth.loss(place, best, seconds)
            one = choices[place]
            found.append(Loss(kind, one.rule, one.drafts, one.tree, one.speed_up, loss, interval))
    return found


def _as_trees(trees: Any, widest: int) -> tuple[Shape, ...]:
    found = tuple(as_trees(trees))
    for i, tree in enumerate(found):
        if not tree.drawn:
            raise ValueError(
                f"trees[{i}] is {tree.text}: drafts that are certain are those of the rule "
                "target-only on a tree without top"
            )
        if max(tree.widths) > widest:
            raise ValueError(
                f"trees[{i}] has {max(tree.widths)} children at a node, but a node may have at "
                f"most {widest}: allow more"
            )
    return found


def _as_rules(rules: Any, widest: int) -> list[type[PairRule]]:
    if rules is None:
        return [rule for rule in TREE_RULES.values() if (rule.only_k or 1) <= widest]
    names = as_list(rules, "rules", "a sequence of names")
    found = [TREE_RULES[as_choice(name, f"rules[{i}]", TREE_RULES)] for i, name in enumerate(names)]
    for rule in found:
        if (rule.only_k or 1) > widest:
            raise ValueError(
                f"{rule.name} verifies {rule.only_k} children, but a node may have at most "
                f"{widest}: allow more, or leave it out"
            )
    return list(dict.fromkeys(found))
