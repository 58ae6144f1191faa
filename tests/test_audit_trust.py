"""The audit trusts nothing that the rule says or does: the instance defines what is right."""

from __future__ import annotations

import signal
import threading
from fractions import Fraction

import numpy as np
import pytest
from dishonest_rules import DISAGREEING, FAILURES, PLACES, Right, failing_where, interrupt
from instances import fractions

import otspec
from otspec.auditing import Instance, audit_over, random_instances
from otspec.rules import ALL_RULES, RecursiveRejection

INSTANCES = [Instance((1, 2, 1), (2, 1, 3), 2)]


def test_a_right_rule_that_declares_everything_is_lossless():
    report = audit_over(Right, random_instances(60))
    assert (report.lossless, report.exact, report.tolerance) == (True, 60, 0)
    assert report.laws == ("iid",)
    assert report.largest_error == 0


@pytest.mark.parametrize("rule_class", DISAGREEING, ids=lambda each: each.__name__)
def test_what_a_rule_says_of_itself_is_compared_with_the_instance(rule_class):
    report = audit_over(rule_class, INSTANCES)
    assert not report.lossless
    assert report.report.witness is not None
    assert not audit_over(rule_class, random_instances(60)).lossless
    unshrunk = audit_over(rule_class, INSTANCES)
    assert DISAGREEING[rule_class] in unshrunk.report.witness.reason


@pytest.mark.parametrize("rule_class", ALL_RULES)
def test_rules_of_the_package_verify_the_law_that_they_name(rule_class):
    report = audit_over(rule_class, random_instances(40, seed=3))
    assert report.laws == (rule_class.drafts,)
    assert report.exact == report.audited
    # Asked for by name it is the same; another law is a finding.
    assert audit_over(rule_class, random_instances(40, seed=3), drafts=rule_class.drafts) == report
    other = "iid" if rule_class.drafts != "iid" else "without-replacement"
    wrong = audit_over(rule_class, random_instances(40, seed=3), drafts=other)
    assert f"the rule is for {rule_class.drafts} drafts" in wrong.report.witness.reason


@pytest.mark.parametrize("rule_class", ALL_RULES)
def test_a_rule_made_for_another_instance_is_found(rule_class):
    def swapped(draft, target, k):
        return rule_class(target, draft, k)

    def shifted(draft, target, k):
        return rule_class(draft[1:] + draft[:1], target, k)

    for factory, says in ((swapped, "its target is"), (shifted, "the rule's law gives drafts")):
        k = rule_class.only_k or 2
        report = audit_over(factory, [Instance((1, 2, 3), (3, 1, 1), k)])
        assert not report.lossless
        assert says in report.report.witness.reason


def test_a_law_that_the_rule_does_not_name_can_be_asked_for():
    class Hub(Right):
        def __init__(self, draft, target, k):
            self.rule = otspec.rules.SpecHub(draft, target, k)
            self.draft, self.target, self.law, self.k = draft, target, self.rule.law, k

    assert "name the law" in audit_over(Hub, INSTANCES).report.witness.reason
    assert audit_over(Hub, INSTANCES, drafts="hub").lossless


# Failures


def says(failure, place):
    # The reader of numbers makes a recursion that is too deep an error of its own.
    deep = (failure, place) == ("RecursionError", "answer")
    return "maximum recursion depth" if deep else f"fails with {failure}"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("failure", FAILURES)
def test_whatever_the_code_raises_is_a_finding(place, failure):
    report = audit_over(failing_where(place, FAILURES[failure]), INSTANCES)
    assert (report.lossless, report.refused) == (False, 0)
    witness = report.report.witness
    assert witness.token == -1
    assert says(failure, place) in witness.reason
    assert "\n" not in witness.reason
    assert len(witness.reason) < 500
    assert witness.traceback.startswith("Traceback (most recent call last):")
    assert "dishonest_rules.py" in witness.traceback


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("place", ["call", "answer"])
def test_a_kernel_that_fails_is_a_finding_of_one_audit_too(place, failure):
    draft, target = fractions("1/2", "1/2"), fractions("1/4", "3/4")
    rule = failing_where(place, FAILURES[failure])(draft, target, 2)
    report = otspec.audit(rule, law=otspec.IID(draft, 2), target=target)
    assert says(failure, place) in report.witness.reason
    assert report.witness.traceback


@pytest.mark.parametrize("place", ["kernel", "law", "target"])
def test_a_rule_that_fails_to_tell_its_own_is_refused(place):
    rule = failing_where(place, FAILURES["SystemExit: 0"])(None, ["1/2", "1/2"], 2)
    with pytest.raises(ValueError, match=f"asking the rule for its {place} fails with SystemExit"):
        otspec.audit(rule)


def test_an_attribute_error_within_a_property_is_not_a_missing_attribute():
    class Broken(Right):
        @property
        def k(self):
            return self.nothing_of_that_name

        @k.setter
        def k(self, _):
            pass

    report = audit_over(Broken, INSTANCES)
    assert "asking the rule for its k fails with AttributeError" in report.report.witness.reason


def test_ctrl_c_is_the_users_own():
    def pressed(_draft, target, _k):
        def kernel(_x):
            interrupt()
            return target

        return kernel

    def swallowed(_draft, target, _k):
        def kernel(_x):
            try:
                interrupt()
            except KeyboardInterrupt:
                raise SystemExit(0) from None
            return target

        return kernel

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for factory in (pressed, swallowed):
            with pytest.raises(KeyboardInterrupt):
                audit_over(factory, INSTANCES)
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_threads_audit_too():
    found = []
    factory = failing_where("call", FAILURES["KeyboardInterrupt"])
    thread = threading.Thread(target=lambda: found.append(audit_over(factory, INSTANCES)))
    thread.start()
    thread.join()
    assert "fails with KeyboardInterrupt" in found[0].report.witness.reason


def test_what_the_code_does_to_numpy_ends_with_it():
    def factory(_draft, target, _k):
        def kernel(_x):
            np.seterr(all="raise")
            return [float(mass) for mass in target]

        return kernel

    before = np.geterr()
    assert audit_over(factory, INSTANCES).lossless
    assert np.geterr() == before


def test_an_instance_cannot_be_changed_by_the_rule():
    def factory(draft, target, k):
        draft[:], target[:] = [Fraction(1), 0, 0], [Fraction(1), 0, 0]
        return lambda _: [1, 0, 0]

    report = audit_over(factory, INSTANCES)
    assert not report.lossless
    assert report.report.target.tolist() == report.failure.target


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
    assert report.lossless is report.conclusive is lossless
    assert report.failure is None
    if audited < 100:
        assert report.refusal == "making the rule fails with ValueError: too hard"


def test_no_instance_is_no_proof():
    assert not audit_over(Right, []).lossless


# Tolerance


def in_float32(draft, target, k):
    """A right verifier in single precision."""
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
