"""How a value looks on a card: short, whatever it holds, and exact numbers as fractions."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from otspec._base import shortened, shown
from otspec.estimate import Estimate, Exact

MOST_LISTED = 8  # up to how many entries a vector or a set is shown whole
_FIRST = 4
_LONGEST = 240
_LONGEST_ITEM = 40
_DIGITS = 6


def said(value: Any) -> str:
    """Return any value on one line, in time that does not grow with what it holds.

    ``value``: of an array only the first entries are read.

    Examples
    --------
    >>> said(Fraction(2, 3)), said(0.1 + 0.2), said(np.array([Fraction(1, 2)] * 2))
    ('2/3 (0.666667)', '0.3', '[1/2, 1/2]')
    >>> said(tuple(range(1000)))
    '(0, 1, 2, 3, … 1,000 in all)'
    """
    if isinstance(value, Exact):
        value = value.value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return value
    if type(value) is Fraction:
        return _with_decimal(value)
    if isinstance(value, np.ndarray):
        return f"[{_listed(value, _entry)}]" if value.ndim == 1 else _shape(value)
    if type(value) is tuple or isinstance(value, list):
        opening, closing = "()" if type(value) is tuple else "[]"
        return f"{opening}{_listed(value, _item)}{closing}"
    if type(value) is dict:
        return f"{len(value):,} entries" if len(value) != 1 else "1 entry"
    if type(value) is float:
        return decimal(value)
    if isinstance(value, Estimate):
        return f"≈{value.value:.6g} ({value.low:.6g} to {value.high:.6g})"
    return shown(value, _LONGEST)


def inline(value: Any) -> str:
    """Return a value as it stands between commas: a text in quotes unless it is one word."""
    text = said(value)
    return repr(text) if type(value) is str and not text.isidentifier() else text


def _item(value: Any) -> str:
    """Return an item of a sequence as :func:`inline` does, but shorter."""
    if isinstance(value, np.ndarray) and value.size > MOST_LISTED:
        return _shape(value)
    cut = type(value) is str and len(value) > _LONGEST_ITEM
    return inline(f"{value[:_LONGEST_ITEM].rstrip()}…" if cut else value)


class Verbatim(str):
    """A text that prints as it is, where that of others is quoted."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def entry(value: Any) -> str:
    """Return a number among others: a fraction alone, a float with four digits."""
    if isinstance(value, (Fraction, int)):
        return shortened(value)
    return decimal(float(value), 4)


def token_set(tokens: Sequence[int], n: int) -> Verbatim:
    """Return a set of tokens; of a large one the first, and how many of the vocabulary.

    Examples
    --------
    >>> token_set((0, 2), 3), token_set(range(9), 12)
    ({0, 2}, {0, 1, 2, 3, … 9 of 12 tokens})
    """
    if len(tokens) <= MOST_LISTED:
        return Verbatim(f"{{{', '.join(map(str, tokens))}}}")
    first = ", ".join(map(str, islice(tokens, _FIRST)))
    return Verbatim(f"{{{first}, … {len(tokens):,} of {n:,} tokens}}")


def decimal(value: float, digits: int = _DIGITS) -> str:
    """Return a float with few digits, but as many as tell it from 0 and 1."""
    near = f"{value:.{digits}g}"
    ends = (0.0, 1.0)
    return near if (float(near) in ends) is (value in ends) else repr(value)


def _with_decimal(value: Fraction) -> str:
    """Return a fraction with its decimal; alone where that says nothing more."""
    exact = shortened(value)
    if value.denominator == 1 or abs(value.numerator) > value.denominator << 1000:
        return exact
    near = float(value)
    return f"{exact} ({decimal(near)})" if near not in (0, 1) else exact


def _shape(values: npt.NDArray[Any]) -> str:
    kind = "numbers" if values.dtype.hasobject else str(values.dtype)
    return f"{kind} of shape {values.shape}"


def _entry(value: Any) -> str:
    number = isinstance(value, (Fraction, int, float, np.number)) and not isinstance(value, bool)
    return entry(value.item() if isinstance(value, np.generic) else value) if number else str(value)


def _listed(values: Any, each: Callable[[Any], str]) -> str:
    if len(values) <= MOST_LISTED:
        alone = "," if type(values) is tuple and len(values) == 1 else ""
        return ", ".join(map(each, values)) + alone
    return f"{', '.join(map(each, values[:_FIRST]))}, … {len(values):,} in all"


def aligned(names: Sequence[str], rows: Sequence[Sequence[str]], *, words: int) -> Iterator[str]:
    r"""Yield a line of names and one for each row; the first ``words`` columns to the left.

    Examples
    --------
    >>> print(*aligned(["rule", "gap"], [["optimum", "0"], ["naive", "0.25"]], words=1), sep="\n")
    rule      gap
    optimum     0
    naive    0.25
    """
    lines = [names, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (
            text.ljust(width) if index < words else text.rjust(width)
            for index, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()
