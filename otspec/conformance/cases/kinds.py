"""What is verified: drafts of one token, a block, or a tree; and reading what a verifier says."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from otspec._base import Array, Frozen, IntArray
from otspec._base.arguments import as_instance, as_integer, children_of, depths_of
from otspec.blocks.policies import Policy
from otspec.blocks.trees.shapes import as_shape
from otspec.conformance.cases.cases import (
    PADDING,
    Answer,
    Case,
    ImpossibleError,
    integers,
    named,
    symbols_of,
)
from otspec.conformance.cases.drafting import UNKNOWN, Sample, drafted, left_by
from otspec.drafts import LAWS


class Kind(Frozen, ABC):
    """A shape of drafts."""

    name: ClassVar[str]
    law: str  # draft law of siblings, one of otspec.drafts.LAWS
    policy: Policy | None = None  # drafts and cuts; None: nothing is cut

    @property
    @abstractmethod
    def parents(self) -> tuple[int, ...]:
        """The parent of each draft; −1 for the text."""

    @property
    def widest(self) -> int:
        """The most siblings that are drafted."""
        return max(map(len, children_of(self.parents)))

    @property
    @abstractmethod
    def kept(self) -> tuple[int, ...]:
        """How many drafted tokens come before the last one, for each mark."""

    @property
    def length(self) -> int:
        """T, the symbols of a text that is looked at."""
        return max(self.kept) + 1

    @property
    def marks(self) -> int:
        """How many values :attr:`Answer.marks` have."""
        return len(self.kept)

    @abstractmethod
    def arrays(self, case: Case, sample: Sample) -> dict[str, Array]:
        """Return the arrays that a verifier takes, by name, over symbols."""

    @abstractmethod
    def read(self, answer: Any, case: Case, sample: Sample) -> Answer:
        """Read an answer; raise ImpossibleError if none is like it, ValueError for its form."""

    def draw(self, case: Case, size: int, rng: np.random.Generator) -> Sample:
        """Draw drafts as the draft model does."""
        return self.drafted(case, rng.integers(case.variants, size=size), rng)

    def drafted(self, case: Case, variants: IntArray, rng: np.random.Generator) -> Sample:
        """Draw drafts of given pairs of models, of which a policy may leave some."""
        whole = drafted(self.parents, self.law, case, variants, rng)
        if self.policy is None:
            return whole
        drafts, there = whole.drafts.copy(), whole.there.copy()
        for variant in np.unique(variants).tolist():
            ways = left_by(self.policy, self.parents, case.draft[variant])
            rows = np.flatnonzero(variants == variant)
            which = rng.choice(len(ways), size=len(rows), p=[way.mass for way in ways])
            drafts[rows] = np.array([way.drafts for way in ways])[which]
            there[rows] &= np.array([way.there for way in ways])[which]
        return Sample(variants, drafts, case.tokens(drafts, rng), there)


@dataclass(frozen=True)
class Tokens(Kind):
    """k drafts of one token."""

    k: int = 3
    law: str = "iid"  # what they are drawn from, one of otspec.drafts.LAWS
    policy: Policy | None = field(default=None, kw_only=True)
    name: ClassVar[str] = "tokens"

    @property
    def parents(self) -> tuple[int, ...]:
        """All are children of the text."""
        return (-1,) * self.k

    @property
    def kept(self) -> tuple[int, ...]:
        """The output is the only token, whatever is accepted."""
        return (0,) * (self.k + 1)

    def arrays(self, case: Case, sample: Sample) -> dict[str, Array]:
        """Return draft and target, shape (size, n) each."""
        return {name: getattr(case, name)[sample.variants, 0] for name in ("draft", "target")}

    def read(self, answer: Any, case: Case, sample: Sample) -> Answer:
        """Read tokens, shape (size,), alone or with the accepted index, −1 for none."""
        # The mark is the first draft that is the accepted token, whichever of equal ones it was.
        size = len(sample.drafts)
        given = named(answer, ("token", "index"), least=1)
        tokens = integers(given["token"], (size,), "token")
        symbols = symbols_of(tokens, case)[:, None]
        if given.get("index") is None:
            return Answer(symbols, None)
        index = np.asarray(given["index"])
        if index.dtype == bool:
            raise ValueError(
                "the verifier returned flags beside tokens: return the accepted index, or nothing"
            )
        index = integers(index, (size,), "index")
        outside = (index < -1) | (index >= sample.lengths)
        if outside.any():
            row = int(np.argmax(outside))
            padded = PADDING if 0 <= index[row] < self.k else None
            raise ImpossibleError(
                f"it accepts draft {index[row]}, of {sample.lengths[row]}", padded
            )
        claimed = _at(sample.tokens, index)
        if ((index >= 0) & (claimed != tokens)).any():
            raise ImpossibleError("its token is not the draft that it accepts")
        last = np.ones((size, 1), dtype=bool)  # argmax of no draft at all is an error
        first = np.argmax(np.append(sample.tokens == tokens[:, None], last, axis=1), axis=1)
        return Answer(symbols, np.where(index >= 0, first + 1, 0))


@dataclass(frozen=True)
class Tree(Kind):
    """A drafted tree."""

    parents: tuple[int, ...] = (-1, -1, 0, 0, 1)  # of each node, before it; −1 for the text
    law: str = "iid"  # what siblings are drawn from, one of otspec.drafts.LAWS
    policy: Policy | None = field(default=None, kw_only=True)
    name: ClassVar[str] = "tree"

    @property
    def kept(self) -> tuple[int, ...]:
        """No token, or those on the way to a node."""
        return (0, *depths_of(self.parents))

    def arrays(self, case: Case, sample: Sample) -> dict[str, Array]:
        """Return draft and target, shape (size, nodes + 1, n): after the text, and each node."""
        start = np.zeros((len(sample.drafts), 1), dtype=np.intp)
        contexts = np.concatenate([start, sample.drafts + 1], axis=1)
        rows = sample.variants[:, None]
        return {"draft": case.draft[rows, contexts], "target": case.target[rows, contexts]}

    def read(self, answer: Any, case: Case, sample: Sample) -> Answer:
        """Read the last kept node, −1 for none, and the token after it, shape (size,) each."""
        size = len(sample.drafts)
        given = named(answer, ("node", "token"))
        node = integers(given["node"], (size,), "node")
        outside = (node < -1) | (node >= len(self.parents))
        if outside.any():
            raise ImpossibleError(f"it keeps node {node[outside][0]}, of {len(self.parents)}")
        if ((node >= 0) & ~_at(sample.there, node)).any():
            raise ImpossibleError("it keeps a node that was not drafted", PADDING)
        return Answer(self._texts(node, given["token"], case, sample), node + 1)

    def _texts(self, node: IntArray, token: Any, case: Case, sample: Sample) -> IntArray:
        size = len(sample.drafts)
        tokens = symbols_of(integers(token, (size,), "token"), case)
        texts = np.full((size, self.length), UNKNOWN, dtype=np.intp)
        depth, above = np.array(self.kept)[node + 1], np.array([*self.parents, -1])
        texts[np.arange(size), depth] = tokens
        while (rows := np.flatnonzero(node >= 0)).size:
            depth = depth - 1
            texts[rows, depth[rows]] = sample.drafts[rows, node[rows]]
            node = above[node]
        return texts


@dataclass(frozen=True)
class Block(Tree):
    """A block of drafts, one after another."""

    parents: tuple[int, ...] = (-1, 0)  # −1, 0, 1, ...; see of_length
    law: str = "iid"  # of no matter: each draft is the only child
    name: ClassVar[str] = "block"

    @classmethod
    def of_length(cls, length: int, policy: Policy | None = None) -> "Block":
        """Return the block of L drafts, of which a policy may leave some."""
        return cls(tuple(range(-1, length - 1)), policy=policy)

    def arrays(self, case: Case, sample: Sample) -> dict[str, Array]:
        """Return draft, shape (size, L, n), and target, shape (size, L + 1, n)."""
        rows = super().arrays(case, sample)
        return {"draft": rows["draft"][:, :-1], "target": rows["target"]}

    def read(self, answer: Any, case: Case, sample: Sample) -> Answer:
        """Read the kept length and the token after it, or emitted tokens with −1 behind."""
        size = len(sample.drafts)
        if not isinstance(answer, tuple | Mapping):
            one_row = np.shape(answer) == (len(self.parents) + 1,) and size == 1
            if one_row or np.ndim(answer) == 2:
                answer = self._emitted(np.asarray(answer), sample)
        given = named(answer, ("length", "token"))
        kept = integers(given["length"], (size,), "length")
        outside = (kept < 0) | (kept > sample.lengths)
        if outside.any():
            row = int(np.argmax(outside))
            padded = PADDING if 0 <= kept[row] <= len(self.parents) else None
            raise ImpossibleError(f"it keeps {kept[row]} of {sample.lengths[row]} drafts", padded)
        return Answer(self._texts(kept - 1, given["token"], case, sample), kept)

    def _emitted(self, emitted: IntArray, sample: Sample) -> tuple[IntArray, IntArray]:
        size, nodes = sample.drafts.shape
        emitted = integers(emitted, (size, nodes + 1), "emitted tokens")
        there = emitted >= 0
        count = there.sum(axis=1)
        if (count < 1).any() or (there[:, 1:] & ~there[:, :-1]).any():
            raise ImpossibleError("it emits no token in some row, or a gap between tokens")
        kept = count - 1
        wrong = (emitted[:, :-1] != sample.tokens) & (np.arange(nodes) < kept[:, None])
        if wrong.any():
            row = int(np.argmax(wrong.any(axis=1)))
            raise ImpossibleError(
                f"it emits {emitted[row].tolist()} for drafts {sample.tokens[row].tolist()}: what "
                "comes before the last token has to be drafted"
            )
        return kept, np.take_along_axis(emitted, kept[:, None], axis=1)[:, 0]


def _at(values: IntArray, index: IntArray) -> IntArray:
    """Return values at one index in each row, (size, k), (size,) -> (size,); 0 at −1."""
    padded = np.append(values, np.zeros((len(values), 1), dtype=values.dtype), axis=1)
    return np.take_along_axis(padded, index[:, None] % padded.shape[1], axis=1)[:, 0]


def as_kind(kind: str, shape: Any, law: str, policy: Policy | None) -> Kind:
    """Return the drafts of a kind, a shape and a law, of which a policy may leave some."""
    if policy is not None:
        as_instance(policy, "policy", Policy, "a Policy")
        if policy.keep is not None:
            raise ValueError(
                f"policy is {policy.name!r}, which masks tokens: audit it with a verifier by "
                "otspec.auditing.audit_policy"
            )
    if kind == "tokens":
        count = as_integer(3 if shape is None else shape, "shape", 1, 8)
        made: Kind = Tokens(count, law, policy=policy)
    elif kind == "block":
        made = Block.of_length(as_integer(2 if shape is None else shape, "shape", 1, 5), policy)
    else:
        parents = as_shape("2x1" if shape is None else shape, "shape").tree().parents
        made = Tree(parents, law, policy=policy)
    for children in filter(None, children_of(made.parents)):
        LAWS[law](np.full(8, 1 / 8), len(children))
    return made
