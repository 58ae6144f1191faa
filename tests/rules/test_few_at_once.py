"""How many numbers are worked on at once changes nothing."""

from importlib import import_module

import numpy as np
import pytest
from instances import pairs

from otspec.ratios import Pair
from otspec.rules import GumbelCoupling, GumbelLists, ImportanceSampling, PooledSelection
from otspec.rules.shared_noise.gumbel_race import GumbelRace

FLOATS = np.random.default_rng(5).dirichlet(np.full(9, 0.5), 2)


def of_exact(make):
    """Return the numbers of a rule at some exact instances of three drafts."""
    return [make(draft, target).tolist() for draft, target in list(pairs(5, 12, 5))[:4]]


CALLS = {
    "pooled.draft_counts.MOST_AT_ONCE": (
        (1, 20), lambda: of_exact(lambda *pair: PooledSelection(*pair, 3).accepted().by_position)
    ),
    "importance.acceptance._TOGETHER": (
        (20, 45),
        lambda: of_exact(lambda *pair: ImportanceSampling(*pair, 3).accepted().by_position),
    ),
    "shared_noise.base._CHUNK": ((1, 100), lambda: GumbelLists(*FLOATS, 3).steps(50, 1)),
    "shared_noise.gumbel_counts._CHUNK": ((1,), lambda: GumbelCoupling.acceptances(*FLOATS, [3])),
    "shared_noise.gumbel_race._CHUNK": (
        (1, 1_000), lambda: GumbelRace(Pair(*FLOATS), 3).slopes()[1]
    ),
    "shared_noise.gumbel_lists._BLOCK": (
        (1, 400), lambda: GumbelLists.acceptances(*FLOATS, [1, 3, 8])
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_parts_of_a_computation_make_the_whole(name, monkeypatch):
    module, _, limit = name.rpartition(".")
    sizes, call = CALLS[name]
    whole = call()
    for size in sizes:
        monkeypatch.setattr(import_module(f"otspec.rules.{module}"), limit, size)
        found = call()
        if name.startswith(("pooled", "importance", "shared_noise.base")):
            assert np.array_equal(found, whole)
        else:  # sums in another order
            assert np.array(found, float) == pytest.approx(np.array(whole, float), abs=1e-13)
