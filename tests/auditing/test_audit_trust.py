"""The audit trusts nothing that the rule says or does: the instance defines what is right."""

from __future__ import annotations

import builtins
import signal
import threading
from fractions import Fraction

import numpy as np
import pytest
from dishonest_rules import DISAGREEING, FAILURES, PLACES, Right, failing_where, interrupt
from each_case import each
from instances import fractions
from searching import enough

import otspec
from otspec.auditing import Instance, audit_over, random_instances
from otspec.display import card_of
from otspec.rules import compared_rules

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


@pytest.mark.parametrize("rule_class", compared_rules())
def test_rules_of_the_package_verify_the_law_that_they_name(rule_class):
    instances = list(random_instances(enough(40), seed=3))
    report = audit_over(rule_class, instances)
    assert report.laws == (rule_class.law_class.name,)
    assert report.exact == report.audited
    # Asked for by name it is the same; another law is a finding.
    assert audit_over(rule_class, instances, drafts=rule_class.law_class.name) == report
    other = "iid" if rule_class.law_class.name != "iid" else "without-replacement"
    wrong = audit_over(rule_class, instances, drafts=other)
    assert f"the rule is for {rule_class.law_class.name} drafts" in wrong.report.witness.reason


@pytest.mark.parametrize("rule_class", compared_rules())
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


def assert_nothing_is_claimed(report):
    """Where no output was measured, no number pretends that one was."""
    assert report.lossless is report.as_declared is None
    for name in (
        "output", "acceptance", "total_variation", "kullback_leibler", "gap", "frontier",
        "lossy_gap", "spare_variation", "largest_error",
    ):  # fmt: skip
        assert getattr(report, name) is None, name
    assert report.witness.error is None
    assert card_of(report).title == "The rule could not be audited"


def says(failure, place):
    # Of an answer the reader of numbers says what it raises, if it is no end of the program.
    name = failure.partition(":")[0]
    if place == "answer" and issubclass(getattr(builtins, name, BaseException), Exception):
        return f"the answer cannot be read as an array ({name}("
    return f"fails with {failure}"


@each("place", PLACES)
@each("failure", FAILURES)
def test_whatever_the_code_raises_leaves_nothing_judged(place, failure):
    report = audit_over(failing_where(place, FAILURES[failure]), INSTANCES)
    assert (report.lossless, report.conclusive, report.refused) == (None, False, 0)
    witness = report.report.witness
    assert witness.token == -1
    assert says(failure, place) in witness.reason
    assert "\n" not in witness.reason
    assert len(witness.reason) < 500
    assert witness.traceback.startswith("Traceback (most recent call last):")
    assert "dishonest_rules.py" in witness.traceback


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("place", ["call", "answer"])
def test_a_kernel_that_fails_leaves_one_audit_without_a_verdict_too(place, failure):
    draft, target = fractions("1/2", "1/2"), fractions("1/4", "3/4")
    rule = failing_where(place, FAILURES[failure])(draft, target, 2)
    report = otspec.audit(rule, law=otspec.IID(draft, 2), target=target)
    assert says(failure, place) in report.witness.reason
    assert report.witness.traceback
    assert_nothing_is_claimed(report)


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
