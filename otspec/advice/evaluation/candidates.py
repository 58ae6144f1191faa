"""What is compared: rules with their trees, chains, and a lossy chain (Theory, 29)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

from otspec import blocks
from otspec._base.arguments import as_real
from otspec._base.arithmetic import Number, is_exact
from otspec._base.frozen import Frozen
from otspec.blocks.trees.shapes import LEAF, Shape, as_shape
from otspec.coupling import Coupling
from otspec.distributions import Distribution
from otspec.drafts import IID, SingleDraftLaw, WithoutReplacement
from otspec.rules import MaximalCoupling, PairRule


@dataclass(frozen=True)
class LossyChain(Frozen):
    """The most that a lossy rule accepts of single drafts, at every token within a budget ε."""

    # The draft is coupled with (1 − t) q + t p, t = min(1, ε/TV(p, q)), off by ε or less.

    name: ClassVar[str] = "lossy"
    law_class: ClassVar[type[SingleDraftLaw]] = IID
    only_k: ClassVar[int] = 1
    nested: ClassVar[bool] = False

    total_variation: Number  # ε, from 0 to 1, for each token after the text before it

    def __post_init__(self) -> None:
        self._hold(total_variation=as_real(self.total_variation, "total_variation", 0, 1))

    @property
    def title(self) -> str:
        """What tables and charts call it."""
        return f"lossy, {float(self.total_variation):g} a token"

    def __call__(self, draft: Distribution, target: Distribution, k: int) -> MaximalCoupling:  # noqa: ARG002
        """Return the rule for one draft: lossless for an output that is off by the budget."""
        exact = is_exact(target)
        if exact and isinstance(self.total_variation, float):
            raise ValueError(
                f"total_variation is {self.total_variation}, a float, but the models are exact: "
                "write a fraction such as '1/20'"
            )
        budget: Any = self.total_variation if exact else float(self.total_variation)
        missing = 1 - Coupling(draft, target).acceptance
        share = 1 if budget >= missing else budget / missing
        return MaximalCoupling(draft, (1 - share) * target + share * draft)


CheckedRule: TypeAlias = type[PairRule] | LossyChain
"""A rule of trees, or what a lossy one accepts of chains at best."""
NO_DRAFT = "no draft"
CHAIN_RULES: tuple[type[blocks.SingleDraftRule], ...] = (
    blocks.TokenVerification,
    blocks.BlockVerification,
)
"""Rules for single drafts after which the next block is as good as the first: they correct one
token only."""


class Candidate(NamedTuple):
    """A rule and the tree that it verifies."""

    rule: str
    """Its name in :data:`otspec.blocks.TREE_RULES` or in :data:`CHAIN_RULES`, or ``"no draft"``."""
    title: str
    drafts: str
    """The law of the children of a node, by name; empty without any."""
    tree: Shape
    lossy: Number = 0
    """By how much the law of each token may be off, in total variation."""


def candidates(
    rules: Sequence[CheckedRule],
    found: Mapping[str, blocks.BestTrees],
    nodes: int,
    depth: int,
    cost: blocks.StepCost,
    trees: Sequence[Shape] = (),
) -> list[Candidate]:
    """Return what is compared, each once."""
    # Of each rule the tree that keeps most of 1, 2, 4, … nodes, and the fastest tree, branching and
    # chain, all by the chances that are given, and the trees that are named; chains of all lengths
    # by the rules for single drafts; and no draft. Single i.i.d. or distinct drafts are the same
    # for all rules for one token that couple them maximally: token verification.
    listed = [Candidate(NO_DRAFT, NO_DRAFT, "", LEAF)]
    listed += _chains(min(nodes, depth))
    for rule in rules:
        law = rule.law_class.name if rule.law_class is not None else ""
        served = [tree for tree in trees if tree.widths <= set(found[rule.name].chances.widths)]
        off = rule.total_variation if isinstance(rule, LossyChain) else 0
        listed += [
            Candidate(rule.name, rule.title, law, tree, off)
            for tree in (*_trees(found[rule.name], nodes, depth, cost), *served)
            if tree.size and (off or not (_like_others(rule) and tree.size == tree.depth))
        ]
    return list(dict.fromkeys(listed))


def _like_others(rule: CheckedRule) -> bool:
    """Whether a rule for one token verifies single drafts as the others do."""
    alike = rule.law_class in (IID, WithoutReplacement)
    return alike and (isinstance(rule, LossyChain) or rule.best_for_one)


def _chains(longest: int) -> Iterator[Candidate]:
    for rule in CHAIN_RULES:
        for length in range(1, longest + 1):
            yield Candidate(rule.name, rule.title, IID.name, as_shape((1,) * length))


def _trees(
    trees: blocks.BestTrees, nodes: int, depth: int, cost: blocks.StepCost
) -> Iterator[Shape]:
    for size in sizes(nodes):
        yield trees.at(size, depth).tree
    fastest = blocks.fastest_tree(trees, cost)
    yield fastest.tree
    for simpler in fastest.simpler.values():
        yield simpler.tree


def sizes(nodes: int) -> Sequence[int]:
    """Return 1, 2, 4, … up to a number of nodes, and that number."""
    return sorted({2**power for power in range(nodes.bit_length())} | {nodes})
