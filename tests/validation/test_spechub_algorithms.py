"""SpecHub's algorithms, programs and formulas as printed, beside those of the package."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from scipy.optimize import linprog

import otspec
from otspec import rules
from validation.domains import cases, exact, joints, pairs
from validation.notation import distinct, iid, support
from validation.oracles import least_bound
from validation.simplex import Program
from validation.spechub import algorithms as alg
from validation.spechub import appendix_d as toy
from validation.spechub.algorithms import HUBS, Hub, rrs, rrsw, spechub
from validation.spechub.tables import ROWS


def some_of(domain, count, seed=4):
    """The first instances of a domain, and as many random ones."""
    yield from islice(domain.small(), count)
    yield from islice(domain.random(np.random.default_rng(seed)), count)


def test_algorithm_1_is_the_packages_recursive_rejection():
    for case in some_of(cases(3), 80):
        draft, target, k = case["draft"], case["target"], case["k"]
        for run, rule in (
            (rrs, rules.RecursiveRejection),
            (rrsw, rules.RecursiveRejectionWithoutReplacement),
        ):
            if run is rrs or support(draft) >= k:
                ran, other = run(draft, target, k=k), rule(draft, target, k=k)
                assert ran.among_drafts() == ran.accepted() == other.acceptance()
                by_draft = [ran.accepted(i) for i in range(k)]
                assert by_draft == other.accepted().by_position.tolist()


def test_algorithm_3_with_its_updates_is_the_packages_spechub():
    agreeing = 0
    for pair in some_of(HUBS, 150):
        hub, rule = Hub(**pair), rules.SpecHub(**pair)
        assert hub.ran.among_drafts() == rule.acceptance()
        by_draft = [hub.ran.accepted(i) for i in range(2)]
        assert by_draft == rule.accepted().by_position.tolist()
        assert hub.ran.among_drafts() == otspec.closed_forms.hub_acceptance(**pair)
        tuples, masses = rule.law.tuples()
        assert hub.table == dict(zip(map(tuple, tuples.tolist()), masses.tolist(), strict=True))
        # As printed it agrees where the hub needs only one kind of pair, and all are accepted.
        if sum(hub.twice) == hub.q and min(hub.firsts, hub.lasts) == 0:
            agreeing += 1
            assert hub.literal.coupling() == hub.ran.coupling()
    assert agreeing > 20


def test_the_figures_example():
    draft, target = exact("1/2", "3/10", "1/5"), exact("1/10", "3/5", "3/10")
    assert rrsw(draft, target).among_drafts() == Fraction(47, 50)
    assert spechub(draft, target).among_drafts() == 1
    assert least_bound(distinct(draft, 2), target) == 1


def test_known_counterexamples():
    draft, target = exact("1/4", "1/4", "1/4", "1/4"), exact(0, 1, 0, 0)
    assert spechub(draft, target).among_drafts() == Fraction(1, 3)
    assert rrs(draft, target).among_drafts() == Fraction(7, 16)
    draft, target = exact("49/100", "49/100", "1/100", "1/100"), exact(0, 0, 1, 0)
    assert spechub(draft, target).among_drafts() == Fraction(1, 51)
    assert least_bound(iid(draft, 2), target) == Fraction(199, 10_000)


def test_the_written_out_programs_agree_with_the_package():
    for instance in some_of(joints(), 60):
        target, k = instance["target"], instance["k"]
        n = len(target)
        law = otspec.Joint(np.array(instance["joint"], dtype=object).reshape((n,) * k))
        table = alg.joint_table(instance["joint"], n, k)
        best = otspec.optimal_acceptance(law, target).acceptance
        assert least_bound(table, target) == best
        assert alg.transport(table, target)[0] == 1 - best
        for once in (False, True):
            assert alg.simplified(table, target, once=once)[0] == 1 - best


def test_the_simplex_method():
    program = Program(2)
    program.objective = [Fraction(3), Fraction(2)]
    program.add([(0, 1), (1, 1)], Fraction(4), equal=False)
    program.add([(0, 1), (1, 3)], Fraction(6), equal=False)
    assert program.solve() == (12, [4, 0])
    program.add([(0, 1)], Fraction(3), equal=True)
    assert program.solve() == (11, [3, 1])
    program.add([(0, 1), (1, 1)], Fraction(5), equal=True)
    with pytest.raises(ValueError, match="no point"):
        program.solve()
    program = Program(2)
    program.objective = [Fraction(1), Fraction(0)]
    with pytest.raises(ValueError, match="no maximum"):
        program.solve()
    for _ in range(2):  # one of them is redundant
        program.add([(0, 1), (1, 1)], Fraction(1), equal=True)
    assert program.solve() == (1, [1, 0])


def test_the_simplex_method_with_fractions_is_scipys():
    rng, solved = np.random.default_rng(3), 0
    for _ in range(60):
        n = int(rng.integers(1, 6))
        program, rows = Program(n), {True: [], False: [([1] * n, 9)]}
        program.objective = [Fraction(int(c), 7) for c in rng.integers(-5, 9, n)]
        program.add([(v, 1) for v in range(n)], Fraction(9), equal=False)
        for equal in rng.random(int(rng.integers(1, 5))) < 0.3:
            row = [Fraction(int(a), 3) for a in rng.integers(-4, 9, n)]
            bound = Fraction(int(rng.integers(9)), 4)
            program.add(list(enumerate(row)), bound, equal=bool(equal))
            rows[bool(equal)].append((row, bound))
        sides = {
            name: np.array([side[i] for side in rows[equal]], float) if rows[equal] else None
            for equal, names in ((False, ("A_ub", "b_ub")), (True, ("A_eq", "b_eq")))
            for i, name in enumerate(names)
        }
        other = linprog([-float(c) for c in program.objective], **sides)
        if other.status == 2:
            with pytest.raises(ValueError, match="no point"):
                program.solve()
        else:
            solved += 1
            value, point = program.solve()
            assert float(value) == pytest.approx(-other.fun, abs=1e-9)
            assert min(point) >= 0
    assert solved > 20


def test_the_toy_formulas_are_the_rules():
    for setting in ((Fraction(1, 10), Fraction(7, 10)), (Fraction(1, 2), Fraction(1, 2))):
        drafts, targets = toy.drawn_pairs("normal", setting, 5, 7)
        for i, pair in enumerate(zip(drafts, targets, strict=True)):
            draft, target = (law / law.sum() for law in pair)
            optima = [
                otspec.optimal_acceptance(law, target).acceptance
                for law in (otspec.IID(draft, 2), otspec.WithoutReplacement(draft, 2))
            ]
            expected = (
                rules.RecursiveRejection(draft, target, k=2).acceptance(),
                rules.RecursiveRejectionWithoutReplacement(draft, target, k=2).acceptance(),
                *optima,
                rules.SpecHub(draft, target).acceptance(),
            )
            for method, value in zip(toy.METHODS, expected, strict=True):
                found = toy.acceptances(method, "normal", setting, 5, 7)[i]
                assert found == pytest.approx(value, abs=1e-12)


def test_the_printed_tables():
    assert [sum(row.table == table for row in ROWS) for table in (1, 2, 5, 6, 7, 8, 9)] == [
        3, 3, 32, 28, 8, 16, 8,
    ]  # fmt: skip
    assert all(row.rrs < row.rrsw for row in ROWS)
    assert sum(row.spechub is None for row in ROWS) == 12
    assert len(toy.TABLE4) == 6


def test_the_first_pairs_have_any_hub():
    first = list(islice(HUBS.small(), 600))
    known = {(pair["draft"], pair["target"]) for pair in first}
    assert len(known) == 600
    assert {(exact("1/2", "1/2"), exact(0, 1)), (exact("1/2", "1/2"), exact(1, 0))} <= known
    for pair in islice(pairs(3, 2).small(), 40):
        if max(pair["draft"]) < 1:
            assert (pair["draft"], pair["target"]) in known
