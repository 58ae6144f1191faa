"""The reduced program as a flow: its value, its cut, and the plan of it (Programs, 2)."""

import numpy as np
import oracles
import pytest
from instances import EPS, LAWS, extreme_pairs, floats
from programs_table import formulate, instances

import otspec
from otspec.programs import Reduced


def check(law, target, wanted, *, sets=True):
    plan = otspec.optimal_plan(law, target, sets=sets)
    solution = plan.solution
    assert solution.solver == "flow"
    assert set(solution.duals.tolist()) <= {0, 1}
    # Each mass is rounded, and each sum, whose terms add up to 1 at most.
    rounding = 4 * sum(solution.program.shape) * EPS
    certificate = solution.check()
    assert max(certificate.primal, certificate.gap) <= rounding
    assert certificate.dual == 0
    assert (solution.primal >= 0).all()
    assert abs(solution.value - wanted) <= rounding
    assert abs(plan.acceptance - wanted) <= rounding
    plan.check()


@pytest.mark.parametrize("sets", [True, False])
@pytest.mark.parametrize("name", LAWS)
def test_flows_of_every_law(name, sets):
    for case, target in instances(name, seed=141, count=24, ks=(1, 2, 3), most_tuples=27):
        check(case.float, floats(target), oracles.optimum(case.table, target), sets=sets)


def test_masses_at_both_ends_of_the_floats():
    for draft, target in extreme_pairs(142, 60, 6):
        for k in (1, 2):
            law = otspec.IID(np.array(draft), k, normalize=True)
            scaled = np.array(target) / sum(target)
            check(law, scaled, otspec.optimal_acceptance(law, scaled).acceptance)


@pytest.mark.parametrize(("n", "k"), [(50, 2), (12, 4)])
def test_flows_of_thousands_of_pairs(n, k):
    draft, target = np.random.default_rng(n).dirichlet(np.ones(n), 2)
    check(otspec.IID(draft, k), target, otspec.optimal_acceptances(draft, target, [k])[0])


def test_a_named_solver_gets_the_program():
    law, target = otspec.IID([0.5, 0.3, 0.2], 2), [0.1, 0.6, 0.3]
    assert Reduced(law, np.array(target)).solved("highs").solver == "highs"
    assert formulate("membership", law, np.array(target), sets=True).solved(None).solver == "highs"
    assert otspec.optimal_plan(law, target, solver="highs").solution.solver == "highs"
