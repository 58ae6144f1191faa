"""Every claim has its recorded verdict on few instances already, and its correction holds."""

import pytest

from validation.__main__ import recorded
from validation.claim import Verdict
from validation.registry import CLAIMS
from validation.running import check_claim
from validation.search import Search

FEW = Search(seconds=20.0, instances=30)
RECORDED = recorded()


@pytest.mark.parametrize("identifier", CLAIMS)
def test_the_verdict_is_the_recorded_one_and_half_of_the_instances_are_random(identifier):
    found = check_claim(identifier, FEW)
    assert found.verdicts() == RECORDED[identifier]
    over = CLAIMS[identifier].holding.over
    holds = found.corrected or found.outcome
    assert holds.verdict is not Verdict.REFUTED
    if over is not None and over.random is not None:
        assert holds.random >= 15
        assert holds.seed == 0
