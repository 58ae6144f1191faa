"""The optimum against what it would otherwise cost. The values are checked; times are reported."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

import otspec


def pair(n, seed):
    rng = np.random.default_rng(seed)
    draft, noise = rng.gumbel(scale=2, size=(2, n))
    draft, target = np.exp(draft), np.exp(0.7 * draft + 0.5 * noise)
    return draft / draft.sum(), target / target.sum()


def test_all_k_at_full_vocabulary_against_one_sort(report_ratio):
    n, ks = 128_256, range(1, 17)
    draft, target = pair(n, 1)
    keys = target / draft

    def reference():
        np.argsort(keys)
        np.cumsum(draft)
        np.cumsum(target)

    found = otspec.optimal_acceptances(draft, target, ks)
    assert (np.diff(found) >= 0).all()
    # Cumulative sums of n terms, twice.
    assert found[0] == pytest.approx(
        np.minimum(draft, target).sum(), abs=2 * n * np.finfo(float).eps
    )
    report_ratio(
        f"optimal_acceptances, n = {n:,}, k = 1..16",
        lambda: otspec.optimal_acceptances(draft, target, ks),
        "one argsort and two cumulative sums of that size",
        reference,
        "at most 2x",
    )


@pytest.mark.parametrize("k", [2, 64])
def test_one_k_at_full_vocabulary_against_one_sort(k, report_ratio):
    draft, target = pair(128_256, 1)
    keys = target / draft
    (found,) = otspec.optimal_acceptances(draft, target, [k])
    best = otspec.optimal_acceptance(otspec.IID(draft, k), target).acceptance
    assert found == pytest.approx(best, abs=2 * len(keys) * np.finfo(float).eps)
    report_ratio(
        f"optimal_acceptances, n = {len(keys):,}, k = {k} alone",
        lambda: otspec.optimal_acceptances(draft, target, [k]),
        "one argsort",
        lambda: np.argsort(keys),
        "at most 1x",
        rounds=31,
    )


def test_iid_optimum_against_the_full_linear_program(report_ratio):
    n, k = 50, 2
    draft, target = pair(n, 2)
    rows, columns = np.divmod(np.arange(n**k * n), n)  # tuple, output
    first, second = np.divmod(rows, n)
    ones = np.ones(len(rows))
    constraints = vstack(
        [csr_array((ones, (rows, np.arange(len(rows))))),
         csr_array((ones, (columns, np.arange(len(rows)))))],
        format="csr",
    )  # fmt: skip
    marginals = np.concatenate([np.multiply.outer(draft, draft).ravel(), target])
    # Both marginals sum to 1, so that one row is redundant; with rounding it would contradict.
    constraints, marginals = constraints[:-1], marginals[:-1]
    cost = ((columns != first) & (columns != second)).astype(float)

    def reference():
        return linprog(cost, A_eq=constraints, b_eq=marginals, method="highs")

    law = otspec.IID(draft, k)
    # HiGHS's feasibility and optimality tolerance is 1e-7 a row; what it finds here is a vertex.
    solution = reference()
    assert solution.success, solution.message
    assert 1 - solution.fun == pytest.approx(
        otspec.optimal_acceptance(law, target).acceptance, abs=1e-7
    )
    report_ratio(
        f"optimal_acceptance, i.i.d., n = {n}, k = {k}",
        lambda: otspec.optimal_acceptance(otspec.IID(draft, k), target),
        "the full membership linear program in HiGHS (its solution only)",
        reference,
        "at most 1/1,000",
        rounds=3,
    )


def test_import_time(report_ratio):
    def imports(module):
        return lambda: subprocess.run([sys.executable, "-c", f"import {module}"], check=True)

    result = report_ratio(
        "import otspec",
        imports("otspec"),
        "import numpy",
        imports("numpy"),
        "at most 1.5x",
        rounds=15,
    )
    assert result.ours_s > 0
