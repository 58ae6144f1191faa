"""What the rules for one drafted block share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base.arguments import as_generator, as_instance, as_integer, as_tokens, how_many
from otspec._base.arithmetic import Array, Number, zeros
from otspec._base.registry import Registry, subclass_of
from otspec.blocks.base import BlockRule, Outcome
from otspec.blocks.expected import expected_up_to
from otspec.distributions import as_k
from otspec.drafts.base import draw
from otspec.models.base import BEGINNING, Model, Prefix, as_beginnings

MOST_LENGTH = 10_000
"""Most tokens of a drafted block."""


@dataclass(frozen=True, eq=False)
class SingleDraftRule(BlockRule):
    """A rule that verifies one draft X^L of the draft model.

    A drafted token with which the target's text is over (:class:`otspec.models.EndingModel`) is the
    last of its block: nothing is drafted after it.

    Subclasses say with which probability each length is kept, and what follows; with
    ``@register`` tables and charts compare them too.

    Parameters
    ----------
    draft, target : callable
        Language models, see :class:`otspec.blocks.base.BlockRule`.
    length : int
        L, the tokens of a block.

    Raises
    ------
    ValueError
        Models or a length that cannot be used.
    """

    name: ClassVar[str]
    """What :data:`BLOCK_RULES` calls the rule."""
    renews: ClassVar[bool] = False
    """Whether the plain target follows one corrected token, and the next block begins anew."""

    length: int

    def __post_init__(self) -> None:
        super().__post_init__()
        length = as_k(self.length, "length")
        otherwise = "use shorter blocks"
        length = as_integer(length, "length", 1, MOST_LENGTH, otherwise=otherwise)
        self._hold(length=length)

    @property
    def depth(self) -> int:
        """L, the tokens of a block."""
        return self.length

    @staticmethod
    @abstractmethod
    def step(wanted: Any, drafted: Any, draft: Array, target: Array) -> tuple[Array, Array]:
        """Go on by one token in the formula of E[τ].

        See :data:`otspec.blocks.expected.Step`.
        """

    def kept(self, block: Sequence[int]) -> Array:
        """Return the law of τ, the number of tokens that are kept, given the draft.

        Both models are asked only along the draft, so that logged blocks will do.

        Parameters
        ----------
        block : sequence of int, length L
            Or less, if the text is over with the last of them.

        Returns
        -------
        ndarray, shape (L + 1,)
            Entry τ: the probability that the first τ tokens are kept and the next is not; one more
            than the block has tokens.

        Raises
        ------
        ValueError
            Not L token ids, or a token that the draft model never drafts there.
        """
        return self._kept(self._checked(block))

    @abstractmethod
    def _kept(self, block: Prefix) -> Array:
        """Answer :meth:`kept` for a checked draft of positive probability."""

    def following(self, head: Sequence[int]) -> Model:
        """Return the model of everything after the kept tokens.

        Parameters
        ----------
        head : sequence of int
            X^τ, a possible beginning of a draft.

        Raises
        ------
        ValueError
            Something else than at most L token ids.
        """
        kept = as_tokens(head, self.target.n, "head", count=self.length)
        if len(kept) > self.length:
            raise ValueError(f"head has more tokens than the length, {self.length}")
        whole = len(kept) == self.length or self.target.ended(kept)
        return self.target.after(kept) if whole else self._corrected(kept)

    @abstractmethod
    def _corrected(self, head: Prefix) -> Model:
        """Answer :meth:`following` for less than the whole block."""

    def outcomes(self) -> Iterator[Outcome]:
        """Yield each beginning of a block with the probability that it is what is kept.

        Yields
        ------
        Outcome
            n^L blocks are enumerated.
        """
        masses: dict[Prefix, Any] = {}
        for block, mass in self._blocks():
            for tau, chance in enumerate(self._kept(block).tolist()):
                if chance > 0:
                    head = block[:tau]
                    masses[head] = masses.get(head, 0) + mass * chance
        for head, mass in masses.items():
            yield Outcome(head, mass, self.following(head))

    def candidates(self) -> dict[frozenset[Prefix], Number]:
        """Return the law of the drafted block, as a set of one sequence.

        Returns
        -------
        dict
            n^L blocks are enumerated.
        """
        return {frozenset([block]): mass for block, mass in self._blocks()}

    def _blocks(self) -> Iterator[tuple[Prefix, Number]]:
        """Yield each block that may be drafted, up to the end of the target's text."""
        return self.draft.texts(self.length, self.target.ended)

    def expected(self) -> Number:
        """Return E[τ] by the rule's formula, see :meth:`expected_up_to`."""
        return self.expected_up_to()[-1]

    def expected_after(self, beginnings: Mapping[Prefix, Number]) -> Number:
        """Return E[τ] after a beginning drawn at random, see :meth:`expected_up_to`."""
        return self.expected_up_to(beginnings)[-1]

    def expected_up_to(self, beginnings: Mapping[Prefix, Number] = BEGINNING) -> list[Number]:
        """Return E[τ] for blocks of 1, …, L tokens, from one pass and without enumerating blocks.

        Parameters
        ----------
        beginnings : mapping
            From texts to their probabilities, see :meth:`expected_after`; by default blocks are
            at the beginning of a text.

        Raises
        ------
        ValueError
            No law of beginnings; or too many states, see
            :func:`otspec.blocks.expected.expected_up_to`.
        """
        law = as_beginnings(beginnings, self.target)
        return expected_up_to(self.draft, self.target, self.length, self.step, law)

    def sample(self, rng: np.random.Generator) -> Outcome:
        """Draw a block from the draft model and verify it."""
        as_generator(rng)
        block: Prefix = ()
        while len(block) < self.length and not self.target.ended(block):
            block = (*block, int(draw(self.draft(block), 1, rng)[0]))
        return self.verify(block, rng)

    def verify(self, block: Sequence[int], rng: np.random.Generator) -> Outcome:
        """Draw how much of a draft is kept.

        Parameters
        ----------
        block : sequence of int, length L
        rng : numpy.random.Generator

        Raises
        ------
        ValueError
            As :meth:`kept`.
        """
        drafted, rng = self._checked(block), as_generator(rng)
        tau = int(draw(self._kept(drafted), 1, rng)[0])
        head = drafted[:tau]
        return Outcome(head, self.target.number(1), self.following(head))

    def _checked(self, block: Sequence[int]) -> Prefix:
        drafted = as_block(block, self.target, self.length)
        for depth, token in enumerate(drafted):
            if not self.draft(drafted[:depth])[token] > 0:
                raise ValueError(
                    f"block[{depth}] is {token}, which the draft model never drafts there"
                )
        return drafted

    def _pairs(self, block: Prefix) -> Iterator[tuple[Number, Number]]:
        """Yield the draft's and the target's probability of each token of a block."""
        for depth, token in enumerate(block):
            head = block[:depth]
            yield self.draft(head)[token], self.target(head)[token]


def as_block(block: Sequence[int], target: Model, length: int) -> Prefix:
    """Check a drafted block, and return it up to the end of the target's text.

    Raises
    ------
    ValueError
        Something else than ``length`` token ids, or fewer if the text is over with the last.
    """
    given = as_tokens(block, target.n, "block", count=length)
    drafted = target.up_to_end(given)
    if len(given) > length or (len(drafted) < length and not target.ended(drafted)):
        number = how_many(block, given, length)
        raise ValueError(f"block has {number} tokens, but the length is {length}")
    return drafted


def last_kept(chances: Sequence[Number], like: Array) -> Array:
    """Return the law of the last length that is kept, shape (L + 1,).

    Parameters
    ----------
    chances : sequence of float or Fraction, length L + 1
        The probability that each length is kept if no longer one is; that of length 0 counts
        as 1, which it is up to rounding.
    like : ndarray
        Of the arithmetic to use.
    """
    kept = zeros(len(chances), like=like)
    left: Any = 1
    for tau in range(len(chances) - 1, 0, -1):
        kept[tau] = left * chances[tau]
        left = left * (1 - chances[tau])
    kept[0] = kept[0] + left
    return kept


def as_single_draft_rule(rule: Any) -> type[SingleDraftRule]:
    """Check a class of rules for one drafted block.

    Raises
    ------
    ValueError
        Anything else.
    """
    wanted = "a class of rules for one drafted block, such as BlockVerificationPreprint"
    as_instance(rule, "rule", type, wanted)
    if not issubclass(rule, SingleDraftRule):
        raise ValueError(f"rule is {rule.__name__}: it must be {wanted}")
    checked: type[SingleDraftRule] = rule
    return checked


BLOCK_RULES: Registry[type[SingleDraftRule]] = Registry(
    "block rule", "otspec.block_rules", subclass_of(SingleDraftRule)
)
"""The rules for one drafted block, by name, in the order of tables."""
register = BLOCK_RULES.register
