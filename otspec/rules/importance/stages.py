"""Selection of one of several drafts, two at a time (Canonical, alg. 1, remark 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from otspec._base.arithmetic import Array, IntArray, zeros
from otspec._base.frozen import Frozen, cached_property
from otspec.distributions import Distribution
from otspec.programs.truncated import places_in
from otspec.rules.importance.steps import Staged, chosen, kept_of, steps, sums_before, under
from otspec.solvers import SolverName


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

    @cached_property
    def order(self) -> IntArray:
        """The tokens in order, shape (n,)."""
        return places_in(self.rank)

    @cached_property
    def kept(self) -> Array:
        """The shares, with 1 on the diagonal, and a row and a column for all tokens not free."""
        return kept_of(self.shares)

    def over(self, other: Array) -> Array:
        """Return how likely each token is selected over another of a law: (..., n) -> (..., n)."""
        free, ordered = len(self.shares), other[..., self.order]
        later = sums_before(ordered[..., ::-1])[..., ::-1]
        later[..., :free] = later[..., free - 1 : free] + ordered[..., :free] @ self.shares.T
        return later[..., self.rank]

    def under(self, token: Array) -> Array:
        """Return how likely another token of a law is selected over each: (..., n) -> (..., n)."""
        return under(self.shares, token[..., self.order])[..., self.rank]

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
    target : ndarray, shape (n,)
        What is to be selected.
    free : int
        How many tokens each stage shares out the pairs of.
    solver : str, optional
        Of the stages.
    """

    laws: tuple[Distribution, ...]
    target: Distribution
    free: int
    solver: SolverName | None = None

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The selection that is best stage by stage: one for each draft after the first."""
        found = steps(self.laws, self.target, self.free, self.solver)
        return tuple(Stage(each.rank, each.shares, each.law_of_selection) for each in found)

    def passed(self) -> Iterable[Staged]:
        """Return the stages one by one: of those that are not remembered each until the next."""
        if "stages" in vars(self):
            return self.stages
        return steps(self.laws, self.target, self.free, self.solver)

    def of_first(self, k: int) -> StagedSelection:
        """Return the selection of the first drafts, which are selected among in the same way."""
        first = StagedSelection(self.laws[:k], self.target, self.free, self.solver)
        if "stages" in vars(self):
            first._hold(stages=self.stages[: k - 1])
        return first

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
        weights = zeros(drafts.T.shape, like=self.laws[0])
        *_, (_, weights) = chosen(self.stages, drafts.T, weights)
        return weights.T

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
