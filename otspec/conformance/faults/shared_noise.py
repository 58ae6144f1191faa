"""Faults of shared noise, in engines that promise the same text for the same seed.

The token at a position of the text is the first of a race: argmin E/q, with q the target's row and
E the exponential noise of the seed and the position. A draft is kept if it is that token. A fault
replaces one part: whose noise is taken, that of which position, or what is raced over.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from otspec._base import Array, Frozen, IntArray, children_of
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.drafting import UNKNOWN
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.faults.base import part
from otspec.conformance.keyed import Rows

KEY = "key the noise by the seed of the request and the position of the token in its text"
SEVERAL = ("block", "tree")
Race = Callable[[Array, int, int], int]


@dataclass(frozen=True, eq=False)
class SharedNoise(Frozen):
    """A correct verifier of shared noise, in parts, with the drafts of one row of a batch."""

    place: int  # of the row in the batch
    start: int  # tokens of the text before the drafts
    number: int  # steps before this one
    parents: tuple[int, ...]
    drafts: Sequence[int]  # the token of each node
    there: Sequence[bool]  # which nodes count
    target: Array  # (nodes + 1, n): rows after the text and each node
    draft: Array
    # Takes weights, a row of the batch and how many tokens its noise is ahead of the beginning of
    # its step; returns the token that is first
    race: Race

    def verify(self) -> tuple[int, list[int]]:
        """Return the last node that is kept, −1 for none, and the tokens up to the one after it."""
        node, text = -1, list[int]()
        while True:
            target, ahead = self.target[node + 1], self.ahead(node, len(text))
            token, below = self.race(target, self.row(), ahead), self.children(node)
            same = [child for child in below if self.drafts[child] == token]
            if not same:
                left = self.left(target, self.draft[node + 1]) if below else None
                return node, [*text, token if left is None else self.race(left, self.row(), ahead)]
            node, text = same[0], [*text, token]

    def children(self, node: int) -> list[int]:
        """Return the drafts after a node, or after the text, which is −1."""
        return [child for child in children_of(self.parents)[node + 1] if self.there[child]]

    def row(self) -> int:
        """Return whose noise is taken."""
        return self.place

    def ahead(self, node: int, depth: int) -> int:
        """Return how many tokens after the beginning of the step the noise is taken from."""
        return depth

    def left(self, target: Array, draft: Array) -> Array | None:
        """Return what is raced over after a rejection; None to keep the target's token."""
        return None


class Seen(NamedTuple):
    """What an engine said on one case."""

    kind: Kind
    case: Case
    rows: Rows
    texts: IntArray  # (size, T): symbols; −1 behind the last

    def explained(self, verifier: type[SharedNoise], race: Race) -> bool:
        """Return whether a verifier says the same, as far as both texts go."""
        sample, starts = self.rows.sample, self.rows.starts.tolist()
        for row, (variant, drafts) in enumerate(zip(sample.variants, sample.drafts, strict=True)):
            rows = variant, np.append(0, drafts + 1)
            given = self.kind.parents, drafts.tolist(), sample.there[row].tolist()
            models = self.case.target[rows], self.case.draft[rows]
            text = verifier(row, starts[row], 0, *given, *models, race).verify()[1]
            said = [symbol for symbol in self.texts[row].tolist() if symbol != UNKNOWN]
            if any(a != b for a, b in zip(said, text, strict=False)):
                return False
        return True


row, left, ahead = (part(name, SharedNoise) for name in ("row", "left", "ahead"))


@row("noise of the first row for all rows", KEY)
def of_first_row(self: SharedNoise) -> int:
    """All rows of a batch race with the numbers of its first row."""
    return 0


@left("residual raced with the noise of its draft", "keep the token that the target's race gave")
def of_residual(self: SharedNoise, target: Array, draft: Array) -> Array | None:
    """Draft and recovery use the same numbers: after a rejection they decide on the residual."""
    rest = np.maximum(target - draft, 0)
    return rest if rest.any() else None


@ahead("one noise for neighboring positions", KEY)
def of_pair(self: SharedNoise, node: int, depth: int) -> int:
    """Positions 2 i and 2 i + 1 of the text race with the same numbers, also without drafts."""
    return (self.start + depth) // 2 - self.start


@ahead("noise of a step's first position at all its positions", KEY, SEVERAL)
def of_beginning(self: SharedNoise, node: int, depth: int) -> int:
    """Neighboring positions of one step race with the same numbers."""
    return 0


@ahead("noise of the last draft after a whole path", KEY, SEVERAL)
def of_last_draft(self: SharedNoise, node: int, depth: int) -> int:
    """The token after a whole path races with the numbers of the last draft."""
    return depth if self.children(node) else max(depth - 1, 0)


@ahead("noise indexed by node", KEY + ": siblings are at one position", ("tree",))
def of_node(self: SharedNoise, node: int, depth: int) -> int:
    """The number of a node in its tree is taken for its depth."""
    return node + 1


@ahead("noise counted from the beginning of each step", KEY, SEVERAL)
def from_beginning(self: SharedNoise, node: int, depth: int) -> int:
    """All steps race with the same numbers: the position is counted from the step's beginning."""
    return depth - self.start


@ahead("noise indexed by step", KEY, SEVERAL, pipeline=True)
def of_step(self: SharedNoise, node: int, depth: int) -> int:
    """Noise is drawn once for each step, however many tokens the steps before it have kept."""
    return self.number + depth - self.start
