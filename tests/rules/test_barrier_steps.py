"""The steps between barriers, each against the best of all knots above."""

import numpy as np

from otspec.rules.pooled.barrier_process import best_steps


def test_each_step_follows_the_best_slope_of_all_knots_that_are_reached():
    """The lines are tangents of a parabola, a little below it: about each is best somewhere."""
    rng, between = np.random.default_rng(3_310), 0
    for _ in range(300):  # whole numbers, so that floats are exact
        m = int(rng.integers(1, 14))
        knots = np.sort(rng.choice(60, m + 1, replace=False)).astype(float)
        at = np.sort(rng.integers(0, 40, m)).astype(float)
        best = np.append(0.0, 2 * at * knots[1:] - at**2 - rng.integers(0, 9, m))
        least = best + (rng.random(m + 1) < 0.1)
        following, source, lines = np.zeros(m + 1), np.zeros(m + 1, int), np.zeros(m + 1, int)
        best_steps(knots, least, 2 * at, best, following, source, lines)
        for i in range(m + 1):
            above = [j for j in range(i + 1, m + 1) if best[j] >= least[j]]
            high = {j: best[j] - 2 * at[j - 1] * (knots[j] - knots[i]) for j in above}
            wanted = max(high.values(), default=-1)
            assert (following[i], high.get(source[i], -1)) == (wanted, wanted)
            between += bool(high) and min(high) < source[i] < max(high)
    assert between > 300
