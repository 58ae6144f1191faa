"""Several drafts: token-level rules applied depth by depth to the children that still agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from otspec.arguments import as_callable, as_flag, as_generator, as_instance
from otspec.arithmetic import Number, zeros
from otspec.blocks.contract import BlockRule, Outcome
from otspec.distributions import normalised
from otspec.drafts import DraftLaw
from otspec.models.contract import BEGINNING, Prefix, as_beginnings
from otspec.models.corrected import OneCorrectedToken
from otspec.trees.branching import as_branching
from otspec.trees.expected import expected_kept
from otspec.trees.nodes import Node, Nodes
from otspec.trees.token_rules import TokenRule
from otspec.trees.token_tree import TokenTree


class DraftedTree(NamedTuple):
    """A tree and its tokens."""

    tree: TokenTree
    tokens: Prefix
    """The token of each node."""


@dataclass(frozen=True, eq=False)
class DraftSelection(BlockRule):
    """Verify a tree of drafts: select among the children of all nodes that agree with the text.

    At each depth the rule for one token sees the children of the m nodes that agree, k = m·k_i
    i.i.d. drafts; its selected token goes on with the children that equal it. K sequences drawn
    independently are the tree K x 1 x … x 1. Distinct drafts never agree twice.

    Law: what is kept and its continuation is the target's text (not given τ, which depends on it).
    Source: SpecTr, alg. 3 with alg. 4 and thm. 2, with equal drafts counted as often as they were
    drawn; MCSD, alg. 1 and 2, is the same with ``merge=False``.

    Parameters
    ----------
    draft, target : callable
        Language models, see :class:`otspec.blocks.contract.BlockRule`.
    branching : str or sequence of int
        Children of each node by depth, such as ``"4x2x1"``; its length is the length of the
        block. Of distinct children no more are drawn than the draft model has tokens.
    rule : callable
        (draft, target, k) → a rule for one token: a class of :mod:`otspec.rules`, which also says
        how the drafts are drawn, or any function.
    merge : bool
        Whether equal i.i.d. children are one node from then on, with the children of all; else
        only the first of them goes on.
    nodes : Nodes, optional
        Of another tree, whose results serve here too if models, rule and ``merge`` are the same.

    Raises
    ------
    ValueError
        Models or a branching that cannot be used; later, a number of children that the rule
        refuses.

    Examples
    --------
    >>> from otspec.blocks import memoryless
    >>> from otspec.rules import RecursiveRejection
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> DraftSelection(draft, target, "2x1", RecursiveRejection).expected()
    Fraction(101, 64)
    """

    branching: tuple[int, ...]
    rule: TokenRule
    merge: bool = True
    nodes: InitVar[Nodes | None] = field(default=None, kw_only=True)
    _nodes: Nodes = field(init=False, repr=False)

    title: ClassVar[str] = "draft selection"

    def __post_init__(self, nodes: Nodes | None) -> None:
        super().__post_init__()
        wanted = "a class of otspec.rules, or a function of draft, target and k"
        as_callable(self.rule, "rule", wanted)
        as_flag(self.merge, "merge")
        own = Nodes(self.draft, self.target, self.rule, self.merge)
        shared = nodes if nodes == own else own
        self._hold(branching=as_branching(self.branching), _nodes=shared)

    @property
    def depth(self) -> int:
        """L, the depth of the tree."""
        return len(self.branching)

    def outcomes(self) -> Iterator[Outcome]:
        """Yield each beginning of a text with the probability that it is what is kept.

        Raises
        ------
        ValueError
            More than 20,000 tuples of drafts at one node.
        """
        level: dict[Prefix, dict[int, Any]] = {(): {1: self.target.number(1)}}
        for _ in self.branching:
            longer: dict[Prefix, dict[int, Any]] = {}
            for prefix, agreeing in level.items():
                rejected: Any = zeros(self.target.n, like=self.target(()))
                for nodes, mass in agreeing.items():
                    accepted, left = self._known(prefix, nodes).enumerated
                    rejected = rejected + mass * left
                    for (token, count), chance in accepted.items():
                        into = longer.setdefault((*prefix, token), {})
                        into[count] = into.get(count, 0) + mass * chance
                if rejected.sum() > 0:
                    row = normalised(rejected, rejected)
                    following = OneCorrectedToken(self.target.after(prefix), row)
                    yield Outcome(prefix, rejected.sum(), following)
            level = longer
        for prefix, agreeing in level.items():
            yield Outcome(prefix, sum(agreeing.values()), self.target.after(prefix))

    def expected(self) -> Number:
        """Return E[τ] by dynamic programming, see :meth:`expected_after`."""
        return self.expected_after(BEGINNING)

    def expected_after(self, beginnings: Mapping[Prefix, Number]) -> Number:
        """Return E[τ] after a beginning drawn at random, from one pass over all of them.

        What the models remember of texts is followed, not the texts.

        Raises
        ------
        ValueError
            No law of beginnings; or more than 20,000 tuples of drafts at one node and a rule
            without :meth:`otspec.rules.Rule.counted_law`: :func:`otspec.blocks.simulate` needs
            no table.
        """
        law = as_beginnings(beginnings, self.target)
        return self.target.number(expected_kept(self._nodes, self.branching, law))

    def with_branching(self, branching: str | Sequence[int]) -> DraftSelection:
        """Return the same rule for another tree; what was computed serves both."""
        return replace(self, branching=as_branching(branching), nodes=self._nodes)

    def _known(self, prefix: Prefix, nodes: int) -> Node:
        """Return what is known of the children of so many nodes; distinct ones may be fewer."""
        return self._nodes.known(prefix, nodes * self.branching[len(prefix)])

    def _law(self, prefix: Prefix) -> DraftLaw:
        """Return the law of the children of one node."""
        return self._nodes.at(prefix, self.branching[len(prefix)]).rule.law

    def candidates(self) -> dict[frozenset[Prefix], Number]:
        """Return the law of the set of candidate sequences, the leaves of the tree.

        Returns
        -------
        dict
            From sets of sequences of L tokens to their probabilities, for
            :class:`otspec.programs.CandidateProgram`; all trees are enumerated, so only the
            smallest sizes.
        """
        return {
            sequences: self.target.number(mass)
            for sequences, mass in self._candidates((), 0).items()
        }

    def _candidates(self, prefix: Prefix, depth: int) -> dict[frozenset[Prefix], Any]:
        """Return the law of what may follow a node."""
        if depth == self.depth:
            return {frozenset([()]): 1}
        law: dict[frozenset[Prefix], Any] = {}
        tuples, masses = self._law(prefix).tuples()
        for drafts, mass in zip(tuples.tolist(), masses.tolist(), strict=True):
            sets: dict[frozenset[Prefix], Any] = {frozenset(): mass}
            for token in drafts:
                sets = _joined(sets, token, self._candidates((*prefix, token), depth + 1))
            for sequences, each in sets.items():
                law[sequences] = law.get(sequences, 0) + each
        return law

    def sample(self, rng: np.random.Generator) -> Outcome:
        """Draw a tree of drafts and verify it."""
        return self.verify(self.draw(rng), rng)

    def draw(self, rng: np.random.Generator) -> DraftedTree:
        """Draw a tree of drafts from the draft model."""
        as_generator(rng)
        parents: list[int] = []
        tokens: list[int] = []
        level: list[tuple[int, Prefix]] = [(-1, ())]
        for _ in range(self.depth):
            below: list[tuple[int, Prefix]] = []
            for node, prefix in level:
                for token in self._law(prefix).sample(1, rng)[0].tolist():
                    below.append((len(parents), (*prefix, token)))
                    parents.append(node)
                    tokens.append(token)
            level = below
        return DraftedTree(TokenTree(tuple(parents)), tuple(tokens))

    def verify(self, drafted: DraftedTree, rng: np.random.Generator) -> Outcome:
        """Select tokens of a drafted tree from its root until none of the children is selected.

        Parameters
        ----------
        drafted : DraftedTree
            As :meth:`draw` returns it; its tree may also be another one of the same branching.
        rng : numpy.random.Generator

        Returns
        -------
        Outcome
            Its following model starts with the one token that was selected last, if it is none of
            the drafts.
        """
        as_instance(drafted, "drafted", DraftedTree, "a DraftedTree, as draw() returns it")
        as_generator(rng)
        prefix: Prefix = ()
        agreeing: Sequence[int] = (-1,)
        for _ in range(self.depth):
            children = [child for node in agreeing for child in drafted.tree.children(node)]
            drafts = [drafted.tokens[child] for child in children]
            node = self._nodes.at(prefix, len(drafts))
            token, accepted = node.rule.sample(drafts, rng)
            if not accepted:
                row = zeros(self.target.n, like=self.target(()))
                row[token] = self.target.number(1)
                following = OneCorrectedToken(self.target.after(prefix), row)
                return Outcome(prefix, self.target.number(1), following)
            same = [child for child in children if drafted.tokens[child] == token]
            agreeing = same if node.merges else same[:1]
            prefix = (*prefix, token)
        return Outcome(prefix, self.target.number(1), self.target.after(prefix))


def _joined(
    sets: dict[frozenset[Prefix], Any], token: int, below: dict[frozenset[Prefix], Any]
) -> dict[frozenset[Prefix], Any]:
    """Add one independent child and what follows it to the law of a set of sequences."""
    law: dict[frozenset[Prefix], Any] = {}
    for sequences, mass in sets.items():
        for more, chance in below.items():
            union = sequences | {(token, *rest) for rest in more}
            law[union] = law.get(union, 0) + mass * chance
    return law
