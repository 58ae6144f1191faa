"""Traces in files of PyTorch's, mapped: only the rows that are asked for are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otspec._base.arithmetic import Array
from otspec.files import named_errors
from otspec.files.torch import ENDINGS, numbers_of, tensors_of
from otspec.traces.readers.boxes import Box
from otspec.traces.readers.contract import FORMATS, StoredArray, TraceFormat, located


@dataclass(frozen=True)
class TorchArray(StoredArray):
    """A tensor of a file that ``torch.save`` wrote."""

    def _read(self, boxes: list[Box]) -> Iterator[Array]:
        # Opened anew for every chunk: pages that were read count as memory of the process.
        with named_errors(Path(self.path)):
            tensor = tensors_of(Path(self.path)).get(self.key)
            if tensor is None or tuple(tensor.shape) != self.shape:
                raise ValueError(f"{self.key} of shape {self.shape} is not there any more")
            for box in boxes:
                yield numbers_of(self.key, tensor[box])


def locate_torch(path: Path) -> dict[str, StoredArray]:
    """Find the tensors of a file of PyTorch's.

    Raises
    ------
    ValueError
        As :func:`otspec.files.torch.tensors_of`.
    """
    tensors = tensors_of(path)
    return located(
        tensors,
        lambda key: TorchArray(
            str(path), key, tuple(tensors[key].shape), _dtype_of(key, tensors[key])
        ),
    )


def _dtype_of(key: str, tensor: Any) -> str:
    """Return the type that rows have, which that of no numbers tells."""
    return numbers_of(key, tensor.flatten()[:0]).dtype.str


for _ending in ENDINGS:
    FORMATS.register(TraceFormat(_ending, locate_torch))
