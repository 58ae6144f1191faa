"""Numbers of all texts of up to L tokens: an array for each length, in lexicographic order."""

from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from otspec._base.arithmetic import Array, zeros
from otspec.distributions import as_distribution, check_alike
from otspec.models.base import LanguageModel, Prefix

Levels: TypeAlias = tuple[Array, ...]
"""Entry ℓ, shape (n**ℓ,), has a number for each text of ℓ tokens, from the empty text on."""
Marks: TypeAlias = tuple[npt.NDArray[np.bool_], ...]
"""The same of truth values: some of the texts."""


def text_masses(model: LanguageModel, length: int, name: str) -> Levels:
    """Return the probabilities of all texts of up to so many tokens.

    ``model``: prefix → distribution. ``name``: what error messages call the model.
    """
    start = as_distribution(model(()), f"{name}()")
    n = len(start)
    levels = [zeros(1, like=start) + 1, start]
    for depth in range(1, length):
        extended = zeros(n ** (depth + 1), like=start)
        for number, prefix in enumerate(np.ndindex(*(n,) * depth)):
            following = as_distribution(model(prefix), f"{name}{prefix}")
            check_alike(f"{name}()", start, f"{name}{prefix}", following)
            extended[number * n : (number + 1) * n] = levels[-1][number] * following
        levels.append(extended)
    return tuple(levels)


def place_of(text: Prefix, n: int) -> int:
    """Return the number of a text among those of its length."""
    place = 0
    for token in text:
        place = place * n + token
    return place


def text_at(place: int, length: int, n: int) -> Prefix:
    """Return the text of a length with a number, see :func:`place_of`."""
    tokens: list[int] = []
    for _ in range(length):
        place, token = divmod(place, n)
        tokens.append(token)
    return tuple(reversed(tokens))


def summed_below(levels: Levels, n: int) -> Levels:
    """Return the sum of each text's number and those of all texts that go on from it."""
    summed = [levels[-1]]
    for level in levels[-2::-1]:
        summed.append(level + summed[-1].reshape(-1, n).sum(axis=1))
    return tuple(reversed(summed))


def differences(levels: Levels, n: int) -> Levels:
    """Return each text's number less those of the texts one token longer: the inverse of sums."""
    shorter = pairwise(levels)
    less = [level - longer.reshape(-1, n).sum(axis=1) for level, longer in shorter]
    return (*less, levels[-1])


def highest_so_far(levels: Levels, n: int) -> Levels:
    """Return the largest number of each text and its beginnings; of marks, whether one is."""
    highest = [levels[0]]
    for level in levels[1:]:
        highest.append(np.maximum(level, np.repeat(highest[-1], n)))
    return tuple(highest)


def shortest(marks: Marks, n: int) -> Marks:
    """Return the marked texts of which no beginning is marked."""
    before = np.zeros(1, dtype=bool)
    found = []
    for level in marks:
        found.append(level & ~before)
        before = np.repeat(level | before, n)
    return tuple(found)


def added_up(levels: Levels, n: int) -> Levels:
    """Return the sum of the numbers of each text and its beginnings."""
    sums = [levels[0]]
    for level in levels[1:]:
        sums.append(level + np.repeat(sums[-1], n))
    return tuple(sums)
