"""Every number that is said of the texts of an engine whose random choices are followed."""

import random
from fractions import Fraction
from itertools import product

import pytest

from otspec.conformance import exact_texts
from otspec.models import memoryless

COIN, BIASED = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
FLOATS = [memoryless([0.5, 0.5]), memoryless([0.25, 0.75])]


def of_draft(draft, _target, length):
    """Say what the draft drafts, and one token more than is asked for."""
    return [random.choices(range(2), draft(()))[0] for _ in range(length + 1)]


@pytest.mark.parametrize(
    ("tolerance", "lossless"), [(None, False), (0.3124, False), (0.3125, True), (0.5, True)]
)
def test_every_number_of_an_audit_of_texts(tolerance, lossless):
    """All four texts come as often; the target says them with 1, 3, 3 and 9 sixteenths."""
    found = exact_texts(of_draft, COIN, BIASED, 2, tolerance=tolerance)
    assert found.texts == dict.fromkeys(product((0, 1), repeat=2), Fraction(1, 4))
    assert found.total_variation == Fraction(5, 16)
    assert found.lossless is lossless
    assert found.witness == (None if lossless else (1, 1))
    assert found.error == (0 if lossless else Fraction(-5, 16))
    assert found.tolerance == (tolerance or 0)
    assert (found.reason, found.traceback) == (None, None)


def test_what_counts_as_rounding_by_default():
    """One error of float64 for each of four texts, and eight for each of two tokens."""
    found = exact_texts(of_draft, *FLOATS, 2)
    assert found.tolerance == (4 + 8 * 2) * 2.0**-52
    assert found.lossless is False
    assert found.error == pytest.approx(-5 / 16)


def test_an_engine_that_cannot_be_followed_has_no_numbers():
    found = exact_texts(lambda *_: [1 // 0], COIN, BIASED, 1)
    assert (found.lossless, found.texts, found.total_variation) == (None, {}, None)
    assert (found.witness, found.error, found.tolerance) == (None, None, 0.0)
    assert found.reason.startswith("the engine fails with ZeroDivisionError")
    assert "1 // 0" in found.traceback
    short = exact_texts(lambda *_: [0], COIN, BIASED, 2)
    assert "generate returned 1 tokens: it must return 2" in short.reason
