"""Where nothing was judged no verdict is given; kernels and samplers of one draft take its token.

Functions that take a bare token, or draw one, are what is most often handed to an audit by mistake.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from instances import fractions

import otspec
from otspec.auditing import Instance, audit_over
from otspec.display import card_of

DRAFT, TARGET = fractions("1/2", "3/10", "1/5"), fractions("1/10", "3/5", "3/10")
RULE = otspec.rules.MaximalCoupling(DRAFT, TARGET)
ROWS = {token: RULE.kernel((token,)).tolist() for token in range(3)}
KEPT = [min(Fraction(1), q / p) for p, q in zip(DRAFT, TARGET, strict=True)]


def one(k):
    return otspec.IID(DRAFT, k)


def by_chance(x):
    """Maximal coupling as one writes it for one token: x is an index of lists."""
    left = [max(q - p, 0) for p, q in zip(DRAFT, TARGET, strict=True)]
    return [
        (KEPT[x] if y == x else 0) + (1 - KEPT[x]) * left[y] / sum(left) for y in range(len(left))
    ]


OF_TOKENS = {
    "a list": list(ROWS.values()).__getitem__,  # TypeError: not a tuple
    "a dict": ROWS.__getitem__,  # KeyError: (0,)
    "an array": lambda x: np.array(list(ROWS.values()), dtype=object)[x].reshape(3),
    "a formula": by_chance,
    "a comparison": lambda x: ROWS[0] if x < 1 else ROWS[x],
    "an index": lambda x: list(ROWS.values())[int(x)],
}
OF_TUPLES = {
    "x[0]": lambda x: ROWS[x[0]],
    "unpacked": lambda x: next(ROWS[token] for token in x),
    "keys": {(token,): row for token, row in ROWS.items()}.__getitem__,
}


@pytest.mark.parametrize("name", [*OF_TOKENS, *OF_TUPLES])
def test_a_kernel_of_one_draft_takes_a_tuple_or_its_token(name):
    kernel = (OF_TOKENS | OF_TUPLES)[name]
    report = otspec.audit(kernel, law=one(1), target=TARGET)
    assert report.lossless is True
    # By hand: 1/10 + 3/10 + 1/5.
    assert report.acceptance == Fraction(3, 5)
    searched = audit_over(lambda *_: kernel, [Instance((5, 3, 2), (1, 6, 3), 1)])
    assert searched.lossless is True


def test_a_lossy_kernel_of_one_token_is_judged():
    report = otspec.audit(
        [list(DRAFT), list(DRAFT), list(TARGET)].__getitem__, law=one(1), target=TARGET
    )
    output = [p * 8 / 10 + q * 2 / 10 for p, q in zip(DRAFT, TARGET, strict=True)]
    assert (report.lossless, report.output.tolist()) == (False, output)


def test_a_kernel_is_called_in_one_way_only():
    """A tuple that was understood once is not tried as a token where the kernel fails."""

    def half(x):
        if x == (0,):
            return ROWS[0]
        return [Fraction(1), 0, 0] if x == 1 else ROWS[x]

    report = otspec.audit(half, law=one(1), target=TARGET)
    assert report.lossless is None
    assert report.witness.drafts == ((1,),)

    def other(x):  # of what fails otherwise nothing is guessed
        if isinstance(x, tuple):
            raise ZeroDivisionError
        return ROWS[x]

    report = otspec.audit(other, law=one(1), target=TARGET)
    assert report.lossless is None
    assert "ZeroDivisionError" in report.witness.reason


@pytest.mark.parametrize("name", [name for name in OF_TOKENS if name != "an array"])
def test_a_kernel_of_a_token_that_is_given_several_is_told_what_to_write(name):
    report = otspec.audit(OF_TOKENS[name], law=one(2), target=TARGET)
    assert report.lossless is None
    assert report.witness.reason.endswith(
        ": x is a tuple of 2 drafts, and this takes one token: write x[0] for the first"
    )
    # With what it says to write it is audited: the first draft is verified.
    kernel = OF_TOKENS[name]
    assert otspec.audit(lambda x: kernel(x[0]), law=one(2), target=TARGET).lossless


# Samplers


def draws(x, rng):
    return RULE.sample(x, rng)[0]


class OnlySamples:
    def __init__(self, *_):
        pass

    def sample(self, x, rng):
        return draws(x, rng)


@pytest.mark.parametrize("sampler", [draws, RULE.sample, OnlySamples(), OnlySamples().sample])
def test_a_sampler_is_refused_and_sent_to_audit_samples(sampler):
    with pytest.raises(ValueError, match=r"rule cannot be audited: .*otspec\.audit_samples"):
        otspec.audit(sampler, law=one(1), target=TARGET)
    report = audit_over(lambda *_: sampler, [Instance((5, 3, 2), (1, 6, 3), 1)])
    assert report.lossless is report.report.lossless is None
    assert "otspec.audit_samples" in report.report.witness.reason
    # What the message says to call judges it.
    callable_ = sampler if callable(sampler) else sampler.sample
    assert otspec.audit_samples(callable_, one(1), TARGET, 2_000, 0).consistent


@pytest.mark.parametrize("tokens", [2, 3])
@pytest.mark.parametrize(
    "answer",
    [
        lambda x: x[0],
        lambda x: np.int64(x[0]),
        lambda x: np.array(x[0]),
        lambda x: (x[0], 0),
        lambda x: (x[0], -1),
        lambda x: (x[0], True),
    ],
)
def test_a_kernel_that_answers_a_token_is_sent_to_audit_samples(answer, tokens):
    law = otspec.IID([Fraction(1, tokens)] * tokens, tokens - 1)
    report = otspec.audit(answer, law=law, target=[Fraction(1, tokens)] * tokens)
    assert report.lossless is report.acceptance is report.total_variation is None
    assert "otspec.audit_samples" in report.witness.reason


@pytest.mark.parametrize("name", [*OF_TOKENS, *OF_TUPLES])
def test_a_sampler_of_one_draft_takes_a_tuple_or_its_token(name):
    row = (OF_TOKENS | OF_TUPLES)[name]

    def draw(x, rng):
        return rng.choice(3, p=np.array(row(x), dtype=float))

    found = otspec.audit_samples(draw, one(1), TARGET, 2_000, 0)
    assert found.consistent
    if name in OF_TUPLES or name == "an array":
        return
    several = otspec.audit_samples(draw, one(2), TARGET, 2_000, 0)
    assert several.consistent is several.p_value is None
    assert several.reason.endswith("and this takes one token: write x[0] for the first")
    # What it says to write is tested.
    first = otspec.audit_samples(lambda x, rng: draw(x[0], rng), one(2), TARGET, 2_000, 0)
    assert first.consistent


def test_a_kernel_whose_answers_are_drawn_has_no_verdict():
    rng = np.random.default_rng(0)
    wrong = otspec.audit(lambda _: np.eye(3)[rng.integers(3)], law=one(2), target=TARGET)
    assert wrong.lossless is wrong.acceptance is wrong.total_variation is None
    assert "asked a second time" in wrong.witness.reason
    assert "otspec.audit_samples" in wrong.witness.reason


@pytest.mark.parametrize("factory", [lambda *_: draws, lambda *_: 1 // 0])
def test_a_search_in_which_nothing_was_judged_has_no_numbers(factory):
    report = audit_over(factory, [Instance((5, 3, 2), (1, 6, 3), 1)])
    assert report.lossless is report.worst_gap is None
    assert (report.audited, report.conclusive) == (0, False)
    assert card_of(report).title == "The rule could not be audited"
    assert audit_over(factory, []).worst_gap is None
