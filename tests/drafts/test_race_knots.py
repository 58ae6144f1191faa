"""P(all distinct drafts inside) at a few prefixes, against all prefixes and exact sums."""

from itertools import islice

import numpy as np
import oracles
import pytest
from instances import floats, pairs

import otspec
from otspec._base import compiling
from otspec.drafts.race import knots as race_knots
from otspec.drafts.race import numba_pass
from otspec.drafts.race.increments import inside_of_prefixes
from otspec.drafts.race.knots import Knots, inside_at
from otspec.optimum.cuts import prefix

CLOSE = 1e-13
"""What the quadrature may be off, and the rounding of its chunks."""


def shapes(n, seed):
    """Drafts over n tokens: flat, peaked, with one heavy token, with tiny ones, with zeros."""
    rng = np.random.default_rng(seed)
    flat = np.ones(n)
    peaked = np.exp(3 * rng.standard_normal(n))
    steep = np.exp(-np.arange(n) / 3.0)
    heavy = np.where(np.arange(n) == n // 2, 1e9, rng.random(n))
    tiny = 10.0 ** -(300 * rng.random(n))
    gaps = np.where(rng.random(n) < 0.3, 0.0, peaked)
    for rates in (flat, peaked, rng.permutation(steep), heavy, tiny, gaps):
        yield rates / rates.sum()


@pytest.mark.parametrize("n", [20, 700, 5_000])
def test_a_few_prefixes_are_as_all(n):
    for rates in shapes(n, seed=n):
        ks = [k for k in (3, 5, 16) if k <= np.count_nonzero(rates)]
        ends = np.unique(np.random.default_rng(1).integers(0, n + 1, 12))
        found = inside_at(rates, ks, ends)
        assert np.abs(found - inside_of_prefixes(rates, ks)[:, ends]).max() <= CLOSE


@pytest.mark.parametrize("kept", [0, race_knots._KEPT])
def test_prefixes_that_are_asked_for_by_and_by_are_as_those_at_once(kept, monkeypatch):
    monkeypatch.setattr(race_knots, "_KEPT", kept)
    for rates in shapes(1_500, seed=910):
        ends = np.random.default_rng(2).permutation(1_501)[:60]
        expected = inside_at(rates, [3, 7], np.sort(ends))[:, np.argsort(np.argsort(ends))]
        knots = Knots(rates, [3, 7])
        found = np.hstack([knots.inside_at(some) for some in np.split(ends, 12)])
        assert np.abs(found - expected).max() <= CLOSE


@pytest.mark.parametrize("loop", [numba_pass.pass_heavy, numba_pass.fast_pass_heavy])
def test_heavy_tokens_are_passed_by_loops_as_by_arrays(loop):
    rng = np.random.default_rng(909)
    for k in (1, 2, 9):
        race, missing = rng.random((k, 40)), rng.random((6, 40))
        expected, found = race.copy(), race.copy()
        race_knots.pass_heavy(expected, missing, 1 - missing)
        loop(found, missing, 1 - missing)
        assert found.tolist() == expected.tolist()


@pytest.mark.skipif(not compiling.HAS_NUMBA, reason="Numba is not installed")
def test_numba_changes_no_probability(monkeypatch):
    ends = np.arange(0, 701, 25)
    found = [inside_at(rates, [4, 9], ends).tolist() for rates in shapes(700, seed=908)]
    monkeypatch.setattr(compiling, "HAS_NUMBA", False)
    assert [inside_at(rates, [4, 9], ends).tolist() for rates in shapes(700, seed=908)] == found


def test_small_drafts_are_as_their_tables():
    for draft, _ in pairs(911, 60, most_tokens=6, fewest=3):
        k = min(4, sum(map(bool, draft)))
        inside = oracles.inside_prefixes(
            oracles.without_replacement_table(draft, k), range(len(draft))
        )
        found = inside_at(np.array(floats(draft)), [k], np.arange(len(draft) + 1))[0]
        assert np.abs(found - np.array(inside, dtype=float)).max() <= CLOSE


def excesses(rates, costs, ks):
    return (costs - inside_of_prefixes(rates, ks)).min(axis=1)


def test_the_search_finds_the_least_of_all_prefixes():
    ks = [1, 2, 3, 16]
    several = zip(shapes(2_000, seed=912), [*shapes(2_000, seed=913)][::-1], strict=True)
    for rates, masses in several:
        costs = np.append(0.0, np.cumsum(np.sort(masses)))
        found = prefix.least_excess(rates, costs, ks)
        assert np.abs(found - excesses(rates, costs, ks)).max() <= CLOSE


def test_the_search_looks_at_few_prefixes(monkeypatch):
    asked = []

    class Counted(Knots):
        def inside_at(self, ends):
            asked[-1] += len(ends)
            return super().inside_at(ends)

    monkeypatch.setattr(prefix, "Knots", Counted)
    several = zip(shapes(5_000, seed=906), [*shapes(5_000, seed=907)][::-1], strict=True)
    for draft, target in several:
        order = otspec.ratios.order(draft, target)
        asked.append(0)
        prefix.least_excess(draft[order], np.append(0.0, np.cumsum(target[order])), [3, 16])
    assert max(asked) <= 60


def test_where_all_prefixes_tie_all_are_looked_at():
    """A target that is the law of the last draft: cost and P(all inside) are the same."""
    rates = np.sort(next(islice(shapes(3_000, seed=914), 1, None)))
    costs = inside_of_prefixes(rates, [4])[0]
    assert abs(prefix.least_excess(rates, costs, [4])[0]) <= CLOSE


def test_on_the_trace_it_is_the_least_of_all_prefixes():
    for _, draft, target in islice(otspec.datasets.load_smollm2().pairs(temperature=0.3), 1):
        order = otspec.ratios.order(draft, target)
        costs = np.append(0.0, np.cumsum(target[order]))
        found = prefix.least_excess(draft[order], costs, [3, 8])
        assert np.abs(found - excesses(draft[order], costs, [3, 8])).max() <= CLOSE
