"""Traces in .safetensors files, of which only the rows that are asked for are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from otspec._base.arithmetic import Array
from otspec._base.extras import needed
from otspec.traces.readers.boxes import Box
from otspec.traces.readers.contract import FORMATS, StoredArray, TraceFormat, located


@dataclass(frozen=True)
class SafetensorsArray(StoredArray):
    """A tensor of a .safetensors file."""

    def _read(self, boxes: list[Box]) -> Iterator[Array]:
        package = needed("safetensors", "it", "traces")
        try:
            with package.safe_open(self.path, framework="numpy") as tensors:
                part = tensors.get_slice(self.key)
                for box in boxes:
                    yield part[*box, slice(None)]
        except (package.SafetensorError, OSError) as error:
            raise ValueError(f"cannot read {self.path}: {error}") from error


def locate_safetensors(path: Path) -> dict[str, StoredArray]:
    """Find the tensors of a .safetensors file.

    Raises
    ------
    ValueError
        A missing package, a malformed file, or a type that NumPy does not have.
    """
    package = needed("safetensors", "it", "traces")
    try:
        with package.safe_open(path, framework="numpy") as tensors:
            parts = {key: tensors.get_slice(key) for key in tensors.keys()}  # noqa: SIM118
            return located(
                parts,
                lambda key: SafetensorsArray(
                    str(path),
                    key,
                    tuple(parts[key].get_shape()),
                    _dtype_of(key, parts[key].get_dtype()),
                ),
            )
    except package.SafetensorError as error:
        raise ValueError(str(error)) from error


def _dtype_of(key: str, name: str) -> str:
    kinds = {"F": "<f", "I": "<i", "U": "<u"}
    if name == "BF16" or name.startswith("F8"):
        raise ValueError(f"{key} has type {name}, which NumPy lacks: store it as F16 or F32")
    if name == "BOOL" or name[0] not in kinds or not name[1:].isdigit():
        return "|b1" if name == "BOOL" else "|V1"
    return f"{kinds[name[0]]}{int(name[1:]) // 8}"


FORMATS.register(TraceFormat(".safetensors", locate_safetensors))
