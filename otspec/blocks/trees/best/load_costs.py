"""Seconds of a call for a batch, by its rows and the tokens that it reads."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec._base import Frozen, as_instance, as_integer, as_list, shown
from otspec.blocks.trees.best.costs import Seconds, as_seconds, rows_of_file, whole
from otspec.files import small_formats


@dataclass(frozen=True)
class LoadSeconds(Frozen):
    """Seconds of one call of a model for a batch, by its rows and the tokens that each row reads.

    Time is linear between the given batch sizes.

    Parameters
    ----------
    batches : tuple of int
        Ascending; empty if the time depends on all tokens of the batch together.
    seconds : tuple of Seconds
        Of each batch size, by the tokens that each row reads; or one, by the tokens of all rows.

    Raises
    ------
    ValueError
        Batch sizes that are not ascending, or seconds of another type or number.

    Examples
    --------
    >>> table = as_load_seconds({1: "1:0.030,8:0.031", 64: "1:0.040,8:0.110"})
    >>> round(table(1, 8), 3), round(table(64, 8), 3)
    (0.031, 0.11)
    >>> as_load_seconds("1:0.03,64:0.04")(8, 8)  # of all tokens together
    0.04
    """

    batches: tuple[int, ...]
    seconds: tuple[Seconds, ...]

    def __post_init__(self) -> None:
        given = as_list(self.batches, "batches", "a sequence of integers")
        sizes = [as_integer(b, f"batches[{i}]", 1, 10**9) for i, b in enumerate(given)]
        seconds = [
            as_instance(each, f"seconds[{i}]", Seconds, "made by as_seconds")
            for i, each in enumerate(as_list(self.seconds, "seconds", "a sequence of Seconds"))
        ]
        if sorted(set(sizes)) != sizes or len(seconds) != max(len(sizes), 1):
            raise ValueError(
                f"batches is {shown(sizes)}: write them in ascending order, each once, with the "
                "seconds of each"
            )
        self._hold(batches=tuple(sizes), seconds=tuple(seconds))

    def __call__(self, batch: int, tokens: float) -> float:
        """Return the seconds of a call; ``ValueError`` for a batch outside the given ones."""
        if not self.batches:
            return self.seconds[0](batch * tokens)
        if not self.batches[0] <= batch <= self.batches[-1]:
            raise ValueError(
                f"batch is {batch}, and costs are given for {self.batches[0]} to "
                f"{self.batches[-1]} rows: measure them for this batch, too"
            )
        return float(np.interp(batch, self.batches, [each(tokens) for each in self.seconds]))

    @property
    def alone(self) -> Seconds:
        """The seconds of the smallest batch by the tokens of a row."""
        return self.seconds[0]


def as_load_seconds(given: Any, name: str = "given") -> LoadSeconds:
    """Read the seconds of a call by batch size and tokens; else ``ValueError``.

    Parameters
    ----------
    given : LoadSeconds, mapping, str, or what :func:`as_seconds` reads
        The seconds of each batch size by the tokens that each row reads, such as ``{1:
        "1:0.03,8:0.031", 64: "1:0.04,8:0.11"}``; or the name of a file of three columns: batch,
        tokens and seconds. Otherwise seconds by the tokens of all rows together.
    name : str
        What an error message calls it.
    """
    if isinstance(given, LoadSeconds):
        return given
    named = isinstance(given, str) and any(given.endswith(ending) for ending in small_formats())
    if named and (rows := rows_of_file(given, 3)) is not None:
        given = {}
        for batch, tokens, seconds in rows:
            given.setdefault(int(batch), {})[whole(tokens)] = seconds
    if isinstance(given, Mapping) and any(
        isinstance(each, (Mapping, str, Seconds)) for each in given.values()
    ):
        costs = {batch: as_seconds(each, f"{name}[{batch}]") for batch, each in given.items()}
        try:
            return LoadSeconds(tuple(sorted(costs)), tuple(costs[b] for b in sorted(costs)))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} is {shown(given)}: {error}") from error
    return LoadSeconds((), (as_seconds(given, name),))
