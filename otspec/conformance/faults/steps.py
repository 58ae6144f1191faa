"""Faults that reach from one step to the next: numbers that come again, and a stale text."""

from collections import defaultdict
from typing import TypeAlias

from otspec.conformance.faults.base import known
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.randomness import FRESH, WithNumbers, inverted
from otspec.conformance.faults.setting import TEXT, MarkedText, Row
from otspec.conformance.following.uniform import Uniform

Numbers: TypeAlias = defaultdict[int, Uniform]
SEVERAL = ("block", "tree")
EACH_STEP = f"{FRESH}, in each step; seed once for a text"


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

    def drafted(self, node: int, weights: Row) -> int:
        return self.pick(weights)


@known("numbers of drafts used again in each step", EACH_STEP, SEVERAL, pipeline=True)
class DraftsOfFirst(SameNumbers):
    """Drafts of each step are drawn with the numbers of the first one; tests have new ones."""

    def passes(self, chance: float, child: int) -> bool:
        return self.chance.accept(chance)

    def draw(self, weights: Row) -> int:
        return self.pick(weights)


@known("number of the draw used again for the next draft", EACH_STEP, SEVERAL, pipeline=True)
class DrawOfStepBefore(SameNumbers):
    """The first draft of a step is drawn with the number that drew the token before it."""

    def goes_on(self, handed: Numbers) -> None:
        drawn = handed.get(TEXT)
        if drawn is not None:
            self._numbers[len(self.kind.parents)] = drawn

    def drafted(self, node: int, weights: Row) -> int:
        return self.pick(weights) if node else super().drafted(node, weights)

    def passes(self, chance: float, child: int) -> bool:
        return self.chance.accept(chance)


@known("next step follows the rejected draft",
       "cut caches back to what is kept, and read the corrected token before the next step",
       SEVERAL, pipeline=True)  # fmt: skip
class AfterRejected(Machine):
    """Draft and target go on from the draft that was rejected, not from the token in its place."""

    across = True

    def answer(self, node: int, token: int) -> MarkedText:
        below = self.children(node)
        self.last = self.token(below[0]) if below else token
        return super().answer(node, token)
