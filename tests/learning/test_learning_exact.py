"""The gradient of the optimum in fractions: equal to that of all sets and all tuples."""

from fractions import Fraction

import numpy as np
import pytest
from exact_derivatives import LAWS, gradients, random_pairs

import otspec
from otspec.learning import acceptance_gradient


def numbers_of(law, n):
    """How many drafts a law may have."""
    return {"hub": [2]}.get(law, range(1, min(n, 3) + 1))


@pytest.mark.parametrize("law", LAWS)
def test_gradients_are_those_of_all_sets_on_500_instances(law):
    count = {"iid": 200, "without-replacement": 150, "hub": 100, "top-plus-one": 50}[law]
    unique = 0
    for i, (draft, target) in enumerate(random_pairs(count, seed=list(LAWS).index(law), largest=4)):
        ks = numbers_of(law, len(draft))
        k = ks[i % len(ks)]
        found = acceptance_gradient(draft, target, k, law)
        assert found.sum() == 0
        alpha, slopes = gradients(draft, target, k, law)
        best = otspec.optimal_acceptance(otspec.drafts.LAWS[law](draft, k), target)
        assert best.acceptance == alpha
        # Of several minimal sets it is one of theirs.
        assert all(part in each for part, each in zip(found.tolist(), slopes, strict=True))
        unique += all(len(each) == 1 for each in slopes)
    assert unique > count / 2


def test_finite_differences_of_piecewise_linear_functions_are_exact():
    """For k = 1 the optimum is piecewise linear in the draft: a small step is a derivative."""
    step = Fraction(1, 10**9)
    compared = 0
    for draft, target in random_pairs(500, seed=7):
        if any(p == q for p, q in zip(draft, target, strict=True)):
            continue  # a kink
        gradient = acceptance_gradient(draft, target, 1)
        before = otspec.optimal_acceptance(otspec.IID(draft, 1), target).acceptance
        for y in range(1, len(draft)):
            moved = [*draft]
            moved[0] += step
            moved[y] -= step
            after = otspec.optimal_acceptance(otspec.IID(moved, 1), target).acceptance
            assert (after - before) / step == gradient[0] / draft[0] - gradient[y] / draft[y]
        compared += 1
    assert compared > 250


def test_finite_differences_of_polynomials_are_exact():
    """For k i.i.d. drafts it is a polynomial of degree k: k + 1 points give its derivative."""
    step, compared = Fraction(1, 10**9), 0
    for draft, target in random_pairs(40, seed=8):
        _, slopes = gradients(draft, target, 2, "iid")
        if any(len(each) > 1 for each in slopes):
            continue

        def alpha(t, draft=draft, target=target):
            moved = [draft[0] + t, draft[1] - t, *draft[2:]]
            return otspec.optimal_acceptance(otspec.IID(moved, 2), target).acceptance

        gradient = acceptance_gradient(draft, target, 2)
        central = (alpha(step) - alpha(-step)) / (2 * step)
        assert central == gradient[0] / draft[0] - gradient[1] / draft[1]
        compared += 1
    assert compared > 20


def test_degenerate_pairs():
    half = Fraction(1, 2)
    assert acceptance_gradient(["1/2", "1/2"], ["1/2", "1/2"], 3).tolist() == [0, 0]
    assert acceptance_gradient([1], [1], 4).tolist() == [0]
    assert acceptance_gradient([1, 0], [0, 1], 2).tolist() == [
        0,
        0,
    ]  # disjoint: p = 0 has no way up
    assert acceptance_gradient([0, half, half], [1, 0, 0], 2).tolist() == [0, 0, 0]
    assert acceptance_gradient([1, 0], ["1/3", "2/3"], 2, "hub").tolist() == [0, 0]
    floats = acceptance_gradient([0.5, 0.3, 0.2], [0.1, 0.6, 0.3], 2)
    np.testing.assert_allclose(floats, [-1 / 4, 3 / 20, 1 / 10], rtol=1e-14)


def test_other_laws_and_too_many_sets_are_refused():
    with pytest.raises(ValueError, match="law is 'top', whose gradient is not known"):
        acceptance_gradient([0.5, 0.5], [0.5, 0.5], 2, "top")
    with pytest.raises(ValueError, match="law is 'best'"):
        acceptance_gradient([0.5, 0.5], [0.5, 0.5], 2, "best")
    many, wanted = np.full(300, 1 / 300), np.full(300, 0.01 / 299)
    wanted[0] = 0.99
    with pytest.raises(ValueError, match="exact steps from a set of drafts"):
        acceptance_gradient(many, wanted, 4, "without-replacement")
