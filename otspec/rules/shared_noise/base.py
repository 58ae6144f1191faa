"""Drafts and output from the same noise, which alone decides on the output (Theory, 33, 35)."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from otspec._base import Array, IntArray, Number, as_array, as_generator, cached_property
from otspec._base.arithmetic import as_number, is_exact, over_one_denominator, zeros
from otspec.chance import Chance
from otspec.coupling import match, matches
from otspec.distributions import Distribution
from otspec.drafts.base import as_drafts
from otspec.estimate import Estimate, Estimates
from otspec.rules.base.accepted import DrawnDrafts, Estimated
from otspec.rules.base.pair_rule import PairRule
from otspec.rules.base.rule import NotExactError
from otspec.rules.shared_noise.exponentials import Powers, first_arrivals

MOST_TERMS = 1_000_000  # most terms of an exact sum that anybody waits for, each of 256 bits
_CHUNK = 1 << 22  # most random numbers drawn at once (32 MB)


@dataclass(frozen=True, eq=False)
class SharedNoise(PairRule):
    """A rule whose drafts and output are read from the same exponential numbers.

    A draft is accepted if it is the output, a function of the target and the noise alone. So the
    output does not depend on the drafts, and verifying needs no draft probabilities.
    :meth:`verify` follows the conditional law of that output given the drafts.
    """

    quick: ClassVar[bool] = False
    best_for_one: ClassVar[bool] = False
    independent: ClassVar[bool] = True

    @property
    @abstractmethod
    def _noise_shape(self) -> tuple[int, ...]:
        """The shape of the noise of one step."""

    @abstractmethod
    def _masses(self, drafts: Sequence[int]) -> list[Fraction]:
        """Return P(these drafts and output y) for every token y, exactly."""

    @abstractmethod
    def _drafts(self, noise: Array) -> IntArray:
        """Read drafts from noise: (size, *shape) -> (size, k)."""

    @abstractmethod
    def _output(self, noise: Array) -> IntArray:
        """Read the outputs from noise: (size, *shape) -> (size,)."""

    @abstractmethod
    def _noise_given(self, drafts: Sequence[int], rng: np.random.Generator) -> Array:
        """Draw the noise given the drafts that it leads to."""

    def couple(self, noise: Array) -> tuple[list[int], int]:
        """Return the k drafts, and the output, that the noise of one step leads to.

        ``noise``, shape (n,) or (k, n): independent exponential numbers of mean 1, such as −log of
        uniform numbers. Raises ``ValueError``: another shape, or noise not positive and finite.
        """
        noise = as_array(noise, "noise")
        if noise.shape != self._noise_shape or noise.dtype.kind != "f":
            raise ValueError(
                f"noise has shape {noise.shape} and dtype {noise.dtype}: pass floats of shape "
                f"{self._noise_shape}, such as rng.standard_exponential({self._noise_shape})"
            )
        if not (np.isfinite(noise).all() and (noise > 0).all()):
            raise ValueError(
                "noise holds numbers that are not positive and finite: draw them again"
            )
        return self._drafts(noise[None])[0].tolist(), int(self._output(noise[None])[0])

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts: the output is drawn from its law given them; see :meth:`couple`."""
        return match(self._given(drafts), drafts, chance)

    def _joint_kernel(self, drafts: Sequence[int]) -> Array:
        return matches(self._given(drafts), drafts)

    def _given(self, drafts: Sequence[int]) -> Distribution:
        """Return the law of the output given the drafts, (n,)."""
        # Drafts that cannot occur say nothing: the output then has the law of the target.
        if not self._possible(drafts):
            return self.target
        terms = math.comb(len(self._support) + self.k, self.k) * len(self.target)
        if terms > MOST_TERMS:
            raise NotExactError(
                f"the law of the output given k = {self.k} drafts has too many terms for "
                f"{len(self.target):,} tokens: sample() draws from it"
            )
        masses = self._masses(drafts)
        given = zeros(len(masses), like=self.target)
        given[:] = [as_number(mass / sum(masses), like=self.target) for mass in masses]
        return given

    def _too_many(self, terms: int) -> bool:
        """Whether an exact sum takes too long: its numbers are k-th powers of the denominator."""
        *_, unit = over_one_denominator(self.draft, self.target)
        return terms * max(1, self.k * int(unit).bit_length() // 256) > MOST_TERMS

    def _possible(self, drafts: Sequence[int]) -> bool:
        """Whether these drafts can occur."""
        repeated = self.law_class.distinct and len(set(drafts)) < len(drafts)
        return not repeated and set(drafts) <= set(self._support)

    def sample(self, x: Sequence[int], rng: np.random.Generator) -> tuple[int, bool]:
        """Draw the output in O(n): the noise given the drafts, then the target's token."""
        drafts, rng = as_drafts(x, self.law), as_generator(rng)
        if not self._possible(drafts):
            return super().sample(drafts, rng)
        token = int(self._output(self._noise_given(drafts, rng)[None])[0])
        return token, token in drafts

    def acceptance(self) -> Number:
        """Return the acceptance; ``NotExactError`` for exact sums of more than a million terms."""
        if is_exact(self.target):
            return super().acceptance()
        return self.acceptances_of(self.pair, [self.k])[0].value

    def estimate(self, size: int = 2_000, seed: int = 0) -> Estimated:
        """Estimate what :meth:`accepted` says from ``size`` (at least 2) random steps of noise."""
        return DrawnNoise(self, size, seed)

    def steps(self, size: int, seed: int) -> tuple[IntArray, IntArray]:
        """Return the first draft that is the output, k if none is, and the output: (size,) each."""
        rng = np.random.default_rng(seed)
        rows = max(1, _CHUNK // math.prod(self._noise_shape))
        places, tokens = np.empty((2, size), dtype=np.intp)
        for start in range(0, size, rows):
            part = slice(start, min(start + rows, size))
            noise = rng.standard_exponential((part.stop - start, *self._noise_shape))
            tokens[part] = self._output(noise)
            hits = self._drafts(noise) == tokens[part, None]
            places[part] = np.where(hits.any(axis=1), hits.argmax(axis=1), self.k)
        return places, tokens

    # Exact numbers

    @cached_property
    def _exact(self) -> tuple[list[Fraction], list[Fraction]]:
        """Draft and target as fractions, of sum 1."""
        both = []
        for masses in (self.draft, self.target):
            values = [Fraction(value) for value in masses.tolist()]
            total = sum(values)
            both.append([value / total for value in values])
        return both[0], both[1]

    @cached_property
    def _support(self) -> list[int]:
        """The tokens that can be drafted."""
        return np.flatnonzero(self.draft).tolist()

    def _arrivals(self, drafts: Sequence[int], output: int | None) -> Powers:
        """Return P(first drafts | no token of the target's race before t), of u = e^{−t}."""
        # With an output, the target's race ends at t with this token.
        draft, target = self._exact
        rates = {z: draft[z] for z in self._support}
        starts = {z: target[z] / draft[z] for z in self._support}
        return first_arrivals(drafts, rates, starts, output)


@dataclass(frozen=True, eq=False)
class DrawnNoise(DrawnDrafts):
    """An estimate from steps whose noise is drawn: what is accepted, and where, in each."""

    rule: SharedNoise

    @cached_property
    def steps(self) -> tuple[IntArray, IntArray]:
        """The first draft that is the output, k if none is, and the output: (size,) each."""
        return self.rule.steps(self.size, self.seed)

    @cached_property
    def probability(self) -> Estimate:
        """How often the output is one of the drafts."""
        return Estimate.of_mean(self.steps[0] < self.rule.k)

    @cached_property
    def by_position_and_token(self) -> Estimates:
        """How often draft i is the first that is the output y, without bias, shape (k, n)."""
        found = np.zeros((self.rule.k + 1, len(self.rule.target)))
        np.add.at(found, self.steps, 1 / self.size)
        return Estimates.of_means(found[:-1], self.size)

    def of_token(self, y: int) -> Estimate:
        """Return entry y of :attr:`by_token` with the interval of its own values."""
        places, tokens = self.steps
        return Estimate.of_mean((places < self.rule.k) & (tokens == y))

    def of_token_by_position(self, y: int) -> list[Estimate]:
        """Return column y of :attr:`by_position_and_token` likewise."""
        places, tokens = self.steps
        return [Estimate.of_mean((places == i) & (tokens == y)) for i in range(self.rule.k)]


def in_arithmetic_of(rule: PairRule, rows: list[list[Fraction]]) -> Array:
    """Return exact numbers as an array in the arithmetic of a rule."""
    found = zeros((len(rows), len(rows[0])), like=rule.target)
    found[:] = [[as_number(value, like=rule.target) for value in row] for row in rows]
    return found


def earliest(noise: Array, rates: Array, count: int) -> IntArray:
    """Return the first tokens of a race: (..., n), (n,) -> (..., count)."""
    tokens = np.flatnonzero(rates)
    with np.errstate(over="ignore"):
        times = noise[..., tokens] / rates[tokens].astype(float)
    if count == 1:
        first = times.argmin(axis=-1)[..., None]
    else:
        first = np.argpartition(times, count - 1, axis=-1)[..., :count]
        by_time = np.argsort(np.take_along_axis(times, first, axis=-1), axis=-1)
        first = np.take_along_axis(first, by_time, axis=-1)
    return tokens[first]
