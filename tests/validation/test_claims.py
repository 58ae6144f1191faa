"""Every claim has its recorded verdict on few instances already, and its correction holds."""

import pytest
from each_case import each
from searching import enough

from validation.__main__ import recorded
from validation.claim import Verdict
from validation.registry import CLAIMS
from validation.running import check_claim
from validation.search import Search

FEW = Search(seconds=20.0, instances=enough(60))
MORE = Search(seconds=20.0, instances=60)
"""For claims that fail on none of the few: the first instance where they do may be the sixtieth."""
RECORDED = recorded()


@pytest.mark.usefixtures("as_found")
@each("identifier", CLAIMS)
def test_the_verdict_is_the_recorded_one_and_half_of_the_instances_are_random(identifier):
    search, verdicts = FEW, RECORDED[identifier]
    found = check_claim(identifier, search)
    if found.verdicts() != verdicts and verdicts["printed"] == "refuted":
        search = MORE
        found = check_claim(identifier, search)
    assert found.verdicts() == verdicts
    over = CLAIMS[identifier].holding.over
    holds = found.corrected or found.outcome
    assert holds.verdict is not Verdict.REFUTED
    if over is not None and over.random is not None:
        assert 2 * holds.random >= search.instances
        assert holds.seed == 0
