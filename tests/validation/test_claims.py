"""Every claim has its recorded verdict on few instances already, and its correction holds."""

import pytest

from validation.__main__ import recorded
from validation.claim import Verdict
from validation.registry import CLAIMS
from validation.running import check_claim
from validation.search import Search

FEW = Search(seconds=20.0, instances=60)
RECORDED = recorded()


@pytest.mark.parametrize("identifier", CLAIMS)
def test_the_verdict_is_the_recorded_one(identifier):
    found = check_claim(identifier, FEW)
    assert found.verdicts() == RECORDED[identifier]


WITH_RANDOM = [
    name for name, each in CLAIMS.items() if each.holding.over and each.holding.over.random
]


@pytest.mark.parametrize("identifier", WITH_RANDOM)
def test_half_of_the_instances_are_random(identifier):
    found = CLAIMS[identifier].holding.check(Search(seconds=2.0, instances=6))
    assert found.verdict is Verdict.HOLDS
    assert found.random >= 3
    assert found.seed == 0
