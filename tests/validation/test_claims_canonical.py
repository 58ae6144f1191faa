"""The claims of Khisti et al.: verdicts, checks that can fail, and the algorithms as printed."""

from __future__ import annotations

import re
import sys
from fractions import Fraction
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from otspec.rules import ImportanceSampling, KSequential
from otspec.solvers import rational
from validation.canonical import (
    CLAIMS,
    architecture,
    baselines,
    cones,
    elimination,
    faster,
    full_elimination,
    instances,
    printed,
    two_drafts,
    two_steps,
)
from validation.claim import Counterexample, Evidence, Method, Search, equal
from validation.instances import cases, pairs
from validation.notation import iid, mass_of, overlap, subsets, total
from validation.oracles import flow

BY_ID = {claim.id: claim for claim in CLAIMS}
REFUTED = {"canonical.eq19"}
NEED_CDD = {f"canonical.{item}" for item in ("secB", "secC", "secD", "secH")}
PROVED = {*NEED_CDD, "canonical.eq108"}
HALF = Fraction(1, 2)
needs_cdd = pytest.mark.skipif(not rational.available(), reason="pycddlib is not installed")


def search(found=60):
    return Search(seconds=1.0, instances=found)


@pytest.mark.parametrize("identifier", BY_ID)
def test_verdicts_are_stable(identifier):
    if identifier in NEED_CDD and not rational.available():
        pytest.skip("pycddlib is not installed")
    claim = BY_ID[identifier]
    outcome = claim.check(search())
    assert isinstance(outcome, Counterexample) == (identifier in REFUTED), outcome
    assert (claim.corrected is not None) == (identifier in REFUTED)
    if claim.corrected is not None:
        outcome = claim.corrected.check(search())
    assert isinstance(outcome, Evidence), outcome
    assert outcome.instances > 0
    assert outcome.proved == (identifier in PROVED)
    assert outcome.worst is None if outcome.proved else outcome.worst >= 0


def test_every_claim_is_listed_in_order():
    page = Path(__file__).parents[2] / "docs" / "claims" / "canonical.md"
    listed = re.findall(r"^\| (canonical\.\S+) \|", page.read_text(encoding="utf-8"), re.M)
    assert listed == list(BY_ID)


def test_claims_by_cones_say_so():
    assert {claim.id for claim in CLAIMS if claim.method is Method.CONES} == PROVED


def test_residual_hits_refute_the_acceptance_of_any_selection():
    found = BY_ID["canonical.eq19"].check(search())
    draft, target, k = (found.instance[name] for name in ("draft", "target", "k"))
    assert (draft, target, k) == ((HALF, HALF), (1, 0), 2)
    table = iid(draft, k)
    kernel = two_steps.kernel_from(found.instance["digits"], table)
    steps = two_steps.two_steps(table, kernel, target)
    assert (steps.accepted, steps.among_drafts) == (HALF, Fraction(3, 4))


def refuted(check):
    """Whether a check finds a counterexample in the reduced search."""
    return isinstance(check(search(600)), Counterexample)


def test_a_wrong_term_of_theorem_3_is_found(monkeypatch):
    right = two_drafts.two_sided
    monkeypatch.setattr(
        two_drafts,
        "two_sided",
        lambda p, q, s: right(p, q, s) - mass_of(p, s) * (1 - mass_of(p, s)),
    )
    for item in ("thm3", "sec3e", "eq8", "eq9"):
        assert refuted(BY_ID[f"canonical.{item}"].check), item


def test_a_condition_that_is_too_weak_is_found(monkeypatch):
    monkeypatch.setattr(two_drafts, "subsets", lambda n: (s for s in subsets(n) if len(s) < 2))
    assert refuted(BY_ID["canonical.thm2"].check)
    assert refuted(BY_ID["canonical.rem2"].check)


def test_the_exponent_of_two_drafts_is_wrong_for_three():
    wrong = instances.over_cases(
        lambda draft, target, k: equal(
            min(two_drafts.two_sided(draft, target, s) for s in subsets(len(draft))),
            flow(iid(draft, k), target),
        ),
        (3,),
    )
    assert refuted(wrong)


def test_a_selection_that_is_not_best_is_found(monkeypatch):
    def first_token(table, _target):
        return {x: {y: Fraction(y == x[0]) for y in x} for x in table}

    for module in (architecture, faster, two_drafts):
        monkeypatch.setattr(module, "best_kernel", first_token)
    for item in ("thm1a", "thm1b", "thm4", "rem1", "sec3d", "sec4a"):
        assert refuted(BY_ID[f"canonical.{item}"].check), item


def test_a_lossy_second_step_is_found(monkeypatch):
    monkeypatch.setattr(two_steps, "residual_of", lambda target, _law: target)
    for item in ("sec2a", "thm1b", "eq37", "alg1", "rem3", "rem4", "sec4c", "secG"):
        assert refuted(BY_ID[f"canonical.{item}"].check), item


def test_a_program_that_is_not_solved_is_found(monkeypatch):
    monkeypatch.setattr(printed, "free_weights", lambda supplies, *_: dict.fromkeys(supplies, HALF))
    for item in ("sec4b", "eq14", "eq13", "eq190", "rem3"):
        assert refuted(BY_ID[f"canonical.{item}"].check), item


def test_a_wrong_weight_of_algorithm_1_is_found(monkeypatch):
    monkeypatch.setattr(
        printed, "sorted_tokens", lambda first, *_: tuple(reversed(range(len(first))))
    )
    right = printed.printed_law
    monkeypatch.setattr(
        printed, "printed_law", lambda p, weights, free: right(p, weights, max(free - 1, 0))
    )
    assert refuted(BY_ID["canonical.eq13"].check)
    assert refuted(BY_ID["canonical.alg1"].check)


def test_output_that_is_not_repaired_is_found(monkeypatch):
    monkeypatch.setattr(printed, "post_processed", lambda output, *_: output)
    assert refuted(BY_ID["canonical.sec4c"].check)
    assert refuted(BY_ID["canonical.secG"].check)


def test_wrong_conditions_after_elimination_are_found(monkeypatch):
    monkeypatch.setattr(elimination, "leaving", lambda held, s: total(held.values()) * len(s))
    for item in ("lem1", "lem2", "ex2b"):
        assert refuted(BY_ID[f"canonical.{item}"].check), item
    monkeypatch.setattr(full_elimination, "covers", mass_of)
    for item in ("lem3", "lem4"):
        assert refuted(BY_ID[f"canonical.{item}"].check), item


def test_sums_of_conditions_the_wrong_way_are_found(monkeypatch):
    for module in (elimination, full_elimination):
        monkeypatch.setattr(module, "both_and_either", lambda a, b: ((), (*a, *b)))
    for item in ("eq92", "eq172"):
        assert refuted(BY_ID[f"canonical.{item}"].check), item


def test_a_missing_and_a_superfluous_generator_are_found():
    assert refuted(cones.generators_of(cones.MATRIX, cones.GENERATORS[:-1]))
    assert refuted(cones.generators_of(cones.MATRIX, (*cones.GENERATORS, (1, 1, 1, 1, 1))))
    assert refuted(cones.generators_of((*cones.MATRIX, cones.MATRIX[0]), ()))


def test_a_missing_generator_is_noticed_by_farkas(monkeypatch):
    monkeypatch.setattr(cones, "GENERATORS", cones.GENERATORS[:-1])
    assert refuted(BY_ID["canonical.eq106"].check)


@needs_cdd
def test_generators_are_those_of_the_cone():
    from otspec.cones import certainty_cone

    cone = certainty_cone(3, 2)
    # The other three generators say 2 p_i p_j ≥ 0.
    assert len(cone.cuts) + 3 == len(cones.GENERATORS)


@needs_cdd
def test_a_cone_with_other_rays_refutes():
    class Wrong:
        proves_cut_formula = False
        others = ("q0 >= 2 P{0}",)
        missing = ()

    found = cones.proved_for(lambda _n, _k: Wrong(), ((2, 2),))(search())
    assert isinstance(found, Counterexample)
    assert "q0 >= 2 P{0}" in found.found


def test_without_pycddlib_the_claims_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cdd", None)
    monkeypatch.setitem(sys.modules, "cdd.gmp", None)
    for identifier in sorted(NEED_CDD):
        with pytest.raises(ImportError, match="cones"):
            BY_ID[identifier].check(search())


def test_the_factor_of_the_baseline_is_the_smallest():
    for case in islice(cases(2, (1, 2, 3), 3), 200, 260):
        found = baselines.smallest_factor(**case)
        smallest = KSequential(**case).rho
        assert found - smallest + Fraction(1, 2**64) >= 0
        assert found - smallest < Fraction(1, 2**37)


@pytest.mark.parametrize("free", [0, 1, 2, 4])
def test_algorithm_1_as_printed_is_the_rule(free):
    draft = tuple(Fraction(w, 31) for w in (12, 9, 7, 3))
    target = tuple(Fraction(w, 37) for w in (4, 19, 3, 11))
    found = printed.algorithm_1(draft, target, free)
    again = printed.for_two_laws(draft, draft, target, free)
    rule = ImportanceSampling(
        np.array(draft, float), np.array(target, float), k=2, free=free, solver="highs"
    )
    accepted = overlap(found.law, target)
    assert overlap(again.law, target) == accepted
    selected = np.minimum(rule.law_of_selection, rule.target).sum()
    assert selected == pytest.approx(float(accepted), abs=1e-8)
    table = iid(draft, 2)
    steps = two_steps.two_steps(table, found.kernel, target)
    if free == 4:  # without truncation both accept the optimum; else residual draws may differ
        assert rule.acceptance() == pytest.approx(float(steps.among_drafts), abs=1e-8)


def test_stages_of_three_are_between_two_drafts_and_the_optimum():
    for case in islice(cases(0, (3,), 3), 60):
        draft, target = case["draft"], case["target"]
        law, _ = printed.in_stages([draft] * 3, target, len(draft))
        two, three = (flow(iid(draft, k), target) for k in (2, 3))
        assert two <= overlap(law, target) <= three


def test_helpers_give_couplings_and_kernels():
    for number, pair in enumerate(islice(pairs(1, 3), 60)):
        draft, target = pair["draft"], pair["target"]
        digits = tuple((number * 5 + 3 * i) % 5 for i in range(7))
        table = iid(draft, 2)
        plan = two_steps.coupling_from(digits, table, target)
        assert min(plan.values()) >= 0
        for x, mass in table.items():
            assert sum(each for (z, _), each in plan.items() if z == x) == mass
        for y, mass in enumerate(target):
            assert sum(each for (_, z), each in plan.items() if z == y) == mass
        for row in two_steps.kernel_from(digits, table).values():
            assert sum(row.values()) == 1
            assert min(row.values()) >= 0
