"""The functions of the array API standard that the kernels take, as PyTorch has them.

PyTorch's own wherever it takes the standard's arguments: a layer that makes any call right costs
more than most operations on a row. The others take what the kernels give: one axis, indices from 0.
"""

from typing import TypeAlias

import torch

Flag: TypeAlias = bool

float32, float64 = torch.float32, torch.float64
int8, int32, int64 = torch.int8, torch.int32, torch.int64
bool = torch.bool  # noqa: A001 # here and below the standard's names
finfo = torch.finfo

arange, full, full_like = torch.arange, torch.full, torch.full_like
ones_like, zeros_like, empty_like = torch.ones_like, torch.zeros_like, torch.empty_like
concat, stack, reshape, where = torch.concat, torch.stack, torch.reshape, torch.where
broadcast_to = torch.broadcast_to
clip, floor, minimum, maximum = torch.clip, torch.floor, torch.minimum, torch.maximum
exp, expm1, log, log1p = torch.exp, torch.expm1, torch.log, torch.log1p
abs, all, any, sum = torch.abs, torch.all, torch.any, torch.sum  # noqa: A001
max, min = torch.amax, torch.amin  # noqa: A001
argmax, argmin = torch.argmax, torch.argmin
cumulative_sum = torch.cumsum


def astype(values: torch.Tensor, dtype: torch.dtype, /, *, copy: Flag = True) -> torch.Tensor:
    """Return a tensor in a dtype."""
    return values.to(dtype, copy=copy)


def take(values: torch.Tensor, index: torch.Tensor, /, *, axis: int) -> torch.Tensor:
    """Return the slices at some indices of an axis."""
    return torch.index_select(values, axis, index)


def take_along_axis(
    values: torch.Tensor, index: torch.Tensor, /, *, axis: int = -1
) -> torch.Tensor:
    """Return the entries at indices along an axis; all other axes are the same."""
    # Not take_along_dim, which makes a number of rows a constant of what is compiled.
    return torch.gather(values, axis, index)


def argsort(
    values: torch.Tensor, /, *, axis: int, descending: Flag = False, stable: Flag = True
) -> torch.Tensor:
    """Return the order of the entries along an axis; of equal ones the first comes first."""
    return torch.argsort(values, dim=axis, descending=descending, stable=stable)


def sort(values: torch.Tensor, /, *, axis: int, stable: Flag = True) -> torch.Tensor:
    """Return the entries in ascending order."""
    return torch.sort(values, dim=axis, stable=stable).values


def flip(values: torch.Tensor, /, *, axis: int) -> torch.Tensor:
    """Return the entries in reverse order."""
    return torch.flip(values, (axis,))
