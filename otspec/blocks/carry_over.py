"""Block verification that hands over one distribution to the next block (Theory, 47)."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from otspec._base import Array, Number, as_integer, positive_part, zeros
from otspec._base.frozen import cached_property, read_only
from otspec.blocks.block_verification import BlockVerification, LastToFirst
from otspec.blocks.drafted_tree import DraftedTree, Found, node_and_row
from otspec.blocks.single_draft import SingleDraftRule
from otspec.chance import Chance
from otspec.distributions import Distribution, normalized
from otspec.models.base import Derived, Model, Prefix, as_prefix
from otspec.models.derived import OneCorrectedToken
from otspec.models.joint_contexts import GivenBeginning, JointContexts


class KeptTarget(Derived):
    """The law of the token after each text of a block that was kept."""

    def __init__(self, draft: Model, target: Model, first: int, parts: int | None) -> None:
        super().__init__(target)
        self.draft, self.target, self.first, self.parts = draft, target, first, parts

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the distribution of the next token, shape (n,)."""
        return self._along(as_prefix(prefix, self.n))[0]

    def handed(self, kept: Prefix, token: int) -> Distribution | None:
        """Return Q', the law after a correction, or None where it is the target's."""
        row, weight = self._along(kept)
        return self._split(kept, token, weight * row[token])[1]

    @cached_property
    def _known(self) -> dict[Prefix, tuple[Distribution, Any]]:
        return {(): (self.target(()), self.target.number(1))}

    def _along(self, text: Prefix) -> tuple[Distribution, Any]:
        """Return the law after a kept text, and its weight: kept over drafted mass."""
        # A dictionary of its own: `remembered` would take twice the depth of calls.
        if text not in self._known:
            head, token = text[:-1], text[-1]
            row, weight = self._along(head)
            wanted, drafted = weight * row[token], self.draft(head)[token]
            # p_i = min(1, p_{i−1} M_b/M_s), as in block verification.
            weight = self.target.number(1) if wanted >= drafted else wanted / drafted
            after = self._split(head, token, wanted)[0]
            self._known[text] = (self.target(text) if after is None else after, weight)
        return self._known[text]

    def _split(
        self, head: Prefix, token: int, wanted: Any
    ) -> tuple[Distribution | None, Distribution | None]:
        """Split the target after head and token between kept and corrected ones, if both are."""
        drafted, text = self.draft(head)[token], (*head, token)
        if len(head) < self.first or not 0 < drafted < wanted or self.target.ended(text):
            return None, None
        kept = drafted / wanted
        rounded = kept
        if self.parts is not None:
            rounded = self.target.number(kept * self.parts // 1) / self.parts
        if rounded == 0:
            return None, None
        return split_law(self.draft(text), self.target(text), kept, rounded)


def split_law(
    draft: Distribution, target: Distribution, kept: Any, rounded: Any
) -> tuple[Array, Array]:
    """Split a target into the laws of a share that was kept, and of the rest, close to the draft.

    Law: kept · first + (1 − kept) · second = target. Without rounding of 0 < kept < 1, Σ min(draft,
    second) is the most that this allows, Σ min(draft, target/(1 − kept)).
    """
    close = np.minimum(draft, target / (1 - rounded))
    lacking = positive_part(target - draft)
    missing = 1 - close.sum()
    if missing > 0 and lacking.sum() > 0:
        close = close + lacking * (missing / lacking.sum())
    corrected = read_only(normalized(close, target))
    rest = positive_part(target - (1 - kept) * corrected)
    return read_only(normalized(rest, target)), corrected


class HandedOver(OneCorrectedToken):
    """What follows a kept text: one token of a row, what is handed over, and then the target."""

    def __init__(
        self, laws: KeptTarget, kept: Prefix, row: Distribution, *, after_correction: bool
    ) -> None:
        super().__init__(laws.target.after(kept), row)
        self._laws, self._kept, self._after_correction = laws, kept, after_correction

    def _next(self, token: int) -> Model:
        plain = super()._next(token)
        handed = self._laws.handed(self._kept, token) if self._after_correction else None
        return plain if handed is None else GivenBeginning(plain, handed)


MOST_PARTS = 1 << 20  # of which shares are multiples at most


@dataclass(frozen=True, eq=False)
class CarryOverVerification(SingleDraftRule):
    """Published block verification that hands over what is easy to draft after a correction.

    A text s y comes out because y was kept, or because y corrected a draft. The target's law of the
    next token is split between the two: corrections get a law Q' as close to the draft model as can
    be, and kept ones the rest. A block that begins after a correction has Q' as the law of its
    first token, so that it keeps more drafts. The token after the kept ones pays for it, which was
    drafted far down the block or not at all. The next block need know nothing but Q'.

    With κ the share of the kept ones, p and q the draft and the target after s y:
    Q' = min(p, q/(1 − κ)) + β (q − p)₊, where β makes the sum 1, and the kept ones go on with
    (q − (1 − κ) Q')/κ. Otherwise it is :class:`BlockVerification`.

    Law: what is kept and its continuation is the target's text, block after block.

    Parameters
    ----------
    draft, target, length
        As for :class:`BlockVerification`.
    first : int, optional
        Split only after draft ``first`` + 1 and later ones, from 0 to L, where the rule is block
        verification; by default L//2. For models without memory L − 1 decodes at least as much as
        block verification; below L/2 some pairs decode less.
    parts : int, optional
        Round κ down to multiples of 1/parts in Q', so that models that remember finitely many
        tokens have finitely many ways to begin a block (:meth:`rate`). By default κ is exact.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> rule = CarryOverVerification(memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"]), 1)
    >>> rule.rate()  # 7/4 with block verification
    Fraction(9, 5)
    """

    name: ClassVar[str] = "carry-over"
    title: ClassVar[str] = "block verification that carries over"

    first: int | None = None
    parts: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.first is None:
            self._hold(first=self.length // 2)
        else:
            self._hold(first=as_integer(self.first, "first", 0, self.length))
        if self.parts is not None:
            self._hold(parts=as_integer(self.parts, "parts", 1, MOST_PARTS))

    @cached_property
    def kept_target(self) -> KeptTarget:
        """The laws of the next token after the kept texts."""
        return KeptTarget(self.draft, self.target, int(self.first or 0), self.parts)

    def rate(self, most: int = 1_000) -> Number:
        """Return the tokens per call of the target in the long run of a text that does not end.

        The ways to begin a block, a context of both models and a law of the first token, are the
        states of a Markov chain, whose stationary law is found by elimination.

        Parameters
        ----------
        most : int
            More ways are refused.

        Raises
        ------
        ValueError
            More ways, or models that remember all; no rule of a whole text, but one that was handed
            something; texts that end.
        """
        most = as_integer(most, "most", 1)
        contexts = JointContexts(self.draft, self.target)
        begun: list[tuple[int, tuple[Any, ...]]] = [(0, ())]
        states = {begun[0]: 0}
        moves: list[dict[int, Any]] = []
        tokens: list[Any] = []
        for context, law in begun:  # which grows meanwhile
            text = contexts.texts[context]
            target = self.target.after(text)
            given = GivenBeginning(target, np.array(law)) if law else target
            rule = replace(self, draft=self.draft.after(text), target=given)
            moves.append({})
            tokens.append(self.target.number(1))
            for outcome in rule.outcomes():
                if self.target.ended((*text, *outcome.accepted)):
                    raise ValueError("target has texts that end: use decode() for their mean")
                tokens[-1] += outcome.mass * len(outcome.accepted)
                for token, chance in enumerate(outcome.following(()).tolist()):
                    if chance > 0:
                        after = contexts.after(context, (*outcome.accepted, token))
                        state = after, rule.handed(outcome.accepted, token)
                        number = states.setdefault(state, len(states))
                        begun += [state] * (number == len(begun))
                        moves[-1][number] = moves[-1].get(number, 0) + outcome.mass * chance
            if len(states) > most:
                raise ValueError(
                    f"blocks begin in more than {most:,} ways: pass parts=16, or a larger most"
                )
        return self.target.number(stationary(moves, self.target(())) @ np.array(tokens))

    def handed(self, kept: Prefix, token: int) -> tuple[Any, ...]:
        """Return the law handed over after a kept text and a token; empty if the target's."""
        law = self.kept_target.handed(kept, token) if len(kept) < self.length else None
        return () if law is None else tuple(law.tolist())

    def expected(self) -> Number:
        """Return E[τ]: that of block verification of :attr:`kept_target`."""
        return BlockVerification(self.draft, self.kept_target, self.length).expected()

    def verify(self, drafts: DraftedTree, chance: Chance) -> Found:
        """Verify the block as block verification does, for the laws after kept texts."""
        along = DraftedTree.chain(drafts.tokens, self.draft, self.kept_target)
        kept, row = node_and_row(LastToFirst().verify(along, chance))
        if row is None and not self.target.ended(drafts.tokens):
            row = self.kept_target(drafts.text(kept))
        return kept if row is None else (kept, row)

    def following(self, kept: Prefix, row: Distribution) -> Model:
        """Return one token of a row, and what is handed over after it; then the target."""
        return HandedOver(self.kept_target, kept, row, after_correction=len(kept) < self.length)


def stationary(moves: list[dict[int, Any]], like: Array) -> Array:
    """Return the stationary law of a Markov chain from its moves by state, by elimination."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    size = len(moves)
    places = [(state, after) for state, each in enumerate(moves) for after in each]
    links = csr_array((np.ones(len(places)), np.transpose(places)), shape=(size, size))
    count, groups = connected_components(links, connection="strong")
    left = {groups[state] for state, after in places if groups[state] != groups[after]}
    if count - len(left) != 1:
        raise ValueError("the models have texts that never meet again: there is no one rate")
    (lasting,) = set(range(count)) - left
    states = np.flatnonzero(groups == lasting)
    chances = zeros((len(states), len(states)), like=like)
    for row, state in zip(chances, states.tolist(), strict=True):
        row[np.searchsorted(states, list(moves[state]))] = list(moves[state].values())
    # States are taken out from the last on (Grassmann, Taksar and Heyman, 1985): nothing cancels.
    for state in range(len(states) - 1, 0, -1):
        chances[:state, state] = chances[:state, state] / chances[state, :state].sum()
        chances[:state, :state] += np.outer(chances[:state, state], chances[state, :state])
    law = zeros(size, like=like)
    law[states[0]] += 1
    for state in range(1, len(states)):
        law[states[state]] = law[states[:state]] @ chances[:state, state]
    return np.asarray(law / law.sum())
