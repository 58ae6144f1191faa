"""Kernels of code that draws, where audits take them: over many instances, and where they fail."""

import random
from fractions import Fraction

import pytest

import otspec
from otspec.conformance import exact_kernel


def recursive(draft, target, again=True):
    """Return recursive rejection as code that draws; without ``again`` its residual stays."""

    def verify(x):
        left = list(target)
        for token in x:
            if random.random() * draft[token] <= left[token]:
                return token, True
            if again or left == list(target):
                left = [max(q - p, 0) for p, q in zip(draft, left, strict=True)]
                total = sum(left)
                left = [mass / total for mass in left]
        return random.choices(range(len(draft)), weights=left)[0], False

    return verify


def test_exact_instances_give_exact_kernels():
    instances = list(otspec.auditing.random_instances(16, seed=3))
    report = otspec.audit_over(
        lambda draft, target, _: exact_kernel(recursive(draft, target)), instances
    )
    assert report.lossless
    assert report.exact == report.audited == 16
    for instance in instances[:8]:
        rule = otspec.rules.RecursiveRejection(instance.draft, instance.target, instance.k)
        kernel = exact_kernel(recursive(rule.draft, rule.target), len(instance.draft))
        for x in rule.law.tuples()[0].tolist():
            assert kernel(tuple(x)).tolist() == rule.kernel(x).tolist()


def test_a_fault_is_found_and_shrunk():
    report = otspec.audit_over(
        lambda draft, target, _: exact_kernel(recursive(draft, target, again=False)),
        otspec.auditing.random_instances(300, seed=3),
    )
    assert not report.lossless
    assert report.report.exact
    assert (len(report.failure.draft), report.failure.k) == (3, 2)


@pytest.mark.parametrize(
    ("verify", "reason"),
    [
        (
            lambda *_: int(float(random.random())),
            "CannotFollowError: it turns a random number into",
        ),
        (lambda *_: 7, "ValueError: token 7 is out of range: tokens are 0 to 1"),
        (lambda *_: None, "ValueError: it returned None: it must return a token, or a token and"),
        (lambda *_: 1 // 0, "ZeroDivisionError"),
    ],
)
def test_what_a_verifier_does_wrong_is_the_finding(verify, reason):
    half = [Fraction(1, 2)] * 2
    report = otspec.audit(exact_kernel(verify), law=otspec.IID(half, 1), target=half)
    assert not report.lossless
    assert report.witness.about == "kernel"
    assert reason in report.witness.reason
