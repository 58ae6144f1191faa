"""Tensors in the format of Hugging Face, which needs the package safetensors."""

from __future__ import annotations

from pathlib import Path

from otspec._base.extras import needed
from otspec.files.contract import READERS, Named, Reader, selected


def read_safetensors(path: Path, keys: tuple[str, ...]) -> Named:
    """Read the tensors of a .safetensors file.

    Raises
    ------
    ValueError
        A missing package, a malformed file, or a type that NumPy does not have.
    """
    package = needed("safetensors", "reading .safetensors", "traces")
    try:
        with package.safe_open(path, framework="numpy") as tensors:
            names = selected(tensors.keys(), keys)
            arrays = {key: tensors.get_tensor(key) for key in names}
        for key, array in arrays.items():
            if array.dtype.kind == "V":  # a type that another package taught NumPy
                raise TypeError(f"{key} has type {array.dtype}")
        return arrays
    except (package.SafetensorError, TypeError, AttributeError) as error:
        # The last two: a dtype such as bfloat16, which NumPy does not have.
        raise ValueError(f"{error} (a type such as bfloat16 must be stored as float32)") from error


READERS.register(
    Reader(".safetensors", read_safetensors, "tensors by name (extra `traces`)", keyed=True)
)
