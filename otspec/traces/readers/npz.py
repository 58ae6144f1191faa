"""What a file of arrays says it holds, without reading the arrays."""

from __future__ import annotations

import math
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from otspec.files import named_errors
from otspec.files.npy import BLOCK, Header, read_header
from otspec.files.npz import member_header, members_of
from otspec.traces.readers.contract import MappedArray, SafetensorsArray, StoredArray, ZarrArray

_LARGEST_ZARR_CHUNK = 2**30


@dataclass(frozen=True)
class PackedArray:
    """A compressed array of a .npz file, which has no rows before it is unpacked.

    Parameters
    ----------
    path, key, shape, dtype
        As for :class:`otspec.traces.readers.contract.StoredArray`.
    header : int
        Length of the header in bytes.
    fortran : bool
    """

    path: str
    key: str
    shape: tuple[int, ...]
    dtype: str
    header: int
    fortran: bool

    def unpacked(self, to: Path) -> MappedArray:
        """Unpack the array into a file, as large as the header says and no larger.

        Raises
        ------
        ValueError
            Too little room on the disk, or damaged contents.
        """
        size = self.header + math.prod(self.shape) * np.dtype(self.dtype).itemsize
        with named_errors(Path(self.path)):
            free = shutil.disk_usage(to.parent).free
            if size > 0.9 * free:
                raise ValueError(
                    f"{self.key} unpacks to {size:,} bytes, but {to.parent} has {free:,} free: "
                    "store it as .npy, or choose another folder with --out"
                )
            with (
                zipfile.ZipFile(self.path) as archive,
                archive.open(members_of(archive)[self.key]) as packed,
                to.open("wb") as stream,
            ):
                _copy(packed, stream, size)
        return MappedArray(
            str(to), self.key, self.shape, self.dtype, offset=self.header, fortran=self.fortran
        )


def _copy(packed: IO[bytes], stream: IO[bytes], size: int) -> None:
    left = size
    # One byte past the end, so that the checksum is compared.
    while block := packed.read(min(BLOCK, left + 1)):
        left -= len(block)
        if left < 0:
            raise ValueError("an array is longer than its header says")
        stream.write(block)
    if left:
        raise ValueError(f"an array ends {left:,} bytes early")


Located = StoredArray | PackedArray


def locate_arrays(path: Path) -> dict[str, Located]:
    """Find the arrays of a file or folder by their headers.

    Parameters
    ----------
    path : path
        Ending in .npy, .npz, .safetensors or .zarr.

    Returns
    -------
    dict of str to StoredArray or PackedArray
        The name is empty for a .npy file.

    Raises
    ------
    ValueError
        No such file, an unknown ending, a malformed file; or arrays of objects, which are never
        unpickled. The message names the file.
    """
    reader = _LOCATORS.get(path.suffix)
    if reader is None:
        raise ValueError(f"{path}: unknown file type: a trace is {', '.join(_LOCATORS)}")
    with named_errors(path):
        folder, there = path.is_dir(), path.exists()
    if not there:
        raise ValueError(f"{path}: no such file")
    if folder != (path.suffix == ".zarr"):
        raise ValueError(f"{path} is a {'directory' if folder else 'file'}: name another")
    path = path.resolve()
    with named_errors(path):
        return reader(path)


def _locate_npy(path: Path) -> dict[str, Located]:
    with path.open("rb") as stream:
        header = read_header(stream)
    header.refuse_other_size(path.stat().st_size - header.length)
    return {"": _mapped(path, "", header, header.length)}


def _mapped(path: Path, key: str, header: Header, offset: int) -> MappedArray:
    return MappedArray(str(path), key, header.shape, header.dtype, offset, header.fortran)


def _locate_npz(path: Path) -> dict[str, Located]:
    with zipfile.ZipFile(path) as archive:
        return {
            key: _locate_member(path, archive, member, key)
            for key, member in members_of(archive).items()
            if key.startswith(("draft_", "target_")) and member.filename.endswith(".npy")
        }


def _locate_member(
    path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, key: str
) -> Located:
    header = member_header(archive, member)
    if member.compress_type != zipfile.ZIP_STORED:
        return PackedArray(
            str(path), key, header.shape, header.dtype, header.length, header.fortran
        )
    with path.open("rb") as stream:
        stream.seek(member.header_offset)
        local = stream.read(30)  # the directory repeats all of it but the length of its last field
    start = member.header_offset + 30
    start += int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little")
    if start + member.file_size > path.stat().st_size:
        raise ValueError(f"{key} reaches past the end of the file")
    return _mapped(path, key, header, start + header.length)


def _locate_safetensors(path: Path) -> dict[str, Located]:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        raise ValueError("it needs the package safetensors: pip install 'otspec[traces]'") from None
    try:
        with safe_open(path, framework="numpy") as tensors:
            parts = {key: tensors.get_slice(key) for key in tensors.keys()}  # noqa: SIM118
            return {
                key: SafetensorsArray(
                    str(path), key, tuple(part.get_shape()), _dtype_of(key, part.get_dtype())
                )
                for key, part in parts.items()
                if key.startswith(("draft_", "target_"))
            }
    except SafetensorError as error:
        raise ValueError(str(error)) from error


def _dtype_of(key: str, name: str) -> str:
    kinds = {"F": "<f", "I": "<i", "U": "<u"}
    if name == "BF16" or name.startswith("F8"):
        raise ValueError(f"{key} has type {name}, which NumPy lacks: store it as F16 or F32")
    if name == "BOOL" or name[0] not in kinds or not name[1:].isdigit():
        return "|b1" if name == "BOOL" else "|V1"
    return f"{kinds[name[0]]}{int(name[1:]) // 8}"


def _locate_zarr(path: Path) -> dict[str, Located]:
    try:
        import zarr
    except ImportError:
        raise ValueError("it needs the package zarr: pip install 'otspec[traces]'") from None
    try:
        group = zarr.open_group(path, mode="r")
        arrays = dict(group.arrays())
    except Exception as error:  # metadata of any shape raises anything
        raise ValueError(f"it is no Zarr group of arrays: {error}") from error
    found: dict[str, Located] = {}
    for key, array in arrays.items():
        if not key.startswith(("draft_", "target_")):
            continue
        size = math.prod(array.shards or array.chunks) * array.dtype.itemsize
        if size > _LARGEST_ZARR_CHUNK:
            raise ValueError(f"{key} has chunks of {size:,} bytes: store it with smaller ones")
        found[key] = ZarrArray(str(path), key, tuple(array.shape), array.dtype.str)
    return found


_LOCATORS: dict[str, Callable[[Path], dict[str, Located]]] = {
    ".npz": _locate_npz,
    ".npy": _locate_npy,
    ".safetensors": _locate_safetensors,
    ".zarr": _locate_zarr,
}
