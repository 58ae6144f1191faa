"""A step of decoding: draft a tree (MCSD, sec. 3.3), read it in one target call, verify it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from otspec._base import Frozen
from otspec.blocks import Shape
from otspec.blocks.drafted_tree import ROOT, DraftedTree
from otspec.blocks.trees.verifiers.base import Growing
from otspec.decoding.verification import Reader, Reads, Request, SeededChance, Verifier, alone
from otspec.distributions import Distribution
from otspec.models.base import Prefix


@dataclass(frozen=True)
class Step(Frozen):
    """What came of one call of the target.

    Parameters
    ----------
    tokens : tuple of int
        The new tokens of the text.
    accepted : int
        τ, the drafted tokens that were accepted. One more token follows them, unless an end token
        is the last of them; of the last step some may be more than were wanted.
    drafted, draft_calls : int
        Nodes of the tree that the target read, and calls of the draft.
    ended : bool
        Whether the last token ends the text.
    """

    tokens: Prefix
    accepted: int
    drafted: int
    draft_calls: int
    ended: bool = False

    @property
    def reached(self) -> int:
        """How many depths were tried: one more than was accepted, unless the text ended there."""
        return self.accepted + (not self.ended or len(self.tokens) > self.accepted)

    def cut(self, most: int, end: frozenset[int]) -> "Step":
        """Return the step without what is behind an end token, or more than is wanted."""
        for index, token in enumerate(self.tokens[:most]):
            if token in end:
                return replace(self, tokens=self.tokens[: index + 1], ended=True)
        return replace(self, tokens=self.tokens[:most])


@dataclass(frozen=True)
class Generated(Frozen):
    """A decoded text.

    Parameters
    ----------
    steps : tuple of Step
    depth : int
        L, the most drafted tokens that a step can accept.
    """

    steps: tuple[Step, ...]
    depth: int

    @property
    def tokens(self) -> Prefix:
        """The new tokens; the last one is the end token if :attr:`ended`."""
        return tuple(token for step in self.steps for token in step.tokens)

    @property
    def ended(self) -> bool:
        """Whether an end token ended the text."""
        return self.steps[-1].ended

    @property
    def target_calls(self) -> int:
        """How often the target model was called."""
        return len(self.steps)

    @property
    def draft_calls(self) -> int:
        """How often the draft model was called."""
        return sum(step.draft_calls for step in self.steps)

    @property
    def accepted(self) -> tuple[int, ...]:
        """In how many steps at least 1, …, L drafted tokens were accepted."""
        return tuple(
            sum(step.accepted > depth for step in self.steps) for depth in range(self.depth)
        )

    @property
    def reached(self) -> tuple[int, ...]:
        """In how many steps a token of depth 1, …, L could be accepted."""
        return tuple(
            sum(step.reached > depth for step in self.steps) for depth in range(self.depth)
        )

    @property
    def acceptance(self) -> tuple[float | None, ...]:
        """The share of steps that accepted a token of depth 1, …, L, of those that got so far."""
        shares = zip(self.accepted, self.reached, strict=True)
        return tuple(kept / number if number else None for kept, number in shares)

    @property
    def tokens_per_call(self) -> float:
        """New tokens per call of the target."""
        return len(self.tokens) / self.target_calls

    @property
    def efficiency(self) -> float:
        """The mean of τ + 1 over steps, also of tokens that were not wanted: block efficiency."""
        return 1 + sum(step.accepted for step in self.steps) / self.target_calls


DrawChildren: TypeAlias = Callable[[Distribution, int, bool, int], tuple[Prefix, bool]]
"""(draft, k, top, depth) → k children of a node, drawn or the likeliest tokens, and whether equal
ones go on together."""


@dataclass(frozen=True, eq=False)
class Drafting(Frozen):
    """A drafted tree and the draft model that has read it."""

    drafted: dict[str, Any]
    """The fields of the drafted tree, but the distributions after its nodes."""
    rows: dict[int, Distribution]
    """What the children of each node were drafted from."""
    reader: Reader
    """Has read the text and the nodes that have children."""
    places: dict[int, int]
    """The number of each node that was read, among all that was read behind the text."""
    calls: int
    """How often the draft model was called."""

    def kept(self, path: Sequence[int]) -> Reader:
        """Return the draft model with the text, and what it has read of a path through the tree."""
        if not self.calls:
            return self.reader
        read = [self.places[node] for node in path if node in self.places]
        return self.reader.keep([*range(self.places[-1] + 1), *read])


@dataclass(frozen=True, eq=False)
class EndingShape(Frozen):
    """Which trees are drafted, and where they end before."""

    tree: Shape
    end: frozenset[int] = frozenset()  # tokens that end a text: nothing is drafted after them


def draft_tree(
    reader: Reader, unread: Sequence[int], shape: EndingShape, draw: DrawChildren
) -> Reads[Drafting]:
    """Draft a tree behind a text, and ask to read each of its levels.

    Equal i.i.d. children are one node with the children of all; of other equal ones the first goes
    on. Distinct children are as many as the draft has tokens, and none are behind an end token.
    ``unread``: what the draft model has not read of the text; one token at least.
    """
    growing = Growing(shape.tree, lambda text: bool(text) and text[-1] in shape.end)
    root = len(unread) - 1
    places, read, rows = {ROOT: root}, len(unread), dict[int, Distribution]()
    level, calls = growing.level, 0
    new, before = list(unread), list(range(-1, root))
    while level:
        reading = yield Request(reader, new, before, len(level), drafting=True)
        reader, calls = reading.reader, calls + 1
        longer: list[int] = []
        for node, row in zip(level, reading.rows, strict=True):
            rows[node], below = row, growing.shapes[node]
            drafts, together = draw(row, len(below.children), below.top, len(growing.texts[node]))
            longer += growing.branch(node, drafts, together)
        level = longer
        places |= {node: read + index for index, node in enumerate(level)}
        read += len(level)
        new = [growing.tokens[node] for node in level]
        before = [places[growing.parents[node]] for node in level]
    return Drafting(growing.fields(), rows, reader, places, calls)


@dataclass(frozen=True, eq=False)
class Decoder(Frozen):
    """A text and everything that its continuation depends on, but chance."""

    text: Prefix  # the prompt and what was decoded; one token at least
    # draft, target: what the models have read of the text
    draft: Reader
    target: Reader
    # of the trees, and which tokens end a text; without a node it is plain decoding, which asks the
    # target alone
    shape: EndingShape
    verifier: Verifier

    def step(self, chance: SeededChance) -> "tuple[Step, Decoder]":
        """Draft a tree, verify it, and return what happened and the decoder of the longer text."""
        return alone(self.reads(chance))

    def reads(self, chance: SeededChance) -> "Reads[tuple[Step, Decoder]]":
        """Do what :meth:`step` does, and ask for all that is to be read."""
        # The target reads, in one call, what it has not read of the text, and the whole tree.
        unread = self.text[self.draft.length :]
        start = len(self.text)
        drafting = yield from draft_tree(
            self.draft,
            unread,
            self.shape,
            lambda row, k, top, depth: self.verifier.drafts(row, k, top, start + depth, chance),
        )
        rest, tokens = self.text[self.target.length :], drafting.drafted["tokens"]
        chain, root = range(-1, len(rest) - 1), len(rest) - 1
        parents = drafting.drafted["parents"]
        behind = [root if parent < 0 else len(rest) + parent for parent in parents]
        reading = yield Request(self.target, rest + tokens, [*chain, *behind], 1 + len(tokens))
        drafts = DraftedTree(
            **drafting.drafted,
            draft=drafting.rows.__getitem__,
            target=lambda node: reading.rows[node + 1],
        )
        node, token, verifier = self.verifier.verify(drafts, start, chance)
        path = drafts.path(node)
        new = (*drafts.text(node), token)
        after = replace(
            self,
            text=self.text + new,
            draft=drafting.kept(path),
            target=reading.reader.keep([*range(len(rest)), *(len(rest) + node for node in path)]),
            verifier=verifier,
        )
        return Step(new, len(path), len(tokens), drafting.calls), after

    def steps(self, most: int, chance: SeededChance) -> Iterator[Step]:
        """Yield steps until a token ends the text or there are ``most``; the last is cut off."""
        return (step for _, step in together([self], most, [chance]))


def together(
    decoders: Sequence[Decoder], most: int, chances: Sequence[SeededChance]
) -> Iterator[tuple[int, Step]]:
    """Yield what happens to each text of a batch, with its number, as soon as it is there.

    The draft model reads, in one call, for all texts that are drafting. Once none is, the target
    reads the trees of all texts in one call. Each text is what it is by itself, up to rounding.
    """
    left = [most] * len(decoders)
    going = [decoder.reads(each) for decoder, each in zip(decoders, chances, strict=True)]
    waiting = {number: next(reads) for number, reads in enumerate(going)}
    while waiting:
        chosen = [number for number, each in waiting.items() if each.drafting] or list(waiting)
        requests = [waiting.pop(number) for number in chosen]
        readings = requests[0].reader.read_all(requests)
        for number, reading in zip(chosen, readings, strict=True):
            try:
                waiting[number] = going[number].send(reading)
            except StopIteration as done:
                step, decoder = done.value
                step = step.cut(left[number], decoder.shape.end)
                left[number] = 0 if step.ended else left[number] - len(step.tokens)
                yield number, step
                if left[number]:
                    going[number] = decoder.reads(chances[number])
                    waiting[number] = next(going[number])
