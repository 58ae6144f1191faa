"""The optimum against the linear programs that define it, solved by other people's code.

Theory, 1.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from instances import LAWS, floats, fractions, law_case, pairs, turn
from searching import of_all

import otspec

SOLVER_ERROR = 1e-9
"""The tolerance of the float solvers, HiGHS and the network simplex of POT."""


def membership_rows(table, target):
    """The program of largest membership: variables, objective and equalities.

    One variable π(x, y) for every tuple and token; Σ_y π(x, y) = P(x), Σ_x π(x, y) = q(y); the
    objective counts y ∈ S(x).
    """
    n, tuples = len(target), list(table)
    served = [int(y in x) for x in tuples for y in range(n)]
    rows = [[int(x == other) for other in tuples for _ in range(n)] for x in tuples]
    rows += [[int(y == token) for _ in tuples for token in range(n)] for y in range(n)]
    return served, rows, [*table.values(), *target]


def exact_optimum(cdd, table, target):
    served, rows, sides = membership_rows(table, target)
    size = len(served)
    # One row (b, −a) for every b − a·π = 0, and one for every π ≥ 0.
    equalities = [[side, *(-entry for entry in row)] for side, row in zip(sides, rows, strict=True)]
    signs = [[0, *(int(i == j) for j in range(size))] for i in range(size)]
    matrix = cdd.gmp.matrix_from_array(
        equalities + signs,
        lin_set=set(range(len(equalities))),
        rep_type=cdd.RepType.INEQUALITY,
        obj_type=cdd.LPObjType.MAX,
        obj_func=[0, *served],
    )
    program = cdd.gmp.linprog_from_matrix(matrix)
    cdd.gmp.linprog_solve(program)
    assert program.status == cdd.LPStatusType.OPTIMAL
    return program.obj_value


@pytest.fixture(scope="module")
def cdd():
    reason = "pycddlib is not installed (needs libcdd-dev and libgmp-dev)"
    pytest.importorskip("cdd.gmp", reason=reason)
    return pytest.importorskip("cdd", reason=reason)


def cases(seed, count, most_tokens, laws=LAWS):
    """Cases of two drafts, all laws in turn."""
    for index, (draft, target) in enumerate(pairs(seed, count, most_tokens)):
        # All kinds of pairs meet all laws: 8 kinds, so the law changes every 8 pairs.
        case = law_case(laws[turn(index, len(laws))], draft, 2, seed=index)
        if case is not None:
            yield case, target


def test_the_worked_example_in_rational_arithmetic(cdd):
    draft, target = fractions("1/2", "3/10", "1/5"), fractions("1/10", "3/5", "3/10")
    case = law_case("IID", draft, 2)
    assert exact_optimum(cdd, case.table, target) == Fraction(17, 20)
    best = otspec.optimal_acceptance(case.exact, target)
    assert best.acceptance == Fraction(17, 20)


def test_the_rational_program_equals_the_optimum(cdd):
    solved = 0
    for case, target in cases(seed=70, count=96, most_tokens=3):
        best = otspec.optimal_acceptance(case.exact, target)
        assert best.acceptance == exact_optimum(cdd, case.table, target)
        solved += 1
    assert solved >= of_all(50)


def test_the_float_program_equals_the_optimum():
    solved = 0
    for case, target in cases(seed=71, count=96, most_tokens=6):
        served, rows, sides = membership_rows(case.table, target)
        program = scipy.optimize.linprog(
            -np.array(served),
            A_eq=scipy.sparse.csr_array(np.array(rows)),
            b_eq=np.array(sides, dtype=float),
            method="highs",
        )
        assert program.status == 0
        best = otspec.optimal_acceptance(case.float, floats(target))
        assert abs(best.acceptance + program.fun) <= SOLVER_ERROR
        solved += 1
    assert solved >= of_all(80)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("zeros", [0.0, 0.5])
def test_optimal_transport_of_the_full_cost_equals_the_optimum(k, zeros):
    import ot  # with the array libraries that there are, which takes seconds

    rng = np.random.default_rng(k)
    for _ in range(40):
        n = int(rng.integers(2, 13))
        draft, target = rng.exponential(size=(2, n)) * (rng.random((2, n)) >= zeros)
        draft[rng.integers(n)] += 0.1
        target[rng.integers(n)] += 0.1
        law = otspec.IID(draft, k, normalize=True)
        best = otspec.optimal_acceptance(law, target, normalize=True)
        tuples = np.indices((n,) * k).reshape(k, -1).T  # (n^k, k)
        masses = np.prod(law.draft[tuples], axis=1)
        cost = (tuples[:, :, None] != np.arange(n)).all(axis=1).astype(float)  # (n^k, n)
        plan = ot.emd(masses / masses.sum(), best.target, cost, numItermax=10_000_000)
        assert abs(1 - (plan * cost).sum() - best.acceptance) <= SOLVER_ERROR
