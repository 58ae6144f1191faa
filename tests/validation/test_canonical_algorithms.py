"""The algorithms of Khisti et al. as the validation book has them, by other ways."""

import sys
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from programs_table import needs_cdd

from otspec.cones import certainty_cone
from otspec.rules import ImportanceSampling
from validation import notation as nt
from validation.canonical import appendix_b_c, section_3, section_4
from validation.claim import Counterexample, Method
from validation.domains import cases, pairs
from validation.notation import iid
from validation.oracles import flow
from validation.registry import CLAIMS
from validation.running import check_claim
from validation.search import Search

HALF = Fraction(1, 2)
BY_CONES = [f"canonical.{item}" for item in ("secB", "eq108", "secC", "secH", "secD")]


def small(domain, number):
    return islice(domain.small(), number)


def test_residual_hits_refute_the_acceptance_of_any_selection():
    found = check_claim("canonical.eq19", Search(seconds=1.0, instances=60)).outcome
    assert found.instance == {"draft": (HALF, HALF), "target": (1, 0), "k": 2, "order": 0}
    assert section_3.some_steps(**found.instance) == (Fraction(3, 4), HALF)


@pytest.mark.parametrize("free", [0, 1, 2, 4])
def test_algorithm_1_as_printed_is_the_rule(free):
    draft = tuple(Fraction(w, 31) for w in (12, 9, 7, 3))
    target = tuple(Fraction(w, 37) for w in (4, 19, 3, 11))
    table = iid(draft, 2)
    kernel = section_4.program(draft, draft, target, free)[2]
    steps = section_3.two_steps(table, kernel, target)
    accepted = steps.accepted()
    floats = np.array(draft, float), np.array(target, float)
    rule = ImportanceSampling(*floats, k=2, free=free, solver="highs")
    selected = np.minimum(rule.law_of_selection, rule.target).sum()
    assert selected == pytest.approx(float(accepted), abs=1e-8)
    if free == 4:  # without truncation both accept the optimum; else residual draws may differ
        assert rule.acceptance() == pytest.approx(float(steps.among_drafts()), abs=1e-8)


def test_stages_of_three_are_between_two_drafts_and_the_optimum():
    for pair in small(pairs(3), 60):
        draft, target = pair["draft"], pair["target"]
        law, _ = section_4.in_stages([draft] * 3, target, len(draft))
        two, three = (flow(iid(draft, k), target) for k in (2, 3))
        assert two <= nt.overlap(law, target) <= three


def test_helpers_give_couplings_and_kernels():
    for order, case in enumerate(small(cases(3, (2, 3)), 60)):
        table = iid(case["draft"], case["k"])
        plan = nt.some_coupling(table, dict(enumerate(case["target"])), order)
        assert min(plan.values()) >= 0
        assert nt.marginals(plan, len(case["target"])) == (table, case["target"])
        for x, row in section_3.kernel_of(table, order).items():
            assert set(row) == set(x)
            assert (min(row.values()) >= 0, sum(row.values())) == (True, 1)


def test_pairs_are_held_or_eliminated():
    draft = tuple(Fraction(w, 10) for w in (4, 3, 2, 1))
    for order in range(20):
        held, free = appendix_b_c.split(draft, order)
        assert {tuple(sorted(x)) for x in (*held, *free)} == set(appendix_b_c.unordered(draft))
        assert all(held[i, j] + held[j, i] == 2 * draft[i] * draft[j] for i, j in held)
        assert not appendix_b_c.split(draft, order, most=4)[1]
        assert not appendix_b_c.split(draft, order, least=5)[0]


def test_claims_by_cones_say_so():
    own = [each for each in CLAIMS.values() if each.paper == "canonical"]
    assert [each.id for each in own if each.method is Method.CONES] == BY_CONES


@needs_cdd
def test_generators_are_those_of_the_cone():
    # The other three generators say 2 p_i p_j ≥ 0.
    assert len(certainty_cone(3, 2).cuts) + 3 == len(appendix_b_c.GENERATORS)


def test_a_cone_with_other_rays_refutes():
    class Wrong:
        proves_cut_formula = False
        others = ("q0 >= 2 P{0}",)
        missing = ()

    found = appendix_b_c.proved(Search(), [(2, 2)], lambda _n, _k: Wrong())
    assert isinstance(found, Counterexample)
    assert "q0 >= 2 P{0}" in found.found


@pytest.mark.parametrize("identifier", BY_CONES)
def test_without_pycddlib_the_claims_say_what_to_install(identifier, monkeypatch):
    monkeypatch.setitem(sys.modules, "cdd", None)
    monkeypatch.setitem(sys.modules, "cdd.gmp", None)
    with pytest.raises(ValueError, match=r"otspec\[cones\]"):
        check_claim(identifier, Search(seconds=1.0))
