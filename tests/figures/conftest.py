"""Items of the figures book: each is computed once in a run, for all tests that look at it."""

import fcntl
import os
import pickle
from functools import cache

import pytest

from figures.contract import Settings
from otspec.datasets import load_smollm2


@pytest.fixture(scope="session", autouse=True)
def _trace_read_once():
    """Most items look at the bundled trace."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("otspec.datasets.load_smollm2", cache(load_smollm2))
        yield


@pytest.fixture(scope="session")
def computed(tmp_path_factory):
    """(item, whether quick) → the item; what one worker computed, the others read."""
    folder, known = tmp_path_factory.getbasetemp(), {}
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent

    def compute(kind, *, quick=False):
        if (kind, quick) not in known:
            known[kind, quick] = shared(folder, kind, Settings(quick=quick))
        return known[kind, quick]

    return compute


def shared(folder, kind, settings):
    """Read the item from the folder; who comes first computes it while others wait."""
    with (folder / f"{kind.name}-{settings.quick}.pickle").open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        kept = file.read()
        if kept:
            return pickle.loads(kept)  # noqa: S301 -- of this run
        item = kind.compute(settings)
        pickle.dump(item, file)
        return item
