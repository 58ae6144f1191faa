"""How much an audit forgives: refusals, rounding, and what a rule says of its accuracy."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from dishonest_rules import Right
from instances import fractions

import otspec
from otspec.auditing import Instance, audit_over, random_instances
from otspec.rules import RecursiveRejection

INSTANCES = [Instance((1, 2, 1), (2, 1, 3), 2)]


# Refusals


def refusing_above(audited):
    calls = iter(range(10**6))

    def factory(draft, target, k):
        if next(calls) >= audited:
            raise ValueError("too hard")
        return lambda _: target

    return factory


@pytest.mark.parametrize(("audited", "lossless"), [(0, False), (4, False), (5, True), (100, True)])
def test_a_rule_that_takes_hardly_any_instance_is_not_called_lossless(audited, lossless):
    report = audit_over(refusing_above(audited), random_instances(100))
    assert (report.audited, report.refused) == (audited, 100 - audited)
    assert report.conclusive is lossless
    assert report.lossless is (True if lossless else None)
    assert report.failure is None
    if audited < 100:
        assert report.refusal == "making the rule fails with ValueError: too hard"


def test_no_instance_is_no_proof():
    assert not audit_over(Right, []).lossless


# Tolerance


def in_float32(draft, target, k):
    """A correct verifier in single precision."""
    rule = RecursiveRejection(draft, target, k)
    return lambda x: rule.kernel(x).astype(np.float32)


def off_by(error):
    def factory(draft, target, k):
        moved = [float(mass) for mass in target]
        likeliest = int(np.argmax(moved))
        moved[likeliest] -= error
        moved[likeliest - 1] += error
        return lambda _: moved

    return factory


def test_a_right_verifier_in_single_precision_passes_with_a_tolerance():
    assert not audit_over(in_float32, random_instances(60)).lossless
    report = audit_over(in_float32, random_instances(60), tolerance=1e-6)
    assert (report.lossless, report.exact, report.tolerance) == (True, 0, 1e-6)
    # Each entry is rounded once, and the law is an average of them.
    assert 0 < report.largest_error <= np.finfo(np.float32).eps / 2


@pytest.mark.parametrize("size", [1e-9, 1e-4])
def test_a_tolerance_is_what_is_said(size):
    instances = [Instance((1, 1, 2), (1, 1, 1), 2)]
    assert not audit_over(off_by(size), instances).lossless
    assert not audit_over(off_by(size), instances, tolerance=size * 0.9).lossless
    report = audit_over(off_by(size), instances, tolerance=size * 1.1)
    assert report.lossless
    assert report.largest_error == pytest.approx(size, rel=1e-6)


def test_a_tolerance_does_not_loosen_exact_answers():
    def off(draft, target, k):
        return lambda _: [target[0] + Fraction(1, 10**9), target[1] - Fraction(1, 10**9)]

    instances = [Instance((1, 1), (1, 1), 1)]
    assert not audit_over(off, instances, tolerance=0.5).lossless


def test_declared_floats_have_to_be_right_within_the_tolerance():
    class Single(Right):
        def __init__(self, draft, target, k):
            super().__init__(draft, target, k)
            self.target = np.array(target, dtype=np.float32)

    instances = [Instance((1, 1), (1, 2), 2)]
    assert "its target is" in audit_over(Single, instances).report.witness.reason
    assert audit_over(Single, instances, tolerance=1e-6).lossless


@pytest.mark.parametrize("tolerance", [-1e-9, 1, 2.0, np.nan, np.inf])
def test_a_tolerance_that_is_none_is_refused(tolerance):
    with pytest.raises(ValueError, match="tolerance is"):
        audit_over(Right, INSTANCES, tolerance=tolerance)
    with pytest.raises(ValueError, match="tolerance is"):
        otspec.audit(RecursiveRejection([0.5, 0.5], [1.0, 0.0], 2), tolerance=tolerance)


def test_an_unknown_law_is_refused():
    with pytest.raises(ValueError, match="drafts is 'urn': it must be one of iid"):
        audit_over(Right, INSTANCES, drafts="urn")


# One rule


@pytest.mark.parametrize("accuracy", [1.0, 1e-3, np.inf])
def test_an_accuracy_is_believed_up_to_a_limit(accuracy):
    draft, target = [0.5, 0.5], [0.25, 0.75]
    rule = RecursiveRejection(draft, target, 2)

    class Off:
        law, accuracy = rule.law, None

        def kernel(self, x):
            return rule.kernel(x) + np.array([self.error, -self.error])

    off = Off()
    off.target, off.accuracy = rule.target, accuracy
    for off.error, lossless in ((1e-9, True), (1e-7, False)):
        report = otspec.audit(off)
        assert report.lossless is lossless
        assert report.tolerance == 1e-8
    off.accuracy, off.error = 0.0, 1e-9
    assert not otspec.audit(off).lossless
    off.accuracy = accuracy
    assert not audit_over(lambda *_: off, [Instance((1, 1), (1, 3), 2)]).lossless


@pytest.mark.parametrize("accuracy", [np.nan, -1.0, "small"])
def test_an_accuracy_that_is_none_is_refused(accuracy):
    rule = Right(*map(list, (fractions("1/2", "1/2"), fractions("1/4", "3/4"))), 2)
    rule.accuracy = accuracy
    with pytest.raises(ValueError, match=r"accuracy|says of itself"):
        otspec.audit(rule)
