"""Maximal coupling: how a selected token becomes the output (SpecTr, alg. 1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from otspec._base import Array, Frozen, IntArray, Number, arithmetic, cached_property
from otspec.chance import Chance
from otspec.distributions import Distribution, normalized


@dataclass(frozen=True, eq=False)
class Coupling(Frozen):
    """Accept the selected token y with probability min(1, q(y)/b(y)), else draw from (q − b)₊.

    Law: the output is distributed as the target q if the token is distributed as b; no coupling
    of b and q lets the two agree more often than Σ min(b, q). Source: SpecTr, alg. 1.
    ``selected``, ``target``, shape (n,): b and q, in one arithmetic.
    """

    selected: Distribution
    target: Distribution

    @cached_property
    def chances(self) -> Array:
        """min(1, q/b), shape (n,), as :func:`acceptance_chance` has it."""
        return chances_of(self.selected, self.target)

    @cached_property
    def residual(self) -> Distribution:
        """(q − b)₊, normalized, shape (n,); the target where nothing is ever rejected."""
        return residual_of(self.selected, self.target)

    @property
    def accepted(self) -> Array:
        """min(b, q), shape (n,): how likely each token is selected and accepted."""
        return np.minimum(self.selected, self.target)

    @property
    def acceptance(self) -> Number:
        """Σ min(b, q)."""
        return arithmetic.as_number(self.accepted.sum(), like=self.target)

    def verify(self, drafts: Sequence[int], position: int, chance: Chance) -> int | Distribution:
        """Return the position of the selected draft if it is accepted, else the residual, (n,)."""
        token = drafts[position]
        if chance.accept(self.target[token], self.selected[token]):
            return position
        return self.residual

    def joint_kernel(self, drafts: Sequence[int], weights: Array) -> Array:
        """Return the law of the accepted draft and the output, (k + 1, n), of selection weights."""
        tokens, k = list(drafts), len(drafts)
        chances = self.chances[tokens]
        joint = arithmetic.zeros((k + 1, len(self.target)), like=self.target)
        joint[np.arange(k), tokens] = weights * chances
        joint[k] = (weights * (1 - chances)).sum() * self.residual
        return joint

    def hits(self, drafts: Sequence[int], weights: Array) -> Number:
        """Return how likely the selected draft is rejected, and the residual token a draft."""
        rejected = (weights * (1 - self.chances[list(drafts)])).sum()
        return arithmetic.as_number(
            rejected * self.residual[sorted(set(drafts))].sum(), like=self.target
        )


def chances_of(selected: Distribution, target: Distribution) -> Array:
    """Return min(1, target/selected), shape (n,), as :func:`acceptance_chance` has it."""
    larger = np.maximum(selected, target)
    larger += larger == 0
    return target / larger


def residual_of(selected: Distribution, target: Distribution) -> Distribution:
    """Return (target − selected)₊, normalized, (n,); the target where there is nothing of it."""
    return normalized(arithmetic.positive_part(target - selected), target)


def match(output: Distribution, drafts: Sequence[int], chance: Chance) -> int | Distribution:
    """Return the first draft that equals a drawn output, or the law given that none does."""
    # the probability that the output is no draft so far
    left = arithmetic.as_number(1, like=output)
    for position, token in enumerate(drafts):
        if token not in drafts[:position]:
            if chance.accept(output[token], left):
                return position
            left = left - output[token]
    others = output.copy()
    others[list(drafts)] *= 0
    return normalized(others, output)


def matches(output: Distribution, drafts: Sequence[int]) -> Array:
    """Return the joint kernel of :func:`match`: a draft that equals the output is accepted."""
    joint = arithmetic.zeros((len(drafts) + 1, len(output)), like=output)
    joint[-1] = output
    for token in set(drafts):
        joint[drafts.index(token), token] = output[token]
        joint[-1, token] *= 0
    return joint


def acceptance_chance(wanted: Number, offered: Number) -> Number:
    """Return min(1, wanted/offered), dividing only where it is below 1; 0 if nothing is wanted."""
    if wanted < offered:
        return wanted / offered
    return wanted * 0 + (1 if wanted > 0 else 0)


def accepted_weights(weights: Array, tokens: IntArray, target: Array) -> Array:
    """Return the mass of each selected pair (x, y) that maximal coupling accepts: w min(1, q/b)."""
    selected = arithmetic.sums_by(tokens, weights, len(target))
    return weights * Coupling(selected, target).chances[tokens]
