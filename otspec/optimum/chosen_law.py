"""Laws of k drafts chosen for several targets, with prices that prove them (Theory, 41 and 42)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from otspec._base import Array, Frozen, IntArray, Number, as_number, is_exact, plain, zeros
from otspec.distributions import Distribution
from otspec.drafts import Joint
from otspec.optimum.acceptance import optimal_acceptance

_ROUNDING = 1e-7  # by how much a solution in floats may be off


@dataclass(frozen=True, eq=False)
class ChosenLaw(Frozen, ABC):
    """A law of k distinct drafts that was chosen for targets, and what proves that it is best."""

    sets: IntArray  # (s, k): all sets of k tokens, ascending
    masses: Distribution  # (s,): the probability of each
    acceptance: Number  # of an optimal rule, on average over the targets or of the worst one

    @property
    def n(self) -> int:
        """Vocabulary size."""
        return int(self.sets.max()) + 1

    @property
    def law(self) -> Joint:
        """The drafts as a draft law, each set in ascending order."""
        k = self.sets.shape[1]
        table = zeros((self.n,) * k, like=self.masses)
        table[tuple(self.sets.T)] = self.masses
        return Joint(table)

    @property
    def inclusion(self) -> Array:
        """The probability that each token is among the drafts, shape (n,)."""
        return self._meeting(np.eye(self.n, dtype=bool)).T @ self.masses

    @property
    @abstractmethod
    def bound(self) -> Number:
        """What no law of k drafts is above, computed from the prices alone."""

    @abstractmethod
    def _attained(self) -> Number:
        """Return what the law accepts, computed from it alone."""

    def check(self) -> None:
        """Prove that no law is above the acceptance and this one attains it; in floats to 1e-7."""
        tolerance = 0 if is_exact(self.masses) else _ROUNDING
        sides: dict[str, Number] = {"bound": self.bound, "acceptance of the law": self._attained()}
        for name, value in sides.items():
            if not -tolerance <= value - self.acceptance <= tolerance:
                raise ValueError(
                    f"the {name} is {plain(value)}, but the acceptance is said to be "
                    f"{plain(self.acceptance)}: one of the two was changed"
                )

    def _meeting(self, marks: Array) -> Array:
        """Return which drafts meet which token sets: (b, n) of bool -> (s, b) of bool."""
        return np.asarray(marks.T[self.sets].any(axis=1))


@dataclass(frozen=True, eq=False)
class BestLaw(ChosenLaw):
    """The best law of k drafts for several targets.

    Parameters
    ----------
    sets : ndarray of int, shape (s, k)
        All sets of k tokens, ascending.
    masses : ndarray, shape (s,)
        The probability of each.
    acceptance : float or Fraction
        What an optimal rule accepts, on average over the targets or of the worst one.
    targets : ndarray, shape (m, n)
    weights : ndarray, shape (m,)
        How often each target comes; where the worst target counts, the worst mixture of them.
    prices : ndarray, shape (m, n)
        λ_i(y). No law accepts more than Σ λ_i(y) q_i(y) + max_S Σ_i max_{y ∈ S} (w_i − λ_i(y))_+,
        S any k tokens.
    worst : bool
        Whether the acceptance is that of the worst target rather than the mean.
    """

    targets: Array
    weights: Distribution
    prices: Array
    worst: bool

    @property
    def bound(self) -> Number:
        """What no law of k drafts is above, computed from the prices alone."""
        left = np.maximum(self.weights[:, None] - self.prices, 0)  # (m, n)
        most = left[:, self.sets].max(axis=2).sum(axis=0).max()
        return as_number((self.prices * self.targets).sum() + most, like=self.masses)

    def acceptances(self) -> Array:
        """Return the optimal acceptance of the law for each target, shape (m,)."""
        found = zeros(len(self.targets), like=self.masses)
        found[:] = [optimal_acceptance(self.law, target).acceptance for target in self.targets]
        return found

    def _attained(self) -> Number:
        found = self.acceptances()
        return as_number(found.min() if self.worst else self.weights @ found, like=found)


@dataclass(frozen=True, eq=False)
class SafestLaw(ChosenLaw):
    """The law of k drafts that accepts most of the worst target near the draft.

    Parameters
    ----------
    sets, masses, acceptance
        As for :class:`BestLaw`.
    tokens : ndarray of bool, shape (b, n)
        All nonempty sets B of tokens.
    reach : ndarray, shape (b,)
        The largest mass that a target gives to each of them.
    prices : ndarray, shape (b,)
        How often the worst target is the one that wants each of them most. No law accepts more than
        1 − Σ w_B reach(B) + max_S w(the B that S meets), S any k tokens.
    """

    tokens: Array
    reach: Array
    prices: Array

    @property
    def bound(self) -> Number:
        """What no law of k drafts is above, computed from the prices alone."""
        covered = (self._meeting(self.tokens) @ self.prices).max()
        return as_number(1 - (self.prices * self.reach).sum() + covered, like=self.masses)

    def _attained(self) -> Number:
        missed = (self.reach - self._meeting(self.tokens).T @ self.masses).max()
        return as_number(1 - max(missed, 0), like=self.masses)
