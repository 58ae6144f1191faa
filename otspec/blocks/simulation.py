"""Block efficiency, the tokens per call of the target, by simulation."""

from __future__ import annotations

import numpy as np

from otspec._base.arguments import as_integer, as_real, as_seed
from otspec.blocks.base import BlockRule, as_block_rule
from otspec.distributions import as_k
from otspec.estimate import Estimate

MOST_SIMULATED = 10**9
"""Most blocks of one simulation."""


def simulate(rule: BlockRule, size: int, seed: int = 0, *, confidence: float = 0.999) -> Estimate:
    """Estimate the block efficiency of one block from independent blocks.

    Parameters
    ----------
    rule : BlockRule
    size : int
        How many blocks are drafted and verified, at least 2.
    seed : int
    confidence : float
        With which the interval covers the exact :meth:`BlockRule.efficiency`, at least.

    Returns
    -------
    Estimate
        E[τ] + 1 with an empirical Bernstein interval within [0, L + 1].

    Raises
    ------
    ValueError
        Fewer than two blocks.
    """
    if as_k(size, "size") < 2:
        raise ValueError("size is 1: an interval needs at least 2 blocks, better thousands")
    as_integer(size, "size", 2, MOST_SIMULATED, otherwise="simulate several times, with seeds")
    level = float(as_real(confidence, "confidence"))
    if not 0 < level < 1:
        raise ValueError(f"confidence is {confidence}: it must be above 0 and below 1")
    as_block_rule(rule)
    rng = np.random.default_rng(as_seed(seed))
    kept = [len(rule.kept_text(rule.sample(rng))) for _ in range(size)]
    return Estimate.of_mean(np.array(kept, float), level, plus=1.0, most=rule.depth + 1)
