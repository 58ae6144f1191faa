"""Which draft is the first that is the output: formulas against enumeration."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from drafted_trees import RULES
from instances import floats, pairs

from otspec.rules import (
    Fewest,
    KSequential,
    NotExactError,
    PooledSelection,
    RecursiveRejectionWithoutReplacement,
    pooled,
)


def inflated(draft, target, k):
    """K-Seq with a ρ above ρ*, whose residual may hit a draft."""
    return KSequential(draft, target, k, rho=Fraction(k))


def fewest(draft, target, k):
    return PooledSelection(draft, target, k, Fewest())


ALL = RULES | {
    "inflated": (inflated, RULES["k-sequential"][1]),
    "fewest": (fewest, RULES["pooled"][1]),
}


def enumerated(rule, table):
    """Tuple by tuple of an independent table of the drafts."""
    law: dict[tuple[int, int], Fraction] = {}
    for x, mass in table.items():
        for y, chance in enumerate(rule.kernel(x)):
            if y in x:
                first = x.index(y), y
                law[first] = law.get(first, 0) + mass * chance
    return {key: mass for key, mass in law.items() if mass}


@pytest.mark.parametrize("name", ALL)
def test_the_first_of_equal_drafts_that_are_the_output(name):
    rule_class, table = ALL[name]
    later = 0
    for i, (draft, target) in enumerate(pairs(830, 24, most_tokens=4)):
        only = getattr(rule_class, "only_k", None)
        k = only or 1 + i % 3
        support = sum(mass > 0 for mass in draft)
        if (name in ("recursive-distinct", "pooled-distinct", "target-only") and support < k) or (
            name == "pooled-distinct" and support < 2
        ):
            continue
        rule = rule_class(draft, target, k)
        found = rule.accepted_by_draft()
        assert found.shape == (k, len(draft))
        assert {(i, y): found[i, y] for i, y in np.argwhere(found != 0).tolist()} == enumerated(
            rule, table(draft, k)
        )
        assert found.sum(axis=0).tolist() == rule.accepted_law().tolist()
        later += any(found[1:].sum(axis=1))
        if name not in ("optimal", "inflated"):
            again = rule_class(floats(draft), floats(target), k).accepted_by_draft()
            assert np.allclose(again, found.astype(float), rtol=0, atol=1e-12)
    assert later > 2 or name == "coupling"


@pytest.mark.parametrize("rule_class", [RecursiveRejectionWithoutReplacement, KSequential])
def test_estimates_are_near(rule_class):
    rng = np.random.default_rng(7)
    draft, target = rng.dirichlet(np.ones(6), 2)
    rule = rule_class(draft, target, 3)
    found, size = rule.estimate_by_draft(20_000), 20_000
    assert np.allclose(found, rule.accepted_by_draft(), rtol=0, atol=6 * 0.5 / np.sqrt(size))
    assert np.allclose(found.sum(axis=0), rule.estimate_law(20_000), rtol=0, atol=1e-12)


def test_light_tokens_are_as_good_as_never_drafted_twice(monkeypatch):
    rng = np.random.default_rng(8)
    draft, target = rng.dirichlet(np.full(2_000, 0.05), 2)
    for k in (1, 2, 5):
        rule = PooledSelection(draft, target, k)
        wanted = rule.accepted_by_draft()
        found = rule.estimate_by_draft()
        assert np.allclose(found.sum(axis=0), wanted.sum(axis=0), rtol=0, atol=1e-12)
        assert np.allclose(found, wanted, rtol=1e-3, atol=1e-12)
        monkeypatch.setattr(pooled, "MOST_COUNTED", 1_999)
        with pytest.raises(NotExactError, match="counts the likeliest"):
            rule.accepted_by_draft()
        monkeypatch.undo()
