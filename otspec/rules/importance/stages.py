"""Stages of importance sampling, found one after the other (Canonical, alg. 1, remark 4)."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import NamedTuple, TypeAlias

import numpy as np

from otspec._base import Array, IntArray, is_exact, memory, positive_part, zeros
from otspec.distributions import Distribution
from otspec.drafts import Independent
from otspec.programs import TruncatedImportance
from otspec.programs.truncated import descending, descending_again, places_in, surely_selected
from otspec.rules.importance.shared_pairs import shared_pairs
from otspec.solvers import SolverName, solve

FEW = 4_096  # up to so many tokens NumPy is as quick as loading what is compiled
_BYTES_OF_PAIR = 80  # peak memory of a stage for each pair of free tokens
_MOVED = 2_048  # most tokens that change places from stage to stage without all being sorted again
_OFTEN = 100  # pairs are shared out by machine code from then on: before, loading it takes longer
_asked = count()
_Share: TypeAlias = Callable[[Array, Array], Array]
"""(masses of pairs, what each token wants) → what each gets, as :func:`shared_pairs`."""


class Stage(NamedTuple):
    """The selection between a token selected so far and one more draft."""

    # (n,): the tokens by descending q − p₁p₂: the earlier one of a pair is selected, unless both
    # are free
    order: IntArray
    rank: IntArray  # (n,): the place of each token in the order
    # (s, s): for two free tokens by rank: how often the first of the two is selected; 0 on the
    # diagonal
    shares: Array
    # (s + 1, s + 1): the shares, with 1 on the diagonal, and a row and a column for all tokens not
    # free
    kept: Array
    law_of_selection: Distribution  # (n,)

    def keeps(self, token: IntArray, other: IntArray) -> Array:
        """Return how likely ``token`` is selected over ``other``, of shapes that go together."""
        free, rank, ranks = len(self.shares), self.rank[token], self.rank[other]
        places = np.minimum(rank, free) * (free + 1) + np.minimum(ranks, free)
        found: Array = self.kept.take(places)
        neither = places == free * (free + 2)  # is free
        np.copyto(found, rank <= ranks, where=neither)
        return found

    def over(self, other: Array) -> Array:
        """Return how likely each token is selected over another of a law: (..., n) -> (..., n)."""
        free, ordered = len(self.shares), other[..., self.order]
        later = _sums_before(ordered[..., ::-1])[..., ::-1]
        later[..., :free] = later[..., free - 1 : free] + ordered[..., :free] @ self.shares.T
        return later[..., self.rank]

    def under(self, token: Array) -> Array:
        """Return how likely another token of a law is selected over each: (..., n) -> (..., n)."""
        return self.under_in_order(token[..., self.order])[..., self.rank]

    def under_in_order(self, ordered: Array) -> Array:
        """Return the same for a law whose tokens are in order, and in order."""
        free, earlier = len(self.shares), _sums_before(ordered)
        earlier[..., :free] = ordered[..., :free] @ self.shares
        return earlier

    def select(self, token: Array, other: Array) -> Array:
        """Return the law of what is selected of two independent tokens, (..., n) each."""
        return token * (other + self.over(other)) + other * self.over(token)


def stages_of(
    laws: Sequence[Distribution], target: Distribution, free: int, solver: SolverName | None
) -> Iterator[Stage]:
    """Yield the best selection of each stage, one for each draft after the first."""
    # The next stage may write to the arrays of one.
    if len(laws) == 1:
        return
    free = min(free, len(target))
    _refuse_many_free(free)
    order, selected = descending(target - laws[0] * laws[1]), laws[0]
    if solver is None and len(target) >= FEW and not is_exact(target) and has_numba():
        yield from _passed(laws, target, free, order)
        return
    for following in laws[1:]:
        stage = _next(order, selected, following, target, free, solver)
        yield stage
        order, selected = stage.order, stage.law_of_selection


def has_numba() -> bool:
    """Return whether loops can be machine code."""
    from otspec._base import compiling  # imports Numba, if it is there

    return compiling.HAS_NUMBA


def _sums_before(values: Array) -> Array:
    """Return the sums of all values before each along the last axis."""
    sums = zeros(values.shape, like=values)
    np.cumsum(values[..., :-1], axis=-1, out=sums[..., 1:])
    return sums


def _next(
    near: IntArray,
    selected: Distribution,
    following: Distribution,
    target: Distribution,
    free: int,
    solver: SolverName | None,
) -> Stage:
    """Return the best selection of two drafts, given the tokens in nearly the right order."""
    order = near[descending_again((target - selected * following)[near], near)]
    first, second = selected[order], following[order]
    certain = surely_selected(first, second, free)
    share: _Share = _shared
    if solver is not None:
        program = TruncatedImportance(Independent([selected, following]), target, free=free)
        share = _solved(program, solver)
    inside = slice(free)
    wanted = target[order[inside]]
    shares = _share_out(
        order[inside], first[inside], second[inside], wanted, certain[inside], share
    )
    law = zeros(len(target), like=target)
    law[order] = certain
    law /= law.sum()
    return Stage(order, places_in(order), shares, _kept_of(shares), law)


def _passed(
    laws: Sequence[Distribution], target: Distribution, free: int, order: IntArray
) -> Iterator[Stage]:
    """Yield the same numbers as :func:`_next` finds, of passes over masses that are in order."""
    from otspec.rules.importance import numba_pass

    following, rank, law = laws[1], np.empty_like(order), np.empty(len(order))
    masses = np.array([laws[0][order], following[order], target[order]])
    for each in laws[1:]:
        if each is not following:
            following, masses[1] = each, each[order]
        if not numba_pass.fast_move_few(order, masses, _MOVED):
            again = descending_again(masses[2] - masses[0] * masses[1], order)
            order, masses = order[again], masses.take(again, axis=1)
        certain, second, wanted = masses[:, :free]
        first = certain.copy()
        numba_pass.fast_surely(order, masses, free, rank, law)
        share = numba_pass.quick_pairs
        shares = _share_out(order[:free], first, second, wanted, certain, share)
        law[order[:free]] = certain
        total = law.sum()
        law /= total
        masses[0] /= total
        yield Stage(order, rank, shares, _kept_of(shares), law)


def _share_out(
    tokens: IntArray, first: Array, second: Array, target: Array, certain: Array, share: _Share
) -> Array:
    """Return how often the first of two free tokens is selected, and count it in ``certain``."""
    # All are in order, (s,); what is returned is (s, s). Pairs are shared out in the order of the
    # token ids, which roundings of the masses do not change.
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


def _shared(masses: Array, wanted: Array) -> Array:
    """Share pairs out, as machine code if it is asked for often."""
    if is_exact(masses) or next(_asked) < _OFTEN or not has_numba():
        return shared_pairs(masses, wanted)
    from otspec.rules.importance.numba_pass import quick_pairs

    return quick_pairs(masses, wanted)


def _solved(program: TruncatedImportance, solver: SolverName) -> _Share:
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


def _kept_of(shares: Array) -> Array:
    """Return :attr:`Stage.kept`."""
    free = len(shares)
    kept = zeros((free + 1, free + 1), like=shares)
    kept[:free, :free] = shares
    np.fill_diagonal(kept, kept.diagonal() + 1)
    kept[:free, free] += 1
    return kept


def _refuse_many_free(free: int) -> None:
    needed = _BYTES_OF_PAIR * free**2
    if needed > memory():
        raise ValueError(
            f"free is {free:,}: sharing out the pairs of so many tokens takes about "
            f"{needed / 2**30:.3g} GiB, more than this machine has; use fewer free tokens"
        )
