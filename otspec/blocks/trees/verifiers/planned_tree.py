"""The best rule that verifies a tree from the leaves to the root (Theory, 48): a program a node."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations, product
from math import prod
from typing import Any, ClassVar, NamedTuple, TypeAlias, cast

import numpy as np

from otspec._base import Array, Frozen, IntArray, Number, arithmetic
from otspec._base.frozen import cached_property, read_only, remembered
from otspec.blocks.drafted_tree import ROOT, DraftedTree, Found
from otspec.blocks.trees.shapes import LEAF, Shape
from otspec.blocks.trees.verifiers.base import TreeRule
from otspec.blocks.trees.verifiers.nodes import TUPLE_LIMIT
from otspec.chance import Chance
from otspec.distributions import normalized
from otspec.models.base import Prefix
from otspec.programs.formulation import ProgramBuilder
from otspec.rules.base.accepted import NotExactError
from otspec.solvers import Sense, solve

Curve: TypeAlias = tuple[tuple[Any, Any], ...]
"""Weights from 0 to 1, and what a visit with each keeps: concave, and linear between them."""
Drafted: TypeAlias = tuple[Shape | None, ...]
"""For each token what is drafted after its child, or None if it was not drafted."""
_ROUNDING = 1e-9
_MOST_TOKENS = 4


class Order(NamedTuple):
    """One way to visit the children of a node."""

    tokens: tuple[int, ...]
    mass: Any
    """Its probability, together with that of the drafts."""
    visits: tuple[Array, ...]
    """For each token the masses of the weights with which its child is visited."""


class NodePlan(NamedTuple):
    """What becomes of a node that is visited with a weight."""

    orders: dict[Drafted, list[Order]]
    weights: dict[tuple[int, Shape], Curve]
    """(token, what is drafted after it) → the weights of its visits."""
    rest: Array  # the mass of each token that is drawn if no child is kept, shape (n,)


Solved: TypeAlias = tuple[Any, Any, NodePlan]
"""What is kept below a node of a weight, a slope of it in the weight, and a plan."""


@dataclass(frozen=True, eq=False)
class PlannedTree(TreeRule):
    """Verify a tree of i.i.d. children from the leaves to the root, as well as that can be done.

    Children are visited one after the other with weights, as in :class:`UniversalTree`, whose rule
    knows nothing of what is below a child. Here a linear program chooses the weights and the order
    for all that may be drafted: what a child is worth is a concave function of its weight, which
    the programs below it give.

    Law: what is kept and its continuation is the target's text; one token is corrected. E[τ] is the
    most of all rules of Theory, 22. Parameters and errors: :class:`TreeRule`; models over at most 4
    tokens, and small trees of drawn children.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> PlannedTree(draft, target, "3x1").expected()
    Fraction(2, 1)
    """

    name: ClassVar[str] = "planned"
    title: ClassVar[str] = "planned tree"
    renews: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.draft.n > _MOST_TOKENS:
            raise ValueError(
                f"draft has {self.draft.n} tokens, more than {_MOST_TOKENS}: use UniversalTree"
            )

    def expected(self) -> Number:
        """Return E[τ], the value of the program at the root."""
        if self.target.ended(()):
            return self.target.number(0)
        return self.target.number(self._solved((), self.tree, self.target.number(1))[0])

    def verify(self, drafts: DraftedTree, chance: Chance) -> Found:
        """Visit the nodes of a drafted tree as the plans say, until one is kept."""

        def visit(node: int, text: Prefix, shape: Shape, weight: Any) -> "Found | None":
            """Return what is kept at a node or below it, with probability ``weight``."""
            target, below = drafts.target(node), drafts.children(node)
            rest = weight * target
            if below:
                _, _, plan = self._solved(self._alike(text), shape, weight)
                tokens = [drafts[child] for child in below]
                below_of = self._drafted(text, shape, tokens)
                orders = plan.orders[below_of]
                order = orders[chance.choose(as_row([each.mass for each in orders], target))]
                for y, masses in zip(order.tokens, order.visits, strict=True):
                    if not masses.any():
                        break  # an earlier child is kept for certain
                    longer = cast("Shape", below_of[y])
                    share = plan.weights[y, longer][chance.choose(masses)][0]
                    child = below[tokens.index(y)]
                    kept = visit(child, (*text, y), longer, share) if share > 0 else None
                    if kept is not None:
                        return kept
                rest = plan.rest
            total = rest.sum()
            if node != ROOT and not chance.accept(total, total + (1 - weight)):
                return None
            return node, normalized(rest, target)

        return cast("Found", visit(ROOT, (), self.tree, self.target.number(1)))

    def _drafted(self, text: Prefix, shape: Shape, tokens: Sequence[int]) -> Drafted:
        """Return what is drafted after each child of a node, equal children taken as one."""
        found: list[Shape | None] = [None] * self.draft.n
        for y in set(tokens):
            over = self.target.ended((*text, y))
            places = tuple(i for i, token in enumerate(tokens) if token == y)
            found[y] = LEAF if over else shape.after(places)
        return tuple(found)

    @cached_property
    def _texts(self) -> dict[tuple[Prefix, Prefix], Prefix]:
        return {}

    def _alike(self, text: Prefix) -> Prefix:
        """Return the first text that was seen of those that the models do not tell apart."""
        return self._texts.setdefault((self.draft.context(text), self.target.context(text)), text)

    @remembered
    def _solved(self, text: Prefix, shape: Shape, weight: Any) -> Solved:
        """Return the solution of the program of a node of a weight."""
        return self._program(text, shape).solved(weight)

    @remembered
    def _curve(self, text: Prefix, shape: Shape) -> Curve:
        """Return what is kept of a node and below it, by its weight."""
        zero, one = self.target.number(0), self.target.number(1)
        if not shape.children:
            return (zero, zero), (one, one)
        corners = concave_corners(lambda w: self._solved(text, shape, w)[:2], zero, one)
        return tuple((weight, weight + value) for weight, value in corners)

    @remembered
    def _program(self, text: Prefix, shape: Shape) -> "NodeProgram":
        draft, k = self.draft(text), len(shape.children)
        masses: dict[Drafted, Any] = {}
        if arithmetic.counted_power(self.draft.n, k) > TUPLE_LIMIT:
            raise NotExactError(
                f"tree is {self.tree.text}: {k} children of one node can be drafted in more than "
                f"{TUPLE_LIMIT:,} ways: use fewer, or UniversalTree"
            )
        for tokens in product(np.flatnonzero(draft > 0).tolist(), repeat=k):
            drafted = self._drafted(text, shape, tokens)
            masses[drafted] = masses.get(drafted, 0) + prod(draft[y] for y in tokens)
        curves = {
            (y, below): self._curve(self._alike((*text, y)), below)
            for drafted in masses
            for y, below in enumerate(drafted)
            if below is not None
        }
        return NodeProgram(self.target(text), masses, curves)


@dataclass(frozen=True, eq=False)
class NodeProgram(Frozen):
    """The linear program of a node: with which weights its children are visited, in which order."""

    # For all that may be drafted and each order of the children, λ_j of a token is the mass with
    # which its child is visited with the weight w_j. What is visited first has the mass of the
    # order, each next child what the one before left, Σ λ_j (1 − w_j). Of token y at most w q(y) is
    # kept in all; maximize what the visits keep.

    target: Array
    masses: dict[Drafted, Any]
    curves: dict[tuple[int, Shape], Curve]

    def solved(self, weight: Any) -> Solved:
        """Solve it for a weight."""
        target, once = self.target, np.zeros((1, 1), dtype=np.intp)
        model, worth, columns = ProgramBuilder(target), [], []
        wanted = model.rows("wanted", np.arange(len(target))[:, None], -np.inf, weight * target)
        found: list[tuple[Drafted, tuple[int, ...], IntArray, list[IntArray]]] = []
        for drafted, mass in self.masses.items():
            below = {y: shape for y, shape in enumerate(drafted) if shape is not None}
            row = model.rows("drafts", once, mass, mass)
            for tokens in permutations(below):
                left, shares = model.columns("order", once, 0, np.inf), as_row([1], target)
                model.put(row, left)
                visits: list[IntArray] = []
                found.append((drafted, tokens, left, visits))
                for y in tokens:
                    curve = self.curves[y, below[y]]
                    weights = as_row([w for w, _ in curve], target)
                    visit = model.columns("visit", np.arange(len(curve))[:, None], 0, np.inf)
                    balance = model.rows("left", once, 0, 0)
                    model.put(np.repeat(balance, len(left)), left, -shares)
                    model.put(np.repeat(balance, len(visit)), visit)
                    model.put(np.repeat(wanted[y : y + 1], len(visit)), visit, weights)
                    visits.append(visit)
                    columns.append(visit)
                    worth.append(as_row([kept for _, kept in curve], target))
                    left, shares = visit, 1 - weights
        program = model.program(
            "node (Theory, 48)", Sense.MAXIMIZE, np.concatenate(columns), np.concatenate(worth)
        )
        solution = solve(program)
        primal = np.maximum(solution.primal, 0)
        rest = weight * target - program.activity(primal)[wanted]
        orders: dict[Drafted, list[Order]] = {}
        for drafted, tokens, mass, visits in found:
            order = Order(
                tokens, primal[mass].item(), tuple(read_only(primal[visit]) for visit in visits)
            )
            orders.setdefault(drafted, []).append(order)
        slope = (solution.duals[wanted] * target).sum()
        return (
            solution.value,
            slope,
            NodePlan(orders, self.curves, read_only(arithmetic.positive_part(rest))),
        )


def as_row(values: Sequence[Any], like: Array) -> Array:
    """Return numbers as an array in the arithmetic of another."""
    row = arithmetic.zeros(len(values), like=like)
    row[:] = values
    return row


def concave_corners(value: Any, low: Any, high: Any) -> list[tuple[Any, Any]]:
    """Return the corners (place, value) of a concave function that is piecewise linear."""
    # ``value``: from a place to the function there and a slope of it there. In floats, bends of
    # less than 1e-9 are no corners.
    first, last = (low, *value(low)), (high, *value(high))
    tolerance = 0 if arithmetic.is_exact(np.asarray(low)) else _ROUNDING

    def between(left: Any, right: Any) -> list[tuple[Any, Any]]:
        (a, at_a, slope_a), (b, at_b, slope_b) = left, right
        bend = at_a + slope_a * (b - a) - at_b, at_b - slope_b * (b - a) - at_a
        if min(bend) <= tolerance:
            return []
        # Where the tangents meet: that is a corner, or the function is below them there.
        place = a + bend[1] / (slope_a - slope_b)
        if not a < place < b:
            return []
        found = (place, *value(place))
        if at_a + slope_a * (place - a) - found[1] <= tolerance:
            return [found[:2]]
        return [*between(left, found), found[:2], *between(found, right)]

    corners = [first[:2]]
    for (place, at), (after, beyond) in pairwise([*between(first, last), last[:2]]):
        before, since = corners[-1]
        bend = (at - since) * (after - place) - (beyond - at) * (place - before)
        corners += [(place, at)] * bool(bend > tolerance)
    return [*corners, last[:2]]
