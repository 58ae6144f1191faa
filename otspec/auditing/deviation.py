"""How far counts deviate from their law by chance (Auditing, 1 and 2): bounds, simulation."""

import math
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np

from otspec._base import Array, IntArray, read_only
from otspec.drafts.base import inverted

SIMULATIONS = 5_000  # most simulated samples per test: p-values from just below 1/5,000
ENOUGH = 20  # enough simulated samples that deviate at least as much
BEYOND = 1e-8  # a deviation less likely than this needs no simulation
BLOCK = 2**18  # most counts that are drawn at once
ORDERS = 16  # number of known moments of the deviation
BINOMIAL = read_only(  # n over k
    np.array([[float(math.comb(n, k)) for k in range(2 * ORDERS)] for n in range(2 * ORDERS)])
)
POWER = 0.95  # the probability with which an error of the size of the resolution is found


def deviations(counts: IntArray, wanted: Array) -> Array:
    """Return Σ (N_i − w_i)² / (w_i + 1) for rows of counts N and their means w."""
    off: Array = counts - wanted
    off *= off
    off /= wanted + 1
    return off.sum(axis=1)


def p_value(found: float, known: Array, law: Array, size: int, rng: np.random.Generator) -> float:
    """Return how often samples of a law deviate at least as much as was found."""
    # The result is at most a with probability at most a, for each a, if the samples have that law.
    # law, shape (m,): probabilities of the cells. known: the cumulants of the deviation. Simulated
    # samples are compared with what was found until ENOUGH = h of them deviate at least as much. If
    # that is at the l-th, h/l is a p-value (Besag and Clifford 1991), since among the first l of
    # them and the one found each is as likely to be one of the h largest. Otherwise it is the usual
    # one after SIMULATIONS. What tail_bound settles happens with probability at most BEYOND, which
    # is added to the others.
    bound = tail_bound(found, known, size)
    if bound <= BEYOND:
        return bound
    drawn = larger = 0
    for counts in simulated(law, size, rng):
        hits = larger + np.cumsum(deviations(counts, size * law) >= found)
        last = int(np.searchsorted(hits, ENOUGH)) + 1
        if last <= len(hits):
            return min(1.0, ENOUGH / (drawn + last) + BEYOND)
        drawn, larger = drawn + len(hits), int(hits[-1])
    return (larger + 1) / (drawn + 1) + BEYOND


def simulated(law: Array, size: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Yield :data:`SIMULATIONS` rows of multinomial counts of a law, (m,), in blocks that grow."""
    many = len(law) ** 2 > size
    drawn, rows = 0, ENOUGH
    while drawn < SIMULATIONS:
        rows = min(rows, SIMULATIONS - drawn, max(1, BLOCK // len(law)))
        yield _many_cells(law, size, rows, rng) if many else rng.multinomial(size, law, rows)
        drawn, rows = drawn + rows, 2 * rows


def _many_cells(law: Array, size: int, rows: int, rng: np.random.Generator) -> IntArray:
    """Draw multinomial counts in half the time of a binomial number per cell."""
    # Independent Poisson counts, given how many they are together, are multinomial. They are drawn
    # three standard deviations short of the size, and again where they are more still; what they
    # lack is drawn one by one.
    means = max(0.0, size - 3 * math.sqrt(size)) * law
    counts = rng.poisson(means, (rows, len(law)))
    lacking = size - counts.sum(axis=1)
    while (lacking < 0).any():
        over = np.flatnonzero(lacking < 0)
        counts[over] = rng.poisson(means, (len(over), len(law)))
        lacking[over] = size - counts[over].sum(axis=1)
    cells = inverted(np.cumsum(law), rng.random(int(lacking.sum())))
    cells += np.repeat(np.arange(rows), lacking) * len(law)
    counts += np.bincount(cells, minlength=counts.size).reshape(counts.shape)
    return counts


def cumulants(wanted: Array) -> Array:
    """Return the cumulants of the deviation of independent Poisson counts, shape (ORDERS + 1,)."""
    # wanted, shape (m,): means of the counts. Entry 1 is the mean, 2 the variance.
    means, repeats = np.unique(wanted, return_counts=True)
    central, found = np.zeros((2, 2 * ORDERS + 1, len(means)))
    central[0] = 1
    for n in range(1, 2 * ORDERS):
        central[n + 1] = means * (BINOMIAL[n, :n] @ central[:n])
    moments = central[::2] / (means + 1) ** np.arange(ORDERS + 1)[:, None]
    for n in range(1, ORDERS + 1):
        lower = found[1:n] * moments[n - 1 : 0 : -1]
        found[n] = moments[n] - BINOMIAL[n - 1, : n - 1] @ lower
    return found[: ORDERS + 1] @ repeats


def tail_bound(found: float, known: Array, size: int) -> float:
    """Return a bound of the probability that multinomial counts deviate so much."""
    # known: the cumulants of independent Poisson counts. size: the samples on the cells.
    spread = math.sqrt(known[2])
    distance = (found - known[1]) / spread
    if distance <= 1:
        return 1.0
    scaled = known / spread ** np.arange(len(known))
    central = [1.0, 0.0]
    for n in range(2, len(known)):
        terms = BINOMIAL[n - 1, 1:n] * scaled[2 : n + 1] * central[n - 2 :: -1]
        central.append(float(terms.sum()))
    # 1/P(a Poisson number of mean N is N) = N! e^N / N^N, by Stirling's bound.
    conditioning = math.sqrt(2 * math.pi * size) * math.exp(1 / (12 * size))
    even = np.arange(2, len(known), 2)
    return min(1.0, conditioning * float(np.min(np.array(central)[even] / distance**even)))


def resolution(false_alarm: float, size: int, cells: int, known: Array) -> float:
    """Return the total variation that is found with probability :data:`POWER`."""
    # If the mean rises by r, the variance rises by at most about 4 r; solve r = threshold − mean +
    # z √(variance + 4 r). The threshold is that of a gamma law with the first three cumulants of
    # the deviation, at half the rate, since it is simulated. cells: those of positive probability.
    margin = _quantile(1 - false_alarm / 2, known) - float(known[1])
    z = NormalDist().inv_cdf(POWER)
    rise = margin + 2 * z**2 + z * math.sqrt(known[2] + 4 * margin + 4 * z**2)
    return min(1.0, math.sqrt(rise * (1 + cells / size) / (4 * size)))


def _quantile(level: float, known: Array) -> float:
    """Return a quantile of the gamma law, moved, that has the first three cumulants."""
    from scipy.special import gammaincinv

    mean, variance, third = known[1:4].tolist()
    scale, shape = third / (2 * variance), 4 * variance**3 / third**2
    return float(mean + scale * (gammaincinv(shape, level) - shape))
