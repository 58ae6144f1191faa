"""How likely drafts are kept along logged blocks (Sequoia, sec. 4.1), given a text (Theory, 28)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from otspec._base import Array, Frozen, IntArray, is_exact, zeros
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


def along(
    widths: Sequence[int],
    kept: Mapping[int, Array],
    led: Mapping[int, Array],
    lengths: Sequence[int] | IntArray,
    nested: bool = False,
) -> Chances:
    """Return the chances along texts, a position a place that leads to the next, the end to itself.

    ``kept``, ``led``: k → (k, positions), those of all texts in a row. Each text is as likely.
    """
    ends = np.cumsum(lengths)
    following = np.arange(1, ends[-1] + 2)
    following[ends - 1] = following[-1] = ends[-1]
    whole, one_token = (
        {k: np.concatenate([each, zeros((k, 1), like=each)], axis=1) for k, each in part.items()}
        for part in (kept, led)
    )
    moved = {k: each[:, :, None] for k, each in one_token.items()}
    start = zeros(len(following), like=next(iter(kept.values())))
    start[ends - lengths] += 1
    return Chances(start / len(ends), following[:, None], tuple(widths), whole, moved, nested)


def at_one_place(
    widths: Sequence[int], kept: Mapping[int, Array], going: Mapping[int, Array], nested: bool
) -> Chances:
    """Return chances that are the same everywhere, k → (k,); of drafts that do not end the text."""
    here = {k: each[:, None] for k, each in kept.items()}
    led = {k: each[:, None, None] for k, each in going.items()}
    return Chances(np.ones(1), np.zeros((1, 1), dtype=int), tuple(widths), here, led, nested)


def levels_of_tree(tree: Shape, weights: Sequence[Mapping[int, Array]]) -> Array:
    """Return P(at least 1, 2, … tokens of a tree are kept) given the text, by start: (depth, N)."""
    led = {k: np.stack([each[k] for each in weights], axis=1) for k in tree.widths}
    return along(tuple(led), led, led, [len(weights)]).by_level(tree)[:, :-1]


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


class Asked(NamedTuple):
    """A rule for one token, and for which numbers of drafts it is asked."""

    rule: Any
    widths: tuple[int, ...]  # how many children a node may have, ascending

    @property
    def nested(self) -> bool:
        """Whether the first drafts of the most are those of fewer."""
        return asked_widths(self.rule, self.widths)[0]

    @property
    def counts(self) -> list[int]:
        """The numbers of drafts that the rule must be asked for."""
        return asked_widths(self.rule, self.widths)[1]

    def accepted(self, draft: Array, target: Array) -> Array:
        """Return how likely each draft is accepted as each token: (Σ counts, n)."""
        return np.concatenate(
            [accepted_by_position(self.rule, draft, target, k) for k in self.counts]
        )

    def at(self, token: int, draft: Array, target: Array, drawn: float) -> Array:
        """Return the chances of drafts, and a_i(x)/drawn of the logged token x: (2, Σ counts)."""
        accepted = self.accepted(draft, target)
        return np.array([accepted.sum(axis=1), accepted[:, token] / drawn], dtype=float)

    def split(self, rows: Array) -> dict[int, Array]:
        """Return rows of all numbers of drafts by number: (Σ counts, ...) -> k → (k, ...)."""
        return dict(zip(self.counts, np.split(rows, np.cumsum(self.counts)[:-1]), strict=True))


@dataclass(frozen=True, eq=False)
class LoggedChances(Frozen):
    """How likely each of k drafts is kept at the positions of logged blocks."""

    along: Chances  # each position a place of its own
    averaged: Chances  # the mean over all positions
    starts: IntArray  # the place before each block, (blocks,)

    def kept_of(self, tree: Shape) -> Array:
        """Return for each block an unbiased estimate of what is kept of a tree, (blocks,)."""
        # Σ over nodes of the chance of each, with the logged token as what its parents accepted.
        return self.along.expected(tree)[self.starts]

    def by_level(self, tree: Shape) -> Array:
        """Return for each block unbiased estimates of P(τ ≥ 1), P(τ ≥ 2), …: (levels, blocks)."""
        # Their sum over the levels is `kept_of`.
        return self.along.by_level(tree)[:, self.starts]


def logged_chances(
    blocks: Sequence[LoggedBlock], rule: TokenRule, widths: Sequence[int], depth: int
) -> LoggedChances:
    """Ask a rule at the first positions of logged blocks."""
    asked, lengths = Asked(rule, tuple(widths)), list[int]()
    answers: list[list[Array]] = []  # by position: kept, kept and no end, the logged token's weight
    for block in blocks:
        block.check(depth)
        lengths.append(min(len(block.tokens), depth))
        rows = zip(block.tokens[:depth], block.draft, block.target, block.sampled, strict=False)
        for token, draft, target, sampled in rows:
            accepted = asked.accepted(draft, target)
            each, ending = accepted.sum(axis=1), accepted[:, list(block.end)].sum(axis=1)
            going = np.maximum(each - ending, 0)
            answers.append([each, going, accepted[:, token] / sampled[token]])
    together = np.array(answers, dtype=float)
    kept, _, led = map(asked.split, together.transpose(1, 2, 0))
    mean = map(asked.split, together.mean(axis=0))
    return LoggedChances(
        along(widths, kept, led, lengths, asked.nested),
        at_one_place(widths, next(mean), next(mean), asked.nested),
        np.cumsum([0, *lengths[:-1]]),
    )
