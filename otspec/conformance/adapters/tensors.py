"""Arrays of a verifier as the tensors that an engine takes, and back."""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from otspec._base.arithmetic import Array, IntArray
from otspec._base.extras import needed

Tensor: TypeAlias = Any  # a tensor of PyTorch, which need not be installed


def torch_itself() -> Any:
    """Return PyTorch."""
    return needed("torch", "an adapter of an engine", "backends")


def tensor_of(values: Any, dtype: str | None = None) -> Tensor:
    """Return a contiguous tensor of an array, of its dtype and on its device if not told."""
    # It shares the memory if it can, so that what an engine writes to it is seen.
    torch = torch_itself()
    if not hasattr(values, "detach"):
        array = np.asarray(values)
        values = torch.from_numpy(array if array.flags.writeable else array.copy())
    return (values if dtype is None else values.to(getattr(torch, dtype))).contiguous()


def logits_of(probabilities: Any) -> Tensor:
    """Return logarithms, minus infinity of 0, in the dtype of the probabilities."""
    given = tensor_of(probabilities)
    return given.double().log().to(given.dtype)


def draw(weights: Tensor, generator: Any = None) -> Tensor:
    """Draw a token for each row of weights, shape (B, V); from PyTorch's state if not told."""
    return torch_itself().multinomial(weights, 1, generator=generator)[:, 0]


def as_array(values: Any) -> Array:
    """Return what an engine returned, on any device, as an array of NumPy."""
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def in_rows(values: Any, rows: int) -> Any:
    """Return tokens or slots of rows, which a call of one row may hand over without its axis."""
    return values.reshape(1, -1) if rows == 1 else values


def padded(rows: Iterable[Any], width: int) -> IntArray:
    """Return rows of emitted tokens as one array, with −1 behind each."""
    read = [as_array(row).reshape(-1) for row in rows]
    found = np.full((len(read), width), -1, dtype=np.int64)
    for row, tokens in enumerate(read):
        if len(tokens) > width:
            raise ValueError(f"row {row} has {len(tokens)} tokens: {width} at most are emitted")
        found[row, : len(tokens)] = tokens
    return found
