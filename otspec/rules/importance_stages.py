"""Selection of one of several drafts, two at a time (Canonical, alg. 1, remark 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from otspec.arithmetic import Array, IntArray, is_exact, zeros
from otspec.distributions import Distribution
from otspec.drafts import Independent
from otspec.frozen import Frozen
from otspec.memory import memory
from otspec.programs import TruncatedImportance
from otspec.programs.truncated import descending, descending_again, places_in, surely_selected
from otspec.rules.importance_pairs import Share, share_out, solved
from otspec.selection.shared_pairs import quick_pairs, shared_pairs
from otspec.solvers import SolverName

FEW = 4_096
"""Up to so many tokens NumPy is as quick as loading what is compiled."""
_BYTES_OF_PAIR = 80
"""Peak memory of a stage for each pair of free tokens."""
_MOVED = 2_048
"""Most tokens that change places from stage to stage without all being sorted again."""


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
        order = near[descending_again((target - selected * following)[near], near)]
        first, second = selected[order], following[order]
        certain = surely_selected(first, second, free)
        share: Share = shared_pairs
        if solver is not None:
            program = TruncatedImportance(Independent([selected, following]), target, free=free)
            share = solved(program, solver)
        inside = slice(free)
        wanted = target[order[inside]]
        shares = share_out(first[inside], second[inside], wanted, certain[inside], share)
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
        neither = places == free * (free + 2)  # is free
        np.copyto(keeps, ranks <= others, where=neither)
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
        if len(laws) == 1:
            return cls(tuple(laws), ())
        free = min(free, len(target))
        _refuse_many_free(free)
        near = descending(target - laws[0] * laws[1])
        if solver is None and len(target) >= FEW and not is_exact(target):
            from otspec import compiling  # imports Numba, if it is there

            if compiling.HAS_NUMBA:
                return cls(tuple(laws), tuple(_passed(laws, target, free, near)))
        stages, selected = [], laws[0]
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


def _passed(
    laws: Sequence[Distribution], target: Distribution, free: int, near: IntArray
) -> Iterator[Stage]:
    """Yield the stages one after the other: the same numbers as :meth:`Stage.of` finds."""
    from otspec.rules import importance_pass

    tokens, following = near.copy(), laws[1]
    masses = np.array([laws[0][tokens], following[tokens], target[tokens]])
    for law in laws[1:]:
        if law is not following:
            following, masses[1] = law, law[tokens]
        if not importance_pass.fast_move_few(tokens, masses, _MOVED):
            again = descending_again(masses[2] - masses[0] * masses[1], tokens)
            tokens, masses = tokens[again], masses.take(again, axis=1)
        certain = importance_pass.fast_surely(masses, free)
        first, second, wanted = masses[:, :free]
        shares = share_out(first, second, wanted, certain[:free], quick_pairs)
        rank, selected = importance_pass.fast_in_places(tokens, certain)
        total = selected.sum()
        selected /= total
        np.divide(certain, total, out=masses[0])
        yield Stage(rank, shares, selected)


def _sums_before(values: Array) -> Array:
    """Return the sums of all values before each along the last axis."""
    sums = zeros(values.shape, like=values)
    np.cumsum(values[..., :-1], axis=-1, out=sums[..., 1:])
    return sums
