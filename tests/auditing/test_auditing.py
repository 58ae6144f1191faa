"""The audit of one rule: what it reports, the witness, and what it makes of improper kernels."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracles
import pytest
from instances import floats, fractions, law_case, pairs
from programs_table import feasible_masses
from searching import NIGHTLY, of_all

import otspec
from otspec.auditing import Audit
from otspec.optimum.plan import Plan
from otspec.rules import (
    KSequential,
    NaiveSampling,
    PlannedRule,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    compared_rules,
)

HALF = fractions("1/2", "1/2")
SKEW = fractions("1/4", "3/4")
LAW = otspec.IID(HALF, 2)


def random_kernel(rng, n, k):
    """Any distribution for each tuple, hardly ever lossless."""
    rows = {}
    for x in np.ndindex(*(n,) * k):
        parts = rng.integers(0, 5, n)
        parts[rng.integers(n)] += 1
        rows[x] = [Fraction(int(part), int(parts.sum())) for part in parts]
    return rows.__getitem__


@pytest.mark.parametrize("law_name", ["IID", "Independent", "WithoutReplacement", "Hub", "Joint"])
def test_the_report_is_the_enumeration(law_name):
    rng, lossy = np.random.default_rng(230), 0
    for index, (draft, target) in enumerate(pairs(231, 96, most_tokens=4)):
        case = law_case(law_name, draft, 1 + index % 3, seed=index)
        if case is None:
            continue
        kernel = random_kernel(rng, len(draft), case.exact.k)
        report = otspec.audit(kernel, law=case.exact, target=target)
        output = oracles.output(case.table, kernel, len(draft))
        assert report.output.tolist() == output
        assert report.target.tolist() == list(target)
        assert report.acceptance == oracles.acceptance(case.table, kernel)
        assert report.optimum == oracles.optimum(case.table, target)
        assert report.gap == report.optimum - report.acceptance
        errors = [found - wanted for found, wanted in zip(output, target, strict=True)]
        assert report.total_variation == sum(map(abs, errors)) / 2
        assert report.lossless is (errors == [0] * len(draft))
        assert report.tolerance == 0
        for number in (report.acceptance, report.optimum, report.gap, report.total_variation):
            assert type(number) is Fraction
        if report.lossless:
            assert report.witness is None
            continue
        lossy += 1
        check_witness(report, errors, case.table, kernel)
    assert lossy > of_all(40)


def check_witness(report, errors, table, kernel):
    """The most wrong token, and the fewest drafts that can account for its error."""
    witness = report.witness
    assert abs(errors[witness.token]) == max(map(abs, errors))
    assert witness.error == errors[witness.token]
    moved = {
        x: mass * (kernel(x)[witness.token] if witness.error > 0 else 1 - kernel(x)[witness.token])
        for x, mass in table.items()
    }
    assert set(witness.drafts) <= set(table)
    assert len(set(witness.drafts)) == len(witness.drafts) >= 1
    assert sum(moved[x] for x in witness.drafts) >= abs(witness.error)
    most = sorted(moved.values(), reverse=True)
    assert sum(most[: len(witness.drafts) - 1]) < abs(witness.error)
    how = "too often" if witness.error > 0 else "too seldom"
    assert f"token {witness.token} comes out {how}, by {abs(witness.error)};" in witness.reason


def test_the_witness_by_hand():
    # Token 0 comes out with (0, 0), (0, 1) and (1, 0): 3/4 in place of 1/4; of equal masses the
    # tuple of fewest distinct tokens and then the lowest comes first, and two of them suffice.
    greedy = otspec.audit(lambda x: [1, 0] if 0 in x else [0, 1], law=LAW, target=SKEW)
    assert greedy.output.tolist() == [Fraction(3, 4), Fraction(1, 4)]
    assert greedy.witness.token == 0
    assert greedy.witness.error == Fraction(1, 2)
    assert greedy.witness.drafts == ((0, 0), (0, 1))
    assert greedy.acceptance == 1
    assert greedy.optimum == 1
    assert greedy.gap == 0
    assert greedy.total_variation == Fraction(1, 2)
    # Only (1, 1) is wrong, and by less than what it carries.
    one = otspec.audit(lambda x: [1, 0] if x == (1, 1) else SKEW, law=LAW, target=SKEW)
    assert one.witness.error == Fraction(3, 16)
    assert one.witness.drafts == ((1, 1),)
    # Three tokens: the third comes out too seldom; (2, 2) has the most that is not token 2.
    law = otspec.IID(fractions("1/4", "1/4", "1/2"), 2)
    never = otspec.audit(lambda _: [1, 0, 0], law=law, target=fractions("1/2", "1/4", "1/4"))
    assert never.witness.token == 0
    assert never.witness.error == Fraction(1, 2)
    law = otspec.IID(fractions("1/4", "3/4"), 1)
    seldom = otspec.audit(lambda x: [[1, 0], [0, 1]][x[0]], law=law, target=fractions("1/2", "1/2"))
    assert (seldom.witness.token, seldom.witness.error) == (0, Fraction(-1, 4))
    assert seldom.witness.drafts == ((1,),)


@pytest.mark.parametrize(
    "answer",
    [
        lambda: SKEW,
        lambda: list(SKEW),
        lambda: ["1/4", "3/4"],
        lambda: np.array(SKEW, dtype=object),
    ],
)
def test_exact_kernels_of_any_kind_are_audited_exactly(answer):
    report = otspec.audit(lambda _: answer(), law=LAW, target=SKEW)
    assert report.lossless
    assert type(report.acceptance) is Fraction
    assert report.acceptance == Fraction(3, 4)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    "answer",
    [[0.25, 0.75], (0.25, 0.75), np.array([0.25, 0.75]), np.array([0.25, 0.75], np.float32)],
)
def test_float_kernels_are_audited_in_floats_whatever_the_law_is(exact, answer):
    law, target = (LAW, SKEW) if exact else (otspec.IID(floats(HALF), 2), floats(SKEW))
    report = otspec.audit(lambda _: answer, law=law, target=target)
    assert report.lossless
    for number in (report.acceptance, report.optimum, report.gap, report.total_variation):
        assert type(number) is float
    assert report.output.dtype == report.target.dtype == float
    # One rounding per draft tuple and eight per token.
    assert report.tolerance == np.finfo(float).eps * (4 + 8 * 2)


def test_one_float_row_among_exact_ones_makes_the_audit_float():
    report = otspec.audit(lambda x: floats(SKEW) if x == (0, 1) else SKEW, law=LAW, target=SKEW)
    assert report.lossless
    assert type(report.acceptance) is float


def test_the_tolerance_can_be_given():
    off = fractions("24/100", "76/100")
    for law, kernel, target in (
        (LAW, off, SKEW),
        (otspec.IID(floats(HALF), 2), floats(off), floats(SKEW)),
    ):
        for tolerance, lossless in ((0.02, True), (0.009, False)):
            report = otspec.audit(lambda _: kernel, law=law, target=target, tolerance=tolerance)  # noqa: B023
            assert report.lossless is lossless
            assert report.tolerance == tolerance
            assert (report.witness is None) is lossless


IMPROPER = {
    "a negative entry": fractions("-1/4", "5/4"),
    "a negative float": [-0.25, 1.25],
    "sums to 9/10": fractions("2/5", "1/2"),
    "sums to 0.9": [0.4, 0.5],
    "sums to 1.1": [0.5, 0.6],
    "NaN": [np.nan, 0.5],
    "all NaN": [np.nan, np.nan],
    "infinite": [np.inf, 0.0],
    "overflows": [1e308, 1e308],
    "too long": fractions("1/4", "3/4", 0),
    "too short": [1.0],
    "a matrix": np.full((2, 2), 0.25),
    "a number": 0.5,
    "words": ["a", "b"],
    "nothing": None,
    "mixed": [0.5, Fraction(1, 2)],
    "truth values": [True, False],
    "complex": np.array([1 + 0j, 0]),
    "huge": [10**400, 0],
}


MASSES = {
    "a negative entry", "a negative float", "sums to 9/10", "sums to 0.9", "sums to 1.1", "NaN",
    "all NaN", "infinite", "overflows", "huge",
}  # fmt: skip


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("name", IMPROPER)
def test_what_is_no_distribution_is_not_lossless_and_names_its_drafts(name, exact):
    law, target = (LAW, SKEW) if exact else (otspec.IID(floats(HALF), 2), floats(SKEW))
    report = otspec.audit(
        lambda x: IMPROPER[name] if x == (1, 0) else target, law=law, target=target
    )
    assert isinstance(report, Audit)
    # Masses that are no distribution are wrong; what holds no masses of the tokens says nothing.
    assert report.lossless is (False if name in MASSES else None)
    assert report.witness.token == -1
    assert report.witness.drafts == ((1, 0),)
    assert "drafts (1, 0)" in report.witness.reason
    assert "no distribution" in report.witness.reason
    assert report.output is report.acceptance is report.total_variation is report.gap is None


def test_a_kernel_that_fails_could_not_be_audited_and_says_how():
    report = otspec.audit(lambda x: [1 // x[1], 0], law=LAW, target=SKEW)
    assert report.lossless is report.acceptance is report.total_variation is None
    assert report.witness.drafts == ((0, 0),)
    assert "ZeroDivisionError" in report.witness.reason


def test_what_is_missing_is_named():
    with pytest.raises(ValueError, match="law is missing"):
        otspec.audit(lambda _: SKEW, target=SKEW)
    with pytest.raises(ValueError, match="target is missing"):
        otspec.audit(lambda _: SKEW, law=LAW)
    with pytest.raises(ValueError, match="law is exact but target is float"):
        otspec.audit(lambda _: SKEW, law=LAW, target=floats(SKEW))
    with pytest.raises(ValueError, match="law has 2 tokens and target has 3"):
        otspec.audit(lambda _: SKEW, law=LAW, target=fractions(1, 0, 0))
    with pytest.raises(ValueError, match="target sums to 1/2"):
        otspec.audit(lambda _: SKEW, law=LAW, target=fractions("1/4", "1/4"))


def test_too_many_tuples_are_refused():
    draft = np.full(1_000, 1 / 1_000)
    with pytest.raises(ValueError, match="1,000,000,000 draft tuples"):
        otspec.audit(RecursiveRejection(draft, draft, 3))


def test_a_law_or_target_overrides_that_of_the_rule():
    rule = RecursiveRejection(HALF, SKEW, 2)
    assert otspec.audit(rule).lossless
    other = otspec.audit(rule, law=otspec.IID(fractions("1/3", "2/3"), 2))
    assert not other.lossless
    assert not otspec.audit(rule, target=HALF).lossless
    # Distinct drafts are another law than the rule's ratio has: acceptance is another too.
    assert otspec.audit(rule, law=otspec.WithoutReplacement(HALF, 2)).acceptance == 1


@pytest.mark.parametrize("solver", ["highs", "cvxpy"])
@pytest.mark.parametrize("exact", [True, False])
def test_a_plan_of_a_float_solver_is_lossless_within_its_accuracy(solver, exact):
    for draft, target in pairs(232, 16 if NIGHTLY else 8, most_tokens=3):
        law = otspec.IID(draft if exact else floats(draft), 2)
        wanted = target if exact else floats(target)
        rule = PlannedRule(otspec.optimal_plan(law, wanted, solver=solver))
        report = otspec.audit(rule)
        assert report.lossless
        assert report.tolerance >= rule.accuracy > 0
        exact_optimum = oracles.optimum(oracles.iid_table(draft, 2), target)
        assert abs(report.acceptance - exact_optimum) <= 1e-8  # ten solver tolerances per token
        by_draft = rule.accepted().by_position
        assert by_draft.dtype == float
        assert abs(by_draft.sum() - report.acceptance) <= 1e-8


def test_a_plan_that_was_tampered_with_is_lossy():
    model = otspec.programs.PROGRAMS["reduced"](LAW, np.array(SKEW, dtype=object), True)
    accepted = feasible_masses(np.random.default_rng(0), model.support, SKEW)
    assert otspec.audit(PlannedRule(Plan(model.support, model.target, accepted))).lossless
    # All pairs give token 0, which the target has less often.
    accepted[:] = [Fraction(1, 4), Fraction(1, 2), Fraction(0), Fraction(0)]
    assert not otspec.audit(PlannedRule(Plan(model.support, model.target, accepted))).lossless


@pytest.mark.parametrize("rule_class", compared_rules())
def test_a_bare_kernel_is_audited_like_its_rule(rule_class):
    draft, target = fractions("1/2", "3/10", "1/5"), fractions("1/10", "3/5", "3/10")
    rule = rule_class(draft, target, rule_class.only_k or 2)
    whole, bare = otspec.audit(rule), otspec.audit(rule.kernel, law=rule.law, target=target)
    assert whole.lossless is bare.lossless is True
    assert whole.acceptance == bare.acceptance == rule.acceptance()
    assert whole.gap == bare.gap >= 0


def test_known_acceptances():
    draft, target = fractions("1/2", "3/10", "1/5"), fractions("1/10", "3/5", "3/10")
    found = {
        rule: otspec.audit(rule(draft, target, 2)).acceptance
        for rule in (NaiveSampling, KSequential, RecursiveRejectionWithoutReplacement)
    }
    # By hand: 1/10 (1 − 1/4) + 3/5 (1 − 49/100) + 3/10 (1 − 16/25).
    assert found[NaiveSampling] == Fraction(489, 1000)
    assert found[RecursiveRejectionWithoutReplacement] == Fraction(47, 50)
    assert found[KSequential] < Fraction(17, 20)
