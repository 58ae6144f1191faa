"""What an object says, which arrays are in it, and a caller who changes what it passed."""

from __future__ import annotations

import inspect
from enum import Enum
from fractions import Fraction
from functools import cached_property
from itertools import islice

import numpy as np
import pytest
from scipy import sparse

import otspec
from otspec.batch import Verified, VerifiedBlock
from otspec.blocks import BlockVerificationPreprint
from otspec.rules.base.rule import CountedLaw

OPEN = (CountedLaw, Verified, VerifiedBlock)
"""Tuples of arrays, which belong to whoever gets them."""


class Give:
    """A caller who keeps what it passes, and may change it later."""

    def __init__(self, exact, how):
        self.exact, self.how, self.kept = exact, how, []

    def number(self, value):
        if isinstance(value, float):  # infinite bounds are floats in both arithmetics
            return value
        return Fraction(value) if self.exact else float(Fraction(value))

    def __call__(self, values):
        array = np.array(values)
        if array.dtype.kind not in "bif":
            array = np.array([self.number(value) for value in array.ravel().tolist()]
                             ).reshape(array.shape)  # fmt: skip
        self.kept.append(array)
        if self.how == "flagged":
            array.flags.writeable = False
        if self.how == "view":
            array = array.view()
            array.flags.writeable = False
        return array

    def sequence(self, items):
        self.kept.append(list(items))
        return self.kept[-1]

    def mapping(self, items):
        self.kept.append(dict(items))
        return self.kept[-1]

    def change_all(self):
        for thing in self.kept:
            if isinstance(thing, np.ndarray):
                thing.flags.writeable = True
                thing[...] = thing.ravel()[::-1].reshape(thing.shape) * 7
            else:
                thing.clear()


def arguments(thing):
    """Return values for the arguments of public methods, by name."""
    k, n = getattr(thing, "k", 2), getattr(thing, "n", 3)
    if not isinstance(k, int):
        k = 2
    values = {
        "rng": np.random.default_rng(1),
        "size": 4,
        "i": 0,
        "tokens": [0],
        "prompt": 1,
        "prefix": (0,),
        "block": (0, 1),
        "head": (0,),
        "length": 2,
        "k": 2,
        "node": 0,
        "rule": BlockVerificationPreprint,
        "order": np.arange(n if isinstance(n, int) else 3),
    }
    law = getattr(thing, "law", None)
    if isinstance(law, otspec.DraftLaw):
        values["x"] = (0, 1, 2)[: law.k] if law.k > 1 else (1,)
    return values | ({"k": k} if hasattr(thing, "paths") else {})


def answers(thing):
    """Return every public attribute, and what every public method says where it can be asked."""
    said, number = {}, isinstance(thing, float)
    for name in dir(thing):
        if name[0] == "_" or name == "locate" or hasattr(float if number else tuple, name):
            continue
        answer = getattr(thing, name)
        if inspect.isroutine(answer):
            parameters = inspect.signature(answer).parameters.values()
            known = arguments(thing)
            wanted = [it.name for it in parameters if it.default is it.empty]
            if not set(wanted) <= set(known) or name.startswith("estimate"):
                continue
            try:
                answer = answer(**{name: known[name] for name in wanted})
                answer = list(islice(answer, 20)) if inspect.isgenerator(answer) else answer
            except (ValueError, OSError) as error:
                answer = str(error)
        said[name] = answer
    if callable(thing) and hasattr(thing, "context"):
        said["()"] = [thing(prefix) for prefix in ((), (0,), (0, 1)) if said["n"] > 1
                      and not hasattr(thing, "_tokens")]  # fmt: skip
    if isinstance(thing, (tuple, float, otspec.solvers.Names)):
        said["itself"] = float(thing) if number else list(thing)
    assert said, type(thing)
    return said


def contents(value):
    """Return what an object holds: the parts of containers, the attributes of an object."""
    if isinstance(value, dict):
        return dict(value)
    if isinstance(value, (tuple, list)):
        return dict(enumerate(value))
    if type(value).__module__.startswith("otspec") and not isinstance(value, (Enum, type)):
        held = getattr(value, "__dict__", {})
        return {
            name: item
            for name, item in held.items()
            if not isinstance(getattr(type(value), name, None), cached_property)
            and name != "locate"
        }
    return None


def plain(value):
    """Return a value that can be compared with ==: numbers, texts and containers."""
    if sparse.issparse(value):
        return plain(value.toarray())
    if isinstance(value, np.ndarray):
        return "array", value.dtype, value.shape, repr(value.tolist())
    held = contents(value)
    if held is not None:
        number = float(value) if isinstance(value, float) else None
        return type(value), number, {key: plain(item) for key, item in held.items()}
    return repr(value) if isinstance(value, float) else value


def arrays(value):
    """Yield all arrays in a value, also those in objects and in what they remember."""
    if sparse.issparse(value):
        value = [value.data]
    if isinstance(value, np.ndarray):
        yield value
        return
    if contents(value) is None or isinstance(value, OPEN):
        return
    held = contents(value) if isinstance(value, (dict, tuple, list)) else {}
    for item in (*held.values(), *getattr(value, "__dict__", {}).values()):
        yield from arrays(item)


def try_to_change(thing, said):
    """Write to every array that can be written to, also of what it said.

    Returns how many arrays were seen, and how many could be written to.
    """
    seen = written = 0
    if isinstance(thing, OPEN):
        return seen, written
    for array in arrays([said, thing]):
        seen += 1
        if array.flags.writeable:
            written += 1
            array[...] = 0
        else:
            with pytest.raises(ValueError, match="WRITEABLE"):
                array.flags.writeable = True
    return seen, written
