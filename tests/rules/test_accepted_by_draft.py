"""Which draft is the first that is the output: formulas against enumeration."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from drafted_trees import RULES
from instances import floats, pairs

from otspec.rules import Fewest, KSequential, PooledSelection


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
