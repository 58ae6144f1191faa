"""What decoding returns: step by step, and of the whole text."""

from __future__ import annotations

from dataclasses import dataclass, replace

from otspec._base.frozen import Frozen
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

    def cut(self, most: int, end: frozenset[int]) -> Step:
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
