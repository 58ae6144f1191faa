"""Fused kernels for rows on a GPU, in Triton; what they do not take, the array operations do."""

from __future__ import annotations

import os
import warnings
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

SWITCH = "OTSPEC_TRITON"
"""The environment variable: ``0`` for no kernels, ``interpreter`` for rows on a CPU, too."""
OLDEST = 8  # the compute capability from which on Triton supports NVIDIA's devices

_KINDS = {"0": set[str](), "interpreter": {"cuda", "cpu"}}
on = _KINDS.get(os.environ.get(SWITCH, ""), {"cuda"})
"""The kinds of devices whose rows the kernels are used for; a kind may be taken out at any time."""


@cache
def kernels_on(device: Any) -> ModuleType | None:
    """Return what starts the kernels on a device of PyTorch; None where there are none."""
    if why_not(device):
        return None
    try:
        return import_module("otspec.batch._triton.launches")
    except Exception as error:  # whatever is wrong with Triton, arrays do
        warn_of(error, device)
        return None


def warn_of(error: Exception, device: Any) -> None:
    """Tell that Triton is there and cannot be used."""
    warnings.warn(
        f"Triton cannot start kernels on {device} ({error}): batch rules go through array "
        f"operations there; set {SWITCH}=0 to leave Triton alone",
        RuntimeWarning,
        stacklevel=2,
    )


def why_not(device: Any) -> str | None:
    """Return why there are no kernels on a device of PyTorch; None if there are."""
    import torch

    if device.type not in on:
        return f"they are switched off by {SWITCH}" if device.type == "cuda" else "no GPU"
    if find_spec("triton") is None:
        return "Triton is not installed"
    if device.type == "cuda" and not torch.version.hip:
        found = torch.cuda.get_device_capability(device)
        if found[0] < OLDEST:
            return f"the device's compute capability is {found[0]}.{found[1]}, below {OLDEST}.0"
    return None
