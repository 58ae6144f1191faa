"""Programs that carry rows to tokens, as the flows that they are, in floats (Theory, 1).

A maximum flow of whole numbers takes 30 binary digits at a time. What it leaves is less than a unit
for each row and token; so another one in smaller units takes the next.
"""

import time
from typing import TYPE_CHECKING

import numpy as np

from otspec._base import Array, IntArray
from otspec.solvers.base import Solution, Status
from otspec.solvers.linear_program import LinearProgram

if TYPE_CHECKING:
    from scipy import sparse

NAME = "flow"  # what solutions say that they come from
_BITS = 30  # whole numbers are of so many binary digits
_LAST = 60  # the last binary digit that is looked at


def solve(program: LinearProgram, rows: IntArray, tokens: IntArray, split: int) -> Solution:
    """Carry as much as possible, with a cut as the duals: optimal up to rounding, not checked."""
    # The first rows of the program bound what is carried of each row, the others what is carried to
    # each token; its columns are what is carried, by row and token, and it counts each once.
    start = time.perf_counter()
    room = program.row_upper
    ends = np.concatenate([rows, split + tokens])
    network = _Network(rows, split + tokens, split, len(room))
    carried: Array = np.zeros(len(rows))
    used: Array = np.zeros(len(room))
    digits, rounds = 0, 0
    while digits < _LAST:
        digits += _BITS if rounds == 0 else _BITS - len(room).bit_length()
        more, left = network.most(_whole(room - used, digits), _whole(carried, digits))
        carried = np.maximum(carried + np.ldexp(more, -digits), 0)
        used = np.bincount(ends, np.tile(carried, 2), len(room))
        rounds += 1
    # The cut: rows that nothing more comes to pay, and tokens that something still comes to.
    reached = network.reached(left)
    duals = np.where(np.arange(len(room)) < split, ~reached, reached).astype(float)
    seconds = time.perf_counter() - start
    value = float(program.value(carried))
    return Solution(program, NAME, Status.OPTIMAL, value, carried, duals, rounds, seconds)


def _whole(values: Array, digits: int) -> IntArray:
    """Return numbers in units of 2^−digits, rounded down, at most 2³⁰."""
    return np.clip(np.floor(np.ldexp(values, digits)), 0, 1 << _BITS).astype(np.int32)


class _Network:
    """Source → rows → tokens → sink, with every edge in both directions; rows come first."""

    def __init__(self, rows: IntArray, tokens: IntArray, split: int, size: int) -> None:
        from scipy import sparse

        self._source, self._sink, self._size = size, size + 1, size
        ids = np.arange(size)
        tails = np.concatenate([np.where(ids < split, self._source, ids), rows])
        heads = np.concatenate([np.where(ids < split, ids, self._sink), tokens])
        both = np.concatenate([tails, heads]), np.concatenate([heads, tails])
        places = np.arange(2 * len(tails))
        self._edges = sparse.csr_array((places, both), shape=(size + 2, size + 2))

    def most(self, room: IntArray, carried: IntArray) -> tuple[Array, Array]:
        """Return what more each pair carries at most, and the room that is left of each edge."""
        from scipy.sparse.csgraph import maximum_flow

        endless = np.full(len(carried), 1 << _BITS, dtype=np.int32)
        capacities = np.concatenate([room, endless, np.zeros_like(room), carried])
        # In the order of the edges, which the flow keeps, as every edge has its reverse.
        order = self._edges.data
        found = maximum_flow(self._with(capacities[order]), self._source, self._sink).flow.data
        flow = np.empty(len(order))
        flow[order] = found
        return flow[self._size : self._size + len(carried)], capacities[order] - found

    def reached(self, left: Array) -> Array:
        """Return the rows and tokens that the source reaches by edges with room left: (size,)."""
        from scipy.sparse.csgraph import breadth_first_order

        open_edges = self._with(left).copy()
        open_edges.eliminate_zeros()
        found = np.zeros(self._size + 2, dtype=bool)
        found[breadth_first_order(open_edges, self._source, return_predecessors=False)] = True
        return found[: self._size]

    def _with(self, capacities: Array) -> "sparse.csr_array":
        from scipy import sparse

        edges = self._edges
        return sparse.csr_array((capacities, edges.indices, edges.indptr), shape=edges.shape)
