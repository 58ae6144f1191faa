"""Each number that a check takes, just beyond its bounds."""

from fractions import Fraction

import pytest

from otspec import batch
from otspec.conformance import check, check_texts, exact_kernel, exact_law, reference_vectors
from otspec.models import memoryless

CALLS = {
    "check": lambda **given: check(batch.maximal_coupling, **{"shape": 1} | given),
    "texts": lambda **given: check_texts(
        lambda *_: 0, memoryless(["1/2", "1/2"]), **{"length": 2} | given
    ),
    "vectors": lambda **given: reference_vectors(["tokens"], **given),
    "law": lambda **given: exact_law(lambda: 0, **given),
    "kernel": lambda **given: exact_kernel(lambda _: 0, **given),
}
BOUNDS = [
    ("check", "vocabulary", 7, 2**20 + 1, "at least 8", "at most 1,048,576"),
    ("check", "least_vocabulary", 0, 65_540, "at least 1", "at most 65,539"),
    ("check", "entries", 0, 2**36 + 1, "at least 1", "at most 68,719,476,736"),
    ("check", "budget", 0, 10**15 + 1, "at least 1", "at most 1,000,000,000,000,000"),
    ("texts", "length", 0, 13, "at least 1", "at most 12"),
    ("texts", "budget", 0, 10**9 + 1, "at least 1", "at most 1,000,000,000"),
    ("law", "most", 0, None, "at least 1", ""),
    ("kernel", "n", 0, None, "at least 1", ""),
    ("check", "coarse", 0.0049, 1.01, "between 0.005 and 1", "between 0.005 and 1"),
    *[
        (name, "detect", 0, 1.01, *["between 0 and 1"] * 2)
        for name in ("check", "texts", "vectors")
    ],
    ("check", "require", 0, 1.01, *["between 0 and 1"] * 2),
    *[
        (name, "false_alarm", 9e-101, 0.51, *["between 1e-100 and 0.5"] * 2)
        for name in ("check", "texts", "vectors")
    ],
    ("texts", "rounding", 9e-16, 0.11, *["between 1e-15 and 0.1"] * 2),
    *[(name, "rounding", -1e-9, 0.11, *["between 0 and 0.1"] * 2) for name in ("check", "vectors")],
]


@pytest.mark.parametrize(("name", "argument", "low", "high", "least", "most"), BOUNDS)
def test_numbers_of_checks_have_bounds(name, argument, low, high, least, most):
    for value, bound in ((low, least), (high, most)):
        if value is not None:
            with pytest.raises(ValueError, match=f"{argument} .*must be {bound}(\\D|$)"):
                CALLS[name](**{argument: value})


@pytest.mark.parametrize(("tokens", "length"), [(2, 12), (8, 4), (64, 2), (4_096, 1)])
def test_as_many_texts_as_are_told_apart_are_no_more(tokens, length):
    def engine(size, rng):
        return rng.integers(tokens, size=(size, length))

    def over(count):
        return memoryless([Fraction(1, count)] * count)

    assert check_texts(engine, over(tokens), length, budget=1).outcome == "undecided"
    if length < 12:
        with pytest.raises(ValueError, match=f"there are {(tokens + 1) ** length:,} texts"):
            check_texts(engine, over(tokens + 1), length, budget=1)
