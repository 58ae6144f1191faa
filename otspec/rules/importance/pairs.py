"""The pairs of free tokens shared out between their tokens (Canonical, alg. 1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from otspec._base.arithmetic import Array, IntArray, positive_part, zeros
from otspec.programs import TruncatedImportance
from otspec.programs.truncated import places_in
from otspec.solvers import SolverName, solve

Share: TypeAlias = Callable[[Array, Array], Array]
"""(masses of pairs, what each token wants) → what each gets.

As :func:`otspec.rules.importance.shared_pairs.shared_pairs` does it.
"""


def share_out(
    tokens: IntArray, first: Array, second: Array, target: Array, certain: Array, share: Share
) -> Array:
    """Return how often the first of two free tokens is selected, and count it in ``certain``.

    All are in order, (s,); what is returned is (s, s). Pairs are shared out in the order of the
    token ids, which roundings of the masses do not change.
    """
    by_id = np.argsort(tokens)
    masses = np.multiply.outer(first[by_id], second[by_id])
    masses = masses + masses.T
    np.fill_diagonal(masses, 0 * masses.diagonal())
    got = share(masses, positive_part(target - certain)[by_id])
    masses, got = (each[np.ix_(*2 * [places_in(by_id)])] for each in (masses, got))
    certain += got.sum(axis=1)
    shares = zeros(masses.shape, like=masses)
    np.divide(got, masses, out=shares, where=masses > 0)
    return shares


def solved(program: TruncatedImportance, solver: SolverName) -> Share:
    """Return what shares pairs of free tokens out by a solver of linear programs."""

    def share(masses: Array, wanted: Array) -> Array:  # noqa: ARG001 -- the program knows
        pairs, weights = program.free_pairs
        got = zeros(masses.shape, like=masses)
        if len(pairs):
            tokens = np.sort(program.order[: program.free])
            earlier, later = np.searchsorted(tokens, pairs).T
            got[earlier, later] = weights * program.shares(solve(program.build(), solver))
            got[later, earlier] = weights - got[earlier, later]
        return got

    return share
