"""What a person pastes into the explorer: its forms are read, all others are refused."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest
from explorer_arithmetic import evaluated

PARSED = "(texts) => texts.map((text) => a.parse(text))"

READ = {
    "0.5, 0.3, 0.2": [0.5, 0.3, 0.2],
    "0.5 0.3\t0.2\n": [0.5, 0.3, 0.2],
    "0.5\r\n0.3\r\n\r\n0.2": [0.5, 0.3, 0.2],
    "0.5;0.3 ; 0.2": [0.5, 0.3, 0.2],
    "[0.5, 0.3, 0.2]": [0.5, 0.3, 0.2],
    "(0.5, 0.5,)": [0.5, 0.5],
    "{1/2, 1/4}": [0.5, 0.25],
    "[[0.5, 0.5]]": [0.5, 0.5],
    '["1/2", "3/10", "1/5"]': [0.5, 0.3, 0.2],
    "1/2, 1 / 4, 1/4": [0.5, 0.25, 0.25],
    "50% 30 %, 20%": [0.5, 0.3, 0.2],
    ".5 5. 5e-1 +5E-01 0": [0.5, 5.0, 0.5, 0.5, 0.0],
    "-0": [0.0],
    "0.5,": [0.5],
    "3": [3.0],
    "3,5,2": [3.0, 5.0, 2.0],  # counts
    "3, 5": [3.0, 5.0],
    "[3,5]": [3.0, 5.0],  # a list, whose commas separate
    "1,0": [1.0, 0.0],
    "0,1,0,0": [0.0, 1.0, 0.0, 0.0],
    "0.5,0.5": [0.5, 0.5],
    "1/2,1/2": [0.5, 0.5],
    "1,1e-17": [1.0, 1e-17],  # as links have it
    "1e-400": [0.0],
    "5e-324": [5e-324],
    "\u2212" + "0 0.5": [0.0, 0.5],
}
REFUSED = {
    "": "there is no number",
    " \n\t": "there is no number",
    "[]": "there is no number",
    "0.5,,0.5": "number 2 is empty: there is nothing between two commas; write 0 or delete one",
    ",0.5": "number 1 is empty",
    "0.5 -0.1": "number 2 is -0.1, which is negative",
    "\u22120.5": "number 1 is -0.5, which is negative",
    "0.5 nan": "number 2 is nan, which is no probability",
    "inf": "number 1 is inf, which is no probability",
    "-Infinity": "which is no probability",
    "1e400": "number 1 is 1e400, beyond the floats: scale",
    "1/0": "number 1 is 1/0, which divides by 0",
    "1/2/3": "number 1 is 1/2/3, not a number: write such as 0.25",
    "-1/2": "which is negative",
    "0.5 half": "number 2 is half, not a number",
    "0x10": "not a number",
    "1_000": "not a number",
    "1.2.3": "not a number",
    "0,5; 0,5": "both , and ; separate numbers: write 0.5 for 0,5",
    "0,5 0,5": "0,5 may be one number or two: write 0.5 for one, and a space after the comma",
    "0,5": "0,5 may be one number or two: write 0.5 for one",
    "0,25\n0,75": "0,25 may be one number or two: write 0.25 for one",
    "0,5, 0,5": "0,5 may be one number or two",
    "0,5,0,3,0,2": "0,5 may be one number or two",
    "12,5% 87,5%": "12,5 may be one number or two: write 12.5 for one",
    "-1,5 2,5": "1,5 may be one number or two",
    "[0.5, 0.5": "[ is never closed",
    "0.5] 0.5": "] at character 4 closes no bracket: delete it",
    "[0.5, 0.5)": ") at character 10 closes no bracket",
    "[[0.5, 0.5], [1, 0]]": "there are several lists: paste one of them",
    "{'a': 0.5}": "not a number",
    "0.5 \u0000": "not a number",
    "<script>alert(1)</script>": "not a number",
    "\U0001f600" * 30: "number 1 is " + "\U0001f600" * 24 + "…, not a number",
    "constructor __proto__": "number 1 is construc",
    "\u0660.\u0665": "not a number",
}


@pytest.mark.parametrize("text", READ, ids=repr)
def test_what_is_read(text: str) -> None:
    assert evaluated(PARSED, [text]) == [{"values": READ[text]}]


@pytest.mark.parametrize("text", REFUSED, ids=ascii)
def test_what_is_refused(text: str) -> None:
    (found,) = evaluated(PARSED, [text])
    assert REFUSED[text] in found["error"]


def test_what_python_prints_is_read() -> None:
    exact = [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
    floats = [0.5, 0.3, 0.2]
    array = np.array(floats)
    texts = [repr(exact), repr(floats), str(exact), repr(array), str(array), repr(list(array))]
    texts += [repr(array.astype(np.float32)), repr(np.array(exact)), repr(tuple(map(str, exact)))]
    texts += ["tensor([0.5000, 0.3000, 0.2000], dtype=torch.float64)"]
    assert evaluated(PARSED, texts) == [{"values": floats}] * len(texts)


def test_numbers_are_read_as_python_reads_them() -> None:
    rng = np.random.default_rng(0)
    values = (rng.random(400) * 10.0 ** rng.integers(-300, 1, 400)).tolist()
    texts = [", ".join(map(repr, values)), "\n".join(f"{value:.17e}" for value in values)]
    assert evaluated(PARSED, texts) == [{"values": values}] * 2


def test_hostile_texts_take_no_time() -> None:
    """None of the patterns goes back and forth over a long text."""
    many = 200_000
    hostile = [
        "1" + " " * many + "2", " " * many, "[" * many, "]" * many, "1" * many, "1e" * many,
        "," * many, "/" * many, "%" * many, "Fraction(" * (many // 8), "array" * (many // 4),
        "float(" * (many // 4), "dtype" * (many // 4), "1" + " ," * many, "." * many, "'" * many,
        "[ " * many + "] " * many, ", dtype=" * (many // 8), "1/" * many, "Fraction(" + " " * many,
    ]  # fmt: skip
    start = time.process_time()
    found = evaluated("(texts) => texts.map((text) => Object.keys(a.parse(text)))", hostile)
    assert time.process_time() - start < 10
    assert all(keys in (["values"], ["error"]) for keys in found)


def test_sums_are_checked_as_in_python() -> None:
    given = [[0.5, 0.5], [0.5, 0.5 + 9e-10], [0.5, 0.5 + 2e-9], [1, 3], [0, 0], [1e308, 1e308]]
    whole, nearly, more, weights, nothing, huge = evaluated(
        "(lists) => lists.map((values) => a.asDistribution(values, 'draft'))", given
    )
    assert whole == {"values": [0.5, 0.5]}
    assert abs(sum(nearly["values"]) - 1) < 1e-15
    assert more["error"] == "draft sums to 1.0000000020000002, not 1: change a number, or normalize"
    assert weights["normalized"] == [0.25, 0.75]
    assert weights["sum"] == 4
    assert nothing["normalized"] is None
    assert "nothing to normalize" in nothing["error"]
    assert huge["normalized"] == [0.5, 0.5]
    subnormal = evaluated("(values) => a.normalized(values)", [5e-324, 1e-323, 0])
    assert subnormal == [1 / 3, 2 / 3, 0]
