"""Logged pairs of arrays that are too large to load: found by their headers, read by rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from otspec.arithmetic import Array
from otspec.distributions import Distribution, as_distribution
from otspec.traces.readers.npz import Located, PackedArray, locate_arrays
from otspec.traces.legible import printable
from otspec.traces.readers.changed_files import ChangedInputError, files_below, stamp_of
from otspec.traces.readers.contract import StoredArray
from otspec.traces.warping import warp

KINDS = ("logits", "log_probabilities", "probabilities")
"""What the numbers of a source may be; arrays are called ``draft_`` or ``target_`` and the kind."""


@dataclass(frozen=True)
class Warping:
    """What is done to both models before they are compared; see :func:`otspec.traces.warp`.

    Parameters
    ----------
    temperature : float
    top_k : int, optional
    top_p : float, optional
    normalize : bool
        Scale probabilities to sum 1.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    normalize: bool = False

    def distribution(self, row: Array, kind: str, name: str) -> Distribution:
        """Return what is sampled from where these numbers were logged.

        Parameters
        ----------
        row : ndarray of float, shape (n,)
        kind : str
            One of :data:`KINDS`.
        name : str
            What error messages call the row.

        Raises
        ------
        ValueError
            As :func:`otspec.traces.warp`; or probabilities that are no distribution.
        """
        if kind == "probabilities":
            row = as_distribution(row, name, normalize=self.normalize)
            if (self.temperature, self.top_k, self.top_p) == (1.0, None, None):
                return row
            with np.errstate(divide="ignore"):
                row = np.log(row)
        return warp(
            row, temperature=self.temperature, top_k=self.top_k, top_p=self.top_p, name=name
        )


@dataclass(frozen=True)
class Source:
    """The arrays of a draft and a target model, in one file or two.

    Parameters
    ----------
    name : str
        As the user wrote it; what no file in UTF-8 can hold is escaped.
    kind : str
        One of :data:`KINDS`.
    draft, target : StoredArray or PackedArray
        Of one shape (..., n), floats.

    Raises
    ------
    ValueError
        Shapes that differ or have no position axis, no position; or entries that are no floats.
    """

    name: str
    kind: str
    draft: Located
    target: Located

    def __post_init__(self) -> None:
        for side, array in self._sides():
            if np.dtype(array.dtype).kind != "f":
                raise ValueError(
                    f"{self.name}: {side}_{self.kind} has type {np.dtype(array.dtype)}: it must "
                    "be an array of floats"
                )
        if self.draft.shape != self.target.shape:
            raise ValueError(
                f"{self.name}: draft_{self.kind} has shape {self.draft.shape} and target_"
                f"{self.kind} {self.target.shape}: both models must be logged at the same positions"
            )
        if len(self.shape) < 2 or math.prod(self.shape) == 0:
            raise ValueError(
                f"{self.name}: draft_{self.kind} has shape {self.shape}: it must be (..., n) with "
                "at least one position and one token"
            )

    def _sides(self) -> tuple[tuple[str, Located], tuple[str, Located]]:
        return ("draft", self.draft), ("target", self.target)

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
            As :meth:`otspec.traces.readers.npz.PackedArray.unpacked`.
        """
        draft, target = (
            array.unpacked(folder / f"{prefix}-{side}.npy")
            if isinstance(array, PackedArray)
            else array
            for side, array in self._sides()
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
        drafts, targets = (_stored(array).rows(start, stop) for _, array in self._sides())
        for position, *rows in zip(range(start, stop), drafts, targets, strict=True):
            place = ", ".join(map(str, np.unravel_index(position, self.shape[:-1])))
            for warping in warpings:
                draft, target = (
                    warping.distribution(row, self.kind, f"{side}_{self.kind}[{place}]")
                    for side, row in zip(("draft", "target"), rows, strict=True)
                )
                yield position, warping, draft, target

    def identity(self) -> dict[str, Any]:
        """Return what tells this source from a changed one: paths, stamps, shapes, types.

        Stamps are those of :func:`otspec.traces.readers.changed_files.stamp_of` for all files of an array.
        """
        return {
            "name": self.name,
            "kind": self.kind,
            "arrays": [
                {
                    "file": array.path,
                    "key": array.key,
                    "stamp": stamp_of(_files_of(array), inodes=True),
                    "shape": list(array.shape),
                    "dtype": array.dtype,
                }
                for _, array in self._sides()
            ],
        }

    def latest(self) -> int:
        """Return when the last change to any of its files was, in nanoseconds since 1970."""
        stamps = (stamp_of(_files_of(array), inodes=False) for _, array in self._sides())
        return max(int(stamp["latest"]) for stamp in stamps)

    def refuse_newer(self, start: int, stop: int, latest: int) -> None:
        """Refuse files that were changed after a time, of those that hold a range of positions.

        Raises
        ------
        ChangedInputError
            Naming the file.
        ValueError
            Arrays that are still packed, or that are no longer readable.
        """
        for _, array in self._sides():
            for file in _stored(array).files(start, stop):
                if file.exists() and file.stat().st_mtime_ns > latest:
                    raise ChangedInputError(
                        f"{file} was changed while it was read: use --overwrite"
                    )


def _stored(array: Located) -> StoredArray:
    if isinstance(array, PackedArray):
        raise ValueError(f"{array.path}: {array.key} is compressed: unpack the source first")
    return array


def _files_of(array: Located) -> list[Path]:
    """Return all files that say what an array is: one, or those of a Zarr array and its group."""
    path = Path(array.path)
    if not path.is_dir():
        return [path]
    return [file for file in sorted(path.iterdir()) if file.is_file()] + files_below(
        path / array.key
    )


def find_source(text: str, kind: str | None = None) -> Source:
    """Find the arrays that the text names.

    Parameters
    ----------
    text : str
        A .npz, .safetensors or .zarr path with two arrays such as ``draft_logits`` and
        ``target_logits``; or two .npy paths, ``DRAFT.npy+TARGET.npy``.
    kind : str, optional
        One of :data:`KINDS`. By default the first whose arrays are there; for .npy, which have no
        names, logits.

    Returns
    -------
    Source

    Raises
    ------
    ValueError
        As :func:`otspec.traces.readers.npz.locate_arrays` and :class:`Source`; or missing arrays.
    """
    if ".npy+" in text or text.endswith(".npy"):
        return _npy_pair(text, kind or KINDS[0])
    arrays = locate_arrays(Path(text))
    for found in (kind,) if kind else KINDS:
        sides = arrays.get(f"draft_{found}"), arrays.get(f"target_{found}")
        if sides[0] is not None and sides[1] is not None:
            return Source(printable(text), found, sides[0], sides[1])
    wanted = kind or next((name for name in KINDS if f"draft_{name}" in arrays), KINDS[0])
    missing = f"target_{wanted}" if f"draft_{wanted}" in arrays else f"draft_{wanted}"
    raise ValueError(
        f"{text} has no array {missing!r} (it holds {', '.join(arrays) or 'none for a trace'}): a "
        f"trace needs draft_X and target_X of shape (..., n), where X is {', '.join(KINDS)}"
    )


def _npy_pair(text: str, kind: str) -> Source:
    parts = text.split(".npy+")
    if len(parts) != 2 or not parts[1].endswith(".npy"):
        raise ValueError(f"{text}: write both files as DRAFT.npy+TARGET.npy")
    draft, target = (locate_arrays(Path(path))[""] for path in (f"{parts[0]}.npy", parts[1]))
    return Source(printable(text), kind, draft, target)
