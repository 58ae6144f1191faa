"""Loops as machine code: kept on disk, for every loop, wherever there is a folder for it."""

import importlib
import pkgutil

import numpy as np
import pytest

from otspec._base import compiling
from otspec.drafts import race
from otspec.optimum import pools
from otspec.rules import importance, pooled, rejection, shared_noise

pytestmark = pytest.mark.skipif(not compiling.HAS_NUMBA, reason="Numba is not installed")


def doubled(values):
    return values + values


def test_the_code_of_a_loop_is_kept_in_the_folder_that_numba_is_told(tmp_path, monkeypatch):
    import numba

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    first, again = compiling.compiled(doubled), compiling.compiled(doubled)
    assert first(1.5) == again(1.5) == 3
    assert list(tmp_path.rglob("*.nbc"))
    assert sum(first.stats.cache_misses.values()) == 1
    assert sum(again.stats.cache_hits.values()) == 1


def test_where_there_is_no_folder_loops_are_compiled_all_the_same(monkeypatch):
    import numba

    def nowhere(*_, cache=False):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return unkept(doubled)

    unkept = numba.njit
    monkeypatch.setattr(numba, "njit", nowhere)
    assert compiling.compiled(doubled)(2) == 4


def test_every_loop_of_the_package_is_kept():
    from numba.core.caching import FunctionCache
    from numba.core.dispatcher import Dispatcher

    loops = {
        name: value
        for package in (pools, race, pooled, importance, rejection, shared_noise)
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
        for name, value in vars(importlib.import_module(module.name)).items()
        if isinstance(value, Dispatcher)
    }
    assert {
        "fast_live",
        "fast_clip",
        "fast_best_steps",
        "fast_binned",
        "fast_arrive",
        "fast_sums_from_last",
    } <= set(loops)
    assert all(isinstance(loop._cache, FunctionCache) for loop in loops.values())


def test_any_array_is_had_as_one_that_is_only_read():
    values = np.arange(3)
    view = compiling.unwriteable(values)
    assert view.base is values
    assert not view.flags.writeable
    assert values.flags.writeable
