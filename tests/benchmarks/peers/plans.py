"""Optimal plans of two drafts beside a network simplex that knows nothing of drafts."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import ot

import otspec
from peers.measuring import in_turn

N = 50
"""Tokens."""


def plan_against_pot(repeat: int) -> float:
    """Return what `optimal_plan` takes over what POT's `ot.emd` takes, the fastest of some calls.

    Both are given the same two distributions; the time to write down the pairs and the costs counts
    for POT, too, since it counts for us.
    """
    rng = np.random.default_rng(0)
    draft, target = rng.dirichlet(np.ones(N), size=2)
    ours, theirs = acceptances(draft, target)
    if abs(ours - theirs) > 1e-9:
        raise ValueError(f"otspec finds {ours} and POT {theirs}: one of them is wrong")
    first, second = in_turn(
        lambda: planned(draft, target), lambda: transported(draft, target), repeat
    )
    return first / second


def acceptances(draft: np.ndarray, target: np.ndarray) -> tuple[float, float]:
    """Return what both accept."""
    plan, costs = transported(draft, target)
    return float(planned(draft, target).acceptance), 1 - float((plan * costs).sum())


def planned(draft: np.ndarray, target: np.ndarray) -> otspec.Plan:
    """Plan with otspec."""
    return otspec.optimal_plan(otspec.IID(draft, 2), target)


def transported(draft: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Transport unordered pairs to tokens with POT; a token of the pair costs nothing."""
    first, second = np.array(list(combinations_with_replacement(range(len(draft)), 2))).T
    masses = draft[first] * draft[second] * np.where(first == second, 1, 2)
    costs = np.ones((len(first), len(target)))
    rows = np.arange(len(first))
    costs[rows, first] = costs[rows, second] = 0
    return ot.emd(masses / masses.sum(), target / target.sum(), costs), costs
