"""The peers that the rules are timed beside are right themselves, or are no peers."""

from __future__ import annotations

import numpy as np
import pytest

from otspec.conformance import adapters, check, exact_law
from otspec.drafts import Hub

torch = pytest.importorskip("torch", reason="the peers are written in PyTorch")
loops = pytest.importorskip("peer_loops")
INDEPENDENT = (loops.mcsd, loops.specinfer)
DISTINCT = (loops.mcsd_without_replacement, loops.sequoia)


def answers(verify):
    """What a loop says of one row, for the kit that follows all of its random numbers."""

    def one(draft, target, drafts):
        token = verify(draft, target, drafts)
        kept = [i for i, each in enumerate(drafts.tolist()) if each == token]
        return token, kept[0] if kept else -1

    return adapters.one_at_a_time(one)


@pytest.mark.parametrize("distinct", [False, True])
def test_loops_are_lossless(distinct):
    for verify in DISTINCT if distinct else INDEPENDENT:
        report = check(answers(verify), mode="exact", shape=2, distinct=distinct, arrays="torch")
        assert report.passed, (verify.__name__, report.findings[:1])


def law_of(verify, drafts, draft, target):
    """The exact law of a loop's token."""
    rows = torch.tensor(draft), torch.tensor(target)
    law = exact_law(lambda: verify(*rows, torch.tensor(drafts)))
    return np.array([float(law.get(token, 0)) for token in range(len(target))])


def test_the_loop_for_certain_drafts_is_lossless():
    target = [0.125, 0.5, 0.25, 0.125]
    for drafts in ([1, 2], [0, 0, 3], [3, 1, 0]):
        law = law_of(loops.eagle, drafts, [0.25] * 4, target)
        np.testing.assert_allclose(law, target, rtol=0, atol=1e-6)  # float32


def test_the_hub_loop_is_lossless():
    draft, target = [0.5, 0.25, 0.25], [0.25, 0.125, 0.625]
    total = np.zeros(3)
    for drafts, mass in zip(*Hub(draft).tuples(), strict=True):
        total += mass * law_of(loops.spechub, drafts, draft, target)
    np.testing.assert_allclose(total, target, rtol=0, atol=1e-6)  # float32
