"""The optimum for distinct drafts: its minimizing set, and the gradient there (Theory, 2).

Drafts without replacement are the first arrivals of a race: token y arrives at an exponential time
of rate p(y). With c the mass outside a set A and N(t) how many tokens of A arrive by time t,

    f(A) = P(all k drafts inside A) = ∫ c e^{−ct} P(N(t) ≥ k) dt,
    ∂f/∂p(y) = ∫ c t e^{−ct} e^{−p(y) t} P(N(t) without y = k − 1) dt  for y in A.

The race does not change if all rates are scaled. So Σ p ∂f/∂p = 0 over all tokens, and the
derivative by the mass outside follows.

Tokens are heavy (a few hundred, passed one by one) or light: of these only power sums count, since
Σ_n P(N = n) z^n = Π e^{−pt} (1 + z w) with w = e^{pt} − 1 is exp(Σ_i (−1)^{i−1} z^i Σ w^i / i),
and w^i is a power series in pt ≤ 1/4. The integral is a trapezoid sum in log t; Poisson arrivals of
rate 1 are taken off, for which it is (1/(1 + c))^k, so that early times do not count.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, ClassVar

from otspec.batch._array_api.control import repeated
from otspec.batch._array_api.library import Array, Library
from otspec.drafts.race.times import sure_mean
from otspec.learning.objectives import AT_ONCE, Objective, State

NODES, FINE_NODES = 64, 160
"""Times at which the race is looked at in float32 and in float64."""
ERROR, FINE_ERROR = 1e-9, 1e-14
"""What is left out at the latest times."""
LIGHT = 0.25
"""Rate times the last time of a light token at most."""
LATEST, HALVINGS = 80.0, 40
"""The largest log t, and how often its range is halved to find the last time."""
TERMS = 9
"""Terms of the series of e^{pt} − 1, the next of which is below 1e-11 of the first."""
ALL = 512
"""Up to so many tokens all prefixes are looked at. Of more every √V-th, and those that end before
or after a heavy token; then all around the best."""


@dataclass(frozen=True)
class DistinctOptimum(Objective):
    """The optimum for k drafts without replacement: α = q(A) + 1 − f(A).

    A is a prefix of the tokens by ascending q/p, the best of those that are looked at. Tokens of
    equal q/p are in A together.
    """

    copies: ClassVar[int] = 64
    k: int

    def numbers(self, size: int) -> int:
        """Return about how many numbers are made of a row: of its tokens, and of its race."""
        return super().numbers(size) + 4 * FINE_NODES * self.k * _heavy_tokens(
            self.k, size, FINE_ERROR
        )

    def rows_at_once(self, rows: int, size: int, share: int) -> int:
        """Return how many of some rows to work on at once: several, since a race has many steps."""
        return max(super().rows_at_once(rows, size, share), AT_ONCE // self.numbers(size))

    def _solve(self, library: Library, draft: Array, target: Array) -> tuple[Array, State]:
        xp = library.xp
        draft, target = library.widened(draft), library.widened(target)
        race = Race.of(library, draft, target, self.k)
        last = _last_inside(race, draft, target)
        inside = _ratio(library, draft, target) <= last[..., None]
        cost = xp.sum(xp.where(inside, target, 0.0), axis=-1)
        outside = xp.sum(xp.where(inside, 0.0, draft), axis=-1)
        light = xp.where(inside & (draft <= race.heaviest), draft / race.unit, 0.0)
        sums = [xp.sum(power, axis=-1) for power in _powers(light, race.terms)]
        members = race.ratios <= last[..., None]
        found, heavy, coefficients = race.gradient(outside, xp.stack(sums, axis=-1), members)
        loss = found - cost
        some = xp.astype(loss > 0, loss.dtype)[..., None]
        state = (
            race.tokens,
            some * heavy,
            some * coefficients,
            xp.concat([last[..., None], race.heaviest, race.unit, outside[..., None]], axis=-1),
        )
        return loss * some[..., 0], state

    def _gradient(self, library: Library, draft: Array, target: Array, state: State) -> Array:
        xp = library.xp
        tokens, heavy, coefficients, numbers = state
        last, heaviest, unit, outside = (numbers[..., i : i + 1] for i in range(4))
        draft, target = library.widened(draft), library.widened(target)
        rate = xp.where(draft <= heaviest, draft / unit, 0.0)
        slope = xp.zeros_like(draft)
        for j in reversed(range(coefficients.shape[-1])):
            slope = slope * rate + coefficients[..., j : j + 1]
        slope = xp.where(draft <= heaviest, slope, _placed(library, heavy, tokens, draft))
        inside = _ratio(library, draft, target) <= last
        found = xp.where(inside, draft * slope, 0.0)
        # Off A the derivative is what makes Σ p ∂f/∂p zero.
        rest = -xp.sum(found, axis=-1, keepdims=True) * library.quotient(1.0, outside)
        return library.narrowed(xp.where(inside, found, draft * rest))


def _ratio(library: Library, draft: Array, target: Array) -> Array:
    return library.quotient(target, draft, float("inf"))


@dataclass(frozen=True)
class Race:
    """The race of each row, as far as it does not depend on the set.

    Parameters
    ----------
    library : Library
    k : int
    times : array, shape (..., m)
    step : array, shape (..., 1)
        Of log t.
    tokens, rates, ratios : array, shape (..., h)
        The heavy tokens by ascending q/p; 0 is the rate of those that count as light.
    all_heavy : bool
        Whether no token is light.
    heaviest : array, shape (..., 1)
        The draft probability of light tokens at most.
    unit : array, shape (..., 1)
        The same, or 1 where there is none.
    """

    library: Library
    k: int
    times: Array
    step: Array
    tokens: Array
    rates: Array
    ratios: Array
    all_heavy: bool
    heaviest: Array
    unit: Array

    @property
    def terms(self) -> int:
        """How many power sums of light tokens count."""
        return self.k + TERMS

    @classmethod
    def of(cls, library: Library, draft: Array, target: Array, k: int) -> Race:
        """Choose heavy tokens and times for rows, (..., V)."""
        xp, size = library.xp, draft.shape[-1]
        nodes, error = (FINE_NODES, FINE_ERROR) if library.dtype == xp.float64 else (NODES, ERROR)
        enough = sure_mean(k, -math.log(error))
        count = _heavy_tokens(k, size, error)
        masses, tokens = _largest(library, draft, count)
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
        stop = xp.minimum(high, sure)
        start = (math.lgamma(k + 1) + math.log(error)) / k
        step = (stop - start) / (nodes - 1)
        times = xp.exp(start + step * library.widened(library.arange(nodes)))
        # By ascending ratio, of equal ones by token id, as the sort of all tokens has them; those
        # that count as light come last.
        tokens = xp.sort(tokens, axis=-1)
        rates = library.take(draft, tokens)
        rates = xp.where(rates > heaviest, rates, 0.0)
        ratios = _ratio(library, rates, library.take(target, tokens))
        order = xp.argsort(ratios, axis=-1)
        tokens, rates, ratios = (
            xp.take_along_axis(part, order, axis=-1) for part in (tokens, rates, ratios)
        )
        unit = xp.where(heaviest > 0, heaviest, xp.ones_like(heaviest))
        return cls(library, k, times, step, tokens, rates, ratios, count == size, heaviest, unit)

    def light(self, sums: Array) -> list[Array]:
        """Return P(N = n) of light tokens for n < k, from their power sums: (..., K, J).

        Where all tokens are heavy they do not depend on the time.

        Returns
        -------
        list of array, shape (..., K, m)
        """
        xp = self.library.xp
        if self.all_heavy:
            none = xp.zeros_like(sums[..., :1])
            return [none + 1, *[none] * (self.k - 1)]
        powers = xp.stack(_powers(self.unit * self.times, self.terms), axis=-2)  # (..., J, m)
        grown: list[Any] = [None]  # Σ w^i, (..., K, m) for each i
        for i in range(1, self.k):
            weights = xp.stack(
                [sums[..., j] * _series(i, self.terms)[j] for j in range(self.terms)], axis=-1
            )
            grown.append(weights @ powers)
        first = xp.exp(-sums[..., :1] * powers[..., :1, :])
        found = [first]
        for n in range(1, self.k):
            # n a_n = Σ_i (−1)^{i−1} (Σ w^i) a_{n−i}.
            found.append(
                sum((-1) ** (i - 1) * grown[i] * found[n - i] for i in range(1, n + 1)) / n
            )
        return found

    def heavy(self, members: Array | None = None, *, backwards: bool = False) -> Array:
        """Return P(N = n) of the first j heavy tokens, or of the last: (h + 1, ..., m, k).

        Tokens that are no members, (..., h), never arrive.
        """
        xp = self.library.xp
        rates = self.rates if members is None else xp.where(members, self.rates, 0.0)
        if backwards:
            rates = xp.flip(rates, axis=-1)
        none = xp.stack(
            [xp.ones_like(self.times), *[xp.zeros_like(self.times)] * (self.k - 1)], axis=-1
        )

        def step(counts: Array, rate: Array) -> Array:
            missing = xp.exp(-rate[..., None] * self.times)[..., None]
            before = xp.concat([xp.zeros_like(counts[..., :1]), counts[..., :-1]], axis=-1)
            return counts * missing + before * (1 - missing)

        return _running(self.library, step, none, rates)

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

    def gradient(self, outside: Array, sums: Array, members: Array) -> tuple[Array, Array, Array]:
        """Return f(A) and its derivatives by the probabilities of A.

        Parameters
        ----------
        outside : array, shape (...)
        sums : array, shape (..., J)
            Power sums of the light tokens of A, in units.
        members : array of bool, shape (..., h)
            The heavy tokens of A.

        Returns
        -------
        found : array, shape (...)
        heavy : array, shape (..., h)
        coefficients : array, shape (..., J)
            Of a polynomial in the probability of a light token, in units.
        """
        xp, k = self.library.xp, self.k
        before, after = self.heavy(members), self.heavy(members, backwards=True)
        light = [part[..., 0, :] for part in self.light(sums[..., None, :])]
        counts = [before[-1][..., n] for n in range(k)]
        counts = counts if self.all_heavy else _product(light, counts)
        below: Array = sum(counts)
        found = self.inside(outside[..., None], below[..., None, :])[..., 0]
        due = outside[..., None] * self.times
        weight = due * xp.exp(-due) * self.times * self.step
        # Without y: what comes before it in the order, after it, and the light tokens.
        rest = xp.flip(after[:-1], axis=0)
        others = _product([before[:-1][..., n] for n in range(k)], [rest[..., n] for n in range(k)])
        # (h, ..., m).
        last = others[-1] if self.all_heavy else _product(light, others)[-1]
        missing = xp.exp(-_moved(xp, self.rates[..., None], -2, 0) * self.times)
        heavy = _moved(xp, xp.sum(weight * missing * last, axis=-1), 0, -1)
        # e^{−pt} P(N without y = k − 1) = Σ_i (−w)^i P(N = k − 1 − i), w = e^{pt} − 1.
        if self.all_heavy:
            return found, xp.where(members, heavy, 0.0), 0 * sums
        due = _powers(self.unit * self.times, self.terms)
        coefficients = [xp.sum(weight * counts[k - 1], axis=-1)]
        for j in range(1, self.terms):
            # The series of w^i begins with (pt)^i.
            parts = sum(
                (-1) ** i * _series(i, self.terms)[j - 1] * counts[k - 1 - i]
                for i in range(1, min(k, j + 1))
            )
            coefficients.append(xp.sum(weight * due[j - 1] * parts, axis=-1))
        return found, xp.where(members, heavy, 0.0), xp.stack(coefficients, axis=-1)


def _product(one: list[Array], other: list[Array]) -> list[Array]:
    """Return the coefficients of a product of two polynomials, as many as each has."""
    return [sum(one[i] * other[n - i] for i in range(n + 1)) for n in range(len(one))]


def _last_inside(race: Race, draft: Array, target: Array) -> Array:
    """Return the q/p of the last token of the best prefix: (...); −1 if that is empty."""
    library, xp, size = race.library, race.library.xp, draft.shape[-1]
    ratio = _ratio(library, draft, target)
    order = xp.argsort(ratio, axis=-1)
    ratio, drafted, wanted = (library.take(part, order) for part in (ratio, draft, target))
    is_light = drafted <= race.heaviest
    heavy = xp.where(is_light, 0.0, 1.0)
    light = xp.where(is_light, drafted / race.unit, 0.0)
    parts = wanted, drafted, heavy, *_powers(light, 0 if race.all_heavy else race.terms)
    # Before each token, and at the end.
    zero = xp.zeros_like(ratio[..., :1])
    sums = [xp.concat([zero, xp.cumulative_sum(part, axis=-1)], axis=-1) for part in parts]
    reached = xp.cumulative_sum(race.heavy(), axis=-1)  # P(N ≤ n) of heavy tokens
    reached = [_moved(xp, reached[..., n], 0, -2) for n in range(race.k)]  # (..., h + 1, m) each

    def best_of(places: Array) -> Array:
        """Return the best of prefixes of some lengths, (..., K), by q(A) − f(A): (...)."""
        cost, mass, passed, *powers = (library.take(part, places) for part in sums)
        mass = xp.clip(1 - mass, 0.0, 1.0)
        if race.all_heavy:
            return library.pick(places, library.largest(race.inside(mass, reached[-1]) - cost))
        few = race.light(xp.stack(powers, axis=-1))
        index = library.ids(passed + 0.5)[..., None] + xp.zeros_like(library.ids(few[0]))
        below = sum(
            few[n] * xp.take_along_axis(reached[race.k - 1 - n], index, axis=-2)
            for n in range(race.k)
        )
        excess = cost - race.inside(mass, below)
        return library.pick(places, library.largest(-excess))

    lengths = library.arange(size + 1) + xp.zeros_like(order[..., :1])
    if size <= ALL or race.all_heavy:
        best = best_of(lengths)
    else:
        step = math.isqrt(size)
        late = xp.where(is_light, -float(size), -library.widened(lengths[..., :-1]))
        at = library.ids(xp.clip(-_largest(library, late, race.rates.shape[-1])[0], max=size - 1.0))
        best = best_of(xp.concat([lengths[..., ::step], at, at + 1], axis=-1))
        around = best[..., None] + library.arange(2 * step + 1) - step
        best = best_of(xp.clip(around, 0, size))
    last = library.pick(ratio, xp.clip(best - 1, min=0))
    return xp.where(best > 0, last, -1.0)


def _powers(values: Array, terms: int) -> list[Array]:
    """Return the powers from the first on."""
    found: list[Array] = []
    for _ in range(terms):
        found.append(found[-1] * values if found else values)
    return found


def _moved(xp: Any, values: Array, start: int, end: int) -> Array:
    """Return an array of which one axis is somewhere else."""
    return (
        xp.moveaxis(values, start, end) if hasattr(xp, "moveaxis") else values.movedim(start, end)
    )


def _largest(library: Library, values: Array, count: int) -> tuple[Array, Array]:
    """Return the largest entries of each row in descending order, and where they are."""
    if library.reorders:
        found: tuple[Array, Array] = import_module("jax.lax").top_k(values, count)
        return found
    found = import_module("torch").topk(values, count, dim=-1)
    return found[0], found[1]


def _placed(library: Library, values: Array, tokens: Array, like: Array) -> Array:
    """Return zeros with values at some tokens of each row."""
    zeros, tokens = library.xp.zeros_like(like), library.ids(tokens)
    if library.reorders:
        return library.xp.put_along_axis(zeros, tokens, values, axis=-1, inplace=False)
    return zeros.scatter(-1, tokens, values)


def _running(
    library: Library, step: Callable[[Array, Array], Array], state: Array, each: Array
) -> Array:
    """Return a state before and after each step: (h + 1, ...) for what each, (..., h), has."""
    if library.reorders:
        columns = library.xp.moveaxis(each, -1, 0)

        def scanned(held: Array, column: Array) -> tuple[Array, Array]:
            after = step(held, column)
            return after, after

        _, states = import_module("jax.lax").scan(scanned, state, columns)
        return library.xp.concat([state[None], states], axis=0)
    states = [state]
    for j in range(each.shape[-1]):
        states.append(step(states[-1], each[..., j]))
    return library.xp.stack(states, axis=0)


def _heavy_tokens(k: int, size: int, error: float) -> int:
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
