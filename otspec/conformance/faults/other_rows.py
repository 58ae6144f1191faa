"""Faults that read the rows of another request: of the same batch, or of the same step."""

from functools import cached_property

from otspec.conformance.faults.base import known
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.setting import MarkedText, Row

SEVERAL = ("block", "tree")
BY_REQUEST = "index rows by request; check offsets of uneven batches"


class WithOtherRow(Machine):
    """A row of a batch with another row of it."""

    other_rows = reads_others = True

    @cached_property
    def other(self) -> Machine:
        """The other row, with drafts of its own."""
        others = self.setting.others
        return Machine(self.setting, others[self.chance.choose([1] * len(others))], self.chance)


@known("target of another row of the batch", BY_REQUEST)
class TargetOfOther(WithOtherRow):
    """The target's rows are those of another request."""

    def target(self, node: int) -> Row:
        return self.other.target(node)


@known("draft of another row of the batch", BY_REQUEST)
class DraftOfOther(WithOtherRow):
    """The draft's rows are those of another request."""

    def draft(self, node: int) -> Row:
        return self.other.draft(node)


@known("drafts of another row of the batch", BY_REQUEST)
class TokensOfOther(WithOtherRow):
    """Both rows are those of another request, the drafts are those of this one."""

    def draft(self, node: int) -> Row:
        return self.other.draft(node)

    def target(self, node: int) -> Row:
        return self.other.target(node)


@known("target of another text after a rejection", BY_REQUEST, SEVERAL, pipeline=True)
class TargetOfOtherNext(WithOtherRow):
    """The step after a rejection has the target's rows of another text of the batch."""

    across = True
    stale = rejected = False

    def handed(self) -> bool:
        return self.rejected

    def goes_on(self, handed: bool) -> None:
        self.stale = handed

    def target(self, node: int) -> Row:
        return self.other.target(node) if self.stale else super().target(node)

    def answer(self, node: int, token: int) -> MarkedText:
        self.rejected = bool(self.children(node))
        return super().answer(node, token)
