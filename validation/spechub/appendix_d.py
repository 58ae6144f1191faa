"""Appendix D and section 1: the toy experiments of table 4, by simulation."""

from fractions import Fraction
from functools import lru_cache, partial
from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from validation.claim import Fails, Method, Severity, claim, corrected
from validation.domains import given
from validation.printed_tables import read_tables

Floats = npt.NDArray[np.float64]
TOKENS, PRINTED_PAIRS, PRINTED_RUNS = 50, 100, 1_000
"""n, the pairs behind each printed mean, and the simulated runs of RRSw on each of them."""
TABLE4 = {
    (Fraction(temperature), Fraction(similarity)): tuple(map(float, means))
    for temperature, similarity, *means in map(str.split, read_tables("spechub")["4"])
}
"""Temperature T and similarity λ → the printed means."""
DEVIATIONS = 4.0
"""Standard errors beyond which two means differ; 30 comparisons stay within with 99.8 %."""


def rrs(draft, target):
    """Return the acceptance of RRS with two drafts, for each row."""
    rejected = np.maximum(target - draft, 0).sum(axis=1)
    return 1 - np.maximum(target - (1 + rejected)[:, None] * draft, 0).sum(axis=1)


def rrsw(draft, target):
    """Return the acceptance of RRSw with two drafts, summed over the first."""
    lost, wanted = np.maximum(draft - target, 0), np.maximum(target - draft, 0)
    rejected, both = wanted.sum(axis=1), np.zeros(len(draft))
    for x in range(draft.shape[1]):
        offered = (rejected / (1 - draft[:, x]))[:, None] * draft
        offered[:, x] = 0
        both += lost[:, x] * np.maximum(wanted - offered, 0).sum(axis=1) / rejected
    return 1 - both


def optimum(draft, target, distinct=False):
    """Return the optimum, whose best cut is a prefix by q/p."""
    order = np.argsort(target / draft, axis=1)
    masses = np.cumsum(np.take_along_axis(target, order, 1), axis=1)
    bounds = masses + 1 - both_inside(np.take_along_axis(draft, order, 1), distinct)
    return np.minimum(1.0, bounds.min(axis=1))


def both_inside(p, distinct):
    """Return P(both of two drafts, independent or distinct, are among the first tokens)."""
    inside = np.cumsum(p, axis=1)
    return 1 - (1 - inside) * (1 + np.cumsum(p / (1 - p), axis=1)) if distinct else inside**2


def spechub(draft, target):
    """Return q(a) + Σ min(q, p/(1 − p(a))) over the others."""
    rows, hub = np.arange(len(draft)), draft.argmax(axis=1)
    served = np.minimum(target, draft / (1 - draft[rows, hub])[:, None])
    served[rows, hub] = target[rows, hub]
    return served.sum(axis=1)


FORMULAS = {"RRS": rrs, "RRSw": rrsw, "OTM": optimum, "OTMw": partial(optimum, distinct=True),
            "SpecHub": spechub}  # fmt: skip
METHODS = tuple(FORMULAS)


@lru_cache(maxsize=2)
def drawn_pairs(logits, setting, pairs, seed):
    """Return drafts and targets of appendix D, with "uniform" logits, as printed, or "normal"."""
    temperature, similarity = map(float, setting)
    rng = np.random.default_rng((seed, list(TABLE4).index(setting)))
    draw = {"uniform": rng.random, "normal": rng.standard_normal}[logits]
    of_target, other = (draw((pairs, TOKENS)) for _ in range(2))
    mixed = similarity * of_target + (1 - similarity) * other
    return softmax(mixed / temperature, axis=1), softmax(of_target / temperature, axis=1)


@lru_cache(maxsize=10)
def acceptances(method, logits, setting, pairs, seed):
    """The acceptance of one method on each pair of a setting."""
    return FORMULAS[method](*drawn_pairs(logits, setting, pairs, seed))


def settings(*methods, least="0", most="1", alike="0"):
    """Return the domain of settings of table 4, within these temperatures, with some methods."""
    low, high, similar = map(Fraction, (least, most, alike))
    each = [{"temperature": T, "similarity": s, "method": m} for T, s in TABLE4
            if low <= T <= high and s >= similar for m in methods]  # fmt: skip
    note = "1,000 pairs for a printed mean, else 20,000; slack in standard errors"
    return given(*each, note=note).each(seed=(0,))


simulated = partial(claim, method=Method.SIMULATION)
instead = partial(corrected, method=Method.SIMULATION)


@instead("spechub.tab4", Severity.MISPRINT, settings(*METHODS), logits="normal")
@simulated("spechub.tab4", "Table 4, appendix D", settings(*METHODS))
def printed_mean(temperature, similarity, method, seed, logits="uniform"):
    r"""The printed acceptance rates are means over pairs with 50 tokens, logits from Unif(0, 1),
    target $\text{softmax}(u_q/T)$ and draft
    $\text{softmax}(\lambda u_q/T + (1 - \lambda) u_p/T)$.
    Printed: Means over a hundred pairs; RRSw simulated with a thousand repetitions.
    Corrected: They are if the logits are from N(0, 1): all thirty lie within four standard errors.
    """
    values = acceptances(method, logits, (temperature, similarity), 1_000, seed)
    printed = TABLE4[temperature, similarity][METHODS.index(method)]
    variance = values.var(ddof=1) * (1 / PRINTED_PAIRS + 1 / len(values))
    variance += (method == "RRSw") / (4 * PRINTED_PAIRS * PRINTED_RUNS)
    away = float(abs(printed - values.mean()) / sqrt(variance))
    if away > DEVIATIONS:
        mean = f"the mean is {values.mean():.4f}, the printed one {printed}"
        raise Fails(f"{mean} is {away:.0f} standard errors away")
    return DEVIATIONS - away


def above_in_mean(temperature, similarity, method, seed, one="SpecHub", least=-DEVIATIONS):
    """Return by how many standard errors more than the least one method's mean is above another's.
    The least is −4 to contradict a claim that it is above, 4 to confirm it."""
    setting = "normal", (temperature, similarity), 20_000, seed
    more = acceptances(one, *setting) - acceptances(method, *setting)
    mean, error = more.mean(), more.std(ddof=1) / sqrt(len(more))
    if mean < least * error:
        raise Fails(f"the mean of {one} − {method} is {mean:.4f}, its standard error {error:.4f}")
    return float(mean / error - least)


simulated("spechub.sec1b", "Section 1, the toy experiments", settings("OTM", least="0.5"),
    "In the toy experiments of appendix D, SpecHub accepts more than OTM in high-entropy regions, "
    "at T = 0.5.",
    printed="“SpecHub sometimes outperforms OTM in high-entropy regions”. Pair by pair it does at "
    "T = 0.5 too, on one pair in six to ten. The logits are from N(0, 1), see tab4.",
)(above_in_mean)  # fmt: skip
instead("spechub.sec1b", Severity.MISPRINT, settings("OTM", most="0.25"),
    "It does in low-entropy regions, at T = 0.1 and 0.25.",
)(partial(above_in_mean, least=DEVIATIONS))  # fmt: skip
simulated("spechub.secDa", "Appendix D", settings(*METHODS[3::-1], most="0.1", alike="0.7"),
    r"At T = 0.1 and $\lambda = 0.7$ SpecHub outperforms all other methods, OTM without "
    "replacement included, on average.",
    printed="0.7402 against 0.7345, the means of a hundred pairs.")(above_in_mean)  # fmt: skip
instead("spechub.secDa", Severity.CONDITION, settings("SpecHub"),
    "OTM without replacement has the higher mean in all six settings of table 4.",
)(partial(above_in_mean, one="OTMw", least=DEVIATIONS))  # fmt: skip
simulated("spechub.secDb", "Appendix D", settings("RRS", "RRSw", "OTM", "SpecHub", least="0.5"),
    "At T = 0.5 the OTM methods dominate, particularly OTM without replacement, on average.",
)(partial(above_in_mean, one="OTMw", least=DEVIATIONS))  # fmt: skip
