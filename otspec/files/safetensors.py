"""Tensors in the format of Hugging Face, which needs the package safetensors."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otspec._base import Array, needed
from otspec.files import base

_NUMBERS = re.compile(r"F(16|32|64)|[IU](8|16|32|64)|C64")
"""Types that NumPy has, beside ``BOOL``: a letter of NumPy's, and bits."""
_SPELLED = {"BF16": "bfloat16 (BF16)"}


@dataclass(frozen=True)
class SafetensorsArray(base.StoredArray):
    """A tensor of a .safetensors file."""

    def _read(self, slices: list[base.Slices]) -> Iterator[Array]:
        try:
            with _opened(self.path) as tensors:
                part = tensors.get_slice(self.key)
                for each in slices:
                    yield part[*each, slice(None)]
        except (ValueError, OSError) as error:
            raise ValueError(f"cannot read {self.path}: {error}") from error


def read_safetensors(path: Path, keys: tuple[str, ...]) -> base.Named:
    """Read the tensors of a .safetensors file."""
    with _opened(path) as tensors:
        names = base.selected(tensors.keys(), keys)
        for key in names:
            _locate(path, key, tensors)
        return {key: tensors.get_tensor(key) for key in names}


def locate_safetensors(path: Path) -> base.Located:
    """Find the tensors of a .safetensors file."""
    with _opened(path) as tensors:
        return base.located(tensors.keys(), lambda key: _locate(path, key, tensors))


@contextmanager
def _opened(path: str | Path) -> Iterator[Any]:
    """Give the tensors of a file; what the package raises becomes a ``ValueError``."""
    package = needed("safetensors", "reading .safetensors", "traces")
    try:
        with package.safe_open(path, framework="numpy") as tensors:
            yield tensors
    except package.SafetensorError as error:
        raise ValueError(f"{error}: save it again with safetensors") from error


def _locate(path: Path, key: str, tensors: Any) -> SafetensorsArray:
    """Find a tensor by the header; refuse a type that NumPy does not have."""
    part = tensors.get_slice(key)
    name = part.get_dtype()
    if name == "BOOL":
        dtype = "|b1"
    elif _NUMBERS.fullmatch(name):
        dtype = f"<{name[0].lower()}{int(name[1:]) // 8}"
    else:
        raise ValueError(
            f"{key} has type {_SPELLED.get(name, name)} which NumPy lacks: it must be stored as "
            "float32 or float16"
        )
    return SafetensorsArray(str(path), key, tuple(part.get_shape()), dtype)


_HOLDS = "tensors by name (extra `traces`)"
base.FORMATS.register(
    base.Format(".safetensors", read_safetensors, locate_safetensors, _HOLDS, named=True)
)
