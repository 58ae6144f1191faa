"""Appendix D and section 1: the toy experiments of table 4, by simulation."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from math import sqrt

import numpy as np
import numpy.typing as npt

from validation.claim import Fails, Method, Severity, claim, corrected
from validation.domains import Domain, given
from validation.printed_tables import read_tables

Floats = npt.NDArray[np.float64]
Setting = tuple[Fraction, Fraction]
"""Temperature T and similarity λ."""
TOKENS, PRINTED_PAIRS, PRINTED_RUNS = 50, 100, 1_000
"""n, the pairs behind each printed mean, and the simulated runs of RRSw on each of them."""
METHODS = ("RRS", "RRSw", "OTM", "OTMw", "SpecHub")
TABLE4: dict[Setting, tuple[float, ...]] = {
    (Fraction(temperature), Fraction(similarity)): tuple(map(float, means))
    for temperature, similarity, *means in map(str.split, read_tables("spechub")["4"])
}
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


@lru_cache(maxsize=10)
def acceptances(method: str, logits: str, setting: Setting, pairs: int, seed: int) -> Floats:
    """Return the acceptance of one method on each pair of a setting."""
    return FORMULAS[method](*drawn_pairs(logits, setting, pairs, seed))


simulated = partial(claim, method=Method.SIMULATION)
instead = partial(corrected, method=Method.SIMULATION)


def settings(*methods: str, least: str = "0", most: str = "1") -> Domain:
    """Return the domain of table 4's settings between two temperatures, with some methods."""
    chosen = [key for key in TABLE4 if Fraction(least) <= key[0] <= Fraction(most)]
    each = [{"temperature": T, "similarity": s, "method": m} for T, s in chosen for m in methods]
    return given(*each, note="normal logits; slack in standard errors").each(seed=(0,))


@instead("spechub.tab4", Severity.MISPRINT, settings(*METHODS), logits="normal")
@simulated("spechub.tab4", "Table 4, appendix D", settings(*METHODS))
def printed_mean(temperature, similarity, method, seed, logits="uniform"):
    r"""The printed acceptance rates are means over pairs with 50 tokens, logits from Unif(0, 1),
    target $\text{softmax}(u_q/T)$ and draft
    $\text{softmax}(\lambda u_q/T + (1 - \lambda) u_p/T)$.
    Printed: Means over a hundred pairs; RRSw simulated with a thousand repetitions.
    Corrected: They are if the logits are from N(0, 1): all thirty lie within four standard errors.
    """
    setting = (temperature, similarity)
    values = acceptances(method, logits, setting, 1_000, seed)
    printed = TABLE4[setting][METHODS.index(method)]
    variance = values.var(ddof=1) * (1 / PRINTED_PAIRS + 1 / len(values))
    variance += (method == "RRSw") / (4 * PRINTED_PAIRS * PRINTED_RUNS)
    away = float(abs(printed - values.mean()) / sqrt(variance))
    if away > DEVIATIONS:
        mean = f"the mean is {values.mean():.4f}, the printed one {printed}"
        raise Fails(f"{mean} is {away:.0f} standard errors away")
    return DEVIATIONS - away


def above_in_mean(one, other, setting, seed, least=-DEVIATIONS):
    """Return by how many standard errors more than the least one method's mean is above another's.

    The least is −4 to contradict a claim that it is above, 4 to confirm it.
    """
    found = acceptances(one, "normal", setting, 20_000, seed)
    found = found - acceptances(other, "normal", setting, 20_000, seed)
    error = float(found.std(ddof=1) / sqrt(len(found)))
    if found.mean() < least * error:
        mean = f"the mean of {one} − {other} is {found.mean():.4f}"
        raise Fails(f"{mean}, its standard error {error:.4f}")
    return float(found.mean() / error - least)


@instead("spechub.sec1b", Severity.MISPRINT, settings("OTM", most="0.25"), least=DEVIATIONS)
@simulated("spechub.sec1b", "Section 1, the toy experiments", settings("OTM", least="0.5"))
def better_than_otm(temperature, similarity, method, seed, least=-DEVIATIONS):
    """In the toy experiments of appendix D, SpecHub outperforms OTM in high-entropy regions: at the
    highest temperature, T = 0.5, it accepts more on average.
    Printed: “SpecHub sometimes outperforms OTM in high-entropy regions”. Pair by pair it does at
    T = 0.5 too, on one pair in six to ten. The logits are from N(0, 1), see tab4.
    Corrected: In low-entropy regions it does: at T = 0.1 and 0.25 it accepts more than OTM on
    average.
    """
    return above_in_mean("SpecHub", method, (temperature, similarity), seed, least)


COLDEST = settings("OTMw", "OTM", "RRSw", "RRS", most="0.1").where(
    lambda similarity, **_: similarity > Fraction("0.5")
)


@simulated("spechub.secDa", "Appendix D", COLDEST)
def best_of_all(temperature, similarity, method, seed):
    r"""At T = 0.1 and $\lambda = 0.7$ SpecHub outperforms all other methods, OTM without
    replacement included, on average.
    Printed: 0.7402 against 0.7345, the means of a hundred pairs.
    """
    return above_in_mean("SpecHub", method, (temperature, similarity), seed)


@instead("spechub.secDa", Severity.CONDITION, settings("SpecHub"))
def worse_than_otmw(temperature, similarity, method, seed):
    """OTM without replacement has the higher mean in all six settings of table 4."""
    return above_in_mean("OTMw", method, (temperature, similarity), seed, DEVIATIONS)


@simulated("spechub.secDb", "Appendix D", settings("OTM", "SpecHub", "RRSw", "RRS", least="0.5"))
def otmw_is_best(temperature, similarity, method, seed):
    """At T = 0.5 the OTM methods dominate, particularly OTM without replacement, on average."""
    if method != "OTM":
        above_in_mean("OTM", method, (temperature, similarity), seed, DEVIATIONS)
    return above_in_mean("OTMw", method, (temperature, similarity), seed, DEVIATIONS)
