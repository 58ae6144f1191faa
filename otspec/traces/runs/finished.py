"""The results of a run as one table, from its folder alone, each part proved to be whole."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from otspec._base.arguments import as_flag, as_path
from otspec._base.extras import needed
from otspec._base.writing import UNFINISHED
from otspec.frames import Tabular
from otspec.traces.runs.folder import Identity, RunFolder, name_of, read_identity
from otspec.traces.runs.work import Label, read_label, read_part

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


@dataclass(frozen=True)
class FinishedRun(Tabular):
    """The results of a run: a row for each position and whatever the run compared there.

    Made by :func:`read_run`. A part that was damaged or exchanged since is a ValueError.

    Parameters
    ----------
    run : str
        A digest of all that the run was made with.
    sources : tuple of str
        Their names.
    parts : tuple of (Path, Label)
        The files, by source and position, and what each holds.
    """

    run: str
    sources: tuple[str, ...]
    parts: tuple[tuple[Path, Label], ...]

    def tables(self) -> Iterator[pa.Table]:
        """Yield the table of each part, one at a time, in order."""
        for path, label in self.parts:
            yield read_part(path, label)

    def to_arrow(self) -> pa.Table:
        """Return the whole table of Arrow, which must fit into memory."""
        pa = needed("pyarrow", "a run over traces", "runs")

        said = {"rows": "positions", "source": ", ".join(self.sources), "run": self.run}
        whole = pa.concat_tables(self.tables()).unify_dictionaries()
        return whole.replace_schema_metadata(said)

    def scan(self) -> pl.LazyFrame:
        """Return a lazy frame of polars, which reads of the files what a query needs.

        The parts were whole when the run was read; polars, which must be installed, looks at no
        seal.
        """
        polars = needed("polars", "scan", "frames")
        return polars.scan_parquet([path for path, _ in self.parts], glob=False)


def read_run(path: str | PathLike[str], *, unfinished: bool = False) -> FinishedRun:
    """Read the results that a command with ``--out``, such as ``otspec trace``, left in a folder.

    Parameters
    ----------
    path : path
        The folder.
    unfinished : bool
        Also read a run with positions that have no results: it was interrupted, is still going
        on, or parts of its sources could not be read.

    Raises
    ------
    ValueError
        No run there, one of another version of otspec, or one without all results; a part that was
        damaged since it was written, or belongs to another run. The message names the file.
    """
    as_flag(unfinished, "unfinished")
    places = RunFolder(as_path(path))
    if not places.made_with.is_file():
        raise ValueError(f"{path} holds no run: name the folder that --out was given")
    identity = read_identity(places.made_with)
    run, logged = name_of(identity), _positions(places.made_with, identity)
    names = tuple(logged)
    parts = sorted(
        ((path, _checked(path, run, names)) for path in _files(places)),
        key=lambda part: (names.index(part[1].source), part[1].start),
    )
    for (first, one), (second, other) in pairwise(parts):
        if one.source == other.source and other.start < one.stop:
            raise ValueError(f"{first} and {second} hold the same positions: remove the copy")
    _refuse_missing(places.path, sum(logged.values()), parts, unfinished)
    return FinishedRun(run, names, tuple(parts))


def _positions(path: Path, identity: Identity) -> dict[str, int]:
    """Return the names of the sources, and how many positions each has."""
    try:
        return {
            source["name"]: math.prod(source["arrays"][0]["shape"][:-1])
            for source in identity["sources"]
        }
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"{path} says nothing of sources: it was changed") from error


def _files(places: RunFolder) -> list[Path]:
    if not places.positions.is_dir():
        return []
    return [path for path in places.positions.iterdir() if not path.name.endswith(UNFINISHED)]


def _checked(path: Path, run: str, names: tuple[str, ...]) -> Label:
    """Return what a part says that it holds, if it is whole and of this run."""
    label = read_label(path)
    if label.run != run or label.source not in names:
        raise ValueError(f"cannot use {path}: it is a part of another run; remove it")
    return label


def _refuse_missing(
    folder: Path, logged: int, parts: list[tuple[Path, Label]], unfinished: bool
) -> None:
    done = sum(label.stop - label.start for _, label in parts)
    if done == 0:
        raise ValueError(f"{folder} holds a run without results: finish it with --resume")
    if done < logged and not unfinished:
        raise ValueError(
            f"{folder} holds results of {done:,} of {logged:,} positions: finish the run with "
            "--resume, or pass unfinished=True"
        )
