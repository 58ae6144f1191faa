"""What the rules for one drafted block share, and E[τ] of those with a formula (Theory, 7–9)."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any, ClassVar, TypeAlias

import numpy as np

from otspec._base import Array, IntArray, Number, Registry, arithmetic, subclass_of
from otspec._base.arguments import as_instance, as_integer, as_tokens, how_many
from otspec.blocks.base import BlockRule
from otspec.blocks.drafted_tree import DraftedTree
from otspec.chance import branches
from otspec.distributions import as_k
from otspec.models.base import BEGINNING, Model, Prefix, as_beginnings

STATE_LIMIT = 1_000_000
"""Most states of all depths before an exact computation is refused (about ten seconds)."""

Step: TypeAlias = Callable[[Any, Any, Array, Array], tuple[Array, Array]]
"""(wanted, drafted mass, draft, target probabilities of next tokens) → both masses after them."""
_Level: TypeAlias = dict[Any, tuple[Prefix, Any, Any]]
"""(draft's context, target's context, ratio) → a text, wanted and drafted mass."""
_Row: TypeAlias = tuple[IntArray, Array, Array]
"""Tokens that both models may draw, and their probabilities."""


def expected_up_to(
    draft: Model,
    target: Model,
    length: int,
    step: Step,
    beginnings: Mapping[Prefix, Number] = BEGINNING,
) -> list[Number]:
    """Return Σ_{ℓ ≤ L} Σ_{x^ℓ} min(wanted, drafted mass of x^ℓ) for L = 1, …, ``length``."""
    # Texts with equal ratios of the two after which both models remember the same are one state. So
    # on Markov models in exact arithmetic there are far fewer states than texts.
    kept = _kept(draft, target, length, step, beginnings)
    return [draft.number(total) for total in accumulate(kept)]


def _kept(
    draft: Model, target: Model, length: int, step: Step, beginnings: Mapping[Prefix, Number]
) -> Iterator[Any]:
    """Yield the probability that at least ℓ tokens are kept, for ℓ = 1 to L."""
    # Exact masses are whole numbers over the product of the depths' common denominators.
    level: _Level = {}
    weights, scale = arithmetic.as_whole(list(map(draft.number, beginnings.values())))
    for text, mass in zip(beginnings, weights, strict=True):
        _add_text(level, draft, target, text, mass, mass)
    states = 0
    for depth in range(1, length + 1):
        rows, unit = _rows(draft, target, level)
        scale = scale * unit
        kept: Any = 0 * scale
        longer: _Level = {}
        for (*contexts, _), (prefix, wanted, drafted) in level.items():
            tokens, draft_row, target_row = rows[tuple(contexts)]
            masses = step(wanted, drafted, draft_row, target_row)
            kept = kept + np.minimum(*masses).sum()
            if depth < length:
                _add(longer, draft, target, prefix, tokens, masses)
        yield arithmetic.quotient(kept, scale)
        states += len(longer)
        if states > STATE_LIMIT:
            raise ValueError(
                f"length is {length}: after {depth} tokens there are {states:,} states, "
                "too many for an exact sum; use a smaller length, or simulate()"
            )
        level = longer


def _rows(draft: Model, target: Model, level: _Level) -> tuple[dict[Any, _Row], Any]:
    """Return the next tokens after each pair of contexts, all over one denominator, and that."""
    texts = {key[:2]: prefix for key, (prefix, _, _) in level.items()}
    pairs: dict[Any, tuple[IntArray, Array, Array]] = {}
    for contexts, prefix in texts.items():
        drafted, wanted = draft(prefix), target(prefix)
        possible = np.flatnonzero((drafted > 0) & (wanted > 0))
        pairs[contexts] = possible, drafted[possible], wanted[possible]
    if not pairs:  # no text goes on
        return {}, 1
    *whole, unit = arithmetic.over_one_denominator(
        *(row for pair in pairs.values() for row in pair[1:])
    )
    rows = zip(pairs, whole[::2], whole[1::2], strict=True)
    return {key: (pairs[key][0], drafted, wanted) for key, drafted, wanted in rows}, unit


def _add(
    longer: _Level,
    draft: Model,
    target: Model,
    prefix: Prefix,
    tokens: IntArray,
    masses: Sequence[Array],
) -> None:
    """Add the texts that are longer by one token to their states."""
    rows = zip(tokens.tolist(), *(mass.tolist() for mass in masses), strict=True)
    for token, wanted, drafted in rows:
        if wanted and drafted:  # else below the range of floats: so are all longer texts
            _add_text(longer, draft, target, (*prefix, token), wanted, drafted)


def _add_text(
    level: _Level, draft: Model, target: Model, text: Prefix, wanted: Any, drafted: Any
) -> None:
    """Add a text to its state, unless it is over."""
    if target.ended(text):
        return
    key = draft.context(text), target.context(text), _ratio(wanted, drafted)
    _, more_wanted, more_drafted = level.get(key, (text, 0, 0))
    level[key] = text, wanted + more_wanted, drafted + more_drafted


def _ratio(wanted: Any, drafted: Any) -> Any:
    """Return what is equal for equal wanted/drafted."""
    if isinstance(wanted, float):
        return wanted / drafted
    common = math.gcd(wanted, drafted)
    return wanted // common, drafted // common


MOST_LENGTH = 10_000  # most tokens of a drafted block


@dataclass(frozen=True, eq=False)
class SingleDraftRule(BlockRule):
    """A rule that verifies one draft X^L of the draft model.

    A drafted token with which the target's text is over (:class:`otspec.models.EndingModel`) is the
    last of its block. Subclasses give :meth:`verify`, for a chain of drafts, and :meth:`step` if
    there is a formula; with ``@register`` tables and charts compare them too.

    Parameters
    ----------
    draft, target
        As for :class:`otspec.blocks.base.BlockRule`.
    length : int
        L, the tokens of a block.
    """

    name: ClassVar[str]
    """What :data:`BLOCK_RULES` calls the rule."""

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

    @classmethod
    def step(cls, wanted: Any, drafted: Any, draft: Array, target: Array) -> tuple[Array, Array]:  # noqa: ARG003
        """Go on by one token in the formula of E[τ]; ``ValueError`` if the rule has none."""
        raise ValueError(
            f"{cls.__name__} has no formula of E[τ] for each token: use expected(), which "
            "enumerates blocks, or the law kept() of a block"
        )

    def drafted(self, block: Sequence[int]) -> DraftedTree:
        """Return a given drafted block, with what both models say along it.

        Parameters
        ----------
        block : sequence of int, length L
            Or less, if the text is over with the last of them.

        Raises
        ------
        ValueError
            Not L token ids, or a token that the draft model never drafts there.
        """
        tokens = as_block(block, self.target, self.length)
        for depth, token in enumerate(tokens):
            if not self.draft(tokens[:depth])[token] > 0:
                raise ValueError(
                    f"block[{depth}] is {token}, which the draft model never drafts there"
                )
        return DraftedTree.chain(tokens, self.draft, self.target)

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
            As :meth:`drafted`.
        """
        drafts = self.drafted(block)
        kept = arithmetic.zeros(len(drafts) + 1, like=self.target(()))
        for mass, (head, _) in branches(partial(self._ending, drafts)):
            kept[len(head)] += mass
        return kept

    def candidates(self) -> dict[frozenset[Prefix], Number]:
        """Return the law of the drafted block, as a set of one sequence; enumerates n^L blocks."""
        blocks = self.draft.texts(self.length, self.target.ended)
        return {frozenset([block]): mass for block, mass in blocks}

    def expected(self) -> Number:
        """Return E[τ] by the rule's formula if there is one, see :meth:`expected_up_to`."""
        return self.expected_up_to()[-1] if self._has_formula() else super().expected()

    def expected_after(self, beginnings: Mapping[Prefix, Number]) -> Number:
        """Return E[τ] after a beginning drawn at random, see :meth:`expected_up_to`."""
        if self._has_formula():
            return self.expected_up_to(beginnings)[-1]
        return super().expected_after(beginnings)

    def expected_up_to(self, beginnings: Mapping[Prefix, Number] = BEGINNING) -> list[Number]:
        """Return E[τ] for blocks of 1, …, L tokens, from one pass if there is a formula.

        Parameters
        ----------
        beginnings : mapping
            From texts to their probabilities, see :meth:`expected_after`; by default blocks are
            at the beginning of a text.

        Raises
        ------
        ValueError
            No law of beginnings; or too many states, see
            :func:`otspec.blocks.single_draft.expected_up_to`.
        """
        law = as_beginnings(beginnings, self.target)
        if self._has_formula():
            return expected_up_to(self.draft, self.target, self.length, self.step, law)
        lengths = range(1, self.length + 1)
        return [replace(self, length=length).expected_after(law) for length in lengths]

    @classmethod
    def _has_formula(cls) -> bool:
        return getattr(cls.step, "__func__", None) is not SingleDraftRule.step.__func__  # type: ignore[attr-defined]


def as_block(block: Sequence[int], target: Model, length: int) -> Prefix:
    """Check a drafted block, and return it up to the end of the target's text."""
    given = as_tokens(block, target.n, "block", count=length)
    drafted = target.up_to_end(given)
    if len(given) > length or (len(drafted) < length and not target.ended(drafted)):
        number = how_many(block, given, length)
        raise ValueError(f"block has {number} tokens, but the length is {length}")
    return drafted


def as_single_draft_rule(rule: Any) -> type[SingleDraftRule]:
    """Check a class of rules for one drafted block."""
    wanted = "a class of rules for one drafted block, such as BlockVerificationPreprint"
    as_instance(rule, "rule", type, wanted)
    if not issubclass(rule, SingleDraftRule):
        raise ValueError(f"rule is {rule.__name__}: it must be {wanted}")
    return rule


BLOCK_RULES: Registry[type[SingleDraftRule]] = Registry(
    "block rule", "otspec.block_rules", subclass_of(SingleDraftRule)
)
"""The rules for one drafted block, by name, in the order of tables."""
register = BLOCK_RULES.register
