"""Black boxes and block rules that fail, or say of themselves what is not so."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from dishonest_rules import FAILURES, Lenient
from instances import fractions

import otspec
from otspec.auditing import audit_blocks
from otspec.blocks import BlockVerificationPreprint
from otspec.blocks.base import BlockRule, Outcome
from otspec.display import card_of
from otspec.models import memoryless
from otspec.rules import KSequential, RecursiveRejection

DRAFT, TARGET = [0.5, 0.3, 0.2], [0.2, 0.5, 0.3]
LAW = otspec.IID(DRAFT, 2)


def failing_sampler(fail, after):
    calls = iter(range(10**6))
    return lambda x: fail() if next(calls) >= after else int(np.ravel(x)[0])


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("after", [0, 7])
def test_a_black_box_that_fails_could_not_be_tested(failure, after):
    found = otspec.audit_samples(failing_sampler(FAILURES[failure], after), LAW, TARGET, 20, 0)
    assert_nothing_was_tested(found)
    assert found.reason.startswith("drafts (")
    assert f"the sampler fails with {failure}" in found.reason
    assert "dishonest_rules.py" in found.traceback
    batched = otspec.audit_samples(
        failing_sampler(FAILURES[failure], 0), LAW, TARGET, 20, 0, batched=True
    )
    assert_nothing_was_tested(batched)
    assert batched.reason.startswith(f"the sampler fails with {failure}")


def assert_nothing_was_tested(found):
    numbers = (found.p_value, found.resolution, found.total_variation, found.token)
    assert (found.consistent, found.impossible, *numbers) == (None,) * 6
    assert card_of(found).title == "The sampler could not be tested"


def test_an_answer_that_fails_when_it_is_read_could_not_be_tested():
    class Failing:
        def __array__(self, dtype=None, copy=None):
            raise SystemExit(0)

    found = otspec.audit_samples(lambda _: Failing(), LAW, TARGET, 20, 0, batched=True)
    assert "reading what the sampler returned fails with SystemExit" in found.reason
    assert_nothing_was_tested(found)


def test_a_black_box_cannot_change_the_drafts_or_the_null():
    def right(x, rng):
        return rng.choice(3, len(x), p=TARGET)

    def writing(x, rng):
        tokens = right(x, rng)
        x[:] = tokens[:, None]
        return tokens, np.zeros(len(x), int)  # the first draft, as the array has it now

    found = otspec.audit_samples(writing, LAW, TARGET, 500, 0, batched=True)
    assert "the token is not the accepted draft" in found.impossible

    def burning(x, rng):
        tokens = right(x, rng)
        rng.bit_generator.state = np.random.default_rng(5).bit_generator.state
        return tokens

    honest, other = (
        otspec.audit_samples(sampler, LAW, TARGET, 500, 0, batched=True)
        for sampler in (right, burning)
    )
    assert honest == other


def test_what_is_no_callable_is_refused():
    with pytest.raises(ValueError, match="sampler is 3: it must be a callable"):
        otspec.audit_samples(3, LAW, TARGET, 20, 0)


def indices(x, rng):
    del rng
    return x[0], 0


class Tampered(RecursiveRejection):
    """Accepts the first draft always."""

    def verify(self, drafts, chance):  # noqa: ARG002
        return 0


class Ending(RecursiveRejection):
    def verify(self, drafts, chance):  # noqa: ARG002
        raise SystemExit(0)


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (KSequential(DRAFT, TARGET, 3), "the rule says that k is 3"),
        (KSequential(DRAFT, DRAFT, 2), "the rule says that its target is"),
        (KSequential(TARGET, TARGET, 2), "the rule's law gives drafts"),
        (KSequential([*DRAFT[:2], 0.1, 0.1], [*TARGET, 0.0], 2), "its target is"),
        (Tampered(DRAFT, TARGET, 2), "rule is not lossless"),
        (Ending(DRAFT, TARGET, 2), "fails with SystemExit: 0"),
    ],
)
def test_the_rule_that_a_black_box_is_held_to_is_checked(rule, says):
    # The box outputs the first draft, as the tampered rule would have it.
    with pytest.raises(ValueError, match=says):
        otspec.audit_samples(indices, LAW, TARGET, 20, 0, rule=rule)


# Rules for blocks

HALVES = memoryless(fractions("1/2", "1/2"))
BIASED = memoryless(fractions("1/4", "3/4"))


class Verified(BlockRule):
    """Keeps nothing of a block of one token; the others change one thing."""

    depth = 1

    def outcomes(self):
        yield Outcome((), self.target.number(1), self.target)

    def verify(self, _drafts, _chance):
        raise AssertionError("outcomes are given here")


def outcomes_of(masses):
    class Rule(Verified):
        def outcomes(self):
            for mass in masses:
                yield Outcome((), mass, self.target)

    return Rule(HALVES, BIASED)


def test_the_texts_that_are_wanted_can_be_given():
    assert audit_blocks(BlockVerificationPreprint(HALVES, HALVES, 2)).lossless
    report = audit_blocks(BlockVerificationPreprint(HALVES, HALVES, 2), target=BIASED)
    assert (report.lossless, report.reason) == (False, None)
    assert report.error == Fraction(1, 8) - Fraction(27, 64)
    assert audit_blocks(BlockVerificationPreprint(HALVES, BIASED, 2), target=BIASED).lossless
    with pytest.raises(ValueError, match=r"target\(\(\)\)"):
        audit_blocks(BlockVerificationPreprint(HALVES, HALVES, 2), target=memoryless([0.5, 0.5]))


@pytest.mark.parametrize("failure", FAILURES)
def test_a_block_rule_that_fails_could_not_be_audited(failure):
    class Failing(Verified):
        def outcomes(self):
            yield FAILURES[failure]()

    report = audit_blocks(Failing(HALVES, BIASED), optimum=False)
    numbers = (report.total_variation, report.witness, report.error, report.expected, report.gap)
    assert (report.lossless, report.texts, *numbers) == (None, {}, *[None] * 5)
    assert card_of(report).title == "The rule could not be audited"
    # A generator makes a StopIteration a RuntimeError.
    expected = "RuntimeError" if failure == "StopIteration" else failure
    assert f"the rule fails with {expected}" in report.reason
    assert "dishonest_rules.py" in report.traceback


def test_a_block_rule_whose_depth_fails_is_refused():
    class Failing(Verified):
        @property
        def depth(self):
            raise SystemExit(0)

    with pytest.raises(ValueError, match="what the rule says of itself fails with SystemExit"):
        audit_blocks(Failing(HALVES, BIASED), optimum=False)


@pytest.mark.parametrize(
    "masses",
    [
        [Fraction(2), Fraction(-1)],  # texts are right
        [Fraction(3, 2)],
        [float("nan")],
    ],
)
def test_outcomes_without_probabilities_are_not_lossless(masses):
    model = memoryless([0.25, 0.75]) if masses[0] != masses[0] else BIASED
    rule = outcomes_of(masses).restarted(memoryless([0.5, 0.5]) if model is not BIASED else HALVES,
                                         model)  # fmt: skip
    report = audit_blocks(rule, optimum=False)
    assert report.lossless is False
    assert report.total_variation is report.expected is None
    assert "outcomes have masses from" in report.reason


def test_numbers_that_compute_as_they_like_are_read_as_plain_ones():
    report = audit_blocks(outcomes_of([Lenient(1, 2)]), optimum=False)
    assert not report.lossless


@pytest.mark.parametrize("tolerance", [-1, 1, np.nan])
def test_a_tolerance_of_blocks_that_is_none_is_refused(tolerance):
    with pytest.raises(ValueError, match="tolerance is"):
        audit_blocks(outcomes_of([1]), optimum=False, tolerance=tolerance)
