"""Tensors as PyTorch saves them, alone or in a dict; of large ones the rows that are asked for."""

import io
import pickle
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from otspec._base import Array, needed, refuse_too_large
from otspec.files import base
from otspec.files.pickled import OTHER_THINGS, refuse_hostile

_ZIP = b"PK\x03\x04"
_OLD = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""What a file begins with that is no archive: a number, pickled."""
_PICKLES = 5
"""So many are in such a file: that number, two about the writer, the tensors and their storages."""
_KNOWN = ("torch.float16", "torch.float32", "torch.float64")
"""Types of floats that NumPy has; the others are parts of float32."""


def read_torch(path: Path, keys: tuple[str, ...]) -> base.Named:
    """Read the tensors of a file that ``torch.save`` wrote."""
    tensors = tensors_of(path)
    names = base.selected(tensors, () if "" in tensors else keys)  # the caller tells of one alone
    chosen = {key: tensors[key] for key in names}
    refuse_too_large(sum(tensor.numel() * tensor.element_size() for tensor in chosen.values()))
    if _is_archive(path):
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
        if damaged is not None:
            raise ValueError(f"the checksum of {damaged} is another: was writing interrupted?")
    return {key: numbers_of(key, tensor) for key, tensor in chosen.items()}


@dataclass(frozen=True)
class TorchArray(base.StoredArray):
    """A tensor of a file that ``torch.save`` wrote."""

    def _read(self, slices: list[base.Slices]) -> Iterator[Array]:
        # Opened anew for every chunk: pages that were read count as memory of the process.
        with base.named_errors(Path(self.path)):
            tensor = tensors_of(Path(self.path)).get(self.key)
            if tensor is None or tuple(tensor.shape) != self.shape:
                raise ValueError(f"{self.key} of shape {self.shape} is not there any more")
            for each in slices:
                yield numbers_of(self.key, tensor[each])


def locate_torch(path: Path) -> base.Located:
    """Find the tensors of a file of PyTorch's."""
    tensors = tensors_of(path)

    def locate(key: str) -> TorchArray:
        # That of no numbers tells the type that rows have.
        dtype = numbers_of(key, tensors[key].flatten()[:0]).dtype.str
        return TorchArray(str(path), key, tuple(tensors[key].shape), dtype)

    return base.located(tensors, locate)


def tensors_of(path: Path) -> dict[str, Any]:
    """Return the tensors of a file by name, mapped from it where it is an archive."""
    # A tensor alone has the empty name. What else a dict holds is left out.
    torch = needed("torch", f"reading {path.suffix}", "backends")
    archived = _is_archive(path)
    if archived:
        _refuse_other_archives(path)
    _refuse_hostile_pickles(torch, path, archived)
    try:
        content = torch.load(path, map_location="cpu", weights_only=True, mmap=archived)
    except pickle.UnpicklingError as error:
        raise ValueError(OTHER_THINGS) from error
    except Exception as error:  # whatever a damaged file makes of it
        raise ValueError(f"torch cannot load it ({_first_line(error)}): save it again") from error
    if isinstance(content, torch.Tensor):
        return {"": content}
    if not isinstance(content, dict):
        raise ValueError(OTHER_THINGS)
    return base.once(
        (key, value)
        for key, value in content.items()
        if isinstance(key, str) and isinstance(value, torch.Tensor)
    )


def _refuse_hostile_pickles(torch: Any, path: Path, archived: bool) -> None:
    """Refuse pickles that :func:`refuse_hostile` does, found by what loads them afterwards."""
    if not archived:
        with path.open("rb") as stream:
            refuse_hostile(stream, _PICKLES)
        return
    try:
        reader = torch._C.PyTorchFileReader(str(path))  # noqa: SLF001  what torch.load reads with
        pickled = reader.get_record("data.pkl")
    except RuntimeError as error:
        raise ValueError(f"torch cannot load it ({_first_line(error)}): save it again") from error
    refuse_hostile(io.BytesIO(pickled))


def numbers_of(key: str, tensor: Any) -> Array:
    """Return the numbers of a tensor, in memory; types that NumPy lacks as float32, exactly."""
    try:
        if tensor.is_floating_point() and str(tensor.dtype) not in _KNOWN:
            tensor = tensor.float()
        numbers: Array = np.array(tensor.detach().resolve_conj().resolve_neg().numpy())
    except (TypeError, RuntimeError) as error:  # sparse, quantized, without storage
        raise ValueError(
            f"{key or 'the tensor'} has layout {tensor.layout} and type {tensor.dtype}, which "
            "NumPy lacks: save it dense, as float32"
        ) from error
    return numbers


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _is_archive(path: Path) -> bool:
    """Return whether a file is an archive, or of the form before that."""
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


_HOLDS = "tensors by name, or one alone (extra `backends`)"
for _ending in (".pt", ".pth"):
    base.FORMATS.register(base.Format(_ending, read_torch, locate_torch, _HOLDS, named=True))
