"""Passes over one row: sums over blocks of 256 tokens in its dtype, and draws by inversion."""

import numpy as np

from otspec.batch._array_api.library import BLOCK, Array
from otspec.batch._numba.compiled import clipped, inner_code, machine_code, plus

AT_ONCE = 1024
"""Tokens whose masses are added up in the dtype of a row: in many numbers, of a few masses each."""
# A part of a row that is handed to a function is counted by Numba, which takes as long as to read
# 300 tokens. So loops over the tokens of a part stand where the part is made.

Units = tuple[float, float]
"""What the numbers of a draft and of a target are multiplied by to be probabilities.

The draft's may have a power of two as a factor: a product with the draft is then in range where a
scale alone is not. Below, x is what the draft's unit makes of it.
"""
Weight = tuple[Units, float, float, float]
"""(units, start, rise, top): target − min(target, start·x + rise·target, top·x)."""
PLAIN: Units = (1.0, 1.0)


@inner_code
def excess(units: Units, scale: float) -> Weight:
    """Return the weight (target − scale·x)₊."""
    return units, scale, 0.0, scale


@inner_code
def both_of(draft, target, units: Units, token: int) -> tuple[float, float]:
    """Return what is drafted and what is wanted of a token, as the sums have it."""
    real = draft.dtype.type
    drafted, wanted = real(units[0]) * draft[token], real(units[1]) * target[token]
    return np.float64(drafted), np.float64(wanted)


@inner_code
def blocks_of(row) -> Array:
    """Return room for block sums of a row."""
    return np.empty((row.size + BLOCK - 1) // BLOCK)


@inner_code
def factor_of(row) -> float:
    """Return the factor where masses are divided by, as :attr:`Library.factor`."""
    return 2.0**512 if row.itemsize == 8 else 2.0**64


@inner_code
def added(sums) -> float:
    """Return the sum of float64 numbers, one after another."""
    total = 0.0
    for i in range(sums.size):
        total += sums[i]
    return total


@inner_code
def sum_of(values, unit: float) -> float:
    """Return the sum of the few numbers of a block times their unit, in their dtype."""
    unit_, total = values.dtype.type(unit), values.dtype.type(0)
    for i in range(values.size):
        total = plus(total, unit_ * values[i])
    return np.float64(total)


@inner_code
def sum_in_blocks(values, unit: float, sums) -> float:
    """Fill in the sums of a row, (V), over blocks, (ceil(V / 256)), and return their sum."""
    total = 0.0
    for block in range(sums.size):
        sums[block] = sum_of(values[block * BLOCK : (block + 1) * BLOCK], unit)
        total += sums[block]
    return total


@inner_code
def overlaps(draft, target, units: Units, scales, sums) -> None:
    """Fill in Σ min(target, scale·x) of a row for each of the scales, in one reading."""
    light_overlaps(draft, target, units, np.inf, 1.0, scales, sums)


@inner_code
def light_overlaps(draft, target, units: Units, border: float, factor: float, scales, sums) -> None:
    """Fill in the same of tokens with x up to a border, times a factor."""
    real = draft.dtype.type
    own, its, most, up = real(units[0]), real(factor * units[1]), real(border), real(factor)
    none = real(0)
    sums[:] = 0.0
    for start in range(0, draft.size, AT_ONCE):
        drafts, targets = draft[start : start + AT_ONCE], target[start : start + AT_ONCE]
        for j in range(0, scales.size, 3):  # to read takes longer than three scales
            at = three_of(j, scales.size)
            one, two, three = real(scales[at[0]]), real(scales[at[1]]), real(scales[at[2]])
            first, second, third = none, none, none
            for i in range(drafts.size):
                mass, wanted = own * drafts[i], its * targets[i]
                drafted = up * (mass if mass <= most else none)
                a, b, c = one * drafted, two * drafted, three * drafted
                first = plus(first, wanted if wanted < a else a)
                second = plus(second, wanted if wanted < b else b)
                third = plus(third, wanted if wanted < c else c)
            add_three(sums, at, (np.float64(first), np.float64(second), np.float64(third)))


@inner_code
def three_of(first: int, size: int) -> tuple[int, int, int]:
    """Return three places of so many, as far as there are as many, from the first one on."""
    return first, min(first + 1, size - 1), min(first + 2, size - 1)


@inner_code
def add_three(sums, at, values) -> None:
    """Add three values where they belong, a place that is there twice once."""
    sums[at[0]] += values[0]
    sums[at[1]] += values[1] if at[1] > at[0] else 0.0
    sums[at[2]] += values[2] if at[2] > at[1] else 0.0


@inner_code
def split(draft, target, scale: float) -> tuple[float, float]:
    """Return the draft's mass of a row where target > scale·draft, and the target's elsewhere."""
    outside, cost = 0.0, 0.0
    for start in range(0, draft.size, BLOCK):
        drafted, wanted = draft[start : start + BLOCK], target[start : start + BLOCK]
        outside += mass_outside(drafted, wanted, scale)
        cost += mass_inside(drafted, wanted, scale)
    return outside, cost


@inner_code
def mass_outside(draft, target, scale: float) -> float:
    """Return the draft's mass of a block where target > scale·draft."""
    real = draft.dtype.type
    scale_, total = real(scale), real(0)
    for i in range(draft.size):  # one sum in a loop, which is what compilers make wide
        total = plus(total, draft[i] * real(target[i] > scale_ * draft[i]))
    return np.float64(total)


@inner_code
def mass_inside(draft, target, scale: float) -> float:
    """Return the target's mass of a block where target ≤ scale·draft."""
    real = draft.dtype.type
    scale_, total = real(scale), real(0)
    for i in range(draft.size):
        total = plus(total, target[i] * real(target[i] <= scale_ * draft[i]))
    return np.float64(total)


@inner_code
def rest_of(draft, target, weight: Weight) -> float:
    """Return what a block of tokens weighs."""
    real = draft.dtype.type
    own, its, total = real(weight[0][0]), real(weight[0][1]), real(0)
    start, rise, top = real(weight[1]), real(weight[2]), real(weight[3])
    for i in range(draft.size):
        scaled, wanted = own * draft[i], its * target[i]
        kept, most = start * scaled + rise * wanted, top * scaled
        kept = kept if kept < most else most
        total = plus(total, wanted - (kept if kept < wanted else wanted))
    return np.float64(total)


@inner_code
def excess_of(draft, target, units: Units, scale: float) -> float:
    """Return Σ (target − scale·x)₊ of a block, as :func:`rest_of` does."""
    real = draft.dtype.type
    own, its, scale_, total = real(units[0]), real(units[1]), real(scale), real(0)
    for i in range(draft.size):
        offered, wanted = scale_ * (own * draft[i]), its * target[i]
        total = plus(total, wanted - (offered if offered < wanted else wanted))
    return np.float64(total)


@machine_code
def rest_in_blocks(draft, target, weight: Weight, sums) -> float:
    """Fill in what the blocks of a row weigh, and return their sum."""
    units, start, rise, top = weight
    for block in range(sums.size):
        here = slice(block * BLOCK, (block + 1) * BLOCK)
        if rise == 0 and start == top:
            sums[block] = excess_of(draft[here], target[here], units, top)
        else:
            sums[block] = rest_of(draft[here], target[here], weight)
    return added(sums)


@inner_code
def mix(keep: float, whole, rest) -> None:
    """Turn block sums of the rest into those of keep · target + (1 − keep) · rest."""
    for block in range(rest.size):
        rest[block] = keep * whole[block] + (1 - keep) * rest[block]


@inner_code
def weights_of(draft, target, weight: Weight, keep: float, excluded, block: int) -> Array:
    """Return what the tokens of a block weigh: keep · target + (1 − keep) · rest, in float64."""
    # An excluded token weighs nothing. Where there are none, `excluded` is an array of its own, no
    # part of the drafts: for read-only arrays all this would be compiled once more.
    real = draft.dtype.type
    own, its, first = real(weight[0][0]), real(weight[0][1]), block * BLOCK
    start, rise, top = real(weight[1]), real(weight[2]), real(weight[3])
    weights = np.empty(min(BLOCK, draft.size - first))
    for i in range(weights.size):
        scaled, wanted = own * draft[first + i], its * target[first + i]
        kept, most = start * scaled + rise * wanted, top * scaled
        kept = kept if kept < most else most
        rest = wanted - (kept if kept < wanted else wanted)
        weights[i] = keep * np.float64(wanted) + (1 - keep) * np.float64(rest)
    for i in range(excluded.size):
        if 0 <= excluded[i] - first < weights.size:
            weights[excluded[i] - first] = 0.0
    return weights


@inner_code
def sum_without(values, unit: float, excluded, block: int) -> float:
    """Return the sum of a block of a row, without some tokens."""
    # Nothing is subtracted: of a token that holds nearly all that would leave nothing but rounding.
    unit_, total, first = values.dtype.type(unit), 0.0, block * BLOCK
    for token in range(first, min(first + BLOCK, values.size)):
        out = False
        for i in range(excluded.size):
            out = out or excluded[i] == token
        total += 0.0 if out else np.float64(unit_ * values[token])
    return total


@inner_code
def locate(weights, uniform: float) -> tuple[int, float]:
    """Return where a uniform number falls among weights, and how far into that, from 0 to 1."""
    # It is an entry of positive weight, if there is one. Shares of the total are compared, not u
    # times the total, which is far from that if both are subnormal.
    total = added(weights)
    most, before = 0, 0.0
    for i in range(weights.size):
        share = (before + weights[i]) / total
        if weights[i] > 0 and share > uniform:
            chosen = weights[i] / total
            left = (uniform - (share - chosen)) / chosen if chosen > 0 else 0.0
            return i, min(max(left, 0.0), 1.0)
        before += weights[i]
        most = i if weights[i] > weights[most] else most
    return most, 1.0


@inner_code
def draw(draft, target, weight: Weight, keep: float, sums, excluded, uniform: float) -> int:
    """Draw a token from keep · target + (1 − keep) · rest by a uniform number; else −1."""
    # `sums` are the block sums of that without the excluded tokens. Where all are 0, which only
    # rounding makes of a draw that is needed, they become the target's, which is drawn from.
    if not added(sums) > 0:
        keep = 1.0
        if not sum_in_blocks(target, weight[0][1], sums) > 0:
            return -1
    block, left = locate(sums, uniform)
    within, _ = locate(weights_of(draft, target, weight, keep, excluded, block), left)
    return block * BLOCK + within


@machine_code
def read_overlaps(draft, target, scales, sums, first: int, last: int) -> None:
    """Write Σ min(target, scale·draft) for some scales of each row, (rows, m) each."""
    for row in range(draft.shape[0]):
        own = scales[row, first:last]
        overlaps(draft[row], target[row], PLAIN, own, sums[row, first:last])


@inner_code
def draw_rest(draft, target, weight: Weight, uniform: float) -> int:
    """Draw a token from a weight by a uniform number."""
    sums, none = blocks_of(draft), np.empty(0, np.int64)
    rest_in_blocks(draft, target, weight, sums)
    return draw(draft, target, weight, 0.0, sums, none, uniform)


@inner_code
def served(draft, target, weight: Weight) -> float:
    """Return what of a target is not left to a weight, from 0 to 1; the unit of the target is 1."""
    sums = blocks_of(draft)
    whole = sum_in_blocks(target, weight[0][1], sums)
    return clipped(whole - rest_in_blocks(draft, target, weight, sums))
