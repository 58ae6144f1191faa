"""The optima of several numbers of drafts at once, for every law that has a name."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from instances import EPS, floats, pairs

import otspec


@pytest.mark.parametrize("name", otspec.drafts.LAWS)
def test_all_ks_of_every_law_at_once_equal_one_at_a_time(name):
    law = otspec.drafts.LAWS[name]
    for draft, target in pairs(24, 100, 6):
        exact = np.array(draft, dtype=object)
        ks = [k for k in (3, 1, 5, 2, 2, 4) if law.exists(exact, k)]
        if not ks:
            continue
        together = otspec.optimal_acceptances(draft, target, ks, law=name)
        alone = [otspec.optimal_acceptance(law(draft, k), target).acceptance for k in ks]
        assert together.tolist() == alone
        assert all(type(value) is Fraction for value in together)
        inexact = otspec.optimal_acceptances(floats(draft), floats(target), ks, law=name)
        errors = np.abs(inexact - together.astype(float))
        for error, k in zip(errors, ks, strict=True):
            assert error <= law(floats(draft), k).accuracy + EPS


def test_all_ks_of_distinct_drafts_at_full_vocabulary():
    ks = [1, 2, 4, 8, 16]
    for _, draft, target in islice(otspec.datasets.load_smollm2().pairs(), 2):
        together = otspec.optimal_acceptances(draft, target, ks, law="without-replacement")
        assert (np.diff(together) >= 0).all()
        assert (together >= otspec.optimal_acceptances(draft, target, ks)).all()
        for k, found in zip(ks, together, strict=True):
            law = otspec.WithoutReplacement(draft, k)
            best = otspec.optimal_acceptance(law, target)
            assert abs(found - best.acceptance) <= law.accuracy
            best.check()


@pytest.mark.parametrize(
    ("law", "ks", "message"),
    [
        ("distinct", [1], "law is 'distinct': it must be one of iid, without-replacement"),
        ("without-replacement", [1, 3], "draft has 2 tokens .* too few for 3 .*: lower k to 2"),
        ("hub", [2, 3], "k is 3, but hub drafts come in pairs: use k = 2"),
    ],
)
def test_laws_that_are_not_there_or_lack_a_k_are_refused(law, ks, message):
    with pytest.raises(ValueError, match=message):
        otspec.optimal_acceptances([0.5, 0.5, 0], [0.5, 0.5, 0], ks, law=law)
