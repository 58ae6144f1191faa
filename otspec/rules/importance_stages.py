"""Selection of one of several drafts, two at a time (Canonical, alg. 1, remark 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from otspec.arithmetic import Array, IntArray, is_exact, positive_part, zeros
from otspec.distributions import Distribution
from otspec.drafts import Independent
from otspec.frozen import Frozen
from otspec.memory import memory
from otspec.programs import TruncatedImportance
from otspec.programs.truncated import (
    descending,
    descending_again,
    places_in,
    surely_selected,
)
from otspec.selection.shared_pairs import shared_pairs
from otspec.solvers import SolverName, solve

_BYTES_OF_PAIR = 80
"""Peak memory of a stage for each pair of free tokens."""


@dataclass(frozen=True, eq=False)
class Stage(Frozen):
    """The selection between a token selected so far and one more draft.

    Parameters
    ----------
    rank : ndarray of int, shape (n,)
        The place of each token in the order: the earlier one of a pair is selected, unless both
        are free.
    shares : ndarray, shape (s, s)
        For two free tokens by rank: how often the first of the two is selected; 0 on the diagonal.
    law_of_selection : ndarray, shape (n,)
    """

    rank: IntArray
    shares: Array
    law_of_selection: Distribution

    @classmethod
    def of(
        cls,
        near: IntArray,
        selected: Distribution,
        following: Distribution,
        target: Distribution,
        free: int,
        solver: SolverName | None,
    ) -> tuple[Self, IntArray]:
        """Return the best selection of two drafts, truncated to so many free tokens.

        Parameters
        ----------
        near : ndarray of int, shape (n,)
            The tokens in nearly the right order, as that of the stage before is.
        selected, following, target : ndarray, shape (n,)
            The laws of the token that is selected so far, and of the next draft.
        free : int
        solver : str, optional

        Returns
        -------
        Stage
        ndarray of int, shape (n,)
            The tokens in order.
        """
        free = min(free, len(target))
        _refuse_many_free(free)
        order = near[descending_again((target - selected * following)[near], near)]
        inside, first, second = order[:free], selected[order], following[order]
        certain = surely_selected(first, second, free)
        masses = np.multiply.outer(first[:free], second[:free])
        masses = masses + masses.T
        np.fill_diagonal(masses, 0 * masses.diagonal())
        if solver is None:
            got = shared_pairs(masses, positive_part(target[inside] - certain[:free]))
        else:
            drafts = Independent([selected, following])
            got = _solved(TruncatedImportance(drafts, target, free=free), masses, solver)
        certain[:free] += got.sum(axis=1)
        shares = zeros(masses.shape, like=masses)
        np.divide(got, masses, out=shares, where=masses > 0)
        law = zeros(len(target), like=target)
        law[order] = certain
        law /= law.sum()
        return cls(places_in(order), shares, law), order

    @cached_property
    def _order(self) -> IntArray:
        return places_in(self.rank)

    def keeps(self, token: IntArray, other: IntArray) -> Array:
        """Return how likely ``token`` is selected over ``other``, of shapes that go together."""
        free, ranks, others = len(self.shares), self.rank[token], self.rank[other]
        places = np.minimum(ranks, free) * (free + 1) + np.minimum(others, free)
        keeps = self._kept.take(places)
        later = places == free * (free + 2)  # neither is free
        keeps[later] = np.broadcast_to(ranks <= others, later.shape)[later]
        return keeps

    @cached_property
    def _kept(self) -> Array:
        """The shares, with 1 on the diagonal, and a row and a column for all tokens not free."""
        free = len(self.shares)
        kept = zeros((free + 1, free + 1), like=self.shares)
        kept[:free, :free] = self.shares
        np.fill_diagonal(kept, kept.diagonal() + 1)
        kept[:free, free] += 1
        return kept

    def over(self, other: Array) -> Array:
        """Return how likely each token is selected over another of a law: (..., n) -> (..., n)."""
        free, ordered = len(self.shares), other[..., self._order]
        later = _sums_before(ordered[..., ::-1])[..., ::-1]
        later[..., :free] = later[..., free - 1 : free] + ordered[..., :free] @ self.shares.T
        return later[..., self.rank]

    def under(self, token: Array) -> Array:
        """Return how likely another token of a law is selected over each: (..., n) -> (..., n)."""
        free, ordered = len(self.shares), token[..., self._order]
        earlier = _sums_before(ordered)
        earlier[..., :free] = ordered[..., :free] @ self.shares
        return earlier[..., self.rank]

    def select(self, token: Array, other: Array) -> Array:
        """Return the law of what is selected of two independent tokens, (..., n) each."""
        both: Array = token * (other + self.over(other)) + other * self.over(token)
        return both


@dataclass(frozen=True, eq=False)
class StagedSelection(Frozen):
    """Drafts that are drawn one by one, and meet what was selected of those before.

    Parameters
    ----------
    laws : tuple of ndarray, each of shape (n,)
        Of each draft.
    stages : tuple of Stage
        One for each draft after the first.
    """

    laws: tuple[Distribution, ...]
    stages: tuple[Stage, ...]

    @classmethod
    def of(
        cls,
        laws: Sequence[Distribution],
        target: Distribution,
        free: int,
        solver: SolverName | None,
    ) -> Self:
        """Return the selection that is best stage by stage."""
        stages: list[Stage] = []
        if len(laws) > 1:
            near, selected = descending(target - laws[0] * laws[1]), laws[0]
        for following in laws[1:]:
            stage, near = Stage.of(near, selected, following, target, free, solver)
            stages.append(stage)
            selected = stage.law_of_selection
        return cls(tuple(laws), tuple(stages))

    def of_first(self, k: int) -> StagedSelection:
        """Return the selection of the first drafts, which are selected among in the same way."""
        return StagedSelection(self.laws[:k], self.stages[: k - 1])

    @property
    def law(self) -> Distribution:
        """The law of the selected draft, shape (n,)."""
        return self.stages[-1].law_of_selection if self.stages else self.laws[0]

    @property
    def undrafted(self) -> Array:
        """How likely each token is none of the drafts, shape (n,)."""
        undrafted: Array = np.prod([1 - law for law in self.laws], axis=0)
        return undrafted

    def weights(self, drafts: IntArray) -> Array:
        """Return how likely each draft of each row is the selected one: (m, k) -> (m, k)."""
        *_, weights = self.all_weights(drafts.T)
        return weights.T

    def all_weights(self, drafts: IntArray) -> Iterator[Array]:
        """Yield the same for the first draft alone, the first two, and so on to all of them.

        Parameters
        ----------
        drafts : ndarray of int, shape (k, m)

        Yields
        ------
        ndarray, shape (i, m)
        """
        weights = zeros((1, drafts.shape[1]), like=self.laws[0]) + 1
        yield weights
        for i, stage in enumerate(self.stages, start=1):
            before, weights = weights, zeros((i + 1, drafts.shape[1]), like=weights)
            stays = stage.keeps(drafts[:i], drafts[i])
            weights[:i] = before * stays
            weights[i] = (before * (1 - stays)).sum(axis=0)
            yield weights

    def in_floats(self) -> StagedSelection:
        """Return the same selection in floats, which is itself if it is in floats."""
        if not is_exact(self.laws[0]):
            return self
        stages = (
            Stage(each.rank, each.shares.astype(float), each.law_of_selection.astype(float))
            for each in self.stages
        )
        return StagedSelection(tuple(law.astype(float) for law in self.laws), tuple(stages))

    def with_places(self, tokens: IntArray, after: Callable[[int, int], int], states: int) -> Array:
        """Return the law of the selected draft together with where tokens are drafted.

        Parameters
        ----------
        tokens : ndarray of int, shape (m,)
        after : callable
            (state, i) → the state after draft i is the token, where it was ``state`` before; it
            begins with 0.
        states : int
            How many states are followed; those from there on are left out.

        Returns
        -------
        ndarray, shape (states, m, n)
        """
        rows = np.arange(len(tokens))
        found = zeros((states, len(tokens), len(self.laws[0])), like=self.laws[0])
        for i, law in enumerate(self.laws):
            missed, drawn = np.tile(law, (len(tokens), 1)), zeros(found.shape[1:], like=law)
            missed[rows, tokens] *= 0
            drawn[rows, tokens] = law[tokens]
            if i == 0:
                found[0] = missed
                if after(0, 0) < states:
                    found[after(0, 0)] = drawn
                continue
            before, found = found, zeros(found.shape, like=law)
            for state in range(min(i + 1, states)):
                found[state] += self.stages[i - 1].select(before[state], missed)
                if after(state, i) < states:
                    found[after(state, i)] += self.stages[i - 1].select(before[state], drawn)
        return found


def _refuse_many_free(free: int) -> None:
    needed = _BYTES_OF_PAIR * free**2
    if needed > memory():
        raise ValueError(
            f"free is {free:,}: sharing out the pairs of so many tokens takes about "
            f"{needed / 2**30:.3g} GiB, more than this machine has; use fewer free tokens"
        )


def _solved(program: TruncatedImportance, masses: Array, solver: SolverName) -> Array:
    """Return what each free token gets of each pair, by a solver of linear programs: (s, s)."""
    pairs, weights = program.free_pairs
    got = zeros(masses.shape, like=masses)
    if len(pairs):
        earlier, later = program.rank[pairs].T
        got[earlier, later] = weights * program.shares(solve(program.build(), solver))
        got[later, earlier] = weights - got[earlier, later]
    return got


def _sums_before(values: Array) -> Array:
    """Return the sums of all values before each along the last axis."""
    sums = zeros(values.shape, like=values)
    np.cumsum(values[..., :-1], axis=-1, out=sums[..., 1:])
    return sums
