"""Certain drafts: a bound by entropy, and how far a draft may be off (Theory, 45 and 46)."""

from __future__ import annotations

import math
from heapq import heappop, heappush

import numpy as np
import pytest
from each_case import each
from numpy.random import default_rng
from scipy.optimize import minimize

from otspec.blocks import best_tree
from otspec.closed_forms import entropy_bound, missing_divergence
from otspec.drafts.single import likeliest
from otspec.models import memoryless
from otspec.rules import TargetOnly

ROUNDING = 1e-12


def kept_by_the_best(target, nodes):
    """What the certain tree of the likeliest texts keeps: the sum of their probabilities."""
    heap, kept = [-mass for mass in target if mass > 0], 0.0
    heap.sort()
    for _ in range(nodes):
        text = heappop(heap)
        kept -= text
        for mass in target:
            if mass > 0:
                heappush(heap, text * mass)
    return kept


@each("nodes", [1, 2, 5, 30, 300])
@each("seed", range(8))
def test_no_certain_tree_keeps_more_than_the_entropy_allows(seed, nodes):
    target = default_rng(seed).dirichlet(np.full(3, 0.2 + 0.3 * (seed % 4)))
    assert kept_by_the_best(target, nodes) <= entropy_bound(target, nodes) + ROUNDING


def test_the_bound_is_near_for_many_nodes():
    target = [0.9, 0.1]
    gaps = [entropy_bound(target, n) - kept_by_the_best(target, n) for n in (10, 100, 1000)]
    # It grows as log(nodes) over the entropy, and stays above by a number of tokens.
    assert max(gaps) - min(gaps) < 1.5
    assert entropy_bound(target, 1000) < 2 * kept_by_the_best(target, 1000)


def test_the_best_tree_is_below_and_what_it_keeps_are_the_likeliest_texts():
    target = ["7/10", "2/10", "1/10"]
    model = memoryless(target)
    for nodes in (1, 3, 6):
        found = best_tree(model, model, TargetOnly, nodes=nodes, depth=nodes).expected
        assert found <= entropy_bound(target, nodes)
        assert math.isclose(found, kept_by_the_best([0.7, 0.2, 0.1], nodes))


def test_a_certain_target_has_no_bound():
    assert entropy_bound([1, 0], 5) == math.inf


def nearest(target, m, of_target):
    """The same by a solver: the least over all sets of m tokens that are as likely."""
    n = len(target)
    first = int(np.argmax(target))

    def distance(draft):
        draft = np.maximum(draft, 1e-300)
        one, other = (target, draft) if of_target else (draft, target)
        return float((one * np.log(one / other)).sum())

    found = []
    for mask in range(2**n):
        chosen = [i for i in range(n) if mask >> i & 1]
        if len(chosen) != m or first in chosen:
            continue
        rows = [{"type": "eq", "fun": lambda draft: draft.sum() - 1}]
        rows += [
            {"type": "ineq", "fun": lambda draft, i=i: draft[i] - draft[first]} for i in chosen
        ]
        start = np.full(n, 1 / n)
        solved = minimize(distance, start, bounds=[(1e-9, 1)] * n, constraints=rows,
                          method="SLSQP", options={"ftol": 1e-12, "maxiter": 300})  # fmt: skip
        found.append(solved.fun)
    return min(found)


# SciPy before 1.16 warns when a step of its minimizer ends at a bound.
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")
@pytest.mark.parametrize("of_target", [False, True])
@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_divergence_is_the_least_that_a_solver_finds(seed, m, of_target):
    target = default_rng(seed).dirichlet(np.ones(4))
    found = missing_divergence(target, m, of_target=of_target)
    assert math.isclose(found, nearest(target, m, of_target), rel_tol=1e-5, abs_tol=1e-7)


def test_two_tokens_by_hand():
    assert math.isclose(missing_divergence([0.64, 0.36]), -math.log(1 - 0.2**2))
    wanted = 0.64 * math.log(1.28) + 0.36 * math.log(0.72)
    assert math.isclose(missing_divergence([0.64, 0.36], of_target=True), wanted)
    assert missing_divergence(["1/2", "1/2"]) == 0
    # Token 0 has to go where another never comes.
    assert math.isclose(missing_divergence([0.5, 0.5, 0], 2), math.log(2))
    assert missing_divergence([1, 0]) == math.inf
    assert missing_divergence([0.7, 0.3], 2) == math.inf


def test_a_nearer_draft_covers_the_likeliest_token():
    rng = default_rng(9)
    nearer = 0
    for _ in range(300):
        target, other = rng.dirichlet(np.ones(4), 2)
        draft = 0.6 * target + 0.4 * other
        for m in (1, 2):
            near = (draft * np.log(draft / target)).sum() < missing_divergence(target, m)
            nearer += near
            assert not near or int(np.argmax(target)) in likeliest(draft, m)
    assert nearer > 100
