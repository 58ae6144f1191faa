"""How likely drafts are kept along logged blocks (Sequoia, sec. 4.1), given a text (Theory, 28)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from otspec._base import Array, Frozen, IntArray, cached_property, is_exact, zeros
from otspec.blocks import Shape, SingleDraftRule
from otspec.blocks.trees.best.acceptance_rates import Chances, accepted_by_position, asked_widths
from otspec.blocks.trees.verifiers.nodes import TokenRule, made_rule
from otspec.distributions import Distribution
from otspec.logged.block import LoggedBlock
from otspec.rules.base.rule import NotExactError
from otspec.rules.lossy.base import LossyRule


def token_weights(
    rule: TokenRule, draft: Distribution, target: Distribution, token: int, tree: Shape
) -> dict[int, Array]:
    """Return how likely each of k drafts is accepted, given that a token comes out: a_i(y)/q(y).

    k → shape (k,), for the numbers of children in ``tree``. Where siblings have equal subtrees, the
    first entry has the sum of all, which is known in closed form more often.
    """
    weights = {}
    for k in tree.widths:
        made = made_rule(rule, draft, target, k)
        if isinstance(made, LossyRule):
            raise ValueError(
                f"rule is {type(made).__name__}, whose texts are not the target's: calls along a "
                "text are known of lossless rules"
            )
        weights[k] = zeros(k, like=target)
        try:
            if tree.even:
                weights[k][0] = made.accepted().by_token[token] / target[token]
            else:
                by_draft = made.accepted().by_position_and_token[:, token]
                weights[k][: len(by_draft)] = by_draft / target[token]
        except NotExactError as error:
            raise NotExactError(
                f"rule is {type(made).__name__}, and what it accepts of {k} drafts of "
                f"{len(target):,} tokens is only simulated: use fewer drafts or another rule"
            ) from error
    return weights


def levels_of_tree(tree: Shape, weights: Sequence[Mapping[int, Array]], like: Array) -> Array:
    """Return P(at least 1, 2, … tokens of a tree are kept) given the text, by start: (depth, N)."""
    number = len(weights)
    led = {}
    for k in tree.widths:
        led[k] = zeros((k, number + 1), like=like)
        for position, each in enumerate(weights):
            led[k][:, position] = each[k]
    following = np.minimum(np.arange(1, number + 2), number)[:, None]
    along = {k: each[:, :, None] for k, each in led.items()}
    chances = Chances(zeros(number + 1, like=like), following, tuple(led), led, along)
    return chances.by_level(tree)[:, :number]


def levels_of_block(rule: type[SingleDraftRule], length: int, draft: Array, target: Array) -> Array:
    """Return the same for a drafted block, from the text's tokens' probabilities, (N,)."""
    if not rule.renews:
        raise ValueError(
            f"rule is {rule.__name__}, which leaves more behind than one corrected token, so that "
            "the next block depends on it: use token or published block verification"
        )
    number = len(target)
    found = zeros((length, number), like=target)
    one = zeros(number, like=target) + 1
    masses: Any = (one, one)
    for level in range(min(length, number)):
        alive = number - level  # starts from which so much of the text is left
        wanted, drafted = (mass[:alive] for mass in masses)
        with np.errstate(over="ignore", invalid="ignore"):
            masses = rule.step(wanted, drafted, draft[level:], target[level:])
            masses = tuple(_ratio(mass, target[level:]) for mass in masses)
        found[level, :alive] = np.minimum(*masses)
    return found


def _ratio(mass: Array, target: Array) -> Array:
    """Return mass/target, in floats 0 where a ratio beyond the floats was multiplied by 0."""
    ratio: Array = mass / target
    return ratio if is_exact(target) else np.where(np.isnan(ratio), 0.0, ratio)


@dataclass(frozen=True, eq=False)
class LoggedChances(Frozen):
    """How likely each of k drafts is kept at the positions of logged blocks."""

    widths: tuple[int, ...]  # how many children a node may have, ascending
    # k → ndarray, shape (k, blocks, depth): the probability that draft i is kept
    kept: Mapping[int, Array]
    # k → ndarray of the same shape: the same of drafts that do not end the text
    going: Mapping[int, Array]
    # k → ndarray of the same shape: the weight a_i(x)/p(x) of the logged token x as draft i, p the
    # law that it was drawn from
    led: Mapping[int, Array]
    # (blocks,): how many positions each block has: fewer than the depth where its text is over
    lengths: IntArray
    nested: bool  # as for :class:`otspec.blocks.trees.best.acceptance_rates.Chances`

    def averaged(self) -> Chances:
        """Return the chances averaged over all positions that there are."""
        kept, led = (
            {k: each.sum(axis=(1, 2))[:, None] / self._there.sum() for k, each in chances.items()}
            for chances in (self.kept, self.going)
        )
        going = {k: each[:, :, None] for k, each in led.items()}
        nowhere = np.zeros((1, 1), dtype=int)
        return Chances(np.ones(1), nowhere, self.widths, kept, going, self.nested)

    @cached_property
    def along(self) -> Chances:
        """The chances along the logged blocks, each position a place of its own."""
        blocks, depth = self._shape
        following = np.arange(blocks * (depth + 1)).reshape(blocks, depth + 1) + 1
        following[:, -1] -= 1
        kept = {k: _with_end(each).reshape(k, -1) for k, each in self.kept.items()}
        led = {k: _with_end(each).reshape(k, -1, 1) for k, each in self.led.items()}
        start = np.zeros((blocks, depth + 1))
        start[:, 0] = 1 / blocks
        return Chances(start.ravel(), following.reshape(-1, 1), self.widths, kept, led, self.nested)

    def kept_of(self, tree: Shape) -> Array:
        """Return for each block an unbiased estimate of what is kept of a tree, (blocks,)."""
        # Σ over nodes of the chance of each, with the logged token as what its parents accepted.
        blocks, depth = self._shape
        return self.along.expected(tree).reshape(blocks, depth + 1)[:, 0]

    def by_level(self, tree: Shape) -> Array:
        """Return for each block unbiased estimates of P(τ ≥ 1), P(τ ≥ 2), …: (levels, blocks)."""
        # Their sum over the levels is `kept_of`.
        blocks, depth = self._shape
        return self.along.by_level(tree).reshape(tree.depth, blocks, depth + 1)[:, :, 0]

    @property
    def _there(self) -> npt.NDArray[np.bool_]:
        """Whether a block has a position, shape (blocks, depth)."""
        return np.arange(self._shape[1]) < self.lengths[:, None]

    @property
    def _shape(self) -> tuple[int, int]:
        _, blocks, depth = next(iter(self.kept.values())).shape
        return blocks, depth


def _with_end(chances: Array) -> Array:
    """Return chances with a place after the last, where nothing is known: along the last axis."""
    return np.concatenate([chances, np.zeros((*chances.shape[:-1], 1))], axis=-1)


def logged_chances(
    blocks: Sequence[LoggedBlock], rule: TokenRule, widths: Sequence[int], depth: int
) -> LoggedChances:
    """Ask a rule at the first positions of logged blocks."""
    nested, needed = asked_widths(rule, widths)
    shape = len(blocks), depth
    kept, going, led = ({k: np.zeros((k, *shape)) for k in needed} for _ in range(3))
    for number, block in enumerate(blocks):
        block.check(depth)
        rows = zip(block.tokens[:depth], block.draft, block.target, block.sampled, strict=False)
        for position, (token, draft, target, sampled) in enumerate(rows):
            for k in needed:
                accepted = accepted_by_position(rule, draft, target, k)
                each, ending = accepted.sum(axis=1), accepted[:, list(block.end)].sum(axis=1)
                kept[k][:, number, position] = each
                going[k][:, number, position] = np.maximum(each - ending, 0)
                led[k][:, number, position] = accepted[:, token] / sampled[token]
    lengths = np.array([min(len(block.tokens), depth) for block in blocks])
    return LoggedChances(tuple(widths), kept, going, led, lengths, nested)
