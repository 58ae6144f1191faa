"""Appendix D and section 1: the toy experiments of table 4, by simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from validation.claim import Fails, Method, Severity, claim, corrected
from validation.domains import given

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
WARMEST = [setting for setting in TABLE4 if setting[0] == Fraction("0.5")]
COOLER = [setting for setting in TABLE4 if setting not in WARMEST]
DEVIATIONS = 4.0
"""Standard errors beyond which two means differ; 30 comparisons stay within with 99.8 %."""


def positive(values: Floats) -> Floats:
    """Return the positive part."""
    return np.maximum(values, 0.0)


def rrs(draft: Floats, target: Floats) -> Floats:
    """Return the acceptance of RRS with two drafts, for each row."""
    rejected = positive(target - draft).sum(axis=1)
    return np.asarray(1 - positive(target - (1 + rejected)[:, None] * draft).sum(axis=1))


def rrsw(draft: Floats, target: Floats) -> Floats:
    """Return the acceptance of RRSw with two drafts, summed over the first."""
    lost, wanted = positive(draft - target), positive(target - draft)
    rejected, both = wanted.sum(axis=1), np.zeros(len(draft))
    for x in range(draft.shape[1]):
        offered = (rejected / (1 - draft[:, x]))[:, None] * draft
        offered[:, x] = 0
        both += lost[:, x] * positive(wanted - offered).sum(axis=1) / rejected
    return np.asarray(1 - both)


def optimum(draft: Floats, target: Floats, inside: Callable[[Floats], Floats]) -> Floats:
    """Return the optimum, whose best cut is a prefix by q/p, from P(both drafts in a prefix)."""
    order = np.argsort(target / draft, axis=1)
    masses = np.cumsum(np.take_along_axis(target, order, 1), axis=1)
    bounds = masses + 1 - inside(np.take_along_axis(draft, order, 1))
    return np.asarray(np.minimum(1.0, bounds.min(axis=1)))


def both_independent(p: Floats) -> Floats:
    """Return P(both of two independent drafts are among the first tokens)."""
    return np.asarray(np.cumsum(p, axis=1) ** 2)


def both_distinct(p: Floats) -> Floats:
    """Return P(both of two distinct drafts are among the first tokens)."""
    return np.asarray(1 - (1 - np.cumsum(p, axis=1)) * (1 + np.cumsum(p / (1 - p), axis=1)))


def spechub(draft: Floats, target: Floats) -> Floats:
    """Return q(a) + Σ min(q, p/(1 − p(a))) over the others."""
    rows, hub = np.arange(len(draft)), draft.argmax(axis=1)
    served = np.minimum(target, draft / (1 - draft[rows, hub])[:, None])
    served[rows, hub] = target[rows, hub]
    return np.asarray(served.sum(axis=1))


FORMULAS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "RRS": rrs,
    "RRSw": rrsw,
    "OTM": lambda draft, target: optimum(draft, target, both_independent),
    "OTMw": lambda draft, target: optimum(draft, target, both_distinct),
    "SpecHub": spechub,
}


def softmax(logits: Floats) -> Floats:
    """Return each row's softmax."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


@lru_cache(maxsize=2)
def drawn_pairs(logits: str, setting: Setting, pairs: int, seed: int) -> tuple[Floats, Floats]:
    """Return drafts and targets of appendix D, with "uniform" logits, as printed, or "normal"."""
    temperature, similarity = map(float, setting)
    rng = np.random.default_rng((seed, list(TABLE4).index(setting)))
    draw = rng.random if logits == "uniform" else rng.standard_normal
    of_target, other = (draw((pairs, TOKENS)) for _ in range(2))
    mixed = similarity * of_target + (1 - similarity) * other
    return softmax(mixed / temperature), softmax(of_target / temperature)


def simulated(
    slack: Callable[..., float], settings: Iterable[Setting], methods: Sequence[str], note: str
) -> Callable[..., Any]:
    """Return a check of every setting and method, from the seed of the search."""
    each = [{"temperature": T, "similarity": s, "method": m} for T, s in settings for m in methods]
    domain = given(*each, note=note)
    return lambda search: search.over(domain, partial(slack, seed=search.seed))


def near_the_printed(
    temperature: Fraction, similarity: Fraction, method: str, *, seed: int, logits: str
) -> float:
    """Return how much nearer than four standard errors a printed mean is to the true one."""
    setting = (temperature, similarity)
    values = FORMULAS[method](*drawn_pairs(logits, setting, 1_000, seed))
    printed = TABLE4[setting][METHODS.index(method)]
    variance = values.var(ddof=1) * (1 / PRINTED_PAIRS + 1 / len(values))
    if method == "RRSw":
        variance += 1 / (4 * PRINTED_PAIRS * PRINTED_RUNS)
    away = float(abs(printed - values.mean()) / sqrt(variance))
    if away > DEVIATIONS:
        raise Fails(f"the mean is {values.mean():.4f}, the printed one {printed} is {away:.0f} "
                    "standard errors away")  # fmt: skip
    return DEVIATIONS - away


def printed_means(logits: str) -> Callable[..., Any]:
    """Return a check of the thirty printed means."""
    note = "30 means, each against 1,000 pairs; confidence 99.8 %"
    return simulated(partial(near_the_printed, logits=logits), TABLE4, METHODS, note)


def mean_is_higher(
    temperature: Fraction, similarity: Fraction, method: str,
    *, seed: int, higher: str, least: float, pairs: int,
) -> float:  # fmt: skip
    """Return by how many standard errors more than is asked for the mean difference is positive."""
    drawn = drawn_pairs("normal", (temperature, similarity), pairs, seed)
    found = FORMULAS[higher](*drawn) - FORMULAS[method](*drawn)
    error = float(found.std(ddof=1) / sqrt(len(found)))
    if found.mean() < least * error:
        raise Fails(f"the mean of {higher} − {method} is {found.mean():.4f}, its standard error "
                    f"{error:.4f}")  # fmt: skip
    return float(found.mean() / error - least)


def ranking(
    settings: Iterable[Setting], higher: str, others: Sequence[str],
    *, confirmed: bool = False, pairs: int = 20_000,
) -> Callable[..., Any]:  # fmt: skip
    """Return a check that one method has a higher mean than others, with normal logits.

    ``confirmed``: the difference is positive beyond doubt; else it is not negative beyond doubt.
    """
    least = DEVIATIONS if confirmed else -DEVIATIONS
    slack = partial(mean_is_higher, higher=higher, least=least, pairs=pairs)
    note = f"{pairs:,} pairs each, normal logits; slack in standard errors"
    return simulated(slack, settings, others, note)


SIMULATION = Method.SIMULATION
claim(
    "spechub.sec1b",
    "Section 1, the toy experiments",
    None,
    "In the toy experiments of appendix D, SpecHub outperforms OTM in high-entropy regions: at the "
    "highest temperature, T = 0.5, it accepts more on average.",
    printed="“SpecHub sometimes outperforms OTM in high-entropy regions”. Pair by pair it does at "
    "T = 0.5 too, on one pair in six to ten. The logits are from N(0, 1), see tab4.",
    method=SIMULATION,
)(ranking(WARMEST, "SpecHub", ("OTM",)))
corrected(
    "spechub.sec1b",
    Severity.MISPRINT,
    None,
    "In low-entropy regions it does: at T = 0.1 and 0.25 it accepts more than OTM on average.",
    method=SIMULATION,
)(ranking(COOLER, "SpecHub", ("OTM",), confirmed=True))
claim(
    "spechub.tab4",
    "Table 4, appendix D",
    None,
    "The printed acceptance rates are means over pairs with 50 tokens, logits from Unif(0, 1), "
    r"target $\text{softmax}(u_q/T)$ and draft "
    r"$\text{softmax}(\lambda u_q/T + (1 - \lambda) u_p/T)$.",
    printed="Means over a hundred pairs; RRSw simulated with a thousand repetitions.",
    method=SIMULATION,
)(printed_means("uniform"))
corrected(
    "spechub.tab4",
    Severity.MISPRINT,
    None,
    "They are if the logits are from N(0, 1): all thirty lie within four standard errors.",
    method=SIMULATION,
)(printed_means("normal"))
claim(
    "spechub.secDa",
    "Appendix D",
    None,
    r"At T = 0.1 and $\lambda = 0.7$ SpecHub outperforms all other methods, OTM without "
    "replacement included, on average.",
    printed="0.7402 against 0.7345, the means of a hundred pairs.",
    method=SIMULATION,
)(ranking(list(TABLE4)[:1], "SpecHub", ("OTMw", "OTM", "RRSw", "RRS"), pairs=40_000))
corrected(
    "spechub.secDa",
    Severity.CONDITION,
    None,
    "OTM without replacement has the higher mean in all six settings of table 4.",
    method=SIMULATION,
)(ranking(TABLE4, "OTMw", ("SpecHub",), confirmed=True, pairs=40_000))
claim(
    "spechub.secDb",
    "Appendix D",
    None,
    "At T = 0.5 the OTM methods dominate, particularly OTM without replacement, on average.",
    method=SIMULATION,
)(ranking(WARMEST, "OTMw", METHODS[:3] + METHODS[4:], confirmed=True))
