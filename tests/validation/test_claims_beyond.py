"""The claims beyond the papers, with few instances, and that their checks can fail."""

from fractions import Fraction

import pytest

from validation import beyond
from validation.__main__ import recorded
from validation.claim import Counterexample, Evidence, Fails, Search, Verdict
from validation.running import check_claim

HALF = Fraction(1, 2)
# The half-plane's counterexample is the 211th instance of its enumeration.
FEW = {"beyond.prefix_independent": 300, "beyond.prefix_hub": 250}


@pytest.mark.parametrize("claim", beyond.CLAIMS, ids=lambda claim: claim.id)
def test_verdicts_are_the_recorded_ones(claim):
    found = check_claim(claim.id, Search(seconds=60, instances=FEW.get(claim.id, 40)))
    assert found.verdicts() == recorded()[claim.id]
    assert isinstance(found.outcome, Evidence | Counterexample)
    if found.outcome.verdict is Verdict.HOLDS:
        assert found.outcome.instances >= 40
        assert found.outcome.worst >= 0


def test_the_counterexamples_are_small():
    found = check_claim("beyond.lifetimes", Search(instances=10)).outcome
    assert found.instance == {
        "draft": (HALF, HALF),
        "target": (Fraction(2, 3), Fraction(1, 3)),
        "k": 2,
    }


def pair(draft, target, k=2):
    return {"draft": draft, "target": target, "k": k}


ROOM = pair((HALF, HALF), (Fraction(1, 4), Fraction(3, 4)))


@pytest.mark.parametrize(
    ("check", "part"),
    [
        (beyond.cut_formula, "least_bound"),
        (beyond.prefix_of_iid, "least_bound"),
        (beyond.lemma3_bound, "flow"),
        (beyond.pooled_is_optimal, "flow"),
    ],
)
def test_a_wrong_oracle_is_noticed(check, part, monkeypatch):
    right = getattr(beyond, part)
    assert check(**ROOM) == 0
    monkeypatch.setattr(beyond, part, lambda law, target: right(law, target) + Fraction(1, 100))
    with pytest.raises(Fails):
        check(**ROOM)


def test_a_rule_that_is_not_lossless_is_noticed(monkeypatch):
    class Greedy(beyond.PooledSelection):
        def _shares(self, x, lowest, end):
            shares = super()._shares(x, lowest, end)
            return shares[::-1]

    draft, target = (HALF, Fraction(1, 4), Fraction(1, 4)), (Fraction(1, 4), HALF, Fraction(1, 4))
    beyond.any_pools_are_lossless(draft, target, 2)
    monkeypatch.setattr(beyond, "PooledSelection", Greedy)
    with pytest.raises(Fails, match="error of the output"):
        beyond.any_pools_are_lossless(draft, target, 2)
