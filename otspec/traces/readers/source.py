"""Logged pairs of arrays that are too large to load: one source, read by rows."""

import hashlib
import itertools
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from otspec._base import Array, refuse_too_large
from otspec.distributions import Distribution
from otspec.files import StoredArray
from otspec.traces.readers.logged_numbers import SIDES, Warp, Warping, check_logged, check_tokens
from otspec.traces.readers.texts import BlockReader, LoggedText, TextRows


class ChangedInputError(ValueError):
    """A source that was changed while a run read it, so that its results are of no one input."""


def stamp_of(paths: Iterable[Path], *, inodes: bool) -> dict[str, Any]:
    """Return what changes if one of the files does: their number, bytes, latest time and digest."""
    digest = hashlib.sha256()
    count = size = latest = 0
    for path in paths:
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            told: list[Any] = [os.fspath(path), None]
        else:
            told = [os.fspath(path), status.st_size, status.st_mtime_ns]
            told += [status.st_ino] if inodes else []
            count, size = count + 1, size + status.st_size
            latest = max(latest, status.st_mtime_ns)
        digest.update(json.dumps(told).encode())
    return {"files": count, "bytes": size, "latest": latest, "digest": digest.hexdigest()}


@dataclass(frozen=True)
class Source:
    """The arrays of a draft and a target model, in one file or several.

    A text is a row of positions along the last axis but that of the vocabulary. If two axes or
    more come before it, the last of them counts texts that depend on each other, such as blocks
    that were drafted from places of one longer text: they are one cluster.

    Parameters
    ----------
    name : str
        As the user wrote it; what no file in UTF-8 can hold is escaped.
    kind : str
        One of :data:`otspec.traces.readers.KINDS`.
    draft, target : StoredArray
        Of one shape (..., n), floats.
    tokens : StoredArray, optional
        The tokens that were drawn, one at each position of a text, or each but the last: integers
        of shape (..., L) beside (..., L, n) or (..., L + 1, n).
    sampled : str
        Which model the tokens were drawn from, as it was logged: ``"draft"`` or ``"target"``.

    Raises
    ------
    ValueError
        Arrays of other shapes or types, no position, a model of another name; a row that takes
        more than half of the machine's memory.
    """

    name: str
    kind: str
    draft: StoredArray
    target: StoredArray
    tokens: StoredArray | None = None
    sampled: str = SIDES[0]

    def __post_init__(self) -> None:
        try:
            if self.sampled not in SIDES:
                raise ValueError(f"sampled is {self.sampled!r}: it must be {' or '.join(SIDES)}")
            for name, array in self._sides():
                if np.dtype(array.dtype).kind != "f":
                    raise ValueError(
                        f"{name} has type {np.dtype(array.dtype)}: it must be an array of floats"
                    )
            check_logged([name for name, _ in self._sides()], self.draft.shape, self.target.shape)
            for name, array in self._drawn():
                check_tokens(name, array.shape, array.dtype, self.shape)
            for _, array in self._sides() + self._drawn():
                refuse_too_large(array.shape[-1] * np.dtype(array.dtype).itemsize)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error

    def _sides(self) -> list[tuple[str, StoredArray]]:
        """Return the arrays of the two models, by the names that messages call them."""
        models = zip(SIDES, (self.draft, self.target), strict=True)
        return [(array.key or f"{side}_{self.kind}", array) for side, array in models]

    def _drawn(self) -> list[tuple[str, StoredArray]]:
        """Return the array of the tokens with its name, if there is one."""
        if self.tokens is None:
            return []
        return [(self.tokens.key or f"{self.sampled}_tokens", self.tokens)]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the arrays of both models, (..., n)."""
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
    def cluster_length(self) -> int:
        """Number of positions of texts that depend on each other: of one text, or of a cluster."""
        return self.text_length * (self.shape[-3] if len(self.shape) > 3 else 1)

    @property
    def clusters(self) -> int:
        """Number of clusters, which are independent of each other."""
        return self.positions // self.cluster_length

    def cluster_of(self, position: int) -> int:
        """Return the number of the cluster that a position is in; a ValueError if there is none."""
        if not 0 <= position < self.positions:
            raise ValueError(
                f"position is {position}: {self.name} has positions 0 to {self.positions - 1:,}"
            )
        return position // self.cluster_length

    @property
    def row_bytes(self) -> int:
        """Size of one position of both models."""
        return self.shape[-1] * sum(np.dtype(side.dtype).itemsize for _, side in self._sides())

    def unpacked(self, folder: Path, prefix: str) -> "Source":
        """Return the source with compressed arrays unpacked into a folder."""
        draft, target, *drawn = (
            array.unpacked(folder / f"{prefix}-{which}.npy")
            for which, (_, array) in zip(
                (*SIDES, "tokens"), self._sides() + self._drawn(), strict=False
            )
        )
        tokens = drawn[0] if drawn else None
        return replace(self, draft=draft, target=target, tokens=tokens)

    def pairs(
        self, start: int, stop: int, warpings: tuple[Warping, ...]
    ) -> Iterator[tuple[int, Warping, Distribution, Distribution]]:
        """Yield position, warping, draft and target for each of a range of positions.

        Positions are numbered through all but the last axis of the arrays. A ValueError names the
        file and the position of a row that no distribution follows from, or that cannot be read.
        """
        drafts, targets = (array.rows(start, stop) for _, array in self._sides())
        for position, *rows in zip(range(start, stop), drafts, targets, strict=True):
            for warping in warpings:
                draft, target = (
                    self._distribution(side, position, row, warping.of(side))
                    for side, row in zip(SIDES, rows, strict=True)
                )
                yield position, warping, draft, target

    def texts(
        self, start: int, stop: int, warping: Warping, drawn: Warp | None = None
    ) -> Iterator[LoggedText]:
        """Yield each text of a range of positions, with the tokens that were drawn.

        Rows are read and made distributions as they are looked at, some megabytes at a time.

        Parameters
        ----------
        start, stop : int
            Where texts begin and end.
        warping : Warping
            What is done to both models.
        drawn : Warp, optional
            What was done to the logged numbers when the tokens were drawn; by default nothing.

        Raises
        ------
        ValueError
            A source without tokens; a range that divides a text; tokens that cannot be read, or
            that are not of the vocabulary. Rows raise it when they are looked at.
        """
        whole = range(start // self.text_length, stop // self.text_length)
        if start % self.text_length or stop % self.text_length or not whole:
            raise ValueError(
                f"positions {start:,} to {stop - 1:,} of {self.name} are no whole texts, of "
                f"{self.text_length:,} positions each"
            )
        rows = self._tokens(whole)
        draft, target = (self._reader(side, warping.of(side), stop) for side in SIDES)
        asked = warping.of(self.sampled)
        logged = replace(drawn or Warp(), normalize=asked.normalize)
        as_drawn = self.sampled == SIDES[0] and asked == logged
        sampling = None if as_drawn else self._reader(self.sampled, logged, stop)
        for text, tokens in zip(whole, rows, strict=True):
            at = range(text * self.text_length, (text + 1) * self.text_length)
            yield LoggedText(
                text,
                TextRows(at, draft),
                TextRows(at, target),
                None if sampling is None else TextRows(at, sampling),
                tuple(tokens.tolist()),
                self.cluster_of(at.start),
            )

    def _tokens(self, texts: range) -> Array:
        """Read the tokens of some texts, a row for each."""
        if self.tokens is None:
            raise ValueError(
                f"{self.name} was found without tokens: use find_source(..., tokens=True)"
            )
        rows = self.tokens.rows(texts.start, texts.stop)
        wrong = np.argwhere((rows < 0) | (rows >= self.shape[-1]))
        for text, i in wrong[:1]:
            [(name, _)] = self._drawn()
            place = [*np.unravel_index(texts[text], self.shape[:-2]), i]
            raise ValueError(
                f"{name}[{', '.join(map(str, place))}] is {rows[text, i]}: tokens must be 0 to "
                f"{self.shape[-1] - 1}"
            )
        return rows

    def _reader(self, side: str, warping: Warp, stop: int) -> Callable[[int], Distribution]:
        """Return a function from positions before a last one to a model's distribution there."""
        reader = BlockReader(self.draft if side == SIDES[0] else self.target, stop)
        return lambda position: self._distribution(side, position, reader.row(position), warping)

    def _distribution(self, side: str, position: int, row: Array, warping: Warp) -> Distribution:
        """Return what a model's logged numbers at a position say."""
        name, _ = self._sides()[SIDES.index(side)]
        place = ", ".join(map(str, np.unravel_index(position, self.shape[:-1])))
        return warping.distribution(row, self.kind, f"{name}[{place}]")

    def identity(self) -> dict[str, Any]:
        """Return what tells this source from a changed one: paths, stamps, shapes, types."""
        arrays = [
            {
                "file": array.path,
                "key": array.key,
                "stamp": stamp_of(array.all_files(), inodes=True),
                "shape": list(array.shape),
                "dtype": array.dtype,
            }
            for _, array in self._sides() + self._drawn()
        ]
        sampled = {} if self.tokens is None else {"sampled": self.sampled}
        return {"name": self.name, "kind": self.kind, **sampled, "arrays": arrays}

    def latest(self) -> int:
        """Return when the last change to any of its files was, in nanoseconds since 1970."""
        arrays = self._sides() + self._drawn()
        stamps = (stamp_of(array.all_files(), inodes=False) for _, array in arrays)
        return max(int(stamp["latest"]) for stamp in stamps)

    def refuse_newer(self, start: int, stop: int, latest: int) -> None:
        """Refuse files that hold a range of positions and were changed after a time."""
        files = [array.files(start, stop) for _, array in self._sides()]
        first, last = start // self.text_length, -(-stop // self.text_length)
        files += [array.files(first, last) for _, array in self._drawn()]
        for file in itertools.chain.from_iterable(files):
            if file.exists() and file.stat().st_mtime_ns > latest:
                raise ChangedInputError(f"{file} was changed while it was read: use --overwrite")
