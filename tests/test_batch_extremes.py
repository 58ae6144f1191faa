"""The exact laws of the batch rules on rows of one dominant token and a rest next to nothing."""

import numpy as np
import pytest
from extreme_rows import HALVINGS, bisected, fractions, kernel_of, rows, spread, supported

import otspec
from otspec import batch

BOUNDS = {np.float32: 1e-6, np.float64: 1e-13}
"""As documented, for rows that sum to 1; up to a factor of 3 for what a bisection leaves."""
RULES = {
    "maximal_coupling": (otspec.rules.MaximalCoupling, 1),
    "recursive_rejection": (otspec.rules.RecursiveRejection, 3),
    "recursive_rejection_without_replacement": (
        otspec.rules.RecursiveRejectionWithoutReplacement,
        3,
    ),
    "k_sequential": (otspec.rules.KSequential, 2),
    "spechub": (otspec.rules.SpecHub, 2),
}
CASES = [(dtype, case) for dtype in BOUNDS for case in rows(dtype)]
EVERY_CASE = pytest.mark.parametrize(
    ("dtype", "case"), CASES, ids=lambda value: getattr(value, "__name__", value)
)


def exact(name, draft, target):
    """The rule on the very entries as fractions, with as many drafts as there are tokens."""
    make, k = RULES[name]
    if "without" in name:
        k = min(k, np.count_nonzero(draft))
    if k == 1 and "maximal" in name:
        return make(fractions(draft), fractions(target))
    return make(fractions(draft), fractions(target), *([] if name == "spechub" else [k]))


@EVERY_CASE
@pytest.mark.parametrize("name", RULES)
def test_the_law_of_the_token_is_the_target(name, dtype, case):
    draft, target = rows(dtype)[case]
    rule = exact(name, draft, target)
    tuples, masses = rule.law.tuples()
    weights = np.array([float(mass) for mass in masses])
    kernel = kernel_of(name, draft, target, np.asarray(tuples))
    assert np.isfinite(kernel).all()
    law = np.tensordot(weights, kernel, axes=1)
    assert not law[:, target == 0].any()
    wanted = np.array([float(entry) for entry in fractions(target)])
    assert 0.5 * np.abs(law.sum(axis=0) - wanted).sum() <= BOUNDS[dtype]
    if name == "k_sequential":
        return  # at another ρ than the smallest
    exactly = np.array([rule.joint_kernel(x) for x in tuples.tolist()], dtype=float)
    apart = np.abs(kernel - exactly).sum(axis=(1, 2))
    assert weights @ apart <= 2 * BOUNDS[dtype]
