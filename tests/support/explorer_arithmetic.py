"""The explorer's arithmetic, evaluated as a page evaluates it: scripts, one after the other."""

from __future__ import annotations

import atexit
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import otspec
from otspec.drafts.single import LAWS, SingleDraftLaw

CLOSE = 1e-9
"""Both sides add up at most 64 numbers (3,000 in one test), each a product of at most 16 masses, or
a quadrature of error 1e-13: they are within 1e-11 of the truth. A wrong formula is off by more."""
LAW_CLASSES: dict[str, type[SingleDraftLaw]] = {**LAWS, "two-hubs": otspec.TwoHubs}
FOLDER = Path(__file__).parents[2] / "docs" / "_static" / "explorer" / "arithmetic"


@cache
def _context() -> Any:
    """Return a machine that has read all scripts: made once in a process, which takes longest."""
    engine = pytest.importorskip(
        "py_mini_racer", reason="mini-racer is not installed: the JavaScript cannot be run"
    )
    context = engine.MiniRacer()
    # Its thread must not outlive the interpreter, which would wait for it for ever.
    atexit.register(context.close)
    for script in sorted(FOLDER.glob("*.js")):
        context.eval(script.read_text(encoding="utf-8"))
    return context


def evaluated(function: str, argument: object) -> Any:
    """Return what a function of JavaScript gives for an argument: both go through JSON.

    ``a`` is the arithmetic. Infinite numbers come back as ``"Infinity"``, since JSON has none.
    """
    given = json.dumps(argument, allow_nan=False)
    infinite = "(key, value) => (value === Infinity ? 'Infinity' : value)"
    call = f"JSON.stringify(({function})({given}), {infinite})"
    return json.loads(
        _context().eval(f"(() => {{ const a = otspec.arithmetic; return {call}; }})()")
    )


def apart(found: Sequence[float], wanted: Any) -> float:
    """Return by how much numbers differ at most."""
    difference = np.abs(np.asarray(found, dtype=float) - np.asarray(wanted, dtype=float))
    return float(difference.max(initial=0.0))
