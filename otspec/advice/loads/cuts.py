"""What cuts of drafts keep and cost along a logged text, without bias (Theory, 28 and 37)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from otspec._base import Array, Frozen
from otspec.advice.evaluation.choices import NO_DRAFT
from otspec.advice.on_texts import is_of_target
from otspec.blocks import BlockVerification
from otspec.logged import LoggedBlock
from otspec.logged.chances import levels_of_block
from otspec.logged.replay import begun

CHAINS = ("confidence-kept", "confidence-max", "path-kept")
"""Predictable policies for chains, see :func:`otspec.blocks.policies.policies`."""
WHOLE = "fixed length"
TREE = "dynamic tree"


class Cut(NamedTuple):
    """A policy with its threshold and length."""

    policy: str
    threshold: float
    length: int


def cuts_of(depth: int, thresholds: Sequence[float], paths: Sequence[float]) -> list[Cut]:
    """Return what is compared: no drafts, whole chains, chains that are cut, and dynamic trees."""
    found = [Cut(NO_DRAFT, 0.0, 0)]
    for length in range(1, depth + 1):
        found.append(Cut(WHOLE, 0.0, length))
        found += [Cut(name, least, length) for name in CHAINS for least in thresholds if least > 0]
        found += [Cut(TREE, least, length) for least in paths]
    return found


@dataclass(frozen=True, eq=False)
class Along(Frozen):
    """A logged text at all places where a call may begin, shapes (depth, starts).

    ``there``: whether the text has a token at a level. ``path``, shape (depth + 1, starts): the
    draft's probability of the text up to a level; ``seen``: the same by the law that drew the text.
    ``top``: the draft's largest probability. ``kept``: how likely at least so many tokens of a
    chain are kept. ``follows``: for each position the sorted probabilities by the draft, how much
    of the target is on the tokens from each on, and how much of the draft on those before.
    ``written``: whether the text is the target's, so that a tree keeps it as far as it is in it.
    ``ended``: whether it is over with an end token.
    """

    there: Array
    path: Array
    seen: Array
    wanted: Array
    token: Array
    top: Array
    kept: Array
    follows: Sequence[tuple[Array, Array, Array]]
    written: bool
    ended: bool

    @classmethod
    def of(cls, block: LoggedBlock, depth: int) -> "Along":
        """Look along a block; of a text of the target calls begin at all places."""
        count = len(block.tokens)
        rows = zip(block.tokens, block.draft, block.target, block.sampled, strict=False)
        known: list[list[float]] = []
        follows = []
        for place, (token, draft, target, sampled) in enumerate(rows):
            one, other = draft.astype(float), target.astype(float)
            _check_drawn(place, one, sampled.astype(float))
            order = np.argsort(one)
            behind = np.append(np.cumsum(other[order][::-1])[::-1], 0.0)
            before = np.append(0.0, np.cumsum(one[order]))
            follows.append((one[order], behind, before))
            known.append([one[token], other[token], float(sampled[token]), float(one.max())])
        of_draft, of_target, of_sampled, top = np.array(known).T
        written = is_of_target(block)
        starts = count if written else 1
        index = np.arange(depth)[:, None] + np.arange(starts)
        there = index < count
        at = np.minimum(index, count - 1)

        def products(values: Array) -> Array:
            return np.concatenate([np.ones((1, starts)), np.cumprod(values[at], axis=0)])

        if written:
            kept = levels_of_block(BlockVerification, depth, of_draft, of_target).astype(float)
        else:
            kept = np.zeros((depth, 1))
            some = min(depth, count)
            kept[:some, 0] = block.by_level(BlockVerification, some).astype(float)
        wanted, drafted = products(of_target), products(of_draft)
        return cls(there, drafted, products(of_sampled), wanted, of_draft[at], top[at], kept,
                   follows, written, block.ended)  # fmt: skip

    def chain(self, policy: str, least: float) -> tuple[Array, Array]:
        """Return by level how likely tokens are kept, (depth, starts), and drafted, in two ways."""
        # Counted is that so many are drafted, or 1 less that the chain stops before, summed over
        # all tokens that may stop it. Both are unbiased; the first varies less where a chain is
        # mostly stopped.
        weight = self.path / self.seen
        after = np.ones(weight.shape, dtype=bool)  # whether the policy goes on after so many
        stops = np.zeros(weight.shape)
        if policy == "confidence-max":
            after[:-1] = self.top >= least
        elif policy == "confidence-kept":
            after[1:] = self.token >= least
        elif policy == "path-kept":
            after[1:] = self.path[1:] >= least
        drafted = np.logical_and.accumulate(after[:-1], axis=0) & self.there
        if policy == "confidence-max":
            reached = np.concatenate([np.ones_like(drafted[:1]), drafted[:-1]])
            stops[:-1] = reached * weight[:-1] * ~after[:-1]
        elif policy in CHAINS:
            path = self.path[:-1] if policy == "path-kept" else np.ones(drafted.shape)
            for level, start in np.argwhere(drafted):
                *_, low = self.beyond(level, start, least / path[level, start])
                stops[level + 1, start] = weight[level, start] * low
        if self.ended:  # nothing is drafted after the end of the text
            last = self.there.copy()
            last[:-1] &= ~self.there[1:]
            stops[1:] += last * drafted * after[1:] * weight[1:]
        both = drafted * weight[:-1], 1 - np.cumsum(stops, axis=0)[:-1]
        return self.kept * drafted, np.stack(both)

    def beyond(self, level: int, start: int, least: float) -> tuple[int, float, float]:
        """Return how many tokens the draft gives so much, their target mass, the draft's rest."""
        row, behind, before = self.follows[level + start]
        first = np.searchsorted(row, least)
        return len(row) - int(first), behind[first], before[first]

    def tree(self, least: float) -> tuple[Array, Array]:
        """Return how likely at least 1, 2, … tokens are kept, and twice the nodes of each level."""
        inside = (self.path[:-1] >= least) & self.there  # the node that the level is below
        kept, nodes = np.zeros(inside.shape), np.zeros(inside.shape)
        for level, start in np.argwhere(inside):
            count, mass, _ = self.beyond(level, start, least / self.path[level, start])
            nodes[level, start] = count / self.seen[level, start]
            kept[level, start] = mass
        both = np.stack([nodes, nodes])
        if self.written:
            return inside & (self.path[1:] >= least), both
        return kept * (self.wanted[:-1] / self.seen[:-1]), both

    def of_cut(self, cut: Cut, known: dict[tuple[str, float], tuple[Array, Array]]) -> Array:
        """Return how likely tokens are kept, and what is drafted in both ways, by level."""
        # Shape (3, depth, starts).
        key = cut.policy, cut.threshold
        if key not in known:
            tree = cut.policy == TREE
            known[key] = self.tree(cut.threshold) if tree else self.chain(*key)
        kept, more = known[key]
        found = np.concatenate([kept[None], more])
        found[:, cut.length :] = 0
        return found


@dataclass(frozen=True, eq=False)
class Tallied(Frozen):
    """What cuts keep and cost along a text: (cuts,); ``drafted`` by level: (cuts, 2, depth)."""

    tokens: Array
    calls: Array
    drafted: Array

    @classmethod
    def joined(cls, join: Callable[[list[Array]], Array], parts: "Iterable[Tallied]") -> "Tallied":
        """Return several as one, each of its arrays joined from theirs."""
        known = list(parts)
        names = ("tokens", "calls", "drafted")
        return cls(*(join([getattr(part, name) for part in known]) for name in names))


def tallied(block: LoggedBlock, cuts: Sequence[Cut], depth: int) -> Tallied:
    """Count along a drafted block, which is one call, or a text of the target."""
    along = Along.of(block, depth)
    known: dict[tuple[str, float], tuple[Array, Array]] = {}
    both = np.stack([along.of_cut(cut, known) for cut in cuts])
    levels, drafted = both[:, 0], both[:, 1:]
    if along.written:
        number = along.there.shape[1]
        least = np.ones((len(cuts), number, depth + 2))
        least[..., 1:-1], least[..., -1] = np.swapaxes(levels, 1, 2), 0.0
        starts = begun(least[..., :-1] - least[..., 1:])
        starts[:, number if block.ended else number - depth + 1 :] = 0.0
    else:
        starts = np.ones((len(cuts), 1))
    calls = starts.sum(axis=1)
    tokens = calls + np.einsum("cls,cs->c", levels, starts)
    if along.written and block.ended:
        tokens[:] = number
    return Tallied(tokens, calls, np.einsum("cwls,cs->cwl", drafted, starts))


def _check_drawn(place: int, draft: Array, sampled: Array) -> None:
    lost = np.flatnonzero((draft > 0) & (sampled == 0))
    if lost.size:
        raise ValueError(
            f"the law of logged token {place} never draws token {lost[0]}, which can be drafted "
            "there: what is drafted is counted with tokens of a law that draws all drafts, so log "
            "drafted blocks"
        )
