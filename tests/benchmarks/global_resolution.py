"""Global Resolution (Thomas and Pal, arXiv 2511.15898), written anew from descriptions of it.

Tokens off the best cut H compete as the outer system, those in it as the inner one. In each, a set
of drafts selects a token y in proportion to e^w(y), where a convex function of the weights w is
least. Only the likeliest tokens T get weights: as few as leave at most ``tolerance`` of the drafts
out. Two things are our own, since the descriptions do not say them: what is wanted of T is scaled
so that the outer function has a minimum, and a solver stops once the sum of the absolute entries of
its gradient is at most ``tolerance``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb, factorial

import numpy as np
from scipy.optimize import minimize

import otspec

MOST_SETS = 100_000
"""Sets of drafts that are listed at most: so many take seconds, and the paper allows 0.1 s."""
MOST_STEPS = 500


class FailedError(Exception):
    """The method finds no plan within its limits."""


@dataclass(frozen=True)
class System:
    """Which drafts of a side there are, how likely, and what their tokens are wanted for."""

    tokens: np.ndarray
    """(t,) token ids that get weights."""
    sets: list[tuple[np.ndarray, np.ndarray]]
    """For each size m: positions in ``tokens``, (c, m), and how likely these are the set."""
    wanted: np.ndarray
    """(t,) how often each is to be selected."""
    spare: float
    """e^0 = 1 of the weight of selecting nothing: the inner system has it, the outer has none."""

    def function(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the convex function and its gradient: what is selected beyond what is wanted."""
        powers = np.exp(weights)
        value, selected = -float(self.wanted @ weights), np.zeros(len(weights))
        for members, masses in self.sets:
            each = powers[members]
            sums = each.sum(1) + self.spare
            value += float(masses @ np.log(sums))
            shares = each * (masses / sums)[:, None]
            selected += np.bincount(members.ravel(), shares.ravel(), len(weights))
        return value, selected - self.wanted

    def solve(self, tolerance: float) -> np.ndarray:
        """Return how often each token is selected at the weights that are found."""
        if not len(self.tokens):
            return self.wanted

        def stop(intermediate_result):
            if np.abs(self.function(intermediate_result.x)[1]).sum() <= tolerance:
                raise StopIteration

        found = minimize(
            self.function,
            np.zeros(len(self.tokens)),
            jac=True,
            method="L-BFGS-B",
            bounds=[(-50, 50)] * len(self.tokens),
            callback=stop,
            options={"maxiter": MOST_STEPS, "maxfun": 2 * MOST_STEPS, "ftol": 0, "gtol": 0},
        )
        gradient = self.function(found.x)[1]
        if np.abs(gradient).sum() > tolerance:
            raise FailedError("the solver did not get near enough")
        return gradient + self.wanted


def likely_sets(masses: np.ndarray, others: float, k: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return all sets of up to k tokens, and how likely the drafts are these and ``others``."""
    if sum(comb(len(masses), m) for m in range(1, k + 1)) > MOST_SETS:
        raise FailedError("too many sets of drafts")
    powers = np.arange(k + 1)
    factorials = np.array([factorial(j) for j in powers], float)
    found = []
    for m in range(1, min(k, len(masses)) + 1):
        members = np.array(list(combinations(range(len(masses)), m)))
        # The coefficient of x^k of k! e^(others x) Π (e^(p x) − 1).
        series = np.tile(others**powers / factorials, (len(members), 1))
        for place in range(m):
            once = masses[members[:, place], None] ** powers / factorials
            once[:, 0] = 0
            series = np.stack(
                [(series[:, : j + 1] * once[:, j::-1]).sum(1) for j in powers], axis=1
            )
        found.append((members, series[:, k] * factorials[k]))
    return found


def enough(order: np.ndarray, draft: np.ndarray, others: float, left: float, k: int) -> np.ndarray:
    """Return the first tokens of an order, as few as leave out at most ``left`` of the drafts."""
    covered = others + np.cumsum(draft[order])
    return order[: np.searchsorted(covered, max((covered[-1] ** k - left), 0) ** (1 / k)) + 1]


@dataclass(frozen=True)
class Plan:
    """What the method accepts, how far that is below the optimum, and how far its output is off."""

    acceptance: float
    gap: float
    total_variation: float
    tokens: int
    """How many have weights."""


def global_resolution(draft: np.ndarray, target: np.ndarray, k: int, tolerance: float) -> Plan:
    """Return what the method makes of k i.i.d. drafts; it may raise ``FailedError``."""
    best = otspec.optimal_acceptance(otspec.IID(draft, k), target)
    inside = np.zeros(len(draft), bool)
    inside[list(best.cut)] = True
    likeliest = np.argsort(-draft, kind="stable")
    within, outside = likeliest[inside[likeliest]], likeliest[~inside[likeliest]]
    lower = float(draft[inside].sum())
    selected, count = np.zeros(len(draft)), 0
    if len(outside) and lower < 1 - 1e-12:
        tokens = enough(outside, draft, lower, tolerance, k)
        sets = likely_sets(draft[tokens], lower, k)
        wanted = np.asarray(best.selection)[tokens]
        wanted = wanted * sum(float(masses.sum()) for _, masses in sets) / wanted.sum()
        selected[tokens] = System(tokens, sets, wanted, 0.0).solve(tolerance)
        count += len(tokens)
    if len(within) and lower > 0:
        tokens = enough(within, draft, 0.0, tolerance, k)
        sets = likely_sets(draft[tokens], 0.0, k)
        selected[tokens] = System(tokens, sets, target[tokens], 1.0).solve(tolerance)
        count += len(tokens)
    accepted = float(selected.sum())
    # What is missing is drawn from the residual; what is selected too often makes the output off.
    return Plan(
        accepted,
        float(best.acceptance) - accepted,
        float(np.maximum(selected - target, 0).sum()),
        count,
    )
