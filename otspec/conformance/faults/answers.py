"""Faults in what is returned, and in policies that cut drafts after a forbidden look."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

from otspec.chance import Branch
from otspec.conformance.faults.base import known, part
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.setting import TEXT, MarkedText, Setting

SEVERAL = ("block", "tree")
ACCEPTED = "return the token of the accepted draft"
LENGTH = "the kept length counts the accepted drafts, and the token comes behind them"
answer = part("answer")


@answer("kept length one too short", LENGTH, SEVERAL)
def too_short(self: Machine, node: int, token: int) -> MarkedText:
    """The last kept draft is dropped, and the token stands in its place."""
    return Machine.answer(self, node if node == TEXT else self.kind.parents[node], token)


@answer("kept length one too long", LENGTH, SEVERAL)
def too_long(self: Machine, node: int, token: int) -> MarkedText:
    """The rejected draft is kept, and the token comes behind it."""
    below = self.children(node)
    return Machine.answer(self, below[0] if below else node, token)


@answer("whole path kept wherever a draft was rejected", LENGTH, SEVERAL)
def all_kept(self: Machine, node: int, token: int) -> MarkedText:
    """Drafts behind a rejection are kept."""
    while below := self.children(node):
        node = below[0]
    return Machine.answer(self, node, token)


@answer("first draft returned for the accepted one", ACCEPTED, ("tokens",))
def first_returned(self: Machine, node: int, token: int) -> MarkedText:
    """Whichever draft is accepted, the first one is returned."""
    return Machine.answer(self, node, token if node == TEXT else self.token(0))


@answer("last draft returned for the accepted one", ACCEPTED, ("tokens",))
def last_returned(self: Machine, node: int, token: int) -> MarkedText:
    """Whichever draft is accepted, the last one is returned."""
    last = len(self.kind.parents) - 1
    return Machine.answer(self, node, token if node == TEXT else self.token(last))


@answer("accepted index returned for the token", ACCEPTED, ("tokens",))
def index_returned(self: Machine, node: int, token: int) -> MarkedText:
    """The place of the accepted draft among the drafts is returned for its token."""
    return Machine.answer(self, node, token if node == TEXT else min(node, self.n - 1))


@answer("correction dropped", "return the correction where no draft is accepted", ("tokens",))
def correction_dropped(self: Machine, node: int, token: int) -> MarkedText:
    """Where no draft is accepted the last one is returned."""
    last = len(self.kind.parents) - 1
    return Machine.answer(self, node, self.token(last) if node == TEXT else token)


@answer("path of the first sibling returned", "return the path of the kept node", ("tree",))
def first_path(self: Machine, node: int, token: int) -> MarkedText:
    """The last kept node's first sibling is returned in its place."""
    return Machine.answer(self, node if node == TEXT else self.siblings(node)[0], token)


@answer(
    "next node returned", "return the kept node: mind which index is that of the text", ("tree",)
)
def next_node(self: Machine, node: int, token: int) -> MarkedText:
    """Nodes are counted from the text in one place and from the first draft in another."""
    drafted = node + 1 < len(self.kind.parents) and all(
        each in self.children(self.kind.parents[each]) for each in self.path(node + 1)
    )
    return Machine.answer(self, node + 1 if drafted else node, token)


LIKELY = 0.5  # tokens of a smaller draft probability are dropped


class Cut(Machine, ABC):
    """A verifier that is handed what is left of the drafts."""

    def __init__(
        self, setting: Setting, variant: int, chance: Branch, drafts: Sequence[int] = ()
    ) -> None:
        super().__init__(setting, variant, chance, drafts)
        left = self.left_drafts(TEXT, 1.0)
        self.there = tuple(node in left for node in range(len(self.there)))

    def mass(self, child: int) -> float:
        """Return the draft's probability of a child's token."""
        return self.sampled(self.kind.parents[child])[self.token(child)]

    @abstractmethod
    def left_drafts(self, node: int, path: float) -> Collection[int]:
        """Return the nodes below a node that are left."""


@known(
    "draft withdrawn after a look at its token",
    "decide before the token is drawn; or let it count and stop after it; or set the draft's "
    "probability of every token that would be dropped to 0, without dividing by the sum",
)
class LooksAtToken(Cut):
    """A draft of probability below 1/2 is dropped, and verified as if it had not been drawn."""

    def left_drafts(self, node: int, path: float) -> Collection[int]:
        left: set[int] = set()
        for child in self.children(node):
            if self.mass(child) >= LIKELY:
                left |= {child, *self.left_drafts(child, path)}
        return left


@known(
    "tree pruned by sampled siblings",
    "take the likeliest tokens instead of drawn ones; or race whole sequences; or set the draft's "
    "probability of what would be dropped to 0, by the path alone",
    ("tokens", "tree"),
)
class PrunedBySiblings(Cut):
    """Of drawn drafts the half with the likeliest paths is kept, so that siblings compete."""

    def left_drafts(self, node: int, path: float) -> Collection[int]:
        paths = self.paths(node, path)
        # A child is no likelier than its parent, which comes before it.
        best = sorted(paths, key=lambda child: -paths[child])
        return best[: -(-len(self.kind.parents) // 2)]

    def paths(self, node: int, path: float) -> dict[int, float]:
        """Return the probability of the text up to each node below one, in the order of nodes."""
        found: dict[int, float] = {}
        for child in self.children(node):
            below = path * self.mass(child)
            found |= {child: below} | self.paths(child, below)
        return dict(sorted(found.items()))


@known(
    "length chosen after seeing the acceptance of other rows",
    "keep of each row what it accepts; or shorten the drafts before any is verified; or go on with "
    "the row's own next token, accepted or corrected, in place of a draw from the target",
    ("block", "tree"),
)
class LengthOfOthers(Machine):
    """All rows are cut to the fewest tokens that one of them keeps, and the target goes on."""

    other_rows = True

    def answer(self, node: int, token: int) -> MarkedText:
        kept = self.path(node)[: self.setting.fewest]
        if len(kept) == len(self.path(node)):
            return super().answer(node, token)
        last = kept[-1] if kept else TEXT
        return super().answer(last, self.bonus(last))
