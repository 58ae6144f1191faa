"""Rules side by side on logged blocks (Theory, 11), and cuts of drafted chains (Theory, 37)."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from otspec._base import Array, Frozen, Number, as_instance, as_list, as_real
from otspec.blocks import BLOCK_RULES, Seconds, TraversalVerify, as_seconds
from otspec.blocks.block_verification import BlockVerification, BlockVerificationPreprint
from otspec.blocks.comparison import BlockComparison, as_lengths
from otspec.blocks.policies import Policy, policies
from otspec.blocks.trees.best.comparison import TreeComparison, as_trees, rules_for
from otspec.chance import Chance
from otspec.distributions import as_k
from otspec.estimate import Known, average, radius_of
from otspec.frames import Rows
from otspec.logged.block import LoggedBlock
from otspec.models.derived import EndingModel, LoggedModel


def compare_on_blocks(
    blocks: Iterable[LoggedBlock], lengths: Sequence[int]
) -> Rows[BlockComparison]:
    """Compare all rules on logged blocks: the mean over them of what each keeps in expectation.

    Parameters
    ----------
    blocks : iterable of LoggedBlock
        Their first L tokens are the drafts.
    lengths : sequence of int

    Raises
    ------
    ValueError
        No block, or one that is shorter than a length.
    """
    logged = as_blocks(blocks)
    found = []
    for length in as_lengths(lengths):
        kept = {
            rule: mean_and_error([block.expected(rule, length) for block in logged])
            for rule in BLOCK_RULES.values()
        }
        optimum, _ = kept[BlockVerificationPreprint]
        for rule, (expected, error) in kept.items():
            found.append(BlockComparison(rule.title, length, expected, optimum, error))
    return Rows(found, BlockComparison, f"{len(logged)} logged blocks")


def compare_trees_on_blocks(
    blocks: Iterable[LoggedBlock], trees: Sequence[Any]
) -> Rows[TreeComparison]:
    """Compare all rules for one token on logged blocks, see :meth:`LoggedBlock.expected_of_tree`.

    More than two distinct drafts of recursive rejection are simulated at full vocabulary. Of the
    rules for whole trees only Traversal Verification of i.i.d. children can be estimated, see
    :meth:`LoggedBlock.expected_of_traversal`. Equal children stay apart.

    Parameters
    ----------
    blocks : iterable of LoggedBlock
    trees : sequence
        See :func:`otspec.blocks.as_shape`.

    Raises
    ------
    ValueError
        No block, or one that is shorter than a tree is deep.
    """
    logged = as_blocks(blocks)
    found = []
    for tree in as_trees(trees):
        for rule in rules_for(tree):
            kept = [block.expected_of_tree(tree, rule) for block in logged]
            found.append(TreeComparison(tree.text, rule.title, *_mean_and_error(kept)))
        whole = [block.expected_of_traversal(tree, merge=False) for block in logged]
        found.append(TreeComparison(tree.text, TraversalVerify.title, *_mean_and_error(whole)))
    return Rows(found, TreeComparison, f"{len(logged)} logged blocks")


def as_blocks(blocks: Any) -> list[LoggedBlock]:
    """Check logged blocks."""
    wanted = "LoggedBlock objects"
    logged = as_list(blocks, "blocks", f"an iterable of {wanted}")
    if not logged:
        raise ValueError("blocks is empty: at least one logged block is needed")
    return [as_instance(it, f"blocks[{i}]", LoggedBlock, wanted) for i, it in enumerate(logged)]


def shared_length(blocks: Iterable[LoggedBlock], most: int) -> int:
    """Return how many tokens may be asked for of all blocks, at most so many."""
    return min([most, *(len(block.tokens) for block in blocks if not block.ended)])


def mean_and_error(values: Sequence[Number] | Array) -> tuple[float, float]:
    """Return a mean over logged blocks and its standard error; NaN for a single block."""
    mean, error = _mean_and_error(values)
    return float(mean), error


def _mean_and_error(values: Sequence[Number | Known] | Array) -> tuple[Known, float]:
    """Return the same; the mean of estimates is an :class:`otspec.estimate.Estimate`."""
    numbers = np.array(values, dtype=float)
    error = numbers.std(ddof=1) / np.sqrt(len(numbers)) if len(numbers) > 1 else np.nan
    return average(values), float(error)


class Ratio(NamedTuple):
    """A ratio of two sums, with a confidence interval for the ratio over all texts."""

    value: float
    low: float
    """NaN for a single text, as ``high``."""
    high: float


@dataclass(frozen=True, eq=False)
class Tally(Frozen):
    """Sums over texts of counts, (m,), and of products of each two, (m, m); tallies are added."""

    texts: int
    sums: Array
    products: Array = field(repr=False)

    @classmethod
    def of(cls, counts: Array) -> "Tally":
        """Return the tally of texts, a row of counts for each: shape (texts, m)."""
        rows = np.array(counts, dtype=float)
        return cls(len(rows), rows.sum(axis=0), rows.T @ rows)

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.texts + other.texts, self.sums + other.sums, self.products + other.products
        )

    def ratio(self, above: Array, below: Array) -> Ratio:
        """Return Σ counts · above / Σ counts · below, and its t interval with 95% confidence."""
        # The variance is that of a ratio of sums over independent texts, by linearization.
        upper, lower = float(self.sums @ above), float(self.sums @ below)
        if lower == 0:
            return Ratio(math.nan, math.nan, math.nan)
        value = upper / lower
        radius = radius_of(self.square((above - value * below) / lower), self.texts)
        return Ratio(value, value - radius, value + radius)

    def square(self, direction: Array) -> float:
        """Return Σ over the texts of (counts · direction)²."""
        return max(0.0, float(direction @ self.products @ direction))


CHAINS = ("confidence-kept", "confidence-max", "path-kept")
"""The predictable policies for chains that thresholds are chosen for."""
THRESHOLDS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class CutChain(NamedTuple):
    """A policy for chains with its threshold and length, on logged blocks at one load."""

    batch: int
    policy: str
    threshold: float
    length: int
    """The most drafted tokens; 0 for no drafts."""
    rate: Ratio
    """Tokens of the batch per second, with its 95% interval over blocks."""
    drafted: float
    """The mean number of drafted tokens."""


class LoggedChoices(Chance):
    """The choices that a logged block made: its tokens, in order."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self._left = iter(tokens)

    def choose(self, masses: Any) -> int:  # noqa: ARG002 -- it was chosen already
        """Return the next token."""
        return next(self._left)


def cut_chains_on_blocks(
    blocks: Iterable[LoggedBlock],
    draft_cost: Any,
    target_cost: Any,
    *,
    batches: Sequence[int] = (1,),
    thresholds: Sequence[float] = THRESHOLDS,
) -> list[CutChain]:
    """Return for each batch size the cut of chains with most tokens per second on logged blocks.

    Each policy stops before or after a token by what was drafted before it, so that the logged
    block up to there is what it would have drafted, and block verification keeps an unbiased number
    of it. A row pays as if all rows of the batch were as long. The cut is the best of all on these
    blocks, so that its rate is a little too high: measure it on others.

    Parameters
    ----------
    blocks : iterable of LoggedBlock
        Drafted by the draft model. Chains are as long as the shortest that no end token ends.
    draft_cost, target_cost : Seconds, number, str, mapping or sequence
        Seconds of a call by the tokens that it reads at once, over all rows of the batch.
    batches : sequence of int
        Numbers of rows.
    thresholds : sequence of float
        Of the confidences; 0 cuts nothing.

    Raises
    ------
    ValueError
        No block, blocks that the draft did not draw, or costs that cannot be used.
    """
    logged = as_blocks(blocks)
    costs = as_seconds(draft_cost, "draft_cost"), as_seconds(target_cost, "target_cost")
    sizes = [as_k(b, f"batches[{i}]") for i, b in enumerate(as_list(batches, "batches", "sizes"))]
    cuts = as_list(thresholds, "thresholds", "confidences from 0 to 1")
    cuts = [as_real(each, f"thresholds[{i}]", 0, 1) for i, each in enumerate(cuts)]
    known = [_tokens(block) for block in logged]
    choices = [
        (name, threshold, length, _lengths(policy, logged))
        for name, threshold, length, policy in _candidates(logged, cuts)
    ]
    return [
        max(
            (_measured(size, *choice, known, *costs) for choice in choices),
            key=lambda each: each.rate.value,
        )
        for size in sizes
    ]


def _candidates(
    logged: Sequence[LoggedBlock], thresholds: Sequence[float]
) -> Iterator[tuple[str, float, int, Policy | None]]:
    """Yield no drafts, and each policy with each threshold and length."""
    yield "no draft", 0.0, 0, None
    longest = shared_length(logged, max(len(block.tokens) for block in logged))
    for length in range(1, longest + 1):
        for threshold in thresholds:
            for name in CHAINS:
                yield name, threshold, length, policies(threshold, length)[name]


def _lengths(policy: Policy | None, logged: Sequence[LoggedBlock]) -> list[int]:
    """Return how many tokens of each block a policy drafts."""
    if policy is None:
        return [0] * len(logged)
    return [_drafted(policy, block) for block in logged]


def _drafted(policy: Policy, block: LoggedBlock) -> int:
    """Return how many of its first tokens a policy drafts of a block."""
    tokens = tuple(block.tokens)
    draft = EndingModel(LoggedModel(block.draft[: len(tokens)], tokens, "draft"), block.end)
    return len(policy.grow(draft, LoggedChoices(tokens)))


def _tokens(block: LoggedBlock) -> Array:
    """Return the tokens of a call by how many tokens of a block are drafted, from 0 on."""
    kept = [0.0]
    for length in range(1, len(block.tokens) + 1):
        law = block.kept(BlockVerification, length).astype(float)
        kept.append(float(law @ np.arange(len(law))))
    return 1 + np.array(kept)


def _measured(
    batch: int,
    name: str,
    threshold: float,
    length: int,
    lengths: Sequence[int],
    known: Sequence[Array],
    draft_cost: Seconds,
    target_cost: Seconds,
) -> CutChain:
    """Return tokens per second at one load."""
    counts = [
        (batch * tokens[drafted], drafted * draft_cost(batch) + target_cost(batch * (1 + drafted)))
        for drafted, tokens in zip(lengths, known, strict=True)
    ]
    rate = Tally.of(np.array(counts)).ratio(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    return CutChain(batch, name, threshold, length, rate, float(np.mean(lengths)))
