"""Random numbers for code under audit: those that a process shares, and those that it is given."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from numpy.random import mtrand

from otspec._base.arguments import as_seed
from otspec._base.extras import needed


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the random numbers that a process shares, and put them back afterwards.

    Those of ``random``, ``numpy.random`` and, if it is loaded by then, ``torch``: of its CPU and
    of all its CUDA devices. Each gets a seed of its own that follows from ``seed``: NumPy and
    PyTorch have the same algorithm, so that from the same seed they would draw the same numbers.
    Other threads that use them meanwhile see the change.

    ``seed``: any, from 0.
    """
    words = np.random.SeedSequence((as_seed(seed), 2)).generate_state(10)
    with ExitStack() as stack:
        stack.callback(random.setstate, random.getstate())
        random.seed(int(words[0]) << 32 | int(words[1]))
        _seed_numpy(words[2:], stack)
        torch = sys.modules.get("torch")
        if torch is not None:
            _seed_torch(torch, int(words[0]) << 32 | int(words[2]), stack)
        yield


def _seed_numpy(words: Any, stack: ExitStack) -> None:
    """Give ``numpy.random`` a bit generator; the one before may be of any kind."""
    before, state = mtrand.get_bit_generator(), mtrand.get_state(legacy=False)
    stack.callback(mtrand.set_state, state)  # last: also the half of a pair of normal numbers
    stack.callback(mtrand.set_bit_generator, before)
    mtrand.set_bit_generator(np.random.MT19937(words.tolist()))


def _seed_torch(torch: Any, seed: int, stack: ExitStack) -> None:
    """Seed PyTorch. CUDA is not started for it: a seed waits there until it is."""
    if torch.cuda.is_initialized():
        stack.callback(torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all())
    else:  # as it would have started, had nothing been seeded here
        stack.callback(torch.cuda.manual_seed_all, torch.initial_seed())
    stack.callback(torch.set_rng_state, torch.get_rng_state())
    torch.manual_seed(seed)


def randomness(name: str, rng: np.random.Generator) -> Callable[[], Any]:
    """Return what to give code for its random numbers at each call.

    ``name``: what the code calls it: ``generator`` is a ``torch.Generator``, ``seed`` an integer,
    drawn anew for each call, and whatever else a ``numpy.random.Generator``. ``rng``: that
    generator, or what seeds are drawn from.
    """
    if name == "seed":
        return lambda: int(rng.integers(2**32))
    if name == "generator":
        torch = needed("torch", "a function whose second argument is its generator", "backends")
        generator = torch.Generator().manual_seed(int(rng.integers(2**32)))
        return lambda: generator
    return lambda: rng
