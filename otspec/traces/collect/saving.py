"""A trace text by text: each in a file of its own until all are there, so that nothing is lost."""

from __future__ import annotations

import itertools
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from otspec._base.arithmetic import Array
from otspec._base.writing import in_one_step, write_text
from otspec.files import read_file

_SETTINGS = "settings.json"


class Shelf:
    """The texts that are logged already, in a folder beside the file that they will be in.

    ``out``: the .npz file. ``settings``: what the texts depend on. It is kept in the file, too.
    """

    def __init__(self, out: Path, settings: str) -> None:
        self.out, self.settings = out, settings
        self.folder = out.with_name(f"{out.name}.texts")
        told = self.folder / _SETTINGS
        if told.exists() and told.read_text(encoding="utf-8") != settings:
            raise ValueError(
                f"{self.folder} holds texts that were logged with other settings: remove it, or "
                "choose another --out"
            )

    def text(self, number: int, log: Callable[[], dict[str, Array]]) -> None:
        """Log a text, unless it is there."""
        place = self._place(number)
        if place.exists():
            return
        self.folder.mkdir(exist_ok=True)
        write_text(self.folder / _SETTINGS, self.settings)
        with in_one_step(place) as stream:
            np.savez(stream, allow_pickle=False, **log())

    def _place(self, number: int) -> Path:
        return self.folder / f"{number:06}.npz"

    def bind(self, count: int, *, packed: bool) -> dict[str, tuple[int, ...]]:
        """Write all texts to one file, and remove them.

        ``count``: how many texts there are. ``packed``: whether the file is compressed; one that is
        not is read in place. Result: the shape of each array.
        """
        holders: dict[str, list[int]] = {}
        for number in range(count):
            with np.load(self._place(number)) as text:
                for name in text.files:
                    holders.setdefault(name, []).append(number)
        kind = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
        shapes = {}
        with in_one_step(self.out) as stream, zipfile.ZipFile(stream, "w") as archive:
            for name, numbers in holders.items():
                rows = (read_file(self._place(it), (name,))[name] for it in numbers)
                shapes[name] = _write(archive, name, kind, rows, len(numbers))
            _write(archive, "settings", kind, iter([np.array(self.settings)]), 1)
        shutil.rmtree(self.folder)
        return shapes


def _write(
    archive: zipfile.ZipFile, name: str, kind: int, rows: Iterator[Array], count: int
) -> tuple[int, ...]:
    """Write a row of each text as one array of an archive; return its shape."""
    member = zipfile.ZipInfo(f"{name}.npy")  # without a date: equal traces are equal files
    member.compress_type = kind
    with archive.open(member, "w", force_zip64=True) as stream:
        if not name.endswith("logits"):
            stacked = np.stack(list(rows))
            np.lib.format.write_array(stream, stacked, allow_pickle=False)
            return stacked.shape
        row = next(rows)
        shape = (count, *row.shape)
        header = {"descr": row.dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(stream, header)
        for each in itertools.chain([row], rows):  # never all of them in memory
            stream.write(each.tobytes())
    return shape
