"""Pairs made to break intervals: drafts of which the first tokens leave next to nothing."""

from __future__ import annotations

import numpy as np
from instances import HEAVY_DRAFTS
from scipy.stats import binom

import otspec

FALSE_ALARM = 1e-6

# Drafts of which the first tokens leave ever less to the others, so that the last decide.
DRAFTS = (
    (0.6, 0.4 - 1e-13, 5e-14, 5e-14),
    (0.6, 0.4 - 1e-16, 5e-17, 5e-17),
    (0.6, 0.4, 2e-20, 1e-20),
    (0.4, 1e-200, 0.6, 2e-200, 3e-200),
    (1e-300, 0.6, 3e-300, 0.4),
    (0.6, 5e-324, 1e-323, 0.4),
    (1e-310, 0.5, 1e-310, 5e-324, 0.5),
    (1.0, 1e-12, 2e-24, 3e-36, 4e-48),
    (0.25, 1e-15, 0.25, 0.25, 0.25, 3e-15),
    (1 - 1e-6, 1e-6, 1e-30, 1e-40),
    *(draft for draft in HEAVY_DRAFTS if len(draft) > 2),
)


def targets(draft):
    """Targets on the lightest tokens, on the heaviest, on all alike, and the draft itself."""
    masses = np.array(draft)
    order = np.argsort(masses, kind="stable")
    yield masses
    yield np.full(len(masses), 1 / len(masses))
    for chosen in (order[:2], order[1:], order[-2:]):
        wanted = np.zeros(len(masses))
        wanted[chosen] = 1 / len(chosen)
        yield wanted
    rising = np.zeros(len(masses))
    rising[order] = 2.0 ** -np.arange(len(masses))
    yield rising


def adversarial():
    for draft in DRAFTS:
        for target in targets(draft):
            pair = otspec.distributions.as_pair(draft, target, normalize=True)
            yield from ((*pair, k) for k in range(2, min(len(draft), 4) + 1))


def check_coverage(estimates, exact):
    covered = sum(each.low <= exact <= each.high for each in estimates)
    assert all(0 <= each.low <= each <= each.high <= 1 for each in estimates)
    confidence = estimates[0].confidence
    # A coverage of exactly the confidence would fail here with probability FALSE_ALARM at most.
    assert covered >= binom.ppf(FALSE_ALARM, len(estimates), confidence)
