"""Claims of section 1 and appendix D on the toy experiments of table 4, by simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from validation.claim import Check, Claim, Corrected, Method, Outcome, Search, at_least

Floats = npt.NDArray[np.float64]
Setting = tuple[Fraction, Fraction]
"""Temperature T and similarity λ."""

TOKENS, PRINTED_PAIRS, PRINTED_RUNS = 50, 100, 1_000
"""n, the pairs behind each printed mean, and the simulated runs of RRSw on each of them."""
METHODS = ("RRS", "RRSw", "OTM", "OTMw", "SpecHub")
TABLE4: dict[Setting, tuple[float, ...]] = {
    (Fraction("0.1"), Fraction("0.7")): (0.6273, 0.7120, 0.6380, 0.7345, 0.7402),
    (Fraction("0.1"), Fraction("0.5")): (0.3323, 0.4057, 0.3346, 0.4125, 0.4123),
    (Fraction("0.25"), Fraction("0.7")): (0.7354, 0.7653, 0.7846, 0.8321, 0.8113),
    (Fraction("0.25"), Fraction("0.5")): (0.4564, 0.4978, 0.4743, 0.5245, 0.4968),
    (Fraction("0.5"), Fraction("0.7")): (0.8090, 0.8122, 0.9037, 0.9150, 0.8500),
    (Fraction("0.5"), Fraction("0.5")): (0.6456, 0.6593, 0.7052, 0.7206, 0.6403),
}
DEVIATIONS = 4.0
"""Standard errors beyond which two means differ; 30 comparisons stay within with 99.8 %."""


def positive(values: Floats) -> Floats:
    """Return the positive part."""
    return np.maximum(values, 0.0)


def rrs(draft: Floats, target: Floats) -> Floats:
    """Return the acceptance of RRS with two drafts, for each row."""
    rejected = positive(target - draft).sum(axis=1)
    left = positive(target - (1 + rejected)[:, None] * draft).sum(axis=1)
    return np.asarray(1 - left)


def rrsw(draft: Floats, target: Floats) -> Floats:
    """Return the acceptance of RRSw with two drafts, summed over the first."""
    lost, wanted = positive(draft - target), positive(target - draft)
    rejected = wanted.sum(axis=1)
    both = np.zeros(len(draft))
    for x in range(draft.shape[1]):
        offered = (rejected / (1 - draft[:, x]))[:, None] * draft
        offered[:, x] = 0
        both += lost[:, x] * positive(wanted - offered).sum(axis=1) / rejected
    return np.asarray(1 - both)


def otm(draft: Floats, target: Floats) -> Floats:
    """Return the optimum of two independent drafts: the best cut is a prefix by q/p."""
    order = np.argsort(target / draft, axis=1)
    inside = np.cumsum(np.take_along_axis(draft, order, 1), axis=1) ** 2
    bounds = np.cumsum(np.take_along_axis(target, order, 1), axis=1) + 1 - inside
    return np.minimum(1.0, bounds.min(axis=1))


def otmw(draft: Floats, target: Floats) -> Floats:
    """Return the optimum of two distinct drafts: the same, with P(both inside) of this law."""
    order = np.argsort(target / draft, axis=1)
    p = np.take_along_axis(draft, order, 1)
    inside = 1 - (1 - np.cumsum(p, axis=1)) * (1 + np.cumsum(p / (1 - p), axis=1))
    bounds = np.cumsum(np.take_along_axis(target, order, 1), axis=1) + 1 - inside
    return np.minimum(1.0, bounds.min(axis=1))


def spechub(draft: Floats, target: Floats) -> Floats:
    """Return q(a) + Σ min(q, p/(1 − p(a))) over the others."""
    rows, hub = np.arange(len(draft)), draft.argmax(axis=1)
    served = np.minimum(target, draft / (1 - draft[rows, hub])[:, None])
    served[rows, hub] = target[rows, hub]
    return np.asarray(served.sum(axis=1))


FORMULAS: dict[str, Callable[[Floats, Floats], Floats]] = dict(
    zip(METHODS, (rrs, rrsw, otm, otmw, spechub), strict=True)
)


def softmax(logits: Floats) -> Floats:
    """Return each row's softmax."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Experiment:
    """Pairs of appendix D.

    Parameters
    ----------
    logits : {"uniform", "normal"}
        Unif(0, 1), as printed, or N(0, 1).
    pairs : int
    seed : int
    """

    logits: str
    pairs: int
    seed: int

    def acceptances(self, setting: Setting, method: str) -> Floats:
        """Return the acceptance of one method on each pair."""
        draft, target = _pairs(self, setting)
        return FORMULAS[method](draft, target)


@lru_cache(maxsize=2)
def _pairs(experiment: Experiment, setting: Setting) -> tuple[Floats, Floats]:
    temperature, similarity = map(float, setting)
    index = list(TABLE4).index(setting)
    rng = np.random.default_rng((experiment.seed, index))
    shape = (experiment.pairs, TOKENS)
    uniform = experiment.logits == "uniform"
    of_target, other = (
        rng.random(shape) if uniform else rng.standard_normal(shape) for _ in range(2)
    )
    mixed = similarity * of_target + (1 - similarity) * other
    return softmax(mixed / temperature), softmax(of_target / temperature)


def instances(settings: Any, methods: Any) -> Iterator[dict[str, Any]]:
    """Yield settings and methods."""
    for temperature, similarity in settings:
        for method in methods:
            yield {"T": temperature, "lambda_": similarity, "method": method}


def printed_means(logits: str) -> Check:
    """Return a check of the thirty printed means."""

    def check(search: Search) -> Outcome:
        experiment = Experiment(logits, search.instances, search.seed)

        def slack(T: Fraction, lambda_: Fraction, method: str) -> float:  # noqa: N803
            values = experiment.acceptances((T, lambda_), method)
            printed = TABLE4[T, lambda_][METHODS.index(method)]
            variance = values.var(ddof=1) * (1 / PRINTED_PAIRS + 1 / len(values))
            if method == "RRSw":
                variance += 1 / (4 * PRINTED_PAIRS * PRINTED_RUNS)
            away = abs(printed - values.mean()) / sqrt(variance)
            what = f"mean {values.mean():.4f}, printed {printed}; {DEVIATIONS} standard errors"
            return float(at_least(DEVIATIONS, away, what + ", against the difference in them"))

        scope = f"30 means, each against {search.instances:,} pairs; confidence 99.8 %"
        return search.every(instances(TABLE4, METHODS), slack, scope=scope)

    return check


def ranking(
    settings: list[Setting],
    higher: str,
    others: tuple[str, ...],
    *,
    at_most_below: float = -DEVIATIONS,
    logits: str = "normal",
) -> Check:
    """Return a check that one method has a higher mean than others.

    ``at_most_below``: the least difference that is tolerated, in standard errors; a claim is
    contradicted by −4, and confirmed by 4.
    """

    def check(search: Search) -> Outcome:
        experiment = Experiment(logits, 40 * search.instances, search.seed)

        def slack(T: Fraction, lambda_: Fraction, method: str) -> float:  # noqa: N803
            found = experiment.acceptances((T, lambda_), higher)
            found = found - experiment.acceptances((T, lambda_), method)
            error = found.std(ddof=1) / sqrt(len(found))
            what = f"mean of {higher} − {method} is {found.mean():.4f}, in standard errors"
            return float(at_least(found.mean() / error, at_most_below, what))

        scope = f"{40 * search.instances:,} pairs each, {logits} logits"
        return search.every(instances(settings, others), slack, scope=scope)

    return check
