"""Which calls are one operation of a graph that PyTorch compiles: those that go row by row outside.

What is asked of tensors here :mod:`otspec.batch._dispatch` asks of arrays in memory. PyTorch looks
before each call of a compiled function at all that was looked at when its graph was made. So
nothing more is done on the way to an operation, which checks the arguments itself.
"""

from __future__ import annotations

from typing import Any

from otspec.batch import _dispatch
from otspec.batch._array_api.library import Array, is_torch


def is_one_operation(draft: Array, target: Array, *, places: bool = False) -> bool:
    """Return whether a call of a rule is one operation; what does not fit goes by arrays."""
    return (
        _is_compiled(draft)
        and _fits(draft, places)
        and _fits(target, places)
        and _dispatch.ROWS
        and _dispatch.has_numba()
    )


def _fits(rows: Array, places: bool) -> bool:
    """Return whether these are plain rows that lie one after another, or can be copied so."""
    import torch  # it is there already

    return (
        type(rows) in (torch.Tensor, torch.nn.Parameter)
        and rows.device.type == "cpu"
        and rows.dtype in (torch.float32, torch.float64)
        and (rows.is_contiguous() or not (places or 0 in rows.stride()))
    )


def _is_compiled(rows: Array) -> bool:
    """Return whether PyTorch makes a graph of a call for these rows."""
    if not is_torch(rows):
        return False
    import torch

    return bool(torch.compiler.is_compiling())


def operation(name: str) -> Any:
    """Return what is one operation of a graph."""
    from otspec.batch import _whole  # it imports PyTorch

    return _whole.OPERATIONS[name]
