"""Tensors as PyTorch saves them, alone or in a dict: nothing else is ever unpickled."""

from __future__ import annotations

import pickle
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from otspec.arithmetic import Array
from otspec.extras import needed
from otspec.files.contract import READERS, Named, Reader, once, selected
from otspec.files.pickled import refuse_monsters
from otspec.memory import refuse_too_large

ENDINGS = (".pt", ".pth")
_ZIP = b"PK\x03\x04"
_PROTOCOL = b"\x80\x02"
_OLD = _PROTOCOL + b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""What a file begins with that is no archive: a number, pickled."""
_OLD_PICKLES = 5
"""How many pickles such a file begins with: numbers, the tensors, and the names of storages."""
_KNOWN = ("torch.float16", "torch.float32", "torch.float64")
"""Types of floats that NumPy has; the others are parts of float32."""
_TENSORS_ALONE = (
    "it holds other things than tensors, which are never unpickled (weights_only=True): save a "
    "tensor, or a dict of them, with torch.save"
)


def read_torch(path: Path, keys: tuple[str, ...]) -> Named:
    """Read the tensors of a file that ``torch.save`` wrote.

    Raises
    ------
    ValueError, zipfile.BadZipFile
        As :func:`tensors_of`; damaged contents; more than half of the machine's memory; or a
        tensor without numbers that NumPy has.
    """
    tensors = tensors_of(path)
    names = selected(tensors, () if "" in tensors else keys)  # one alone is told from a name above
    chosen = {key: tensors[key] for key in names}
    refuse_too_large(sum(tensor.numel() * tensor.element_size() for tensor in chosen.values()))
    if _is_archive(path):
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
        if damaged is not None:
            raise ValueError(f"the checksum of {damaged} is another: was writing interrupted?")
    return {key: numbers_of(key, tensor) for key, tensor in chosen.items()}


def tensors_of(path: Path) -> dict[str, Any]:
    """Return the tensors of a file by name, mapped from it where it is an archive.

    A tensor alone has the empty name. What else a dict holds is left out.

    Raises
    ------
    ValueError, zipfile.BadZipFile
        A missing package; no file of tensors; or one that only code could read.
    """
    torch = needed("torch", f"reading {path.suffix}", "backends")
    archived = _is_archive(path)
    if archived:
        _refuse_other_archives(path)
    else:
        with path.open("rb") as stream:
            for _ in range(_OLD_PICKLES):
                refuse_monsters(stream)
    try:
        content = torch.load(path, map_location="cpu", weights_only=True, mmap=archived)
    except pickle.UnpicklingError as error:
        raise ValueError(_TENSORS_ALONE) from error
    except Exception as error:  # whatever a damaged file makes of it
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise ValueError(f"torch cannot load it ({reason}): save it again") from error
    if isinstance(content, torch.Tensor):
        return {"": content}
    if not isinstance(content, dict):
        raise ValueError(_TENSORS_ALONE)
    return once(
        (key, value)
        for key, value in content.items()
        if isinstance(key, str) and isinstance(value, torch.Tensor)
    )


def numbers_of(key: str, tensor: Any) -> Array:
    """Return the numbers of a tensor, in memory; types that NumPy lacks as float32, exactly.

    Raises
    ------
    ValueError
        A tensor that has none, such as a sparse one.
    """
    try:
        if tensor.is_floating_point() and str(tensor.dtype) not in _KNOWN:
            tensor = tensor.float()
        numbers: Array = np.array(tensor.detach().resolve_conj().resolve_neg().numpy())
    except (TypeError, RuntimeError) as error:  # sparse, quantised, without storage
        raise ValueError(
            f"{key or 'the tensor'} has layout {tensor.layout} and type {tensor.dtype}, which "
            "NumPy lacks: save it dense, as float32"
        ) from error
    return numbers


def _is_archive(path: Path) -> bool:
    """Return whether a file is an archive, or of the form before that.

    Raises
    ------
    ValueError
        It is neither.
    """
    with path.open("rb") as stream:
        start = stream.read(len(_OLD))
    if start.startswith(_ZIP):
        return True
    if start != _OLD:
        raise ValueError("it is no file of PyTorch's: save it with torch.save")
    return False


def _refuse_other_archives(path: Path) -> None:
    """Refuse programs, and members that are packed: mapped, they would be read as they are."""
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.filename.endswith("/constants.pkl"):
                raise ValueError("it holds a program (TorchScript): save its tensors instead")
            if member.compress_type:
                raise ValueError("its members are compressed: save it again with torch.save")
            if member.filename.endswith("/data.pkl"):
                refuse_too_large(member.file_size)
                content = archive.read(member)
                if content[:2] != _PROTOCOL:
                    raise ValueError("its pickle protocol is not 2: save it again with torch.save")
                refuse_monsters(BytesIO(content))


for _ending in ENDINGS:
    READERS.register(
        Reader(_ending, read_torch, "tensors by name, or one alone (extra `backends`)", keyed=True)
    )
