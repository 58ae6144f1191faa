"""Programs that carry rows to tokens, as the flows that they are, in floats (Theory, 1).

A maximum flow of whole numbers takes 30 binary digits at a time. What it leaves is less than a unit
for each row and token; so another one in smaller units, from where the first ended, takes the next.
"""

from __future__ import annotations

import time

import numpy as np

from otspec.arithmetic import Array, IntArray
from otspec.solvers.linear_program import LinearProgram
from otspec.solvers.solution import Solution, Status

NAME = "flow"
"""What solutions say that they come from."""
_BITS = 30
"""Whole numbers are of so many binary digits."""
_LAST = 60
"""The last binary digit that is looked at."""


def solve(program: LinearProgram, rows: IntArray, tokens: IntArray, split: int) -> Solution:
    """Carry as much as possible, with a cut as the duals.

    Parameters
    ----------
    program : LinearProgram
        In floats; its first rows bound what is carried of each row, the others what is carried to
        each token, and its columns are what is carried, which it counts once.
    rows, tokens : ndarray of int, shape (n,)
        The row and the token of each column.
    split : int
        How many rows there are.

    Returns
    -------
    Solution
        Optimal up to rounding, not checked yet. Its iterations are the flows of whole numbers.
    """
    start = time.perf_counter()
    room = program.row_upper
    pairs = rows, split + tokens
    carried: Array = np.zeros(len(rows))
    used: Array = np.zeros(len(room))
    reached, digits, rounds = np.zeros(len(room), dtype=bool), 0, 0
    while digits < _LAST:
        digits += _BITS if rounds == 0 else _BITS - len(room).bit_length()
        whole = [_whole(part, digits) for part in (room - used, carried)]
        more, reached = _flow(pairs, split, *whole)
        carried = np.maximum(carried + np.ldexp(more, -digits), 0)
        used = np.bincount(np.concatenate(pairs), np.tile(carried, 2), len(room))
        rounds += 1
    # The cut: rows that nothing more comes to pay, and tokens that something still comes to.
    duals = np.where(np.arange(len(room)) < split, ~reached, reached).astype(float)
    seconds = time.perf_counter() - start
    value = float(program.value(carried))
    return Solution(program, NAME, Status.OPTIMAL, value, carried, duals, rounds, seconds)


def _whole(values: Array, digits: int) -> IntArray:
    """Return numbers in units of 2^−digits, rounded down, at most 2³⁰."""
    return np.clip(np.floor(np.ldexp(values, digits)), 0, 1 << _BITS).astype(np.int32)


def _flow(
    pairs: tuple[IntArray, IntArray], split: int, room: IntArray, carried: IntArray
) -> tuple[Array, Array]:
    """Return what more is carried by each pair, and which rows and tokens still more comes to."""
    from scipy import sparse
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    size = len(room)
    source, sink = size, size + 1
    ids = np.arange(size)
    tails = np.concatenate([np.where(ids < split, source, ids), pairs[0], pairs[1]])
    heads = np.concatenate([np.where(ids < split, ids, sink), pairs[1], pairs[0]])
    endless = np.full(len(carried), 1 << _BITS, dtype=np.int32)
    capacities = np.concatenate([room, endless, carried])
    network = sparse.csr_array((capacities, (tails, heads)), shape=(size + 2, size + 2))
    flow = maximum_flow(network, source, sink).flow
    left = network - flow
    left.eliminate_zeros()
    reached = np.zeros(size + 2, dtype=bool)
    reached[breadth_first_order(left, source, return_predecessors=False)] = True
    return np.asarray(flow[pairs]).ravel(), reached[:size]
