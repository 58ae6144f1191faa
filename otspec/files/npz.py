"""Arrays in NumPy's .npz archives, counted before they are read.

Sizes come from the member that is really read, not from the directory of the archive.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path

from otspec._base.arithmetic import Array
from otspec._base.memory import refuse_too_large
from otspec.files.contract import READERS, Named, Reader, selected
from otspec.files.npy import Header, read_header


def read_npz(path: Path, keys: tuple[str, ...]) -> Named:
    """Read the arrays of a .npz file.

    Raises
    ------
    ValueError, zipfile.BadZipFile
        As :func:`members_of` and :func:`read_members`.
    """
    with zipfile.ZipFile(path) as archive:
        members = members_of(archive)
        arrays = [key for key, member in members.items() if member.filename.endswith(".npy")]
        chosen = selected(members, keys) if keys else tuple(arrays)
        found = read_members(archive, [members[key] for key in chosen])
    return dict(zip(chosen, found, strict=True))


def members_of(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the members of a .npz archive by the names of their arrays, ``.npy`` left off.

    Raises
    ------
    ValueError
        Two members of one name, or with the same name but for ``.npy``.
    """
    members: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        key = member.filename.removesuffix(".npy")
        if key in members:
            raise ValueError(f"it holds two members {key!r}: save it again with np.savez")
        members[key] = member
    return members


def member_header(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Header:
    """Read the header of an array in a .npz archive, and compare the member's size with it.

    Raises
    ------
    ValueError
        As :func:`read_header` and :meth:`Header.refuse_other_size`.
    """
    if not member.compress_type and member.compress_size != member.file_size:
        raise ValueError(f"{member.filename} is stored with two sizes: save it again with np.savez")
    with archive.open(member) as stream:
        header = read_header(stream)
    header.refuse_other_size(member.file_size - header.length)
    return header


def read_members(archive: zipfile.ZipFile, members: Iterable[zipfile.ZipInfo]) -> list[Array]:
    """Read arrays of a .npz archive, if all of them together fit.

    Raises
    ------
    ValueError
        As :func:`member_header`; more than half of the machine's memory; or damaged contents.
    """
    chosen = [(member, member_header(archive, member)) for member in members]
    refuse_too_large(sum(header.size for _, header in chosen))
    arrays = []
    for member, header in chosen:
        with archive.open(member) as stream:
            stream.read(header.length)
            arrays.append(header.read(stream))
    return arrays


READERS.register(Reader(".npz", read_npz, "arrays by name, as NumPy saves them", keyed=True))
