"""Values that are no arguments, by what is wanted, and a valid example of each kind.

``HOSTILE[kind]`` are values of which none may be taken; ``ODD`` are values that may be, for some
arguments: a call with one returns, or is refused. Values are made anew by functions, since
some of them are used up.
"""

import itertools
import warnings
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import numpy as np


class Raises:
    """Raises from whatever is asked of it."""

    def __array__(self, *_, **__):
        raise RuntimeError("no array\nand a second line")

    def __len__(self):
        raise KeyError("no length")

    def __iter__(self):
        raise AttributeError("no iterator")

    def __index__(self):
        raise ZeroDivisionError("no index")

    def __float__(self):
        raise RecursionError("no float")

    def __repr__(self):
        raise OSError("no repr")


class RaisingList(list):
    """A list that cannot be gone through."""

    def __iter__(self):
        raise OSError("gone")


class Endless:
    """A sequence that says that it ends."""

    def __len__(self):
        return 3

    def __getitem__(self, _):
        return 0


class EndlessList(list):
    """A list that does not end."""

    def __iter__(self):
        return itertools.repeat(0)


class Lying(list):
    """A list that says that it has another length."""

    said = 10**6

    def __len__(self):
        return self.said


class Shorter(Lying):
    """The same, shorter than it is."""

    said = 1


class Negative(Lying):
    """The same, of a length that there is not."""

    said = -1


class Immense(Lying):
    """The same, longer than any memory."""

    said = 2**62


class Frame:
    """What a table of another library looks like: an array, with names."""

    columns = ("draft", "target")

    def __array__(self, *_, **__):
        return np.array([[0.5, 0.5], [0.5, 0.5]])


@lru_cache
def deep(levels=100_000, inner=0.5):
    for _ in range(levels):
        inner = [inner]
    return inner


def endless():
    itself = []
    itself.append(itself)
    return itself


def twice():
    itself = []
    itself += [itself, itself]
    return itself


def matrix():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return np.matrix([[0.5, 0.5]])


def masked(*values):
    return np.ma.array(values, mask=[True] + [False] * (len(values) - 1))


def made(*makers):
    """Turn a mixture of values and functions that make them into functions."""
    return tuple(maker if callable(maker) else (lambda value=maker: value) for maker in makers)


# No argument of the package takes any of these, unless a kind below says so.
NOTHING = made(
    "x", b"x", lambda: {"a": 1}, lambda: {1.5, 2.5}, 1j, Raises, RaisingList, deep, endless, twice,
    lambda: np.datetime64("2020-01-01"), lambda: np.zeros(2, dtype=[("a", float), ("b", int)]),
    lambda: np.array([1j, 0]), lambda: np.array(["x", "y"]), object, lambda: Ellipsis,
    lambda: np.array([np.datetime64("2020-01-01")] * 3), lambda: np.array([None, None, None]),
    lambda: ([value] for value in "ab"), Endless, EndlessList, lambda: Frame,
)  # fmt: skip
NO_SCALAR = made(
    True, False, lambda: np.True_, lambda: np.array(True), float("nan"), lambda: np.float32("nan"),
    lambda: [1], lambda: [[1]], lambda: np.array([2]), lambda: np.ma.masked, lambda: (2,), "",
)  # fmt: skip
NO_INTEGER = made(
    1.9, 2.0, "2", "01", lambda: np.float64(2.0), Fraction(1, 2), Decimal("1.5"), float("inf"),
    lambda: np.array(2.0), Fraction(2),
)  # fmt: skip
NO_ARRAY = made(
    3, 0.5, list, lambda: [[]], lambda: [True, False], lambda: [0.5, None], lambda: [0.5, "x"],
    lambda: [0.5, [0.5]], lambda: [-0.5, 1.5], lambda: [float("nan"), 0.5], lambda: [np.inf, 0],
    lambda: [0.5, Fraction(1, 2)], lambda: [0.9, 0.9], lambda: [1j, 0], lambda: ["1/0", "1"],
    matrix, Frame, lambda: [[0.5, 0.5]], lambda: masked(0.5, 0.5),
    lambda: masked(0.5, 0.3, 0.2), lambda: [np.ma.masked, 0.5], lambda: [10**400, 0.5],
    lambda: range(3), lambda: np.ones((1, 1, 3)), lambda: iter([0.5, 0.5]), lambda: ["1e999999999"],
    lambda: np.array([True, False]), lambda: [masked(0.5), masked(0.5)], lambda: np.array(0.5),
    lambda: [[0.5] * 3, Raises()], lambda: [Raises()], lambda: np.array(1), lambda: [b"1", b"0"],
)  # fmt: skip
NO_TOKENS = made(
    3, 1.9, lambda: [1.9, 0.2], lambda: [True, False], lambda: ["0", "1"], "01", lambda: [0.0, 1.0],
    lambda: [-1, 0], lambda: [0, 10**9], lambda: [0, 2**70], lambda: [None, 0], lambda: [[0, 1]],
    lambda: np.array([0.0, 1.0]), lambda: np.array([[0, 1]]), lambda: masked(0, 1),
    lambda: np.array([True, False]), lambda: {0: 1}, lambda: [np.array([0]), 1],
    itertools.count,
    lambda: [float("nan"), 0], lambda: [0, Raises()], lambda: [0, 1j],
)  # fmt: skip
NO_OBJECT = made(3, 0.5, True, lambda: [0.5, 0.5], "iid", lambda: np.zeros(3), lambda: int)

HUGE = made(2**70, 10**400)

_ENTRIES = made(
    lambda: [0], lambda: [True], lambda: ["1"], lambda: [1.5], lambda: [None], lambda: [-1],
    lambda: [[1]], lambda: [Raises()], lambda: [float("nan")], lambda: np.array([1.0]),
    lambda: masked(1, 2), lambda: {1: 1},
)  # fmt: skip

_ARRAYS = (*NOTHING, *NO_ARRAY, None)
_COUNTS = (*NOTHING, *NO_SCALAR, *NO_INTEGER, *made(0, -1, -(2**70)), None)
_IDS = (*NOTHING, *NO_TOKENS, None)
_LISTS = (*NOTHING[:4], *NOTHING[5:], *made(3, 1.5, True), None)
_IN_LISTS = made(
    lambda: [Raises()], lambda: [float("nan")], lambda: [None], lambda: [1j], lambda: [deep()],
    lambda: masked(1, 2), endless, lambda: ["x"],
)  # fmt: skip
_NO_SUM = made(lambda: [0.9, 0.9], lambda: [[0.5, 0.5]], matrix, Frame)

HOSTILE = {
    "distribution": _ARRAYS,
    "distributions": (*_LISTS, *_IN_LISTS, *made(list, lambda: [0.5, 0.5], lambda: [[2.0]])),
    "confidences": (*_LISTS, *_IN_LISTS, *made(lambda: [2.0], lambda: [-0.5])),
    "others": (*_LISTS[:-1], *_IN_LISTS, *made(lambda: [0.5, 0.5], lambda: [[2.0]])),
    "table": [value for value in _ARRAYS if value not in _NO_SUM and value is not Frame],
    "logits": (*NOTHING, *_IN_LISTS, *made(3, list, lambda: [[0.5]], lambda: [True, False]), None),
    "count": _COUNTS,
    "few": _COUNTS,
    "draws": _COUNTS,
    "small": _COUNTS,
    "natural": (*NOTHING, *NO_SCALAR, *NO_INTEGER, *made(-1, -(2**70)), None),
    "real": (*NOTHING, *NO_SCALAR, *made(float("inf"), -1.0, "-1"), None),
    "loss": (*NOTHING, *NO_SCALAR, *made(-1.0, "-1"), None),
    "signed": (*NOTHING, *NO_SCALAR, *made(float("inf"), float("-inf")), None),
    "pair of numbers": (
        *NOTHING, *made(2, True, list, lambda: [1, 0.1], lambda: [2], lambda: [2, -1],
        lambda: [0, 1], lambda: [float("nan"), 1], lambda: (2, 0.1, 3), lambda: masked(2, 1)), None,
    ),
    "flag": (*NOTHING, *NO_INTEGER, *made("no", 0, 1, list, lambda: np.array([True])), None),
    "node": (*NOTHING, *NO_SCALAR, *NO_INTEGER, *made(-2, -(2**70)), None),
    "tokens": _IDS,
    "token set": _IDS,
    "order": (*_IDS, *made(list, lambda: [0, 0, 1], lambda: [0])),
    "object": (*NOTHING, *NO_OBJECT, None),
    "objects": (*_LISTS, *_IN_LISTS, *made(lambda: [3], lambda: [[3]])),
    "callable": (*NOTHING[:-1], *made(3, 0.5, True, lambda: [0.5, 0.5]), None),
    "mapping": (
        *NOTHING[:2], *NOTHING[3:], *made(3, list, lambda: {"x": 1}, lambda: {(): "x"}), None,
    ),
    "text": (*NOTHING[1:], *made(3, True, list), None),
    "name": (*NOTHING, *made(3, True, lambda: ["highs"], "HIGHS", ""), None),
    "names": (*_LISTS, *_IN_LISTS, *made("iid", lambda: [3], lambda: [["iid"]])),
    "counts": (*NOTHING, *_ENTRIES, *made(3, 1.5, True), None),
    "branching": (*NOTHING, *_ENTRIES, *made(3, True, "", "2x", "x", "0x1", "2x-1", list), None),
    "trees": (*_LISTS, *_IN_LISTS, *made(lambda: ["x"], lambda: [[0]], lambda: [[]], lambda: [2])),
    "parents": (*NOTHING, *made(3, lambda: [1], lambda: [-2], lambda: [0.0], lambda: [True]), None),
    "weights": (*NOTHING, *made(3, list, lambda: [0, 0], lambda: [0.5], lambda: [-1, 2]), None),
    "pools": (
        *NOTHING, *made("fewer", 0, -1, True, 2.5, lambda: [2.0, 1.0], lambda: [1.0, 1.0],
        lambda: [float("nan")], lambda: [-1.0], lambda: [np.inf], lambda: [[1.0]], 10**12, 2**70,
        lambda: masked(1.0, 2.0), lambda: [True], lambda: ["x"], lambda: np.array(2.5)), None,
    ),
    "kept": (
        *NOTHING, *made(0, -1, True, 2.5, "2", list, lambda: [-1, 0], lambda: [0, 10**9],
        lambda: ["0"], lambda: [True, False], lambda: [1.0, 0.0], lambda: masked(0, 1),
        lambda: [[0, 1]], lambda: {0: 1}, itertools.count, lambda: [0, Raises()],
        lambda: np.array(2.5)), None,
    ),
    "pools of tokens": (
        *NOTHING, *made("fewer", 0, 1, -1, True, 2.5, lambda: [2.0, 1.0, 0.0], lambda: [0, 1],
        lambda: [[1, 0, 0]], 10**12, 2**70, lambda: masked(1, 2, 0), lambda: [True] * 3, list,
        lambda: ["x"], lambda: np.array(2.5), lambda: {0: 1}), None,
    ),
    "seconds": (*NOTHING, *made(True, -1, 0, "", list, float("nan"), lambda: [1, 0]), None),
    "seconds of each": (*_LISTS, *_IN_LISTS, *made(list, lambda: [1, 0], lambda: [-1.0, 1])),
    "path": (*NOTHING[1:], *made(3, 1.5, True), None),
}  # fmt: skip
"""Values of which no argument of a kind takes any; None stands for itself."""

LYING = made(
    *(
        lambda kind=kind, entries=entries: kind(entries)
        for kind in (Lying, Shorter, Negative, Immense)
        for entries in ([0, 1], [0.5, 0.5, 0.0], [[0.5, 0.5, 0.0]] * 2)
    )
)
"""Lists of another length than they say: taken by what they hold, or refused."""
_TINY = made(5e-324, "1e-400", 1e-320, 1.7e308)
_RETURNING = made(
    *(
        lambda value=value: lambda *_, **__: value
        for value in (None, "x", float("nan"), 0, -1, [], {}, [0.5], np.zeros(3), object())
    )
)
"""Functions that return what nobody wants of them."""
_INTEGERS = made(lambda: np.int8(2), lambda: np.array(2))
ODD = {
    "count": (*HUGE, *_INTEGERS, *made(10**6, 65_537)),
    "few": (*HUGE, *_INTEGERS),
    "draws": (*HUGE, *_INTEGERS, *made(65_537)),
    "small": (*HUGE, *_INTEGERS),
    "natural": (*HUGE, *_INTEGERS, *made(0, 10**6)),
    "callable": _RETURNING,
    "seconds": (*_TINY, *made(lambda: [5e-324, 1], lambda: {1: 1e308, 2: 1})),
    "seconds of each": made(lambda: [5e-324, 1], lambda: [1e308, 1e308]),
    "pair of numbers": made(lambda: (1.7e308, 0.1), lambda: ("1e-400", 1), lambda: (2, 5e-324)),
    "real": (
        *HUGE,
        *_TINY,
        *made(lambda: np.float32(0.5), lambda: np.array(0.5), 0, "1/2", 1e308, 1e-320),
    ),
    "loss": (*HUGE, *made(float("inf"), 0, "1/2", 1e308, 1e-320)),
    "signed": (*HUGE, *made(lambda: np.float32(0.5), lambda: np.array(0.5), -1, 1e308)),
    "tokens": made(lambda: np.array([0, 1]), lambda: iter([0, 1]), lambda: (np.int8(0), 1), list),
    "counts": made(lambda: [2**70], lambda: iter([1]), lambda: np.array([1, 2]), lambda: [10**400]),
    "branching": made(lambda: [2**70], "9" * 5000, "1180591620717411303424", "1x" * 2000 + "1"),
    "trees": made(lambda: ["1180591620717411303424"], lambda: [[2**70]]),
    "parents": made(list, lambda: np.array([-1, 0]), lambda: [2**70]),
    "weights": made(lambda: (2**70, 1), lambda: np.array([1, 1])),
    "pools": made(lambda: np.int8(4), lambda: [0.5, 2.0], lambda: ["1/2", 2], "fewest"),
    "kept": (*HUGE, *_INTEGERS, *made(lambda: np.array([0, 1]), lambda: {0, 1}, lambda: [0, 0])),
    "pools of tokens": made(
        lambda: np.int8(4), lambda: [-1, 0, 2], lambda: (2**40, 1, 1), "tokens"
    ),
    "path": made("/nowhere.npz", lambda: Path("/nowhere.npz")),
    "distribution": made(
        lambda: np.array([0.5, 0.5, 0.0], ">f8"), lambda: ["1/2", "1/2", 0], lambda: [1, 1, 1]
    ),
    "distributions": made(lambda: [[0.9, 0.9, 0.9]]),
    "table": made(lambda: [[0.9, 0.9], [0.5, 0.5]]),
    "mapping": made(lambda: {(0,): 0.9, (1,): 0.9}, lambda: {(): [0.9, 0.9]}),
}
"""Values that some arguments of a kind take: a call with one of them returns, or is refused."""


def hostile(kind):
    """Return functions that make values that are refused; of an optional kind ("count?")."""
    optional = kind.endswith("?")
    values = HOSTILE[kind.removesuffix("?")]
    return [value or (lambda: None) for value in values if value or not optional]


def odd(kind):
    """Return functions that make values that may be taken."""
    return (*ODD.get(kind.removesuffix("?"), ()), *LYING)
