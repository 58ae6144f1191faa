"""The race that distinct drafts are the first arrivals of, in arrays (Theory, 2).

Token y arrives at an exponential time of rate p(y). With c the mass outside a set A and N(t) how
many tokens of A arrive by time t,

    f(A) = P(all k drafts inside A) = ∫ c e^{−ct} P(N(t) ≥ k) dt,
    ∂f/∂p(y) = ∫ c t e^{−ct} e^{−p(y) t} P(N(t) without y = k − 1) dt  for y in A.

The race does not change if all rates are scaled. So Σ p ∂f/∂p = 0 over all tokens, and the
derivative by the mass outside follows.

Tokens are heavy (a few hundred, passed one by one) or light: of these only power sums count, since
Σ_n P(N = n) z^n = Π e^{−pt} (1 + z w) with w = e^{pt} − 1 is exp(Σ_i (−1)^{i−1} z^i Σ w^i / i),
and w^i is a power series in pt ≤ 1/4. The integral is a trapezoid sum in log t; Poisson arrivals of
rate 1 are taken off, for which it is (1/(1 + c))^k, so that early times do not count.
"""

import math
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from otspec.batch._array_api.control import repeated
from otspec.batch._array_api.library import Array, Library
from otspec.drafts.race.inside import sure_mean
from otspec.learning.objectives import State

NODES, ERRORS = (64, 160), (1e-9, 1e-14)
"""Times at which the race is looked at in float32 and in float64, and what is left out after."""
LIGHT = 0.25  # rate times the last time of a light token at most
LATEST, HALVINGS = 80.0, 12
"""The largest log t, and how often its range is halved to find a last time."""
TERMS = 6, 9
"""Terms of the series of e^{pt} − 1: the next one is below 1e-7, or 1e-11, of the first."""


@dataclass(frozen=True)
class Race:
    """The race of each row, as far as it does not depend on the set."""

    library: Library
    k: int
    times: Array  # (..., m)
    step: Array  # (..., 1): of log t
    tokens: Array  # (..., h): the heavy tokens by ascending q/p
    rates: Array  # (..., h): 0 for those that count as light
    ratios: Array  # (..., h)
    heaviest: Array  # (..., 1): the mass of light tokens at most; −1: there are none
    unit: Array  # (..., 1): the same, or 1 where that is not positive

    @property
    def terms(self) -> int:
        """How many power sums of light tokens count."""
        return self.k + TERMS[self.library.dtype == self.library.xp.float64]

    @classmethod
    def of(cls, library: Library, draft: Array, target: Array, k: int) -> "Race":
        """Choose heavy tokens and times for rows, (..., V)."""
        xp, size = library.xp, draft.shape[-1]
        fine = library.dtype == xp.float64
        nodes, error = NODES[fine], ERRORS[fine]
        enough = sure_mean(k, -math.log(error))
        count = heavy_tokens(k, size, error)
        masses, tokens = largest(library, draft, count)
        heaviest = masses[..., -1:] if count < size else -xp.ones_like(masses[..., -1:])
        light = xp.sum(xp.where(draft <= heaviest, draft, 0.0), axis=-1, keepdims=True)

        # By the last time k tokens have arrived but for the error, by Chernoff's bound; or the k
        # heaviest have.
        def halved(ends: State) -> State:
            low, high = ends
            middle = (low + high) / 2
            time = xp.exp(middle)
            due = xp.sum(-xp.expm1(-masses * time), axis=-1, keepdims=True)
            # 1 − e^{−x} ≥ x (1 − x/2). A heavy token may be light as well: not both together.
            due = xp.maximum(due, (1 - LIGHT / 2) * light * time)
            return xp.where(due < enough, middle, low), xp.where(due < enough, high, middle)

        _, high = repeated(library, HALVINGS, halved, (0 * light, 0 * light + LATEST))
        slowest = masses[..., min(k, count) - 1 : min(k, count)]
        sure = math.log(math.log(k / error)) - xp.log(xp.clip(slowest, min=1e-30))
        start = (math.lgamma(k + 1) + math.log(error)) / k
        step = (xp.minimum(high, sure) - start) / (nodes - 1)
        times = xp.exp(start + step * library.widened(library.arange(nodes)))
        # By ascending ratio, of equal ones by token id, as the sort of all tokens has them; those
        # that count as light come last.
        tokens = xp.sort(tokens, axis=-1)
        rates = library.take(draft, tokens)
        rates = xp.where(rates > heaviest, rates, 0.0)
        ratios = ratio_of(library, rates, library.take(target, tokens))
        order = xp.argsort(ratios, axis=-1)
        tokens, rates, ratios = (
            xp.take_along_axis(part, order, axis=-1) for part in (tokens, rates, ratios)
        )
        unit = xp.where(heaviest > 0, heaviest, xp.ones_like(heaviest))
        return cls(library, k, times, step, tokens, rates, ratios, heaviest, unit)

    def light_rates(self, draft: Array) -> Array:
        """Return the rates of light tokens in units, 0 of heavy ones: (..., n)."""
        return self.library.xp.where(draft <= self.heaviest, draft / self.unit, 0.0)

    def light(self, sums: Array) -> Array:
        """Return P(N = n) of light tokens from power sums: (..., K, J) -> (k, ..., K, m)."""
        xp = self.library.xp
        grown = xp.stack(powers(self.unit * self.times, self.terms), axis=-2)  # (..., J, m)
        found = [xp.exp(-sums[..., :1] * grown[..., :1, :])]
        steps = []  # (−1)^{i−1} Σ w^i, (..., K, m) for each i
        for n in range(1, self.k):
            weights = [(-1) ** (n - 1) * part for part in _series(n, self.terms)]
            weighted = [sums[..., j] * weight for j, weight in enumerate(weights)]
            steps.append(xp.stack(weighted, axis=-1) @ grown)
            # n a_n = Σ_i (−1)^{i−1} (Σ w^i) a_{n−i}.
            found.append(sum(steps[i - 1] * found[n - i] for i in range(1, n + 1)) / n)
        return xp.stack(found)

    def before(self, rates: Array) -> Array:
        """Return P(N = n) of the heavy tokens before each, and of all: (k, ..., h + 1, m)."""
        # In √h blocks at once: within each, of the blocks before, and both together.
        xp, (*lead, count) = self.library.xp, rates.shape
        width = math.isqrt(count - 1) + 1
        none = xp.zeros_like(rates[..., :1])
        rates = xp.concat([rates, *[none] * (width**2 - count)], axis=-1)
        missing = xp.exp(-rates[..., None] * self.times[..., None, :])
        missing = xp.reshape(missing, (*lead, width, width, -1))
        first = xp.ones_like(missing[..., 0, :])
        counts = xp.stack([first, *[0 * first] * (self.k - 1)])  # (k, ..., width, m)
        within = [counts]
        for j in range(width):
            here = missing[..., j, :]
            fewer = xp.concat([xp.zeros_like(counts[:1]), counts[:-1]])
            counts = counts * here + fewer * (1 - here)
            within.append(counts)
        blocks = [within[0][..., 0, :]]
        for j in range(width):
            blocks.append(product(xp, blocks[-1], counts[..., j, :]))
        earlier = xp.stack(blocks[:-1], axis=-2)[..., None, :]
        both = product(xp, earlier, xp.stack(within[:-1], axis=-2))
        both = xp.reshape(both, (self.k, *lead, width**2, -1))[..., :count, :]
        return xp.concat([both, blocks[-1][..., None, :]], axis=-2)

    def inside(self, outside: Array, below: Array) -> Array:
        """Return f(A) from c and P(N < k) at each time: (..., K), (..., K, m) -> (..., K)."""
        xp, times = self.library.xp, self.times[..., None, :]
        poisson, term = xp.zeros_like(times), xp.exp(-times)
        for n in range(self.k):
            poisson = poisson + term
            term = term * times / (n + 1)
        due = outside[..., None] * times
        missed = xp.sum(due * xp.exp(-due) * (below - poisson), axis=-1) * self.step
        return xp.clip((1 / (1 + outside)) ** self.k - missed, 0.0, 1.0)

    def gradient(
        self, before: Array, outside: Array, sums: Array, members: Array
    ) -> tuple[Array, Array, Array]:
        """Return f(A), and its derivatives by heavy and, as a polynomial, by light tokens of A."""
        xp, k = self.library.xp, self.k
        rates = xp.where(members, self.rates, 0.0)
        after = xp.flip(self.before(xp.flip(rates, axis=-1)), axis=-2)
        light = self.light(sums[..., None, :])
        counts = product(xp, light, after[..., :1, :])[..., 0, :]
        found = self.inside(outside, sum(counts)[..., None, :])[..., 0]
        due = outside * self.times
        weight = due * xp.exp(-due) * self.times * self.step
        # Without y: the light tokens, what comes before it in the order, and after it.
        others = product(xp, light, before[..., :-1, :])
        last = sum(others[n] * after[k - 1 - n, ..., 1:, :] for n in range(k))
        missing = xp.exp(-rates[..., None] * self.times[..., None, :])
        heavy = xp.sum(weight[..., None, :] * missing * last, axis=-1)
        # e^{−pt} P(N without y = k − 1) = Σ_i (−w)^i P(N = k − 1 − i), w = e^{pt} − 1, of which the
        # series of w^i begins with (pt)^i.
        due = powers(self.unit * self.times, self.terms)
        parts = [counts[k - 1]]
        for j in range(1, self.terms):
            signed = [(-1) ** i * _series(i, self.terms)[j - 1] for i in range(1, min(k, j + 1))]
            mixed = sum(part * counts[k - 2 - i] for i, part in enumerate(signed))
            parts.append(due[j - 1] * mixed)
        coefficients = xp.stack([xp.sum(weight * part, axis=-1) for part in parts], axis=-1)
        return found, xp.where(members, heavy, 0.0), coefficients


def product(xp: Any, one: Array, other: Array) -> Array:
    """Return the first k coefficients of a product of polynomials, (k, ...)."""
    k = one.shape[0]
    padded = xp.concat([xp.zeros_like(other[1:]), other])
    return sum(one[i] * padded[k - 1 - i : 2 * k - 1 - i] for i in range(k))


def ratio_of(library: Library, draft: Array, target: Array) -> Array:
    """Return q/p, infinite where p is 0."""
    return library.quotient(target, draft, float("inf"))


def powers(values: Array, terms: int) -> list[Array]:
    """Return the powers from the first on."""
    found = [values]
    for _ in range(terms - 1):
        found.append(found[-1] * values)
    return found


def largest(library: Library, values: Array, count: int) -> tuple[Array, Array]:
    """Return the largest entries of each row in descending order, and where they are."""
    top_k = import_module("jax.lax" if library.reorders else "torch")
    found = top_k.top_k(values, count) if library.reorders else top_k.topk(values, count, dim=-1)
    return found[0], found[1]


def heavy_tokens(k: int, size: int, error: float) -> int:
    """Return how many tokens are heavy: the lightest is then light enough at the last time."""
    return min(size, math.ceil(sure_mean(k, -math.log(error)) / -math.expm1(-LIGHT)) + 1)


@cache
def _series(power: int, terms: int) -> list[float]:
    """Return the coefficients of x, x², … of (e^x − 1)^i: i! S(j, i)/j!, S of the second kind."""
    row = [1, *[0] * power]
    found = []
    for j in range(1, terms + 1):
        row = [0, *(row[i - 1] + i * row[i] for i in range(1, power + 1))]
        found.append(math.factorial(power) * row[power] / math.factorial(j))
    return found
