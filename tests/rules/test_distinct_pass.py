"""Rejected drafts that are drawn in loops are those that are drawn array by array, to the bit."""

import numpy as np
import pytest
from searching import NIGHTLY

from otspec._base import compiling
from otspec.ratios import Pair
from otspec.rules.rejection import rejected_pass, rejected_paths
from otspec.rules.rejection.rejected_paths import FEW, DistinctPaths


def pairs(n):
    """Drafts and targets: alike, far apart, with zeros, ties, tiny and heavy tokens."""
    rng = np.random.default_rng(n)
    near = rng.dirichlet(np.full(n, 0.3))
    tiny = 10.0 ** -(300 * rng.random(n))
    ties = rng.integers(1, 4, n).astype(float)
    heavy = np.where(np.arange(n) == n // 2, 1e12, rng.random(n))
    gaps = np.where(rng.random(n) < 0.5, 0.0, rng.random(n)) + (np.arange(n) == 0)
    laws = [near, tiny, ties, heavy, gaps, np.full(n, 5e-324) + (np.arange(n) < 2), np.ones(n)]
    for i, draft in enumerate(laws):
        for target in (laws[i - 1], laws[i - 3], near + draft, draft):
            yield draft / draft.sum(), target / target.sum()


def drawn(draft, target, k, size):
    paths = DistinctPaths(Pair(draft, target), k, size, seed=k)
    return [numbers.tobytes() for numbers in (paths.levels, paths.rejected, paths.drafts)]


@pytest.mark.parametrize(("n", "k"), [(1, 1), (3, 5), (30, 4), (200, 20)])
def test_loops_draw_what_arrays_do(n, k, monkeypatch):
    """By day one half of the pairs over odd numbers of tokens, the other over even ones."""
    some = list(pairs(n)) if NIGHTLY else list(pairs(n))[n % 2 :: 2]
    expected = [drawn(*pair, k, 12) for pair in some]
    monkeypatch.setattr(rejected_paths, "FEW", 0)
    monkeypatch.setattr(compiling, "HAS_NUMBA", True)
    monkeypatch.setattr(rejected_pass, "fast_draw", rejected_pass.draw)
    assert [drawn(*pair, k, 12) for pair in some] == expected


@pytest.mark.skipif(not compiling.HAS_NUMBA, reason="Numba is not installed")
def test_numba_changes_nothing(monkeypatch):
    some = list(pairs(FEW))
    found = [drawn(*pair, 16, 50) for pair in some]
    monkeypatch.setattr(compiling, "HAS_NUMBA", False)
    assert [drawn(*pair, 16, 50) for pair in some] == found


@pytest.mark.parametrize("k", [1, 2, 3])
def test_paths_of_more_drafts_say_what_fewer_keep(k):
    """The mean over the paths of what is kept of one token is its entry of the law of all."""
    draft, target = next(pairs(6))
    paths = DistinctPaths(Pair(draft, target), 3, 40, seed=1)
    some, law = paths.of_first(k), paths.accepted_law(k)
    for token in range(6):
        assert paths.accepted_up_to(k, token).shape == (k + 1, 40)
        assert some.of_token(token).value == pytest.approx(law[token], rel=1e-12, abs=1e-300)
        each = [found.value for found in some.of_token_by_position(token)]
        assert len(each) == k
        assert sum(each) == pytest.approx(law[token], rel=1e-12, abs=1e-300)
    assert some.probability.value == pytest.approx(law.sum(), rel=1e-12)
