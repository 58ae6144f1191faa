"""The checks around what a rule is asked: drafts and generators are looked at before it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from otspec.arguments import as_generator
from otspec.arithmetic import Array
from otspec.drafts.contract import as_drafts

if TYPE_CHECKING:
    from otspec.rules.contract import Rule

Sampler: TypeAlias = Callable[..., tuple[int, bool]]


def checking_drafts(method: Callable[..., Array]) -> Callable[..., Array]:
    """Return a kernel that checks the drafts that it is given."""

    @wraps(method)
    def checked(self: Rule, x: Sequence[int]) -> Array:
        return method(self, as_drafts(x, self.law))

    return checked


def checking_all(method: Sampler) -> Sampler:
    """Return a sampler that checks the drafts and the generator that it is given."""

    @wraps(method)
    def checked(self: Rule, x: Sequence[int], rng: np.random.Generator) -> tuple[int, bool]:
        return method(self, as_drafts(x, self.law), as_generator(rng))

    return checked
