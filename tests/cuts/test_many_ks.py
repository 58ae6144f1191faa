"""The optima of several numbers of drafts at once, for every law that has a name."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from instances import EPS, extreme_pairs, floats, pairs
from searching import NIGHTLY

import otspec
from otspec._base.arithmetic import prefix_sums
from otspec.distributions import as_pair
from otspec.optimum.cuts import prefix
from otspec.ratios import Pair, order


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
    for _, draft, target in islice(otspec.datasets.load_smollm2().pairs(), 2 if NIGHTLY else 1):
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
        (
            "without-replacement",
            [1, 3],
            r"^ks\[1\]: draft has 2 tokens .* too few for 3 .*: lower k to 2",
        ),
        ("hub", [2, 3], r"^ks\[1\]: k is 3, but hub drafts come in pairs: use k = 2"),
    ],
)
def test_laws_that_are_not_there_or_lack_a_k_are_refused(law, ks, message):
    with pytest.raises(ValueError, match=message):
        otspec.optimal_acceptances([0.5, 0.5, 0], [0.5, 0.5, 0], ks, law=law)


@pytest.mark.parametrize(
    ("law", "k", "message"),
    [
        ("iid", 10**7, r"^ks\[1\]: k is 10000000: exact powers would have about 10000000 bits"),
        ("without-replacement", 25, r"^ks\[1\]: 25 distinct drafts of 32 tokens take "),
    ],
)
def test_a_k_whose_exact_optimum_is_too_long_is_named(law, k, message):
    draft, target = ["1/2", "1/2"], ["1/4", "3/4"]
    if law != "iid":
        draft, target = ["1/32"] * 32, ["1/64", "3/64"] * 16
    with pytest.raises(ValueError, match=message):
        otspec.optimal_acceptances(draft, target, [2, k], law=law)


def least_of_all_prefixes(draft, target, ks):
    """1 + min(Q − P^k) over every prefix by ratio, power by power."""
    tokens = order(draft, target)
    inside, cost = prefix_sums(draft[tokens]), prefix_sums(target[tokens])
    found, raised = {}, inside
    for k in range(1, max(ks) + 1):
        found[k] = 1 + (cost - raised).min()
        raised = raised * inside
    return [found[k] for k in ks]


@pytest.mark.parametrize("stretch", [1, 2, 5])
def test_no_prefix_is_left_out_that_would_be_the_least(stretch, monkeypatch):
    monkeypatch.setattr(prefix, "_STRETCH", stretch)
    ks = [3, 1, 17, 2, 4]
    rng = np.random.default_rng(25)
    some = [rng.dirichlet(np.full(40, 0.3), 2) for _ in range(40)]
    near = [(draft, draft * (1 + EPS * rng.integers(-2, 3, 40))) for draft, _ in some]
    for draft, target in [*pairs(26, 40, 9), *extreme_pairs(27, 150, 9), *some, *near]:
        pair = as_pair(np.array(draft), np.array(target), normalize=True)
        assert prefix.iid_acceptances(Pair(*pair), ks).tolist() == least_of_all_prefixes(*pair, ks)


def test_stretches_at_full_vocabulary_are_left_out_rightly():
    _, draft, target = next(iter(otspec.datasets.load_smollm2().pairs()))
    ks = [1, 2, 4, 8, 16]
    found = otspec.optimal_acceptances(draft, target, ks)
    assert found.tolist() == least_of_all_prefixes(draft, target, ks)
