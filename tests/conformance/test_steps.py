"""Verifiers of drafts over two steps: right in one, and wrong in the next."""

import numpy as np
import pytest

from otspec.batch import (
    block_verification,
    recursive_rejection,
    recursive_rejection_without_replacement,
    tree_verification,
)
from otspec.conformance import check

SMALL = {"vocabulary": 101, "detect": 0.15, "entries": 4_000}


class Remembering:
    """A verifier that draws its numbers once for two calls with as many rows."""

    def __init__(self, verify, width):
        self.verify, self.width, self.kept = verify, width, None

    def __call__(self, draft, target, drafts, rng):
        shape = (len(drafts), *self.width)
        if self.kept is None or self.kept.shape != shape:
            uniforms = self.kept = rng.random(shape)
        else:
            uniforms, self.kept = self.kept, None
        return self.verify(draft, target, drafts, uniforms)


def tree(draft, target, drafts, uniforms):
    return tree_verification(draft, target, drafts, uniforms, (-1, -1, 0, 1))


def token(draft, target, drafts, uniforms):
    return recursive_rejection(draft, target, drafts, uniforms).token


REUSED = {
    "tokens": (token, (4,), {}),
    "block": (block_verification, (3,), {}),
    "tree": (tree, (3, 3), {"shape": "2x1"}),
}


@pytest.mark.parametrize("kind", REUSED)
def test_numbers_of_the_first_step_in_the_second_are_seen(kind):
    """Each call by itself is right; the text of two steps is not, for want of new numbers."""
    verify, width, options = REUSED[kind]
    report = check(Remembering(verify, width), kind=kind, **options, **SMALL)
    assert [finding.case for finding in report.findings] == ["calls"]
    assert report.findings[0].looks_like == ("random numbers of one call used again in the next",)


@pytest.mark.parametrize("kind", REUSED)
def test_new_numbers_in_each_step_are_right(kind):
    verify, width, options = REUSED[kind]

    def fresh(draft, target, drafts, rng):
        return verify(draft, target, drafts, rng.random((len(drafts), *width)))

    report = check(fresh, kind=kind, **options, **SMALL)
    assert report.passed
    assert "two steps" in [case.case for case in report.cases]


def test_distinct_drafts_have_steps_where_there_are_enough_tokens():
    def verify(draft, target, drafts, rng):
        uniforms = rng.random((len(drafts), drafts.shape[1] + 1))
        return recursive_rejection_without_replacement(draft, target, drafts, uniforms).token

    report = check(verify, distinct=True, shape=4, **SMALL | {"detect": 0.3})
    assert report.passed
    assert "two steps" in [case.case for case in report.cases]
    with pytest.raises(ValueError, match="shape has more distinct drafts than any case has tokens"):
        check(verify, distinct=True, shape=5, **SMALL)


def test_tokens_outside_of_the_symbols_go_on():
    def verify(draft):
        return np.full(len(draft), draft.shape[1] - 1)

    report = check(verify, **SMALL)
    assert "two steps" in [finding.case for finding in report.findings]
