"""Importance sampling: select one draft by a linear program, then couple (Canonical, alg. 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from otspec.arguments import as_choice, as_integer, as_list, as_seed, as_size
from otspec.arithmetic import Array, IntArray, Number, as_number, is_exact, suffix_sums, zeros
from otspec.coupling import Coupling
from otspec.distributions import Distribution, DistributionLike, as_distribution, as_k, normalised
from otspec.drafts import IID, DraftLaw, Independent
from otspec.estimate import Estimate
from otspec.frozen import Frozen
from otspec.programs import TruncatedImportance
from otspec.rules.enumeration import refuse_many_tuples
from otspec.rules.pair_rule import PairRule, refuse_many_drafts
from otspec.solvers import SOLVERS, SolverName, solve

MOST_STAGES = 10_000
"""Most drafts; each but the first takes a linear program."""


@dataclass(frozen=True, eq=False)
class ImportanceSampling(PairRule):
    """Select one of the drafts so that its law b is close to the target; then couple b and q.

    Two drafts: the selection solves Canonical's linear program, truncated to the ``free`` most
    under-drafted tokens (exact if ``free`` is n or more). More drafts: in stages, each of which
    selects between the token selected so far, whose law is known, and the next draft.

    Law: the output is distributed as the target. With k = 2 and ``free`` ≥ n it is optimal for the
    drafts; with smaller ``free`` the loss is at most Σ (q − p₁p₂)₊ over the other tokens.
    Source: Canonical, alg. 1, remarks 3 and 4, app. G.

    Parameters
    ----------
    draft, target, k, normalize
        As for :class:`otspec.rules.PairRule`.
    others : sequence of array_like
        The distributions of drafts 2 to k, where they differ from the first.
    free : int
        How many tokens the linear program of each stage covers (the papers' s).
    alphabet : int, optional
        Verify against the target restricted to so many of its likeliest tokens; the output is
        then kept with probability q(those), and otherwise drawn from the rest of the target.
    solver : {"highs", "cvxpy", "rational"}, optional
        By default ``"rational"`` for exact input, which needs pycddlib, and ``"highs"`` for
        floats.

    Raises
    ------
    ValueError
        Also for ``others`` that are not k − 1 distributions, ``free`` below 0, ``alphabet``
        below 1, an unknown solver, and more than 10,000 drafts.

    Examples
    --------
    >>> round(ImportanceSampling([0.5, 0.3, 0.2], [0.1, 0.6, 0.3], k=2).acceptance(), 9)
    0.85
    """

    name: ClassVar[str] = "importance-sampling"
    title: ClassVar[str] = "importance sampling"
    formula: ClassVar[bool] = False
    compared: ClassVar[bool] = False

    others: Sequence[DistributionLike] = field(default=(), kw_only=True)
    free: int = field(default=32, kw_only=True)
    alphabet: int | None = field(default=None, kw_only=True)
    solver: SolverName | None = field(default=None, kw_only=True)

    def __post_init__(self, normalize: bool) -> None:
        super().__post_init__(normalize)
        refuse_many_drafts(self.k, MOST_STAGES, "the selection")
        wanted = "how many tokens the linear program covers"
        self._hold(
            others=self._checked_others(normalize),
            free=as_integer(self.free, "free", 0, wanted=wanted),
            alphabet=None if self.alphabet is None else as_k(self.alphabet, "alphabet"),
        )
        if self.solver is not None:
            as_choice(self.solver, "solver", SOLVERS)

    def _checked_others(self, normalize: bool) -> tuple[Distribution, ...]:
        others = as_list(self.others, "others", "a sequence of distributions")
        if not others:
            return ()
        if len(others) != self.k - 1:
            raise ValueError(
                f"others has {len(others)} distributions, but drafts 2 to {self.k} need "
                f"{self.k - 1}"
            )
        given = [
            as_distribution(other, f"others[{i}]", normalize=normalize)
            for i, other in enumerate(others)
        ]
        checked = Independent([self.draft, *given])
        checked.as_target(self.target)
        return tuple(checked.drafts[1:])

    @property
    def law(self) -> DraftLaw:
        """I.i.d. drafts, or independent ones if ``others`` are given."""
        return Independent([self.draft, *self.others]) if self.others else IID(self.draft, self.k)

    @cached_property
    def kept_tokens(self) -> Array:
        """Which tokens the alphabet keeps, shape (n,) bool: the likeliest ones of the target."""
        kept = np.ones(len(self.target), dtype=bool)
        if self.alphabet is not None:
            kept[np.argsort(-self.target, kind="stable")[self.alphabet :]] = False
        return kept

    @cached_property
    def verified_target(self) -> Distribution:
        """The target on the kept alphabet, renormalised, shape (n,)."""
        return normalised(np.where(self.kept_tokens, self.target, 0 * self.target), self.target)

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The selections, one per draft after the first."""
        stages: list[Stage] = []
        selected = self.draft
        for i in range(1, self.k):
            following = self.others[i - 1] if self.others else self.draft
            stages.append(_stage(selected, following, self.verified_target, self.free, self.solver))
            selected = stages[-1].law_of_selection
        return tuple(stages)

    @property
    def law_of_selection(self) -> Distribution:
        """b, the law of the selected draft, shape (n,)."""
        return self.stages[-1].law_of_selection if self.stages else self.draft

    def acceptance(self) -> Number:
        """Return the probability that the output is one of the drafts.

        Σ min(b, q) for the selected draft, plus the residual draws that happen to be another
        draft. These are summed for k ≤ 2 in O(n log n + free²), and enumerated for up to
        20,000 draft tuples.

        Raises
        ------
        NotExactError
            There are more; :meth:`estimate` simulates them.
        """
        if self.k <= 2:
            return as_number(self._known_part() + self._residual_hits(), like=self.draft)
        if not is_exact(self.draft):
            refuse_many_tuples(self.law)
        return super().acceptance()

    def estimate(self, size: int = 2_000, seed: int = 0) -> Estimate:
        """Estimate the acceptance with the residual hits simulated and the rest exact.

        Parameters
        ----------
        size, seed : int
            As for :meth:`otspec.rules.Rule.estimate`.

        Returns
        -------
        Estimate
        """
        size = as_size(size, least=2, width=self.k)
        drafts = self.law.sample(size, np.random.default_rng(as_seed(seed)))
        residual = self._coupling.residual
        rejected = (self._selection(drafts) * (1 - self._coupling.chances[drafts])).sum(axis=1)
        ordered = np.sort(drafts, axis=1)
        distinct = np.ones(ordered.shape, dtype=bool)
        distinct[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        hits = self._repair[0] * rejected * (residual[ordered] * distinct).sum(axis=1)
        return Estimate.of_mean(hits, plus=float(self._known_part()))

    def _known_part(self) -> Number:
        """Return the probability that the selected draft is accepted or the repair is a draft."""
        kept, repair = self._repair
        undrafted = np.prod([1 - self.law.marginal(i) for i in range(self.k)], axis=0)
        repaired = (repair * (1 - undrafted)).sum()
        return as_number(kept * self._coupling.acceptance + (1 - kept) * repaired, like=self.draft)

    def _residual_hits(self) -> Number:
        """Return the probability that the selected of two drafts is rejected for the other.

        A token y that can be rejected has no residual itself, so that only the other draft counts;
        outside the free pairs that is any token v after y, which cumulative sums add up.
        """
        if self.k == 1:
            return as_number(0, like=self.draft)
        chance, residual, kept = self._coupling.chances, self._coupling.residual, self._repair[0]
        stage, (first, second) = self.stages[0], (self.law.marginal(i) for i in range(2))
        order, free = np.argsort(stage.rank), len(stage.shares)
        after = np.maximum(stage.rank + 1, free)
        later_first, later_second = (
            suffix_sums((law * residual)[order])[after] for law in (first, second)
        )
        hits = ((1 - chance) * (first * later_second + second * later_first)).sum()
        inside = order[:free]
        masses = np.multiply.outer(first[inside], second[inside])
        selected = stage.shares * (masses + masses.T)
        return as_number(
            kept * (hits + (1 - chance[inside]) @ selected @ residual[inside]), like=self.draft
        )

    @cached_property
    def _coupling(self) -> Coupling:
        return Coupling(self.law_of_selection, self.verified_target)

    @cached_property
    def _repair(self) -> tuple[Number, Distribution]:
        """Return how often the verified output is kept, and what it is replaced from otherwise."""
        repair = np.where(self.kept_tokens, 0 * self.target, self.target)
        kept = as_number(1 - repair.sum(), like=self.target)
        return kept, normalised(repair, self.target)

    def _selection(self, drafts: IntArray) -> Array:
        """Return how likely each draft of each row is the selected one: (m, k) -> (m, k)."""
        weights = zeros(drafts.shape, like=self.target)
        weights[:, 0] += 1
        for i, stage in enumerate(self.stages, start=1):
            for j in range(i):
                stays = stage.keeps(drafts[:, j], drafts[:, i])
                weights[:, i] = weights[:, i] + weights[:, j] * (1 - stays)
                weights[:, j] = weights[:, j] * stays
        return weights

    def joint_kernel(self, x: Sequence[int]) -> Array:
        """Return the law of the accepted draft and the output, given the drafts: (k + 1, n)."""
        kept, repair = self._repair
        joint = self._coupling.joint_kernel(x, kept * self._selection(np.array([x]))[0])
        joint[self.k] += (1 - kept) * repair
        return joint


@dataclass(frozen=True, eq=False)
class Stage(Frozen):
    """The selection between a token selected so far and one more draft.

    Parameters
    ----------
    rank : ndarray of int, shape (n,)
        The earlier token of a pair is selected, unless both are free.
    shares : ndarray, shape (s, s)
        For two free tokens by rank: how often the first of the two is selected.
    law_of_selection : ndarray, shape (n,)
    """

    rank: IntArray
    shares: Array
    law_of_selection: Distribution

    def keeps(self, token: IntArray, other: IntArray) -> Array:
        """Return how likely ``token`` is selected over ``other``, both of shape (m,)."""
        ranks, others = self.rank[token], self.rank[other]
        keeps = zeros(len(ranks), like=self.shares) + (ranks <= others)
        free = (ranks < len(self.shares)) & (others < len(self.shares))
        keeps[free] = self.shares[ranks[free], others[free]]
        return keeps


def _stage(
    selected: Distribution,
    following: Distribution,
    target: Distribution,
    free: int,
    solver: SolverName | None,
) -> Stage:
    """Solve the truncated program for two drafts and return its selection."""
    program = TruncatedImportance(
        Independent([selected, following]), target, free=min(free, len(target))
    )
    pairs, masses = program.free_pairs
    ranks = program.rank[pairs]
    earlier = zeros(len(pairs), like=target)
    if len(pairs):
        earlier[:] = program.shares(solve(program.build(), solver))
    shares = zeros((program.free, program.free), like=target) + 1
    shares[ranks[:, 0], ranks[:, 1]] = earlier
    shares[ranks[:, 1], ranks[:, 0]] = 1 - earlier
    law = program.certain.copy()
    np.add.at(law, pairs[:, 0], masses * earlier)
    np.add.at(law, pairs[:, 1], masses * (1 - earlier))
    return Stage(program.rank, shares, law / law.sum())
