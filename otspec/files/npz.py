"""Arrays in NumPy's .npz archives, counted before they are read, by the members themselves."""

import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from otspec._base import Array, refuse_too_large
from otspec.files import base
from otspec.files.npy import Header, MappedArray, blocks_of, read_header

Members = dict[str, zipfile.ZipInfo]


def read_npz(path: Path, keys: tuple[str, ...]) -> base.Named:
    """Read the arrays of a .npz file, if all of them together fit."""
    with zipfile.ZipFile(path) as archive:
        members = _members_of(archive)
        names = base.selected(members if keys else _arrays(members), keys)
        chosen = {key: members[key] for key in names}
        headers = {key: _header_of(archive, member) for key, member in chosen.items()}
        refuse_too_large(sum(header.size for header in headers.values()))
        found = {}
        for key, header in headers.items():
            with archive.open(chosen[key]) as stream:
                stream.read(header.length)
                found[key] = header.read(stream)
    return found


def locate_npz(path: Path) -> base.Located:
    """Find the arrays of a .npz file."""
    with zipfile.ZipFile(path) as archive:
        members = _members_of(archive)
        return base.located(
            _arrays(members), lambda key: _locate_member(path, archive, members[key], key)
        )


def _members_of(archive: zipfile.ZipFile) -> Members:
    """Return the members of a .npz archive by the names of their arrays, ``.npy`` left off."""
    members: Members = {}
    for member in archive.infolist():
        key = member.filename.removesuffix(".npy")
        if key in members:
            raise ValueError(f"it holds two members {key!r}: save it again with np.savez")
        members[key] = member
    return members


def _arrays(members: Members) -> list[str]:
    return [key for key, member in members.items() if member.filename.endswith(".npy")]


def _header_of(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Header:
    """Read the header of an array in a .npz archive, and compare the member's size with it."""
    if not member.compress_type and member.compress_size != member.file_size:
        raise ValueError(f"{member.filename} is stored with two sizes: save it again with np.savez")
    with archive.open(member) as stream:
        header = read_header(stream)
    header.refuse_other_size(member.file_size - header.length)
    return header


def _locate_member(
    path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, key: str
) -> base.StoredArray:
    header = _header_of(archive, member)
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
        raise ValueError(f"{key} reaches past the end of the file: was writing interrupted?")
    return MappedArray.at(path, key, header, start + header.length)


@dataclass(frozen=True)
class PackedArray(base.StoredArray):
    """A compressed array of a .npz file, which has no rows before it is unpacked."""

    header: int  # length of the header in bytes
    fortran: bool

    def _read(self, slices: list[base.Slices]) -> Iterator[Array]:  # noqa: ARG002  there are no rows
        raise ValueError(f"{self.path}: {self.key} is compressed: unpack the source first")

    def unpacked(self, to: Path) -> MappedArray:
        """Unpack the array into a file, as large as the header says and no larger."""
        size = self.header + self.size
        with base.named_errors(Path(self.path)):
            free = shutil.disk_usage(to.parent).free
            if size > 0.9 * free:
                raise ValueError(
                    f"{self.key} unpacks to {size:,} bytes, but {to.parent} has {free:,} free: "
                    "store it as .npy, or choose another folder with --out"
                )
            with (
                zipfile.ZipFile(self.path) as archive,
                archive.open(_members_of(archive)[self.key]) as packed,
                to.open("wb") as stream,
            ):
                for block in blocks_of(packed, size):
                    stream.write(block)
        return MappedArray(
            str(to), self.key, self.shape, self.dtype, offset=self.header, fortran=self.fortran
        )


base.FORMATS.register(
    base.Format(".npz", read_npz, locate_npz, "arrays by name, as NumPy saves them", named=True)
)
