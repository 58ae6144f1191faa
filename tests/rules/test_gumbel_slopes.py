"""Derivatives of one race: against differences of its acceptance, and against all counts."""

from itertools import product

import numpy as np
import pytest

from otspec.ratios import Pair
from otspec.rules.shared_noise.gumbel_race import GumbelRace, _moved


def race(logits, target, k):
    draft = np.exp(logits)
    return GumbelRace(Pair(draft / draft.sum(), target), k)


@pytest.mark.parametrize(("n", "k"), [(2, 1), (3, 2), (5, 4), (40, 3), (300, 2)])
@pytest.mark.parametrize("seed", range(2))
def test_slopes_are_differences_of_the_acceptance(n, k, seed):
    """A central difference of step h is off by h²/6 of the third derivative, and by 1e-14/h."""
    rng = np.random.default_rng([n, seed])
    logits, target = rng.normal(0, 1.5, n), rng.dirichlet(np.full(n, 0.5))
    accepted, slopes = race(logits, target, k).slopes()
    assert accepted == pytest.approx(race(logits, target, k).acceptances()[-1], abs=1e-12)
    assert slopes.sum() == pytest.approx(0, abs=1e-12)  # only differences of logits matter
    for token in [*range(min(n, 5)), int(np.argmin(logits)), int(np.argmax(target))]:
        step = 1e-4 * np.eye(n)[token]
        up, down = (race(logits + sign * step, target, k).acceptances()[-1] for sign in (1, -1))
        assert slopes[token] == pytest.approx((up - down) / 2e-4, abs=2e-8)


def test_slopes_where_two_ratios_differ_by_a_rounding_are_those_beside():
    """Tokens 0 and 2 have ratios 11/14, of which rounding makes two; further apart nothing jumps.

    A step of h in the logits changes a slope by a few h.
    """
    draft, target = np.array([5, 6, 3]) / 14, np.array([5, 3, 3]) / 11
    ratios, step = draft / target, 1e-8
    assert 0 < abs(ratios[0] - ratios[2]) < 1e-15
    slopes = GumbelRace(Pair(draft, target), 2).slopes()[1]
    apart = np.log(draft) + step * np.sign(ratios - ratios[[2, 1, 0]])
    beside = race(apart, target, 2).slopes()[1]
    assert abs(beside[0] - beside[2]) > 0.09  # it jumps where they change places
    assert slopes == pytest.approx(beside, abs=10 * step)


@pytest.mark.parametrize("starts", [(0, 0, 0), (0, 1, 1), (1, 2, 2)])
def test_counts_and_what_they_owe_are_those_of_all_ways(starts):
    """Three independent events at three nodes; each counts at the nodes from its start on."""
    rng = np.random.default_rng(3)
    most, nodes, times, events = 4, 3, 2, len(starts)
    missing, flow = rng.random((2, events, nodes, times))
    owed = rng.random((most, nodes, times))
    counts = np.zeros((2, most, nodes, times))
    counts[0, 0] = 1

    def law(stays):
        """Return Pr(N = i) at each node, shape (most, nodes, times)."""
        found = np.zeros((most, nodes, times))
        for ways in product((0, 1), repeat=events):
            for node in range(nodes):
                if any(way and node < start for way, start in zip(ways, starts, strict=True)):
                    continue
                chance = np.ones(times)
                for event, way in enumerate(ways):
                    if node >= starts[event]:
                        stay = stays[event, node]
                        chance = chance * ((1 - stay) if way else stay)
                found[sum(ways), node] += chance
        return found

    right, due = law(missing), owed.copy()
    found = _moved(counts, due, np.array(starts), missing, flow)
    assert counts[0] == pytest.approx(right, abs=1e-14)
    step = 1e-6
    total = (law(missing - step * flow) - law(missing + step * flow)) / (2 * step)
    assert counts[1] == pytest.approx(total, abs=1e-8)
    for event in range(events):
        moved = flow * (np.arange(events) == event)[:, None, None]
        change = (law(missing - step * moved) - law(missing + step * moved)) / (2 * step)
        assert found[event] == pytest.approx((owed * change).sum(), abs=1e-8)
    # Before all events nothing has come: what is owed there is the sum itself.
    assert (due[0]).sum() == pytest.approx((owed * right).sum(), abs=1e-12)
