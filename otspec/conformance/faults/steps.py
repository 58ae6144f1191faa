"""Faults between the steps of a text, at its end, and between texts whose rows are exchanged."""

from collections import defaultdict
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias

from otspec.conformance.cases.cases import PADDING
from otspec.conformance.faults.base import known, part
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.randomness import FRESH, WithNumbers, inverted
from otspec.conformance.faults.setting import TEXT, MarkedText, Row
from otspec.conformance.following.uniform import Uniform

SEVERAL = ("block", "tree")
ALL_OUT = "give out all that is kept and the token after it, each once, and go on from that token"
BY_REQUEST = "index rows by request; check offsets of uneven batches"
CUT = "verify the last step as all others, and cut the text behind its last token"
Numbers: TypeAlias = defaultdict[int, Uniform]
EACH_STEP = f"{FRESH}, in each step; seed once for a text"


class BetweenSteps(Machine):
    """A verifier that shows only in texts of several steps."""

    across = True


answer, says, token = (part(name, BetweenSteps) for name in ("answer", "says", "token"))


@answer("token after a whole path lost", ALL_OUT, SEVERAL, pipeline=True)
def bonus_lost(self: Machine, node: int, token: int) -> MarkedText:
    """The token after a whole path is not given out, but the next step follows it."""
    told = Machine.answer(self, node, token)
    if self.children(node):
        return told
    self.last = token
    return told._replace(text=told.text[:-1])


@answer("last token of each step lost", ALL_OUT, SEVERAL, pipeline=True)
def last_lost(self: Machine, node: int, token: int) -> MarkedText:
    """A step gives out the kept drafts alone, but the next step follows the token after them."""
    told, self.last = Machine.answer(self, node, token), token
    return told._replace(text=told.text[:-1])


class AfterToken(BetweenSteps):
    """A verifier that knows the last token of the step before."""

    previous: int | None = None
    _token = 0

    def handed(self) -> int:
        """Return the last token of this step."""
        return self._token

    def goes_on(self, handed: int) -> None:
        """Take the last token of the step before."""
        self.previous = handed

    def answer(self, node: int, token: int) -> MarkedText:
        """Return what the verifier says, and keep its token."""
        self._token = token
        return super().answer(node, token)


@part("answer", AfterToken)("last token of each step doubled", ALL_OUT, SEVERAL, pipeline=True)
def last_doubled(self: AfterToken, node: int, token: int) -> MarkedText:
    """Each step begins with the last token of the step before, which is given out again."""
    told = AfterToken.answer(self, node, token)
    again = () if self.previous is None else (self.previous,)
    return told._replace(text=(*again, *told.text))


class EndReplaced(BetweenSteps):
    """The last token of a text is another."""

    def answer(self, node: int, token: int) -> MarkedText:
        told = super().answer(node, token)
        if len(told.text) < self.needed:
            return told
        kept = told.text[: self.needed - 1]
        last = self.ending(kept)
        return told if last is None else told._replace(text=(*kept, last))

    def ending(self, kept: tuple[int, ...]) -> int | None:
        """Return the last token, after what the last step gives out before it; None: as it is."""
        return None


ending = part("ending", EndReplaced)


@ending("text ends with a draft that is not verified", CUT, SEVERAL, pipeline=True)
def end_drafted(self: Machine, kept: tuple[int, ...]) -> int:
    """The last token of a text is drawn from the draft, and returned without a look."""
    return self.pick(self.setting.draft[self.variant][kept[-1] + 1 if kept else 0])


@says("text filled up with drafts that are not verified", CUT, SEVERAL, pipeline=True)
def filled_up(self: Machine, run: Callable[[Any], MarkedText]) -> MarkedText:
    """Where drafts are enough for the rest of a text, they are returned without a look."""
    path: list[int] = []
    node = TEXT
    while below := self.children(node):
        node = below[0]
        path.append(node)
    if self.needed > len(path):
        return Machine.says(self, run)
    return MarkedText(0, tuple(map(self.token, path[: self.needed])))


@ending("text ends with padding", CUT, SEVERAL, pipeline=True)
def end_padded(self: Machine, kept: tuple[int, ...]) -> int:
    """The last token of a text is token 0, whatever was verified."""
    return 0


@known("text ends with its last token once more", CUT, SEVERAL, pipeline=True)
class EndRepeated(EndReplaced, AfterToken):
    """The last token of a text is the one before it, written once more."""

    def ending(self, kept: tuple[int, ...]) -> int | None:
        return kept[-1] if kept else self.previous


@token(
    PADDING,
    "look at as many drafts as there are, and draw what follows them from the target",
    SEVERAL,
    pipeline=True,
)
def padding_counted(self: Machine, node: int) -> int:
    """Where fewer drafts are drawn, as near the end of a text, padding is verified behind them."""
    return 0 if len(self.path(node)) >= self.needed else Machine.token(self, node)


class WithOtherRow(Machine):
    """A row of a batch with another row of it."""

    other_rows = reads_others = True

    @cached_property
    def other(self) -> Machine:
        """The other row, with drafts of its own."""
        others = self.setting.others
        return Machine(self.setting, others[self.chance.choose([1] * len(others))], self.chance)


@part("target", WithOtherRow)("target of another row of the batch", BY_REQUEST)
def target_of_other(self: WithOtherRow, node: int) -> Row:
    """The target's rows are those of another request."""
    return self.other.target(node)


@part("draft", WithOtherRow)("draft of another row of the batch", BY_REQUEST)
def draft_of_other(self: WithOtherRow, node: int) -> Row:
    """The draft's rows are those of another request."""
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


class SameNumbers(WithNumbers):
    """A verifier whose numbers are those of the first step, as far as they have names."""

    across = numbered = True

    def handed(self) -> Numbers:
        """Return the numbers of this step."""
        return self._numbers

    def goes_on(self, handed: Numbers) -> None:
        """Take the numbers of the step before."""
        self._numbers = handed

    def drafted(self, node: int, weights: Row) -> int:
        """Draw the token of a node by its number, which is none of a test."""
        return inverted(self.number(len(self.kind.parents) + node), weights, self.n)

    def draw(self, weights: Row) -> int:
        """Draw the token after what is kept, by the number for it."""
        return inverted(self.number(TEXT), weights, self.n)


@known("seed set again in each step", EACH_STEP, SEVERAL, pipeline=True)
class SeedOfStep(SameNumbers):
    """Each step drafts, tests and draws with the numbers of the first one."""


@known("numbers of verification used again in each step", EACH_STEP, SEVERAL, pipeline=True)
class VerificationOfFirst(SameNumbers):
    """Numbers for tests and draws are drawn once for a text; drafts have new ones."""

    drafted = Machine.drafted


@known("numbers of drafts used again in each step", EACH_STEP, SEVERAL, pipeline=True)
class DraftsOfFirst(SameNumbers):
    """Drafts of each step are drawn with the numbers of the first one; tests have new ones."""

    passes, draw = Machine.passes, Machine.draw


@known("number of the draw used again for the next draft", EACH_STEP, SEVERAL, pipeline=True)
class DrawOfStepBefore(SameNumbers):
    """The first draft of a step is drawn with the number that drew the token before it."""

    passes = Machine.passes

    def goes_on(self, handed: Numbers) -> None:
        drawn = handed.get(TEXT)
        if drawn is not None:
            self._numbers[len(self.kind.parents)] = drawn

    def drafted(self, node: int, weights: Row) -> int:
        return self.pick(weights) if node else super().drafted(node, weights)


@answer("next step follows the rejected draft",
        "cut caches back to what is kept, and read the corrected token before the next step",
        SEVERAL, pipeline=True)  # fmt: skip
def after_rejected(self: Machine, node: int, token: int) -> MarkedText:
    """Draft and target go on from the draft that was rejected, not from the token in its place."""
    below = self.children(node)
    self.last = self.token(below[0]) if below else token
    return Machine.answer(self, node, token)
