"""Distinct drafted sequences, verified one after another (Theory, 38)."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from otspec._base import Array, positive_part
from otspec.blocks.base import BlockRule
from otspec.blocks.drafted_tree import ROOT, DraftedTree, Found
from otspec.blocks.policies.base import Policy, PolicyRule, Verify
from otspec.chance import Chance, branches
from otspec.distributions import as_k, normalized
from otspec.models.base import Model, Prefix


@dataclass(frozen=True, eq=False)
class SequenceRace(BlockRule):
    """Draft distinct sequences of L tokens, and verify them in their order, token by token.

    Sequence j is drawn from the draft's texts off those before it. That is the law of the first
    leaves of a race over all texts, which a Gumbel top-m over paths (stochastic beam search) draws
    without enumerating them. At each node the next sequence that passes through it offers a token,
    whose law given all sequences before it is known: it is accepted by the ratio of what is left of
    the target and this law, else the target's row goes on as the residual.

    Law: what is kept and its continuation is the target's text: (Theory, 38).
    Source: stochastic beams (Kool, van Hoof, Welling) with recursive rejection (MCSD, alg. 2).

    Parameters
    ----------
    draft, target
        As for :class:`otspec.blocks.BlockRule`.
    length, sequences : int
        L, the tokens of a sequence, and how many; fewer if the draft has not so many texts.

    Examples
    --------
    >>> from otspec import audit_blocks
    >>> from otspec.models import memoryless
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> report = audit_blocks(SequenceRace(draft, target, 2, 2), 3, optimum=False)
    >>> report.lossless, report.expected
    (True, Fraction(5, 3))
    """

    title: ClassVar[str] = "sequence race"
    renews: ClassVar[bool] = True

    length: int
    sequences: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self._hold(length=as_k(self.length, "length"), sequences=as_k(self.sequences, "sequences"))

    @property
    def depth(self) -> int:
        """L, the tokens of a sequence."""
        return self.length

    def draw(self, chance: Chance) -> DraftedTree:
        """Draft the sequences, each a path of its own."""
        leaves: list[Prefix] = []
        tokens: list[int] = []
        parents: list[int] = []
        while len(leaves) < self.sequences and not self._complete(()):
            if not self._left((), leaves).sum() > 0:
                break
            text: Prefix = ()
            while not self._complete(text):
                tokens.append(chance.choose(self._left(text, leaves)))
                parents.append(len(tokens) - 2 if text else ROOT)
                text = (*text, tokens[-1])
            leaves.append(text)
        return DraftedTree.of_models(tokens, parents, self.draft, self.target)

    def verify(self, drafts: DraftedTree, chance: Chance) -> Found:
        """Verify the sequences in their order."""
        kept, node, row = Prefix(), ROOT, drafts.target(ROOT)
        before: list[Prefix] = []
        for path in _paths(drafts):
            leaf = tuple(drafts[each] for each in path)
            if leaf[: len(kept)] == kept:
                for place in range(len(kept), len(leaf)):
                    offered = self._left(kept, before)
                    total: Any = offered.sum()
                    if not chance.accept(row[leaf[place]] * total, offered[leaf[place]]):
                        # (q − p_j)₊, with p_j the law of the token that sequence j offers here.
                        row = normalized(positive_part(row * total - offered), row)
                        break
                    kept, node = leaf[: place + 1], path[place]
                    row = drafts.target(node)
                else:
                    return node
            before.append(leaf)
        return node, row

    def nodes(self) -> Any:
        """Return the expected number of different drafted texts."""
        total: Any = 0
        for mass, drafts in branches(self.draw):
            total += mass * len({drafts.text(node) for node in range(len(drafts))})
        return self.target.number(total)

    def _complete(self, text: Prefix) -> bool:
        return len(text) == self.length or self.target.ended(text)

    def _left(self, text: Prefix, leaves: list[Prefix]) -> Array:
        """Return the mass of the texts through each next token, without drafted ones: (n,)."""
        left = self.draft(text) * self.draft.mass(text)
        for leaf in leaves:
            if leaf[: len(text)] == text and len(leaf) > len(text):
                left[leaf[len(text)]] -= self.draft.mass(leaf)
        return positive_part(left)


def _paths(drafts: DraftedTree) -> list[tuple[int, ...]]:
    """Return the nodes of each sequence, in the order of drawing."""
    inner = set(drafts.parents)
    return [drafts.path(node) for node in range(len(drafts)) if node not in inner]


@dataclass(frozen=True, eq=False)
class SequenceRacePolicy(Policy):
    """Distinct sequences as a policy, with a verifier of its own: see :class:`SequenceRace`."""

    sequences: int = field(kw_only=True)

    def rule(self, draft: Any, target: Any, verify: Verify | None = None) -> BlockRule:
        """Return the policy with its verifier, or with another."""
        if verify is not None:
            return PolicyRule(draft, target, self, verify)
        return SequenceRace(draft, target, self.levels, self.sequences)

    def case(self, draft: Any) -> str:
        """Return ``"race"``: the verifier knows the law of each sequence given those before it."""
        del draft
        return "race"


def sequence_race(length: int, sequences: int) -> Policy:
    """Return the policy of so many distinct sequences."""
    title, grow = "distinct sequences, as many as fit", _Drawn(length, sequences)
    return SequenceRacePolicy("sequence-race", title, grow, length, sequences=sequences)


@dataclass(frozen=True)
class _Drawn:
    """The drafted texts of a race, as a program."""

    length: int
    sequences: int

    def __call__(self, draft: Model, chance: Chance) -> list[Prefix]:
        drafts = SequenceRace(draft, draft, self.length, self.sequences).draw(chance)
        return [drafts.text(node) for node in range(len(drafts))]
