"""Arguments row by row: what machine code takes, and how a loop over them is run."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from otspec.batch._array_api.library import Array

_SHARED = 2_000_000
"""Numbers from which on rows are shared among threads: waking these takes less than they save."""


@lru_cache(maxsize=1)
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Return threads that stay, since to start them takes longer than many calls."""
    return ThreadPoolExecutor(threads, f"otspec-{process}")


class Rows(NamedTuple):
    """Arguments of a rule as NumPy's arrays, read-only, one row after another."""

    arguments: tuple[Array, ...]  # what machine code takes, (rows, ...) each
    lead: tuple[int, ...]  # the leading axes of the arguments
    back: Callable[[Array], Array]  # turns NumPy's arrays into those of the arguments' library
    threads: int  # how many may share the rows: those of PyTorch, one of NumPy

    @property
    def number(self) -> int:
        """Return how many rows there are."""
        return len(self.arguments[0])

    def run(self, loop: Callable[..., None], *more: Any, kinds: tuple[Any, ...]) -> list[Array]:
        """Run a loop over the rows, and return what it fills: arrays of some kinds, one per row."""
        found = [np.empty(self.number, kind) for kind in kinds]
        parts = min(self.threads, self.number) if self.arguments[0].size >= _SHARED else 1
        if parts == 1:
            loop(*self.arguments, *found, *more)
        else:
            self._share(parts, loop, [*self.arguments, *found], more)
        return [self.shaped(values) for values in found]

    def _share(
        self, parts: int, loop: Callable[..., None], arrays: list[Array], more: tuple[Any, ...]
    ) -> None:
        edges = [self.number * part // parts for part in range(parts + 1)]
        own, *others = ([values[a:b] for values in arrays] for a, b in pairwise(edges))
        pool = _pool(len(others), os.getpid())
        running = [pool.submit(loop, *part, *more) for part in others]
        loop(*own, *more)
        for part in running:
            part.result()

    def joined(self, *numbers: Array) -> "Rows":
        """Return the same with more arguments, arrays of NumPy with an entry for each row."""
        more = (read_only(part, part.dtype, *part.shape) for part in numbers)
        return self._replace(arguments=(*self.arguments, *more))

    def together(self, number: int) -> "Rows":
        """Return the same where so many rows, those of the last leading axis, are one."""
        arguments = tuple(part.reshape(-1, number, *part.shape[1:]) for part in self.arguments)
        return self._replace(arguments=arguments, lead=self.lead[:-1])

    def shaped(self, values: Array) -> Array:
        """Return results, one per row, as the caller has its arrays."""
        if len(self.lead) != 1:
            values = values.reshape((*self.lead, *values.shape[1:]))
        return self.back(values)


def read_only(values: Array, dtype: Any, *shape: int) -> Array:
    """Return a read-only view of a shape, or a copy in another dtype or order."""
    # Machine code is made for read-only arrays alone: once, not twice.
    view = np.ascontiguousarray(values, dtype).reshape(shape)
    view.setflags(write=False)
    return view
