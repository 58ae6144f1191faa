"""What the rows of the table of hostile calls are made of: valid examples, by argument."""

from functools import cache
from inspect import signature
from typing import NamedTuple

import numpy as np

import otspec
from otspec import blocks, rules, traces

DRAFT, TARGET = [0.5, 0.3, 0.2], [0.1, 0.6, 0.3]
EXACT, WANTED = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]


class Row(NamedTuple):
    """How one callable is called."""

    call: object
    """Takes the arguments by name."""
    arguments: dict
    """name -> (kind, valid example or function that makes one)."""
    fixed: dict = {}  # noqa: RUF012
    """Arguments that stay as they are."""

    def takes(self):
        """The names of all arguments that the callable says that it takes."""
        return {*self.arguments, *self.fixed, *signature(self.call).parameters}


@cache
def iid():
    return otspec.IID(DRAFT, 2)


@cache
def exact_law():
    return otspec.IID(EXACT, 2)


def rng():
    return np.random.default_rng(0)


@cache
def models():
    return otspec.models.memoryless(DRAFT), otspec.models.memoryless(TARGET)


@cache
def small():
    return otspec.models.memoryless(["1/2", "1/2"]), otspec.models.memoryless(["1/4", "3/4"])


@cache
def logged():
    return otspec.logged.LoggedBlock([DRAFT, DRAFT], [TARGET, TARGET], [0, 1])


@cache
def selection():
    return blocks.DraftSelection(*small(), "2x1", rules.RecursiveRejection)


@cache
def trace():
    logits = np.log(np.array([[DRAFT, DRAFT]]))
    return traces.Trace(logits, logits + 0.0, np.array([[0]]))


def method(make, name):
    """Return a call of a method of an object, which no call can change."""
    made = cache(make)

    def call(**arguments):
        return getattr(made(), name)(**arguments)

    return call


def positional(make, name):
    """Return the same where the arguments have no names that can be passed."""
    made = cache(make)
    return lambda **arguments: getattr(made(), name)(*arguments.values())


PAIR = {"draft": ("distribution", DRAFT), "target": ("distribution", TARGET)}
NORMALIZE = {"normalize": ("flag", False)}
K = {"k": ("count", 2)}
LAW = {"law": ("object", iid), "target": ("distribution", TARGET)}
LAW_TARGET = {**LAW, **NORMALIZE}
TOKENS = ("tokens", [0, 1])
SIZE, SEED = ("natural", 3), ("natural", 0)
RNG = ("object", rng)
MODELS = {"draft": ("callable", lambda: models()[0]), "target": ("callable", lambda: models()[1])}
SMALL = {"draft": ("callable", lambda: small()[0]), "target": ("callable", lambda: small()[1])}
