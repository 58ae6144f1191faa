"""Right rules raise no alarm in whole checks, and evidence on them is as rare as it should be."""

import numpy as np
import pytest

from otspec import batch
from otspec.conformance import check

QUICK = {"detect": 0.5, "coarse": 0.9, "vocabulary": 11, "entries": 8}
"""The cheapest whole check: about 0.1 s. The threshold of evidence is that of any other."""
ALPHA = 0.01
"""How often evidence of 1 / ALPHA may end a case of a right rule, if it were looked for."""


def by_depth(draft, target, drafts, rng, parents):
    uniforms = rng.random((len(drafts), 3, 3))
    return batch.tree_verification(draft, target, drafts, uniforms, parents)


def last_to_first(draft, target, drafts, rng, parents):
    uniforms = rng.random((len(drafts), len(parents) + 1))
    return batch.traversal_verification(draft, target, drafts, uniforms, parents)


RIGHT = {
    "maximal coupling": (batch.maximal_coupling, {"shape": 1}),
    "recursive rejection": (batch.recursive_rejection, {"shape": 2}),
    "token verification": (batch.token_verification, {"kind": "block"}),
    "block verification": (batch.block_verification, {"kind": "block"}),
    "recursive rejection by depth": (by_depth, {"kind": "tree", "shape": "2x1"}),
    "traversal verification": (last_to_first, {"kind": "tree", "shape": "2x1"}),
}


def checked(name, seeds):
    """Return how many checks have a finding, and each case's evidence, shape (checks, cases)."""
    verifier, options = RIGHT[name]
    reports = [check(verifier, seed=seed, **options, **QUICK) for seed in seeds]
    assert {report.outcome for report in reports} <= {"passed", "failed"}
    alarms = sum(not report.passed for report in reports)
    return alarms, np.array([[case.evidence for case in report.cases] for report in reports])


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        *((name, 3) for name in RIGHT),
        *(pytest.param(name, 1_700, marks=pytest.mark.nightly) for name in RIGHT),
    ],
)
def test_right_rules_raise_no_alarm(name, runs):
    alarms, evidence = checked(name, range(runs))
    # A check alarms with probability 1e-6 at most: 10,200 of them with 0.01.
    assert alarms == 0
    # Evidence has the mean 1 at most, so it is 1 / ALPHA or more with probability ALPHA at most;
    # checks are independent, and by Hoeffding their mean share is exceeded by this much seldom.
    share = (evidence >= -np.log(ALPHA)).mean()
    assert share <= ALPHA + np.sqrt(np.log(1e6) / (2 * runs))
