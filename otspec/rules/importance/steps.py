"""Stages of importance sampling as they are found, one after the other (Canonical, alg. 1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from otspec._base.arithmetic import Array, IntArray, is_exact, zeros
from otspec._base.memory import memory
from otspec.distributions import Distribution
from otspec.drafts import Independent
from otspec.programs import TruncatedImportance
from otspec.programs.truncated import descending, descending_again, places_in, surely_selected
from otspec.rules.importance.pairs import Share, share_out, solved
from otspec.rules.importance.shared_pairs import quick_pairs, shared_pairs
from otspec.solvers import SolverName

FEW = 4_096
"""Up to so many tokens NumPy is as quick as loading what is compiled."""
_BYTES_OF_PAIR = 80
"""Peak memory of a stage for each pair of free tokens."""
_MOVED = 2_048
"""Most tokens that change places from stage to stage without all being sorted again."""


class Staged(Protocol):
    """The selection between a token selected so far and one more draft."""

    @property
    def order(self) -> IntArray:
        """The tokens in order."""

    @property
    def rank(self) -> IntArray:
        """The place of each token in the order."""

    @property
    def shares(self) -> Array:
        """How often the first of two free tokens is selected, by rank."""

    @property
    def kept(self) -> Array:
        """What :func:`kept_of` makes of the shares."""

    @property
    def law_of_selection(self) -> Distribution:
        """Of the selected draft."""


class Step(NamedTuple):
    """A stage while it is looked at: its arrays may be written to for the next one.

    As :class:`otspec.rules.importance.stages.Stage`, which copies them.
    """

    order: IntArray
    rank: IntArray
    shares: Array
    law_of_selection: Distribution

    @property
    def kept(self) -> Array:
        """What :func:`kept_of` makes of the shares."""
        return kept_of(self.shares)


class Drawn(NamedTuple):
    """Drafts that were drawn, and what is selected of them; until the next stage."""

    stage: Staged | None
    """The last of those that they have gone through."""
    drafts: IntArray
    first: Array
    """Whether each is another token than those before it."""
    weights: Array
    """How likely each is the selected one."""


def steps(
    laws: Sequence[Distribution], target: Distribution, free: int, solver: SolverName | None
) -> Iterator[Step]:
    """Yield the selections that are best stage by stage, one for each draft after the first.

    Raises
    ------
    ValueError
        More free tokens than the memory holds pairs of.
    """
    if len(laws) == 1:
        return
    free = min(free, len(target))
    _refuse_many_free(free)
    order, selected = descending(target - laws[0] * laws[1]), laws[0]
    if solver is None and len(target) >= FEW and not is_exact(target) and _has_numba():
        yield from _passed(laws, target, free, order)
        return
    for following in laws[1:]:
        step = _step(order, selected, following, target, free, solver)
        yield step
        order, selected = step.order, step.law_of_selection


def chosen(
    stages: Iterable[Staged], drafts: IntArray, weights: Array
) -> Iterator[tuple[Staged | None, Array]]:
    """Yield how likely each of the first drafts is the selected one, of one, two, and so on.

    Parameters
    ----------
    stages : iterable of Staged
    drafts : ndarray of int, shape (k, m)
    weights : ndarray, shape (k, m)
        Is written to; its arithmetic is the one that is used.

    Yields
    ------
    Staged or None
        The last of the stages that have been gone through.
    ndarray, shape (i, m)
        Until the next one.
    """
    weights[:1] = weights[:1] * 0 + 1
    yield None, weights[:1]
    fast = drafts.size >= FEW and not is_exact(weights) and _has_numba()
    for i, stage in enumerate(stages, start=1):
        kept = stage.kept if is_exact(weights) else stage.kept.astype(float, copy=False)
        if fast:
            _meet_quickly(weights, drafts, i, stage.rank, kept)
        else:
            stays = keeps(stage.rank, kept, drafts[:i], drafts[i])
            weights[i] = (weights[:i] * (1 - stays)).sum(axis=0)
            weights[:i] *= stays
        yield stage, weights[: i + 1]


def followed(stages: Iterable[Staged], drafts: IntArray) -> Iterator[tuple[int, Drawn]]:
    """Yield what becomes of the first draft, of the first two, and so on, and how many they are."""
    first = np.array([~(drafts[:i] == each).any(axis=0) for i, each in enumerate(drafts)])
    found = chosen(stages, drafts, np.zeros(drafts.shape))
    for k, (stage, weights) in enumerate(found, start=1):
        yield k, Drawn(stage, drafts[:k], first[:k], weights)


def keeps(rank: IntArray, kept: Array, token: IntArray, other: IntArray) -> Array:
    """Return how likely ``token`` is selected over ``other``, of shapes that go together."""
    free, ranks, others = len(kept) - 1, rank[token], rank[other]
    places = np.minimum(ranks, free) * (free + 1) + np.minimum(others, free)
    found: Array = kept.take(places)
    neither = places == free * (free + 2)  # is free
    np.copyto(found, ranks <= others, where=neither)
    return found


def kept_of(shares: Array) -> Array:
    """Return shares with 1 on the diagonal, and a row and a column for all tokens not free."""
    free = len(shares)
    kept = zeros((free + 1, free + 1), like=shares)
    kept[:free, :free] = shares
    np.fill_diagonal(kept, kept.diagonal() + 1)
    kept[:free, free] += 1
    return kept


def under(shares: Array, ordered: Array) -> Array:
    """Return how likely another token of a law is selected over each, all in order: (..., n)."""
    free, earlier = len(shares), sums_before(ordered)
    earlier[..., :free] = ordered[..., :free] @ shares
    return earlier


def sums_before(values: Array) -> Array:
    """Return the sums of all values before each along the last axis."""
    sums = zeros(values.shape, like=values)
    np.cumsum(values[..., :-1], axis=-1, out=sums[..., 1:])
    return sums


def _step(
    near: IntArray,
    selected: Distribution,
    following: Distribution,
    target: Distribution,
    free: int,
    solver: SolverName | None,
) -> Step:
    """Return the best selection of two drafts, given the tokens in nearly the right order."""
    order = near[descending_again((target - selected * following)[near], near)]
    first, second = selected[order], following[order]
    certain = surely_selected(first, second, free)
    share: Share = shared_pairs
    if solver is not None:
        program = TruncatedImportance(Independent([selected, following]), target, free=free)
        share = solved(program, solver)
    inside = slice(free)
    wanted = target[order[inside]]
    shares = share_out(order[inside], first[inside], second[inside], wanted, certain[inside], share)
    law = zeros(len(target), like=target)
    law[order] = certain
    law /= law.sum()
    return Step(order, places_in(order), shares, law)


def _passed(
    laws: Sequence[Distribution], target: Distribution, free: int, order: IntArray
) -> Iterator[Step]:
    """Yield the same numbers as :func:`_step` finds, of passes over masses that are in order."""
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
        shares = share_out(order[:free], first, second, wanted, certain, quick_pairs)
        law[order[:free]] = certain
        total = law.sum()
        law /= total
        masses[0] /= total
        yield Step(order, rank, shares, law)


def _meet_quickly(weights: Array, drafts: IntArray, i: int, rank: IntArray, kept: Array) -> None:
    from otspec._base.compiling import unwriteable
    from otspec.rules.importance import numba_pass

    numba_pass.fast_meet(weights, drafts, i, unwriteable(rank), unwriteable(kept))


def _has_numba() -> bool:
    from otspec._base import compiling  # imports Numba, if it is there

    return compiling.HAS_NUMBA


def _refuse_many_free(free: int) -> None:
    needed = _BYTES_OF_PAIR * free**2
    if needed > memory():
        raise ValueError(
            f"free is {free:,}: sharing out the pairs of so many tokens takes about "
            f"{needed / 2**30:.3g} GiB, more than this machine has; use fewer free tokens"
        )
