"""A verifier in parts, of which a fault replaces one; every random choice of it is a branch."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, ClassVar, cast

import numpy as np

from otspec.chance import Branch, Chance
from otspec.conformance.cases.drafting import siblings_of
from otspec.conformance.faults.last_draw import Undrawn
from otspec.conformance.faults.setting import TEXT, MarkedText, Row, Setting
from otspec.drafts import LAWS

WHOLE_TEXT = 1 << 30  # tokens that a text still needs where none is near its end


class Machine(Chance):
    """The parts of a correct verifier, of which a fault replaces one.

    It stands for all that the program of a rule reads: the drafted tree, the chance, and the rule
    itself with its formulas (:class:`otspec.blocks.block_verification.LastToFirst`). Drafts are
    drawn when they are first read, so that unread drafts make no branch. variant: the pair of
    models of this row of the batch.
    """

    other_rows: ClassVar[bool] = False  # whether it only shows beside other rows of a batch
    reads_others: ClassVar[bool] = False  # whether it reads another row of a batch
    across: ClassVar[bool] = False  # whether it shows only in texts of several steps
    numbered: ClassVar[bool] = False  # whether it hands random numbers to the next step
    strength: ClassVar[float] = 1.0  # how strong the fault is, if it has a strength
    strengths: ClassVar[tuple[float, float] | None] = None  # range in which the strength is fitted

    def __init__(
        self, setting: Setting, variant: int, chance: Branch, drafts: Sequence[int] = ()
    ) -> None:
        self.setting, self.kind, self.variant = setting, setting.kind, variant
        self.chance = chance
        self.tokens = dict(enumerate(drafts))
        self.n = len(setting.target[variant][0])
        self.last: int | None = None  # what the next step follows; None: the last that is said
        self.needed = WHOLE_TEXT  # how many tokens a text still needs
        self.tested = TEXT  # the child that a rule's program looked at last
        self.draws_last = False  # whether a draw is left for last
        self.undrawn: Undrawn | None = None  # that draw
        sets = setting.sets
        self.there = sets[chance.choose([1] * len(sets))] if len(sets) > 1 else sets[0]

    def says(self, run: Callable[[Any], MarkedText]) -> MarkedText:
        """Return what a rule says of these parts."""
        return run(self)

    def handed(self) -> Any:
        """Return what a fault hands over to the next step."""

    def goes_on(self, handed: Any) -> None:
        """Take what the step before has handed over."""

    # The drafted tree: tokens by node, in the order of drawing.

    def __len__(self) -> int:
        return sum(self.there)

    def __getitem__(self, node: int) -> int:
        return self.token(node)

    def __iter__(self) -> Iterator[int]:
        """Yield the drafts, each of which is tested before the next is drawn."""
        for node in range(len(self)):
            self.tested = node
            yield self.token(node)

    # Drafting.

    def token(self, node: int) -> int:
        """Return the drafted token of a node."""
        if node not in self.tokens:
            if self.kind.law in ("iid", "without-replacement"):
                self.tokens[node] = self.drafted(node, self.offered_to(node))
            else:
                self.draft_together(node)
        return self.tokens[node]

    def offered_to(self, node: int) -> Row:
        """Return the weights that a node's token is drawn from."""
        weights = self.sampled(self.kind.parents[node])
        if self.distinct:
            taken = {self.token(other) for other in self.siblings(node) if other < node}
            weights = [0.0 if x in taken else mass for x, mass in enumerate(weights)]
        return weights

    def draft_together(self, node: int) -> None:
        """Draw a node and its siblings from a law that is no draw after draw."""
        siblings = self.siblings(node)
        weights = tuple(self.sampled(self.kind.parents[node]))
        drafts, masses = tuples_of(self.kind.law, weights, len(siblings))
        self.tokens.update(zip(siblings, drafts[self.chance.choose(masses)], strict=False))

    @property
    def distinct(self) -> bool:
        """Whether siblings are drawn without replacement."""
        return self.kind.law == "without-replacement"

    def siblings(self, node: int) -> tuple[int, ...]:
        """Return the children of a node's parent."""
        return self.setting.below[self.kind.parents[node]]

    def drafted(self, node: int, weights: Row) -> int:
        """Draw the token of a node."""
        return self.pick(weights)

    def sampled(self, node: int) -> Row:
        """Return what the children of a node are drawn from."""
        return self.setting.draft[self.variant][self.context(node)]

    def context(self, node: int) -> int:
        """Return the row of the models after a node."""
        return 0 if node == TEXT else self.token(node) + 1

    def pick(self, weights: Row) -> int:
        """Draw a symbol, n where there is no weight."""
        return self.chance.choose(weights) if sum(weights) > 0 else self.n

    # What the verifier is told.

    def draft(self, node: int) -> Row:
        """Return the draft after a node."""
        return self.sampled(node)

    def target(self, node: int) -> Row:
        """Return the target after a node."""
        return self.setting.target[self.variant][self.context(node)]

    def children(self, node: int) -> list[int]:
        """Return the drafts after a node."""
        found = [child for child in self.setting.below[node] if self.there[child]]
        if found and self.kind.law != "iid":
            row = tuple(self.setting.draft[self.variant][self.context(node)])
            count = many(self.kind.law, row, len(self.setting.below[node]))
            found = [child for child in found if child in self.setting.below[node][:count]]
        return found

    def before(self, name: str, node: int, otherwise: Row) -> Row:
        """Return a row before warping, where a case has any."""
        rows = self.setting.raw.get(name)
        return otherwise if rows is None else rows[self.variant][self.context(node)]

    # Its chance, and its formulas.

    def choose(self, masses: Any) -> int:
        """Return an index, with a probability proportional to its mass."""
        return self.chance.choose(masses)

    def accept(self, wanted: Any, offered: Any = 1) -> bool:
        """Return True with probability min(1, wanted/offered): the test of the draft looked at."""
        return self.passes(min(1.0, self.odds(wanted, offered)), self.tested)

    def odds(self, wanted: float, offered: float) -> float:
        """Return how much likelier a token is for the target."""
        if offered > 0:
            return wanted / offered
        return float("inf") if wanted > 0 else 0.0

    def passes(self, chance: float, child: int) -> bool:
        """Return True with a chance: the test of a child."""
        return self.chance.accept(chance)

    def selected(self, mass: float, left: float) -> float:
        """Return the chance to select a draft of a mass, where so much is left of all."""
        return mass / left if left > 0 else 0.0

    def residual(self, node: int, wanted: Row, offered: Row) -> Row:
        """Return what is still wanted after a rejection."""
        rest = [max(q - p, 0.0) for q, p in zip(wanted, offered, strict=True)]
        return normalized(rest, wanted)

    def left(self, offered: Row, token: int) -> Row:
        """Return the draft of the next sibling."""
        if not self.distinct:
            return offered
        return normalized([0.0 if x == token else p for x, p in enumerate(offered)], offered)

    def weight(self, above: float, wanted: float, offered: float) -> float:
        """Return the weight of a node that is below one of a weight."""
        return min(1.0, above * self.odds(wanted, offered)) if above > 0 else 0.0

    def last_weight(self, drafts: "Machine", weight: float) -> float:
        """Return the chance of a whole block of a weight."""
        return weight

    def scaled(self, weight: float, wanted: Row) -> Row:
        """Return the target that is wanted at a node of a weight."""
        return [weight * q for q in wanted]

    def left_over(self, node: int, weight: float, wanted: Row, offered: Row) -> tuple[float, Row]:
        """Return the sum of what is still wanted at a node of a weight, and its distribution."""
        row = self.scaled(weight, wanted)
        total = sum(max(q - p, 0.0) for q, p in zip(row, offered, strict=True))
        return total, self.residual(node, row, offered)

    def allowed(self, total: float, weight: float) -> float:
        """Return the chance to keep an inner node, or its weight after a child is deleted."""
        whole = total + 1 - weight
        return total / whole if whole > 0 else 1.0

    def keeps(self, node: int, weight: float, chance: Chance) -> bool:
        """Return whether the text up to a node is kept."""
        return node == TEXT or self.passes(min(1.0, weight), node)

    # Its draws, and what it returns.

    def draw(self, weights: Row) -> int:
        """Draw the token that follows what is kept."""
        if self.draws_last and self.undrawn is None and sum(weights) > 0:
            self.undrawn = Undrawn(weights)
            return cast(int, self.undrawn)
        return self.pick(weights)

    def correction(self, node: int, weights: Row) -> int:
        """Draw the token after a node whose children were rejected."""
        return self.draw(weights if sum(weights) > 0 else self.target(node))

    def bonus(self, node: int) -> int:
        """Draw the token after a node without children."""
        return self.draw(self.target(node))

    def marked(self, found: Any) -> MarkedText:
        """Return what the verifier says where its program found a node, and weights after it."""
        node, weights = found if isinstance(found, tuple) else (found, None)
        whole = weights is None or not self.children(node)
        token = self.bonus(node) if whole else self.correction(node, weights)
        return self.answer(node, token)

    def path(self, node: int) -> tuple[int, ...]:
        """Return the nodes from the text to a node."""
        return () if node == TEXT else (*self.path(self.kind.parents[node]), node)

    def answer(self, node: int, token: int) -> MarkedText:
        """Return what the verifier says: the last kept node, and the token."""
        if self.kind.name == "tokens":
            same = [child for child in range(node) if self.token(child) == self.token(node)]
            return MarkedText(min([node, *same]) + 1, (token,))
        return MarkedText(node + 1, (*map(self.token, self.path(node)), token))


def normalized(weights: Row, fallback: Row) -> Row:
    """Return weights divided by their sum, or something else where that is 0."""
    total = sum(weights)
    return [weight / total for weight in weights] if total > 0 else fallback


@lru_cache(maxsize=4096)
def many(law: str, row: tuple[float, ...], count: int) -> int:
    """Return how many siblings a draft law draws from a row."""
    return siblings_of(np.array(row), law, count)


@lru_cache(maxsize=4096)
def tuples_of(
    law: str, row: tuple[float, ...], count: int
) -> tuple[list[tuple[int, ...]], list[float]]:
    """Return the drafts that a law draws from a row, and their masses."""
    drafts, masses = LAWS[law](np.array(row), many(law, row, count)).tuples()
    return [tuple(each) for each in drafts.tolist()], masses.tolist()
