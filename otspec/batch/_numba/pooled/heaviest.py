"""The heaviest tokens of a row, and the masses of the others, without a sort of the vocabulary."""

import numpy as np

from otspec.batch._array_api.library import BLOCK
from otspec.batch._numba.compiled import greater, inner_code, machine_code, plus
from otspec.batch._numba.passes import (
    Units,
    added,
    sum_without,
)

DRAFTED, WANTED = 0, 1
"""The rows of ``heavy``: the draft's and the target's probability of each heavy token."""
_FEW = 32  # how many tokens are looked at together, before one after the other


@machine_code
def read_heavy(draft, target, units: Units, sums, heavy) -> tuple[float, float]:
    """Write the tokens that are heavier than the one after the heaviest; return that, and the rest.

    That is the border of the light tokens, the rest their mass.
    """
    highest, number, real = np.empty(sums.size), heavy.shape[1], draft.dtype.type
    masses, tokens = np.empty(number + 1), np.empty(number + 1, np.int64)
    unit, its, light = real(units[0]), real(units[1]), 0.0
    for block in range(highest.size):
        here, total = draft[block * BLOCK : (block + 1) * BLOCK], real(0)
        most = here[0]
        for i in range(here.size):
            total, most = plus(total, unit * here[i]), greater(most, here[i])
        sums[block], highest[block] = total, unit * most
    _take_heaviest(draft, unit, highest, masses, tokens)
    border = max(masses[number], 0.0)
    for block in range(highest.size):
        if highest[block] <= border:
            light += sums[block]
        else:
            light += _sum_up_to(draft[block * BLOCK : (block + 1) * BLOCK], unit, border)
    for i in range(number):
        is_heavy = masses[i] > border
        heavy[DRAFTED, i] = masses[i] if is_heavy else 0.0
        heavy[WANTED, i] = its * target[tokens[i]] if is_heavy else real(0)
    return border, light


@inner_code
def read_lefts(draft, unit: float, drafts, valid, sums, lefts) -> None:
    """Write the draft mass off the first drafts, for each number of them, (k + 1)."""
    # The block of a draft is added up anew, without all of them; `sums`, the block sums of the
    # draft, are changed.
    lefts[0] = added(sums)
    for i in range(drafts.size):
        if valid[i]:
            block = drafts[i] // BLOCK
            sums[block] = sum_without(draft, unit, drafts[: i + 1], block)
        lefts[i + 1] = added(sums)


@inner_code
def _sum_up_to(draft, unit: float, border: float) -> float:
    """Return the mass of the tokens of a block that are not above a border, summed in float64."""
    unit_, total = draft.dtype.type(unit), 0.0
    for i in range(draft.size):
        mass = np.float64(unit_ * draft[i])
        total = plus(total, mass if mass <= border else 0.0)
    return total


@inner_code
def _largest(draft, unit: float) -> float:
    """Return the largest mass of a block."""
    most = draft[0]
    for i in range(1, draft.size):
        most = greater(most, draft[i])
    return np.float64(draft.dtype.type(unit) * most)


@inner_code
def _take_heaviest(draft, unit: float, highest, masses, tokens) -> None:
    """Write as many of the heaviest tokens as there is room for, and their masses; else −1."""
    least = _bound_of(highest, masses.size)
    for i in range(masses.size):
        masses[i] = -1.0
    for block in range(highest.size):
        if highest[block] >= least:
            _take_from(draft, unit, block, least, masses, tokens)


@inner_code
def _bound_of(masses, number: int) -> float:
    """Return a bound that at least so many masses reach, and hardly more; 0 if there are fewer."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle, reach = (low + high) / 2, 0
        for i in range(masses.size):
            reach += masses[i] >= middle
        if reach < number:
            high = middle
        else:
            low = middle
            if reach <= number + number // 8:
                break
    return low


@inner_code
def _take_from(draft, unit: float, block: int, least: float, masses, tokens) -> None:
    """Put the tokens of a block among the heaviest ones, if they are heavy enough."""
    end = min((block + 1) * BLOCK, draft.size)
    for start in range(block * BLOCK, end, _FEW):
        stop = min(start + _FEW, end)
        if _largest(draft[start:stop], unit) >= least:
            for token in range(start, stop):
                mass = np.float64(draft.dtype.type(unit) * draft[token])
                if mass >= least:
                    _insert(masses, tokens, mass, token)


@inner_code
def _insert(masses, tokens, mass: float, token: int) -> None:
    """Put a token among the heaviest ones, in descending order."""
    place = masses.size
    while place > 0 and masses[place - 1] < mass:
        place -= 1
        if place + 1 < masses.size:
            masses[place + 1], tokens[place + 1] = masses[place], tokens[place]
    if place < masses.size:
        masses[place], tokens[place] = mass, token
