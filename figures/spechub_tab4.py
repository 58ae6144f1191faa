"""SpecHub, table 4: acceptance of two drafts on random pairs of fifty tokens."""

from __future__ import annotations

from collections.abc import Iterator
from math import copysign, inf, sqrt

import numpy as np

import otspec
from figures.contract import Cell, Numbers, Settings, Table
from figures.registry import item
from otspec.distributions import Distribution
from otspec.logged.comparison import mean_and_error
from otspec.rules import (
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
)
from otspec.traces import warp

TOKENS = 50
PAIRS, QUICK_PAIRS = 100, 5
SEED = 0
WITHIN = 3.0
"""Standard errors within which a printed value agrees."""
MANY = 1_000
"""Standard errors that are not counted: a mean of 1 has next to none."""
METHODS = ("RRS", "RRSw", "OTM", "OTMw", "SpecHub")
"""As the table calls them: OTM is the optimum, w means without replacement."""
UNIFORM, NORMAL = "U(0,1)", "N(0,1)"
LOGITS = (UNIFORM, NORMAL)
"""What the logits are drawn from: as printed, and as the numbers say."""

Setting = tuple[float, float]
"""Temperature T and similarity λ."""
Key = tuple[str, Setting, str]
"""Logits, setting and method."""

PRINTED: dict[Setting, tuple[float, ...]] = {
    (0.1, 0.7): (0.6273, 0.7120, 0.6380, 0.7345, 0.7402),
    (0.1, 0.5): (0.3323, 0.4057, 0.3346, 0.4125, 0.4123),
    (0.25, 0.7): (0.7354, 0.7653, 0.7846, 0.8321, 0.8113),
    (0.25, 0.5): (0.4564, 0.4978, 0.4743, 0.5245, 0.4968),
    (0.5, 0.7): (0.8090, 0.8122, 0.9037, 0.9150, 0.8500),
    (0.5, 0.5): (0.6456, 0.6593, 0.7052, 0.7206, 0.6403),
}


def random_pairs(
    logits: str, setting: Setting, count: int
) -> Iterator[tuple[Distribution, Distribution]]:
    """Yield drafts and targets: target softmax(u/T), draft softmax((λu + (1 − λ)v)/T)."""
    temperature, similarity = setting
    rng = np.random.default_rng((SEED, LOGITS.index(logits), list(PRINTED).index(setting)))
    for _ in range(count):
        if logits == UNIFORM:
            of_target, other = rng.random((2, TOKENS))
        else:
            of_target, other = rng.standard_normal((2, TOKENS))
        mixed = similarity * of_target + (1 - similarity) * other
        yield warp(mixed, temperature=temperature), warp(of_target, temperature=temperature)


def acceptances(draft: Distribution, target: Distribution) -> tuple[float, ...]:
    """Return the exact acceptance of each method."""
    distinct = otspec.WithoutReplacement(draft, 2)
    found = (
        RecursiveRejection(draft, target, 2).acceptance(),
        RecursiveRejectionWithoutReplacement(draft, target, 2).acceptance(),
        otspec.optimal_acceptance(otspec.IID(draft, 2), target).acceptance,
        otspec.optimal_acceptance(distinct, target).acceptance,
        SpecHub(draft, target).acceptance(),
    )
    return tuple(map(float, found))


def _shown(away: float) -> str:
    return f"{away:+.1f}" if abs(away) < MANY else f"beyond {copysign(MANY, away):+.0f}"


@item("spechub_tab4", "SpecHub, table 4", seed=SEED)
class ToyExperiment(Table):
    """The acceptance on every pair, exactly.

    Parameters
    ----------
    values : dict
        Logits, setting and method → the acceptance on each pair.
    """

    title = "Acceptance of two drafts, 50 tokens"

    values: dict[Key, tuple[float, ...]]

    def mean(self, key: Key) -> float:
        """Return the mean over the pairs."""
        return mean_and_error(np.array(self.values[key]))[0]

    def error(self, key: Key) -> float:
        """Return the standard error of that mean."""
        return mean_and_error(np.array(self.values[key]))[1]

    def away(self, key: Key) -> float:
        """Return by how many standard errors the printed value is above our mean."""
        _, setting, method = key
        above = PRINTED[setting][METHODS.index(method)] - self.mean(key)
        error = self.error(key)
        return above / error if error > 0 else copysign(inf, above)

    def difference(self, setting: Setting, first: str, second: str) -> tuple[float, float]:
        """Return how much more one method accepts than another with N(0,1), and its error."""
        pairs = [np.array(self.values[NORMAL, setting, method]) for method in (first, second)]
        return mean_and_error(pairs[0] - pairs[1])

    @classmethod
    def compute(cls, settings: Settings) -> ToyExperiment:
        """Return all acceptances for both readings of the logits."""
        count = QUICK_PAIRS if settings.quick else PAIRS
        values: dict[Key, tuple[float, ...]] = {}
        for logits in LOGITS:
            for setting in PRINTED:
                rows = [acceptances(*pair) for pair in random_pairs(logits, setting, count)]
                for method, column in zip(METHODS, zip(*rows, strict=True), strict=True):
                    values[logits, setting, method] = column
        return cls(values)

    def numbers(self) -> Numbers:
        """Return one row for each setting and method, both readings side by side."""
        rows = []
        for setting, printed in PRINTED.items():
            for method, value in zip(METHODS, printed, strict=True):
                row: tuple[Cell, ...] = (*map(str, setting), method, value)
                for logits in LOGITS:
                    key = (logits, setting, method)
                    mean = self.mean(key)
                    verdict = "yes" if abs(self.away(key)) <= WITHIN else "no"
                    row += (mean, self.error(key), value - mean, _shown(self.away(key)), verdict)
                rows.append(row)
        columns: tuple[str, ...] = ("T", "λ", "method", "printed")
        for logits in LOGITS:
            parts = ("", ", s.e.", ", printed − ours", ", in s.e.", ", within 3")
            columns += tuple(f"{logits}{part}" for part in parts)
        return Numbers(columns, tuple(rows))

    def notes(self) -> list[str]:
        """Say what agrees."""
        agreeing, furthest = {}, {}
        for logits in LOGITS:
            away = [abs(self.away(key)) for key in self.values if key[0] == logits]
            agreeing[logits] = sum(each <= WITHIN for each in away)
            furthest[logits] = max(away)
        count = len(next(iter(self.values.values())))
        coldest = next(iter(PRINTED))
        gain, error = self.difference(coldest, "SpecHub", "OTMw")
        first = self.away((UNIFORM, coldest, "RRS"))
        cells = len(PRINTED) * len(METHODS)
        worst = furthest[NORMAL]
        how = (
            f"Means over {count} pairs, every acceptance exact; the paper has 100 pairs, and "
            "simulated RRSw. A standard error is that of our mean; the printed mean has its own."
        )
        normal = (
            f"With logits from N(0,1), {agreeing[NORMAL]} of {cells} printed values lie within "
            f"three standard errors, the furthest at {worst:.1f}: {worst / sqrt(2):.1f} standard "
            "errors of the difference of two such means."
        )
        uniform = (
            f"With logits from U(0,1), as the paper says, {agreeing[UNIFORM]} of {cells} do; the "
            f"first entry is {abs(first):.0f} standard errors off. The printed numbers are those "
            "of N(0,1)."
        )
        ranking = (
            "At T = 0.1, λ = 0.7 the paper has SpecHub 0.0057 above OTMw; pair by pair with N(0,1) "
            f"we find {gain:+.4f} ± {error:.4f} (standard error)."
        )
        return [how, normal, uniform, ranking]
