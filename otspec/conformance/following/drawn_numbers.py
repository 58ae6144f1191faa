"""Random numbers as they are drawn: uniform, exponential and Gumbel ones."""

from __future__ import annotations

from otspec.chance import Branch
from otspec.conformance.following.symbols import RandomNumber
from otspec.conformance.following.uniform import Uniform


def uniform_number(chance: Branch) -> RandomNumber:
    """Return a number drawn uniformly between 0 and 1."""
    return RandomNumber(Uniform(chance))


def exponential_number(chance: Branch) -> RandomNumber:
    """Return a standard exponential number."""
    return RandomNumber(Uniform(chance), clock=True)


def gumbel_number(chance: Branch) -> RandomNumber:
    """Return a standard Gumbel number: minus the logarithm of an exponential one."""
    return RandomNumber(Uniform(chance), clock=True, factor=-1, power=0)
