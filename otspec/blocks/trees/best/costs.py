"""Seconds of a call by the tokens that it reads, and of a tree (Sequoia, sec. 4.2)."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from otspec._base import Frozen, as_callable, as_integer, as_list, as_real, shown
from otspec.blocks.trees.shapes import Shape
from otspec.files import read_file, small_formats

MOST_TOKENS = 10**9  # most tokens of a call
_SHORTEST, _LONGEST = 1e-100, 1e100
_WANTED = f"a time above 0, in a unit in which it is {_SHORTEST:g} to {_LONGEST:g}"
"""Between these all ratios and rates of times are floats."""


@dataclass(frozen=True)
class Seconds(Frozen):
    """Seconds of one call of a model, by how many tokens it reads at once.

    Time is linear between the given numbers. Beyond the last two their line goes on, unless it
    falls: then time stays as it is at the last. Below the first it is that of the first. A single
    number stands for all.

    Parameters
    ----------
    tokens : tuple of int
        Ascending.
    seconds : tuple of float
        Of a call that reads so many tokens.

    Raises
    ------
    ValueError
        Numbers that are not ascending; or a time that is not between 1e-100 and 1e+100.

    Examples
    --------
    >>> target = as_seconds("1:0.030,8:0.031,64:0.045")
    >>> target(1), round(target(36), 6), round(target(120), 6)
    (0.03, 0.038, 0.059)
    """

    tokens: tuple[int, ...]
    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        tokens, seconds = (
            as_list(values, name, "a sequence of numbers")
            for values, name in ((self.tokens, "tokens"), (self.seconds, "seconds"))
        )
        if len(tokens) != len(seconds) or not tokens:
            raise ValueError(
                f"tokens has {len(tokens)} numbers and seconds {len(seconds)}: name the seconds "
                "of each number of tokens, at least one"
            )
        counts = _as_counts(tokens)
        times = [
            float(as_real(s, f"seconds[{i}]", _SHORTEST, _LONGEST, wanted=_WANTED))
            for i, s in enumerate(seconds)
        ]
        self._hold(tokens=tuple(counts), seconds=tuple(times))

    def __call__(self, tokens: float) -> float:
        """Return the seconds of a call that reads so many tokens at once, or on average."""
        last = self.tokens[-1]
        if tokens <= last or len(self.tokens) == 1:
            return float(np.interp(tokens, self.tokens, self.seconds))
        slope = (self.seconds[-1] - self.seconds[-2]) / (last - self.tokens[-2])
        return self.seconds[-1] + max(slope, 0.0) * (tokens - last)


def _as_counts(tokens: list[Any]) -> list[int]:
    counts = [
        as_integer(n, f"tokens[{i}]", 1, MOST_TOKENS, wanted="a number of tokens, at least 1")
        for i, n in enumerate(tokens)
    ]
    if sorted(set(counts)) != counts:
        raise ValueError(f"tokens is {shown(counts)}: write them in ascending order, each once")
    return counts


def as_seconds(given: Any, name: str = "given") -> Seconds:
    """Read the seconds of a call by the tokens that it reads at once; else ``ValueError``.

    Parameters
    ----------
    given : Seconds, number, str, mapping or sequence
        A number for all sizes; the seconds of 1, 2, 3, … tokens, such as ``"1,1,1.05,1.2"`` or a
        sequence; those of some sizes, such as ``"1:0.03,64:0.045"`` or a mapping; or the name of a
        file, such as a .csv of a column of tokens and one of seconds. Any unit will do, if it is
        the same for draft and target.
    name : str
        What an error message calls it.
    """
    if isinstance(given, Seconds):
        return given
    try:
        if isinstance(given, str):
            return _written(given)
        if isinstance(given, Mapping):
            return Seconds(tuple(given), tuple(given.values()))
        if isinstance(given, Iterable):
            return _in_order(as_list(given, name, "a sequence of seconds"))
        return Seconds((1,), (given,))
    except ValueError as error:
        raise ValueError(f"{name} is {shown(given)}: {error}") from error


def _in_order(seconds: list[Any]) -> Seconds:
    return Seconds(tuple(range(1, len(seconds) + 1)), tuple(seconds))


def _written(text: str) -> Seconds:
    if any(text.endswith(ending) for ending in small_formats()):
        return _from_file(text)
    cells = [cell.strip() for cell in text.split(",")]
    try:
        if ":" not in text:
            return _in_order([float(cell) for cell in cells])
        pairs = [cell.split(":") for cell in cells]
        return Seconds(
            tuple(int(tokens) for tokens, _ in pairs), tuple(float(each) for _, each in pairs)
        )
    except ValueError as error:
        if "tokens" in str(error) or "seconds" in str(error):
            raise
        raise ValueError(
            "write the seconds of 1, 2, 3, ... tokens, such as 1,1,1.05, or tokens:seconds, such "
            "as 1:0.03,64:0.045"
        ) from error


def _from_file(path: str) -> Seconds:
    rows = rows_of_file(path, 2)
    if rows is None:
        raise ValueError("it must hold two columns: tokens, and the seconds of a call of so many")
    return Seconds(tuple(whole(tokens) for tokens, _ in rows), tuple(each for _, each in rows))


def rows_of_file(path: str, count: int) -> list[list[float]] | None:
    """Return the rows of a file of so many columns, or of one table of them; None for others."""
    columns = list(read_file(path).values())
    table = np.array(columns[0] if len(columns) == 1 else columns[:count], dtype=float)
    table = table.T if len(columns) > 1 else table
    rows: list[list[float]] = table.tolist()
    return rows if table.ndim == 2 and table.shape[1] == count else None


def whole(number: float) -> Any:
    """Return a number that was read as a float as an integer, if it is one."""
    return int(number) if number.is_integer() else number


def measured(
    call: Callable[[int], object],
    tokens: Iterable[int] = (1, 2, 4, 8, 16, 32, 64),
    repeats: int = 5,
) -> Seconds:
    """Time a call over numbers of tokens that it reads at once.

    Parameters
    ----------
    call : callable
        Takes a number of tokens, reads so many at once and returns when that is done (on a GPU:
        after it has synchronized).
    tokens : iterable of int
        Ascending.
    repeats : int
        How often each is timed, after one call that is not: the median counts.

    Raises
    ------
    ValueError
        Something else.
    """
    as_callable(call, "call", "a function of a number of tokens")
    sizes = _as_counts(as_list(tokens, "tokens", "numbers of tokens"))
    often = as_integer(repeats, "repeats", 1, 10**6)
    return Seconds(tuple(sizes), tuple(_median_of(call, size, often) for size in sizes))


def _median_of(call: Callable[[int], object], size: int, repeats: int) -> float:
    call(size)
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call(size)
        times.append(time.perf_counter() - begin)
    return median(times)


@dataclass(frozen=True)
class StepCost(Frozen):
    """Seconds of drafting a tree level by level and verifying it in one call of the target.

    Parameters
    ----------
    draft, target : Seconds, or what :func:`as_seconds` reads

    Examples
    --------
    >>> from otspec.blocks import as_shape
    >>> cost = StepCost("0.001", "1:0.030,8:0.031,64:0.045")
    >>> round(cost(as_shape("4x1")), 4)  # two calls of the draft, and the target reads 9 tokens
    0.0333
    """

    draft: Seconds
    target: Seconds

    def __post_init__(self) -> None:
        self._hold(draft=as_seconds(self.draft, "draft"), target=as_seconds(self.target, "target"))

    def __call__(self, tree: Shape) -> float:
        """Return Σ over levels draft(nodes that go on) + target(size + 1), in seconds."""
        total, level = self.target(tree.size + 1), [tree]
        while level := [shape for shape in level if shape.children]:
            total += self.draft(len(level))
            level = [child for shape in level for child in shape.children]
        return total
