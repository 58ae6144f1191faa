"""Logged pairs of arrays that are too large to load: one source, read by rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from otspec.distributions import Distribution
from otspec.traces.readers.changed_files import ChangedInputError, stamp_of
from otspec.traces.readers.contract import SIDES, StoredArray
from otspec.traces.readers.logged_numbers import Warping, check_logged


@dataclass(frozen=True)
class Source:
    """The arrays of a draft and a target model, in one file or two.

    Parameters
    ----------
    name : str
        As the user wrote it; what no file in UTF-8 can hold is escaped.
    kind : str
        One of :data:`otspec.traces.readers.KINDS`.
    draft, target : StoredArray
        Of one shape (..., n), floats.

    Raises
    ------
    ValueError
        Shapes that differ or have no position axis, no position; or entries that are no floats.
    """

    name: str
    kind: str
    draft: StoredArray
    target: StoredArray

    def __post_init__(self) -> None:
        try:
            for side, array in self._sides():
                if np.dtype(array.dtype).kind != "f":
                    raise ValueError(
                        f"{side}_{self.kind} has type {np.dtype(array.dtype)}: it must be an array "
                        "of floats"
                    )
            check_logged(self.kind, self.draft.shape, self.target.shape)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error

    def _sides(self) -> tuple[tuple[str, StoredArray], ...]:
        return tuple(zip(SIDES, (self.draft, self.target), strict=True))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of both arrays, (..., n)."""
        return self.draft.shape

    @property
    def positions(self) -> int:
        """Number of positions."""
        return math.prod(self.shape[:-1])

    @property
    def text_length(self) -> int:
        """Number of positions in a row of one text: the length of the last position axis."""
        return self.shape[-2]

    @property
    def row_bytes(self) -> int:
        """Size of one position of both models."""
        return self.shape[-1] * sum(np.dtype(side.dtype).itemsize for _, side in self._sides())

    def unpacked(self, folder: Path, prefix: str) -> Source:
        """Return the source with compressed arrays unpacked into a folder.

        Raises
        ------
        ValueError
            As :meth:`otspec.traces.readers.StoredArray.unpacked`.
        """
        draft, target = (
            array.unpacked(folder / f"{prefix}-{side}.npy") for side, array in self._sides()
        )
        return replace(self, draft=draft, target=target)

    def pairs(
        self, start: int, stop: int, warpings: tuple[Warping, ...]
    ) -> Iterator[tuple[int, Warping, Distribution, Distribution]]:
        """Yield position, warping, draft and target for each of a range of positions.

        Positions are numbered through all but the last axis of the arrays.

        Raises
        ------
        ValueError
            Arrays that are still packed or unreadable; a row that no distribution follows from.
            The message names the file and the position.
        """
        drafts, targets = (array.rows(start, stop) for _, array in self._sides())
        for position, *rows in zip(range(start, stop), drafts, targets, strict=True):
            place = ", ".join(map(str, np.unravel_index(position, self.shape[:-1])))
            for warping in warpings:
                draft, target = (
                    warping.of(side).distribution(row, self.kind, f"{side}_{self.kind}[{place}]")
                    for side, row in zip(SIDES, rows, strict=True)
                )
                yield position, warping, draft, target

    def identity(self) -> dict[str, Any]:
        """Return what tells this source from a changed one: paths, stamps, shapes, types.

        Stamps are those of :func:`~otspec.traces.readers.changed_files.stamp_of` for all files of
        an array.
        """
        return {
            "name": self.name,
            "kind": self.kind,
            "arrays": [
                {
                    "file": array.path,
                    "key": array.key,
                    "stamp": stamp_of(array.all_files(), inodes=True),
                    "shape": list(array.shape),
                    "dtype": array.dtype,
                }
                for _, array in self._sides()
            ],
        }

    def latest(self) -> int:
        """Return when the last change to any of its files was, in nanoseconds since 1970."""
        stamps = (stamp_of(array.all_files(), inodes=False) for _, array in self._sides())
        return max(int(stamp["latest"]) for stamp in stamps)

    def refuse_newer(self, start: int, stop: int, latest: int) -> None:
        """Refuse files that were changed after a time, of those that hold a range of positions.

        Raises
        ------
        ChangedInputError
            Naming the file.
        ValueError
            Arrays that are no longer readable.
        """
        for _, array in self._sides():
            for file in array.files(start, stop):
                if file.exists() and file.stat().st_mtime_ns > latest:
                    raise ChangedInputError(
                        f"{file} was changed while it was read: use --overwrite"
                    )
