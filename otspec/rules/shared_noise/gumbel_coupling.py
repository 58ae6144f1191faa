"""Shared noise, one race: drafts without replacement (Theory, 33 and 34)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from otspec._base import Array, IntArray, cached_property, is_exact, over_one_denominator
from otspec.drafts import SingleDraftLaw, WithoutReplacement
from otspec.estimate import Exact, Known
from otspec.ratios import Pair
from otspec.rules.base.rule import NotExactError
from otspec.rules.shared_noise.base import SharedNoise, earliest, in_arithmetic_of
from otspec.rules.shared_noise.exponentials import integral
from otspec.rules.shared_noise.gumbel_race import GumbelRace


@dataclass(frozen=True, eq=False)
class GumbelCoupling(SharedNoise):
    """Draft the first k tokens of a race, and accept the token that wins the target's race.

    Each token y has one exponential number E_y, known to drafter and verifier. The drafts are the
    first k tokens by E_y/p(y), which are drawn without replacement; the output is the first by
    E_y/q(y). A draft is accepted if and only if it is the output.

    Laws: the output is distributed as the target q, and it is the same for all drafts and every k.
    The acceptance is never below that of :class:`GumbelLists`. Source: Daliri et al. for k = 1;
    the documentation (Theory, 33). Parameters and errors: :class:`otspec.rules.PairRule`.

    Examples
    --------
    >>> pair = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
    >>> [str(GumbelCoupling(*pair, k).acceptance()) for k in (1, 2, 3)]
    ['32/55', '2009/2090', '1']
    >>> GumbelCoupling(*pair, 2).couple([0.3, 0.9, 0.2])
    ([0, 2], 2)
    """

    name: ClassVar[str] = "gumbel-coupling"
    title: ClassVar[str] = "shared noise"
    nested: ClassVar[bool] = True
    law_class: ClassVar[type[SingleDraftLaw]] = WithoutReplacement

    @classmethod
    def acceptances_of(cls, pair: Pair, ks: Sequence[int]) -> list[Known]:
        """Return the acceptance for each of several k, in floats from one race."""
        if pair.exact:
            return super().acceptances_of(pair, ks)
        cls.law_class.check_support(pair.draft, max(ks, default=1))
        found = GumbelRace(pair, max(ks, default=1)).acceptances()
        return [Exact(float(found[k - 1])) for k in ks]

    def _by_token(self) -> Array:
        """Return q(y) g_k(y), with g_k(y) how likely y is drafted if it is the output: (n,)."""
        return self.target * self._chances[-1]

    def _by_position(self) -> Array:
        """Return q(y) (g_i(y) − g_{i−1}(y)) for draft i, shape (k, n)."""
        before = np.zeros_like(self._chances[:1])
        return self.target * np.diff(self._chances, axis=0, prepend=before)

    @cached_property
    def _chances(self) -> Array:
        """How likely each token is among the first i drafts, if it is the output, (k, n)."""
        if not is_exact(self.target):
            return GumbelRace(self.pair, self.k).chances()
        draft, target, _ = over_one_denominator(self.draft, self.target)
        drafts, targets = draft.tolist(), target.tolist()
        pairs = {self._ratio(p, q): (p, q) for p, q in zip(drafts, targets, strict=True) if p * q}
        terms = len(pairs) * math.comb(len(self._support), self.k - 1)
        if self._too_many(terms):
            raise NotExactError(
                f"the acceptance of k = {self.k} drafts from one race has {terms:,} exact terms: "
                "pass floats, or estimate() simulates it"
            )
        known = {}
        for ratio, (p, q) in pairs.items():
            # Everything times p(y): y wins at rate p(y), and z comes before at rate (q(y) p(z) −
            # p(y) q(z))₊.
            faster = [q * each - p * other for each, other in zip(drafts, targets, strict=True)]
            # Scale: in units of the common denominator the target's race has the rate Σ q = unit.
            known[ratio] = _race(p * sum(targets), [rate for rate in faster if rate > 0], self.k)
        none = [Fraction(0)] * self.k
        rows = [
            known[self._ratio(p, q)] if p * q else none
            for p, q in zip(drafts, targets, strict=True)
        ]
        return in_arithmetic_of(self, [list(row) for row in zip(*rows, strict=True)])

    @staticmethod
    def _ratio(draft: int, target: int) -> Fraction:
        return Fraction(target, draft) if draft else Fraction(0)

    def _masses(self, drafts: Sequence[int]) -> list[Fraction]:
        _, target = self._exact
        return [
            mass * integral(self._arrivals(drafts, y)) if mass else Fraction(0)
            for y, mass in enumerate(target)
        ]

    @property
    def _noise_shape(self) -> tuple[int, ...]:
        return (len(self.target),)

    def _drafts(self, noise: Array) -> IntArray:
        return earliest(noise, self.draft, self.k)

    def _output(self, noise: Array) -> IntArray:
        return earliest(noise, self.target, 1)[:, 0]

    def _noise_given(self, drafts: Sequence[int], rng: np.random.Generator) -> Array:
        # The drafts arrive after exponential times at the rate of what is left; the others later.
        draft = self.draft.astype(float)
        noise, now, left = rng.standard_exponential(len(draft)), 0.0, draft.copy()
        for token in drafts:
            now += rng.standard_exponential() / left.sum()
            noise[token], left[token] = draft[token] * now, 0.0
        noise += left * now
        return noise


def _race(own: int, others: list[int], k: int) -> list[Fraction]:
    """Return how likely fewer than 1..k others arrive before one event of rate ``own``."""
    # With V the total rate, and over all sets S of j < i of the m others,
    # Σ_S (−1)^{i−1−j} C(m−1−j, i−1−j) own/(V − Σ_S):
    # the coefficients of Π (x + (1 − x) s) at x = u^{rate}, integrated.
    m, total = len(others), own + sum(others)
    # Entry j: how many sets of j of the others have each sum.
    sets: list[dict[int, int]] = [{0: 1}, *({} for _ in range(k - 1))]
    for rate in others:
        for j in range(k - 1, 0, -1):
            for partial, count in sets[j - 1].items():
                sets[j][partial + rate] = sets[j].get(partial + rate, 0) + count
    sums = [
        sum((Fraction(count * own, total - part) for part, count in each.items()), Fraction(0))
        for each in sets
    ]
    return [
        Fraction(1) if i > m else
        sum((-1) ** (i - 1 - j) * math.comb(m - 1 - j, i - 1 - j) * sums[j] for j in range(i))
        for i in range(1, k + 1)
    ]  # fmt: skip
