"""Which cut of drafted chains gives most tokens per second on logs, at each load (Theory, 37)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from otspec._base.arguments import as_list, as_real
from otspec._base.arithmetic import Array
from otspec.blocks.block_verification import BlockVerification
from otspec.blocks.policies import Policy, policies
from otspec.blocks.trees.best.costs import Seconds, as_seconds
from otspec.chance import Chance
from otspec.distributions import as_k
from otspec.logged.block import LoggedBlock
from otspec.logged.comparison import Ratio, Tally, as_blocks, shared_length
from otspec.models.derived import EndingModel, LoggedModel

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
