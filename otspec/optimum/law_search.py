"""The best law of k drafts for several targets, or for all near the draft (Theory, 41 and 42)."""

from collections.abc import Sequence
from itertools import chain, combinations
from typing import Any

import numpy as np

from otspec._base import as_flag, as_integer, as_real
from otspec._base.arithmetic import Array, IntArray, Number, as_number, is_exact, zeros
from otspec.distributions import Distribution, DistributionLike, as_distribution
from otspec.optimum.chosen_law import BestLaw, SafestLaw
from otspec.optimum.divergences import KullbackLeibler
from otspec.optimum.inclusion import as_targets
from otspec.programs import Size
from otspec.programs.formulation import ProgramBuilder, check_size
from otspec.solvers import Sense, solve

_MOST_TOKENS = 12
_SMALLER = "merge tokens, or use inclusion_bound, which bounds every law at any vocabulary size"


def best_law(
    targets: Sequence[DistributionLike],
    k: int,
    weights: DistributionLike | None = None,
    *,
    worst: bool = False,
) -> BestLaw:
    """Return the law of k distinct drafts that accepts most of several targets.

    The drafts are drawn before one of the targets comes; then an optimal rule for that target and
    this law verifies them. A linear program over all sets of k tokens, with prices that prove it,
    exact for exact targets.

    Parameters
    ----------
    targets : sequence of array_like, each of shape (n,)
        At most 12 tokens.
    k : int
        From 1 to n.
    weights : array_like, shape (m,), optional
        How often each target comes; by default equally often.
    worst : bool
        Maximize the acceptance of the worst target rather than the mean; ``weights`` is not used.

    Raises
    ------
    ValueError
        Targets or weights that are no distributions or not alike, an improper k, or a program that
        does not fit in memory.

    Examples
    --------
    >>> targets = [["3/4", "1/4", 0], ["1/4", 0, "3/4"]]
    >>> found = best_law(targets, k=1)
    >>> [str(p) for p in found.masses], found.acceptance
    (['1/4', '0', '3/4'], Fraction(5, 8))
    >>> [str(p) for p in best_law(targets, k=1, worst=True).masses]
    ['5/8', '0', '3/8']
    """
    stacked, chances = as_targets(targets, weights)
    only_worst = as_flag(worst, "worst")
    sets = _all_sets(stacked.shape[1], k)
    (m, n), (s, k) = stacked.shape, sets.shape
    check_size("best law", Size(m * (s + n + 1) + 1, s * (1 + m * k), 3 * m * s * k), _SMALLER)
    model = ProgramBuilder(stacked)
    columns = model.columns("P", sets, 0, np.inf)
    least = model.columns("worst", np.zeros((1, 1), dtype=np.intp), 0, np.inf)
    model.put(np.repeat(model.rows("all", np.zeros((1, 1), dtype=np.intp), 1, 1), s), columns)
    kept, wanted, above = [], [], []
    for i, target in enumerate(stacked):
        drafts = model.rows("drafts", np.column_stack([np.full(s, i), sets]), -np.inf, 0)
        wanted.append(model.rows("target", _numbered(i, n), -np.inf, target))
        pairs = np.column_stack([np.full(s * k, i), np.repeat(sets, k, axis=0), sets.ravel()])
        kept.append(model.columns("f", pairs, 0, np.inf))
        model.put(drafts, columns, -1)
        model.put(np.repeat(drafts, k), kept[-1])
        model.put(wanted[-1][sets.ravel()], kept[-1])
        if only_worst:
            above.append(model.rows("above", _numbered(i, 1), -np.inf, 0))
            model.put(np.repeat(above[-1], s * k), kept[-1], -1)
            model.put(above[-1], least)
    counted = least if only_worst else np.concatenate(kept)
    worth = None if only_worst else np.repeat(chances, s * k)
    solution = solve(model.program("best law (Theory, 41)", Sense.MAXIMIZE, counted, worth))
    mixed = solution.duals[np.concatenate(above)] if only_worst else chances
    masses = _proper(solution.primal[:s])
    prices = np.maximum(np.array([solution.duals[rows] for rows in wanted]), 0)
    value = as_number(solution.value, like=masses)
    return BestLaw(sets, masses, value, stacked, mixed, prices, only_worst)


def safest_law(
    draft: DistributionLike,
    k: int,
    *,
    total_variation: Number | None = None,
    kullback_leibler: float | None = None,
) -> SafestLaw:
    """Return the law of k distinct drafts that accepts most of the worst target near the draft.

    A linear program over all sets of k tokens with one row for each set of tokens, which says how
    much a target within the distance may want it.

    Parameters
    ----------
    draft : array_like, shape (n,)
        At most 12 tokens.
    k : int
        From 1 to n.
    total_variation : number, optional
        The targets are all q with total variation of at most this from the draft, from 0 to 1.
    kullback_leibler : float, optional
        The targets are all q with D(q‖draft) of at most this, in nats; for drafts in floats.

    Raises
    ------
    ValueError
        Not exactly one distance, an improper one, draft or k, or a program that does not fit in
        memory.

    Examples
    --------
    >>> safest_law(["1/2", "1/4", "1/4"], k=2, total_variation="1/2").acceptance
    Fraction(5, 6)
    """
    checked = as_distribution(draft, "draft")
    sets = _all_sets(len(checked), k)
    (s, n) = len(sets), len(checked)
    tokens = np.array(list(np.ndindex(*(2,) * n)), dtype=bool)[1:]
    check_size("safest law", Size(len(tokens) + 1, s + 1, s * len(tokens)), _SMALLER)
    reach = zeros(len(tokens), like=checked)
    within = _reached(checked, total_variation, kullback_leibler)
    reach[:] = [within(mass) for mass in tokens @ checked]
    model = ProgramBuilder(checked)
    columns = model.columns("P", sets, 0, np.inf)
    missed = model.columns("missed", np.zeros((1, 1), dtype=np.intp), 0, np.inf)
    everything = model.rows("all", np.zeros((1, 1), dtype=np.intp), 1, 1)
    model.put(np.repeat(everything, s), columns)
    rows = model.rows("wanted", np.where(tokens, np.arange(n), -1), reach, np.inf)
    where, which = np.nonzero(tokens.T[sets].any(axis=1))
    model.put(rows[which], columns[where])
    model.put(rows, np.repeat(missed, len(rows)))
    solution = solve(model.program("safest law (Theory, 42)", Sense.MINIMIZE, missed))
    masses = _proper(solution.primal[:s])
    prices = np.maximum(solution.duals[rows], 0)
    value = as_number(1 - solution.value, like=masses)
    return SafestLaw(sets, masses, value, tokens, reach, prices)


def _reached(draft: Distribution, variation: Any, divergence: Any) -> Any:
    """Return the largest mass that a target near the draft gives to a set, by the draft's mass."""
    if (variation is None) is (divergence is None):
        raise ValueError("pass either total_variation=, or kullback_leibler=, and not both")
    if variation is not None:
        amount = as_number(as_real(variation, "total_variation", 0, 1), like=draft)
        return lambda mass: min(mass + amount, zeros(1, like=draft)[0] + 1)
    budget = KullbackLeibler.of(divergence, draft)

    def most(mass: float) -> float:
        # A target of the largest mass on B is in proportion to the draft on B and off it.
        pair = np.array([min(mass, 1.0), max(1 - mass, 0.0)])
        low, high = pair[0], 1.0
        if budget.distance(np.array([1.0, 0.0]), pair) <= budget.amount:
            return high
        while low < (middle := (low + high) / 2) < high:
            near = budget.distance(np.array([middle, 1 - middle]), pair) <= budget.amount
            low, high = (middle, high) if near else (low, middle)
        return float(low)

    return most


def _all_sets(n: int, k: Any) -> IntArray:
    count = as_integer(k, "k", 1, n, otherwise="sets of k distinct drafts need k tokens")
    if n > _MOST_TOKENS:
        raise ValueError(f"the vocabulary has {n} tokens, more than {_MOST_TOKENS}: {_SMALLER}")
    flat = chain.from_iterable(combinations(range(n), count))
    return np.fromiter(flat, dtype=np.intp).reshape(-1, count)


def _numbered(first: int, count: int) -> IntArray:
    return np.column_stack([np.full(count, first), np.arange(count)]).astype(np.intp)


def _proper(masses: Array) -> Distribution:
    """Return masses of a solution as a distribution: rounding of floats is taken off."""
    if is_exact(masses):
        return masses
    masses = np.maximum(masses, 0)
    return masses / masses.sum()
