"""Shared noise, k lists: i.i.d. drafts (Theory, 33)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias

import numpy as np

from otspec._base import Array, IntArray, cached_property, is_exact, remembered
from otspec.estimate import Exact, Known
from otspec.ratios import Pair
from otspec.rules.base.rule import NotExactError
from otspec.rules.shared_noise.base import SharedNoise, earliest, in_arithmetic_of
from otspec.rules.shared_noise.exponentials import ONE, Powers, integral, one_minus, plus, times

_NODES, _FEW_NODES = 16, 8
"""Nodes of the quadrature in each piece of time, and in early ones, which weigh little."""
_LAST = 40.0  # from k t on, e^{−kt} is negligible
_MOST_RATE = 1e200  # what arrives at such a rate arrives at once
_LEAST = 1e-17
"""Draft mass below which a token's time scale is not resolved: it is accepted no more often."""
_BLOCK = 1 << 15  # chances of a block of tokens (256 kB), which stay in the cache
Block: TypeAlias = tuple[slice, Array, Array]


def quadrature(pair: Pair, fewest: int, most: int) -> tuple[Array, Array, Iterator[Block]]:
    """Return nodes, weights, (m,) each, and blocks of tokens, last ones first."""
    # A block is a slice of b tokens by ascending ratio, and their a and b at the nodes, (b, m)
    # each. Tokens that are never drafted are in none.
    ratios, draft, _ = pair.by_ratio
    drafted = int(np.searchsorted(ratios, np.inf))
    draft, mass = draft[:drafted], pair.below[0][1 : drafted + 1]
    with np.errstate(over="ignore"):
        rates = np.clip(ratios[:drafted] * mass - pair.below[1][1 : drafted + 1], 0, _MOST_RATE)
    speed = max(most / 4, 1.0)  # of e^{−kt}: one piece can follow e^{−4t}
    fastest = rates.max(initial=speed, where=draft >= _LEAST)
    late = 4.0 ** -math.ceil(math.log(fastest, 4))
    early, nodes, weights = 0.0, [], []
    while early * fewest < _LAST:
        number = _NODES if late * speed > 0.1 else _FEW_NODES
        points, shares = np.polynomial.legendre.leggauss(number)
        nodes.append(early + (late - early) / 2 * (1 + points))
        weights.append((late - early) / 2 * shares)
        early, late = late, 4 * late
    times = np.concatenate(nodes)
    return times, np.concatenate(weights), _blocks(times, draft, mass, rates)


def _blocks(times: Array, draft: Array, mass: Array, rates: Array) -> Iterator[Block]:
    """Yield the blocks of tokens."""
    size, later = max(1, _BLOCK // len(times)), np.zeros(len(times))
    rates = np.append(rates, np.inf)
    from otspec.rules.shared_noise import gumbel_passes  # it imports Numba, if it is there

    for start in range((len(draft) - 1) // size * size, -1, -size):
        part = slice(start, min(start + size, len(draft)))
        chances = rates[part.start : part.stop + 1, None] * -times
        np.exp(chances, out=chances)
        yield part, chances[:-1], gumbel_passes.summed(chances, draft[part], mass[part], later)


_POWERS, _NEGLIGIBLE = 3, 1e-14
"""Powers of b of light tokens, and what the sum of all others may be."""


@dataclass(frozen=True, eq=False)
class GumbelLists(SharedNoise):
    """Draft the winners of k races, and accept the token that wins the target's race over all.

    List j has an exponential number E_y^(j) for each token y. Draft j is the first token by
    E_y^(j)/p(y), so that the drafts are i.i.d.; the output is the first by min_j E_y^(j)/q(y). A
    draft is accepted if and only if it is the output, in whichever list it won.

    Laws: the output is distributed as the target and depends on the noise and k alone. Source:
    Rowan et al. (GLS). Parameters and errors: :class:`otspec.rules.PairRule`.

    Examples
    --------
    >>> pair = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
    >>> [round(float(GumbelLists(*pair, k).acceptance()), 4) for k in (1, 2, 3)]
    [0.5818, 0.7661, 0.8598]
    """

    name: ClassVar[str] = "gumbel-lists"
    title: ClassVar[str] = "shared noise (lists)"

    @classmethod
    def acceptances_of(cls, pair: Pair, ks: Sequence[int]) -> list[Known]:
        """Return the acceptance for each of several k, in floats from one quadrature."""
        if pair.exact:
            return super().acceptances_of(pair, ks)
        _, draft, target = pair.by_ratio
        most, found = max(ks, default=1), dict.fromkeys(ks, 0.0)
        # b is at most p(y)/P. Where that is small, few powers of b are (1 − b)^{k−1}.
        rest = max(math.comb(most - 1, _POWERS + 1), 1e-300)
        heavy = draft > (_NEGLIGIBLE / rest) ** (1 / (_POWERS + 1)) * pair.below[0][1:]
        light = np.where(heavy, 0, target)
        times, weights, blocks = quadrature(pair, min(ks, default=1), most)
        # Σ q a of all tokens, Σ q (1 − a) b^j of the light ones, and the heavy ones themselves.
        powers, few = np.zeros((_POWERS + 1, len(times))), [np.zeros((2, 0, len(times)))]
        for part, first, other in blocks:
            powers[0] += target[part] @ first
            product = 1 - first
            here = np.flatnonzero(heavy[part])
            few.append(np.stack([target[part][here, None] * product[here], other[here]]))
            for j in range(1, _POWERS + 1):
                product *= other
                powers[j] += light[part] @ product
        missed, other = np.concatenate(few, axis=1)
        left = missed.copy()
        for k in range(1, most + 1):
            if k in found:
                signs = np.array([math.comb(k - 1, j) * (-1) ** j for j in range(1, _POWERS + 1)])
                chance = powers[0] - signs @ powers[1:] + (missed - left).sum(axis=0)
                found[k] = float((k * np.exp(-k * times) * weights) @ chance)
            left *= 1 - other
        return [Exact(min(max(found[k], 0.0), 1.0)) for k in ks]

    def _by_token(self) -> Array:
        """Return q(y) ∫ k e^{−kt} [1 − (1 − a)(1 − b)^{k−1}] dt, shape (n,)."""
        others, both = self._integrals
        return self.target * (1 - others[-1] + both[-1])

    def _by_position(self) -> Array:
        """Return the probability that the output is y and draft i the first that is y, (k, n)."""
        # C_m = ∫ k e^{−kt} (1 − b)^m dt, and A_m the same with a factor a.
        others, both = self._integrals
        rows = []
        for i in range(self.k):
            # One of the first i lists wins with y, but it drafted another token; or this list wins
            # and drafts y; or a later list wins. No draft before is y.
            row = both[i]
            if i:
                row = row + i * (others[i - 1] - others[i] - both[i - 1] + both[i])
            if i + 1 < self.k:
                row = row + (self.k - 1 - i) * (others[i] - others[i + 1])
            rows.append(self.target * row / self.k)
        return np.array(rows)

    @cached_property
    def _integrals(self) -> tuple[Array, Array]:
        """∫ k e^{−kt} (1 − b)^m dt, and with a factor a, for m < k and every token: (k, n) each."""
        # Given that the output is y, at the time t, a is the probability that the winning list
        # drafts y, and b that another list does.
        if not is_exact(self.target):
            others, both = np.ones((self.k, len(self.target))), np.zeros((self.k, len(self.target)))
            times, weights, blocks = quadrature(self.pair, self.k, self.k)
            density = self.k * np.exp(-self.k * times) * weights
            for part, first, other in blocks:
                left = np.ones_like(other)
                for m in range(self.k):
                    others[m, part] -= (1 - left) @ density
                    both[m, part] += (first * left) @ density
                    left *= 1 - other
            order = np.argsort(self.pair.order)
            return others[:, order], both[:, order]
        terms = math.comb(len(self._support) + self.k, self.k) * len(self._support)
        if self._too_many(terms):
            raise NotExactError(
                f"the acceptance of k = {self.k} drafts from k races has about {terms:,} exact "
                "terms: pass floats, or estimate() simulates it"
            )
        columns = [self._exact_integrals(y) for y in range(len(self.target))]
        rows = [
            [[column[part][m] for column in columns] for m in range(self.k)] for part in range(2)
        ]
        return in_arithmetic_of(self, rows[0]), in_arithmetic_of(self, rows[1])

    def _exact_integrals(self, y: int) -> tuple[list[Fraction], list[Fraction]]:
        """Return both integrals for one token."""
        drafted = y in self._support
        first = self._arrival(y, y) if drafted else {}
        missing = one_minus(self._arrival(y, None)) if drafted else ONE
        left, others, both = ONE, [], []
        for _ in range(self.k):
            others.append(self.k * integral(left, self.k))
            both.append(self.k * integral(times(first, left), self.k))
            left = times(left, missing)
        return others, both

    @remembered
    def _arrival(self, x: int, output: int | None) -> Powers:
        """Return :meth:`_arrivals` of the one draft of a list."""
        return self._arrivals((x,), output)

    def _masses(self, drafts: Sequence[int]) -> list[Fraction]:
        _, target = self._exact
        shared = [self._arrival(x, None) for x in drafts]
        found = []
        for y, mass in enumerate(target):
            own = {x: self._arrival(x, y) for x in set(drafts)} if mass else {}
            # The list that wins has a race in which y arrives at its start.
            parts = [
                _product([own[x] if i == j else shared[i] for i, x in enumerate(drafts)])
                for j in range(self.k if mass else 0)
            ]
            found.append(mass * integral(plus(*parts), self.k))
        return found

    @property
    def _noise_shape(self) -> tuple[int, ...]:
        return self.k, len(self.target)

    def _drafts(self, noise: Array) -> IntArray:
        return earliest(noise, self.draft, 1)[..., 0]

    def _output(self, noise: Array) -> IntArray:
        return earliest(noise.min(axis=1), self.target, 1)[:, 0]

    def _noise_given(self, drafts: Sequence[int], rng: np.random.Generator) -> Array:
        # In each list the draft arrives at an exponential time of rate 1, and the others later.
        draft, rows = self.draft.astype(float), np.arange(self.k)
        times = rng.standard_exponential((self.k, 1))
        noise = rng.standard_exponential(self._noise_shape) + draft * times
        noise[rows, list(drafts)] = draft[list(drafts)] * times[:, 0]
        return noise


def _product(factors: Sequence[Powers]) -> Powers:
    product = ONE
    for factor in factors:
        product = times(product, factor)
    return product
