"""Selection of one of several drafts, two at a time (Canonical, alg. 1, remark 4)."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from otspec._base import Array, IntArray, is_exact, zeros
from otspec._base.frozen import Frozen, cached_property, frozen
from otspec.distributions import Distribution
from otspec.rules.importance.stages import FEW, Stage, has_numba, stages_of
from otspec.solvers import SolverName


@dataclass(frozen=True, eq=False)
class StagedSelection(Frozen):
    """Drafts that are drawn one by one, and meet what was selected of those before."""

    laws: tuple[Distribution, ...]  # (n,): of each draft
    target: Distribution  # (n,): what is to be selected
    free: int  # how many tokens each stage shares out the pairs of
    solver: SolverName | None = None  # of the stages

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The selection that is best stage by stage: one for each draft after the first."""
        return tuple(map(frozen, self.passed()))

    def passed(self) -> Iterable[Stage]:
        """Return the stages one by one: of those that are not remembered each until the next."""
        if "stages" in vars(self):
            return self.stages
        return stages_of(self.laws, self.target, self.free, self.solver)

    def of_first(self, k: int) -> "StagedSelection":
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
        return np.prod([1 - law for law in self.laws], axis=0)

    def weights(self, drafts: IntArray) -> Array:
        """Return how likely each draft of each row is the selected one: (m, k) -> (m, k)."""
        weights = zeros(drafts.T.shape, like=self.laws[0])
        *_, (_, weights) = chosen(self.stages, drafts.T, weights)
        return weights.T

    def with_places(self, tokens: IntArray, after: Callable[[int, int], int], states: int) -> Array:
        """Return the law of the selected draft, with where tokens (m,) are: (states, m, n)."""
        # after: (state, i) → the state after draft i is the token; it begins with state 0. States
        # from ``states`` on are left out.
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


class Drawn(NamedTuple):
    """Drafts that were drawn, and what is selected of them; until the next stage."""

    stage: Stage | None
    """The last of those that they have gone through."""
    drafts: IntArray
    first: Array
    """Whether each is another token than those before it."""
    weights: Array
    """How likely each is the selected one."""


def chosen(
    stages: Iterable[Stage], drafts: IntArray, weights: Array
) -> Iterator[tuple[Stage | None, Array]]:
    """Yield how likely each of the first drafts is selected, of one, two, …, and the last stage."""
    # drafts: (k, m); weights, (k, m): zeros, written to. What is yielded, (i, m), holds until the
    # next one.
    weights[:1] += 1
    yield None, weights[:1]
    fast = drafts.size >= FEW and not is_exact(weights) and has_numba()
    for i, stage in enumerate(stages, start=1):
        if fast:
            _meet_quickly(weights, drafts, i, stage)
        else:
            stays = stage.keeps(drafts[:i], drafts[i]).astype(weights.dtype, copy=False)
            weights[i] = (weights[:i] * (1 - stays)).sum(axis=0)
            weights[:i] *= stays
        yield stage, weights[: i + 1]


def followed(stages: Iterable[Stage], drafts: IntArray) -> Iterator[tuple[int, Drawn]]:
    """Yield what becomes of the first draft, of the first two, and so on, and how many they are."""
    first = np.array([~(drafts[:i] == each).any(axis=0) for i, each in enumerate(drafts)])
    found = chosen(stages, drafts, np.zeros(drafts.shape))
    for k, (stage, weights) in enumerate(found, start=1):
        yield k, Drawn(stage, drafts[:k], first[:k], weights)


def _meet_quickly(weights: Array, drafts: IntArray, i: int, stage: Stage) -> None:
    from otspec._base.compiling import unwriteable
    from otspec.rules.importance import numba_pass

    shares = stage.shares.astype(float, copy=False)
    numba_pass.fast_meet(weights, drafts, i, unwriteable(stage.rank), unwriteable(shares))
