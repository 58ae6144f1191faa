"""Faults in what is returned: lengths and indices that are off."""

from __future__ import annotations

from otspec.conformance.faults.base import known
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.setting import TEXT, MarkedText

SEVERAL = ("block", "tree")
LENGTH = "the kept length counts the accepted drafts, and the token comes behind them"


@known("kept length one too short", LENGTH, SEVERAL)
class TooShort(Machine):
    """The last kept draft is dropped, and the token stands in its place."""

    def answer(self, node: int, token: int) -> MarkedText:
        return super().answer(node if node == TEXT else self.kind.parents[node], token)


@known("kept length one too long", LENGTH, SEVERAL)
class TooLong(Machine):
    """The rejected draft is kept, and the token comes behind it."""

    def answer(self, node: int, token: int) -> MarkedText:
        below = self.children(node)
        return super().answer(below[0] if below else node, token)


@known("whole path kept wherever a draft was rejected", LENGTH, SEVERAL)
class AllKept(Machine):
    """Drafts behind a rejection are kept."""

    def answer(self, node: int, token: int) -> MarkedText:
        while below := self.children(node):
            node = below[0]
        return super().answer(node, token)


@known("first draft returned for the accepted one", "return the token of the accepted draft",
       ("tokens",))  # fmt: skip
class FirstReturned(Machine):
    """Whichever draft is accepted, the first one is returned."""

    def answer(self, node: int, token: int) -> MarkedText:
        return super().answer(node, token if node == TEXT else self.token(0))


@known("last draft returned for the accepted one", "return the token of the accepted draft",
       ("tokens",))  # fmt: skip
class LastReturned(Machine):
    """Whichever draft is accepted, the last one is returned."""

    def answer(self, node: int, token: int) -> MarkedText:
        return super().answer(
            node, token if node == TEXT else self.token(len(self.kind.parents) - 1)
        )


@known("accepted index returned for the token", "return the token of the accepted draft",
       ("tokens",))  # fmt: skip
class IndexReturned(Machine):
    """The place of the accepted draft among the drafts is returned for its token."""

    def answer(self, node: int, token: int) -> MarkedText:
        return super().answer(node, token if node == TEXT else min(node, self.n - 1))


@known("correction dropped", "return the correction where no draft is accepted", ("tokens",))
class CorrectionDropped(Machine):
    """Where no draft is accepted the last one is returned."""

    def answer(self, node: int, token: int) -> MarkedText:
        return super().answer(
            node, self.token(len(self.kind.parents) - 1) if node == TEXT else token
        )


@known("path of the first sibling returned", "return the path of the kept node", ("tree",))
class FirstPath(Machine):
    """The last kept node's first sibling is returned in its place."""

    def answer(self, node: int, token: int) -> MarkedText:
        return super().answer(node if node == TEXT else self.siblings(node)[0], token)


@known(
    "next node returned", "return the kept node: mind which index is that of the text", ("tree",)
)
class NextNode(Machine):
    """Nodes are counted from the text in one place and from the first draft in another."""

    def answer(self, node: int, token: int) -> MarkedText:
        drafted = node + 1 < len(self.kind.parents) and all(
            each in self.children(self.kind.parents[each]) for each in self.path(node + 1)
        )
        return super().answer(node + 1 if drafted else node, token)
