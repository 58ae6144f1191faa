"""Certain drafts: a bound by entropy, and how far a draft may be off (Theory, 45 and 46)."""

import math

import numpy as np

from otspec._base.arguments import as_flag
from otspec._base.arithmetic import Array
from otspec.distributions import DistributionLike, as_distribution, as_k


def entropy_bound(target: DistributionLike, nodes: int) -> float:
    """Return what no certain tree of so many nodes keeps more than, of independent target tokens.

    log(nodes)/μ + μ₂/μ² with μ = Σ q log 1/q, the entropy, and μ₂ = Σ q log² 1/q.

    Parameters
    ----------
    target : array_like, shape (n,)
        Every token of the text is drawn from it, independently.
    nodes : int
        The drafted tokens, in any tree.

    Returns
    -------
    float
        In tokens; infinite if the target is certain.

    Raises
    ------
    ValueError
        Unusable probabilities, or no positive number of nodes.

    Examples
    --------
    >>> round(entropy_bound(["1/2", "1/2"], 64), 9)  # all texts of 5 tokens keep 5
    7.0
    """
    masses = np.asarray(as_distribution(target, "target"), dtype=float)
    count = as_k(nodes, "nodes")
    surprise = -np.log(masses[masses > 0])
    mean = float((masses[masses > 0] * surprise).sum())
    second = float((masses[masses > 0] * surprise**2).sum())
    if mean == 0:
        return math.inf
    return math.log(count) / mean + second / mean**2


def missing_divergence(target: DistributionLike, m: int = 1, *, of_target: bool = False) -> float:
    """Return the least divergence at which the m likeliest drafts can miss the likeliest token.

    A draft distribution that is nearer to the target has the target's likeliest token among its m
    likeliest, so that a greedy target keeps one of m certain drafts.

    Parameters
    ----------
    target : array_like, shape (n,)
    m : int
        How many tokens are drafted, the likeliest ones.
    of_target : bool
        D(target‖draft) in place of D(draft‖target).

    Returns
    -------
    float
        In nats. 0 if m other tokens are as likely; infinite if there are not m others.

    Raises
    ------
    ValueError
        Unusable probabilities, or no positive number of tokens.

    Examples
    --------
    >>> round(missing_divergence([0.64, 0.36]), 9) == round(-math.log(1 - 0.2**2), 9)
    True
    """
    masses = np.sort(np.asarray(as_distribution(target, "target"), dtype=float))[::-1]
    drafted, arithmetic = as_k(m, "m"), as_flag(of_target, "of_target")
    if drafted >= len(masses):
        return math.inf
    others = masses[1 : drafted + 1][::-1]  # ascending
    pool = masses[:1]
    for other in others:
        # The likeliest token and the least of the others are made alike, until the next is as
        # likely as that.
        if other >= _level(pool, arithmetic):
            break
        pool = np.append(pool, other)
    level = _level(pool, arithmetic)
    if arithmetic:
        held = pool[pool > 0]
        return float((held * np.log(held / level)).sum())
    total = 1 - float(pool.sum()) + len(pool) * level
    return max(0.0, -math.log(total)) if total > 0 else math.inf


def _level(pool: Array, arithmetic: bool) -> float:
    """Return the arithmetic or the geometric mean."""
    if arithmetic:
        return float(pool.mean())
    return 0.0 if pool.min() == 0 else float(np.exp(np.log(pool).mean()))
