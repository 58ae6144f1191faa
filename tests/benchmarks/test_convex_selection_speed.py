"""Selection by convex minimization beside one sort, on the same positions of the trace."""

from itertools import product

import numpy as np
import pytest
from convex_selection import ConvexSelection

import otspec
from otspec.rules import PooledSelection

K = 4


def test_the_law_is_that_of_a_selection():
    draft, target = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.1, 0.2, 0.3, 0.4])
    made = ConvexSelection(draft, target, 3, 4)
    made.weights = np.array([0.3, -1.0, 0.5, 2.0])
    law = np.zeros(4)
    for x in product(range(4), repeat=3):
        off = [y for y in x if y in made.sides[0]] or list(x)
        shares = np.exp(made.weights[off])
        np.add.at(law, off, draft[list(x)].prod() * shares / shares.sum())
    assert np.allclose(made.law(), law, atol=1e-8)


@pytest.mark.parametrize("position", [0, 3])
def test_ten_steps_of_convex_minimization_against_one_sort(position, report_ratio):
    _, draft, target = list(otspec.datasets.load_smollm2().pairs())[position]

    def steps():
        return ConvexSelection(draft, target, K, 49_152).run(11)

    gaps = steps()
    assert gaps[-1] < gaps[0] / 10
    assert PooledSelection(draft, target, K).acceptance() == pytest.approx(
        otspec.optimal_acceptance(otspec.IID(draft, K), target).acceptance, abs=1e-12
    )
    report_ratio(
        f"convex minimization, 10 steps, n = 49,152, gap {gaps[-1]:.0e} after {gaps[0]:.0e}",
        steps,
        "pooled selection, gap 0",
        lambda: PooledSelection(draft, target, K).acceptance(),
        "informational",
        rounds=1,
    )
