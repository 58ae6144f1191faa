"""Rows of one dominant token and a rest next to nothing; and the exact law of a batch rule's token.

The law is put together from thresholds of the uniform numbers, bisected in the rule itself: draft i
of a rule that tries them in turn passes below a threshold, and the last number chooses the drawn
token. Probabilities are `Fraction`s of the very entries of the rows.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from thresholds import thresholds

from otspec import batch

HALVINGS = {"float32": 30, "float64": 48}
"""What is left of an interval is far below the bounds that laws are held to."""
REJECTED = 1 - 2.0**-53


def rows(dtype):
    """Pairs of draft and target; `least` is the least positive number of the dtype."""
    number = np.finfo(dtype)
    least, small, step = (
        float(part) for part in (number.smallest_subnormal, number.tiny, number.eps)
    )
    pairs = {
        "subnormal rest": ([1, 5 * least, 3 * least, least, 0], [0, 0.2, 0, 0.3, 0.5]),
        "subnormal, target on it": ([1, 4 * least, 2 * least, least], [0.25, 0.25, 0.25, 0.25]),
        "one quantum left": ([1, least, 0, 0], [0, 0.5, 0.5, 0]),
        "mixed": ([1, small, least, step * small], [0.1, 0.4, 0.4, 0.1]),
        "small rest": ([1, small * 8, small * 2, 0], [0, 0.5, 0.125, 0.375]),
        "hub wanted": ([least, 1, 2 * least, 2 * least], [0.125, 0.5, 0.375, 0]),
        "swapped": ([0.25, 0.5, 0.25, 0], [1, least, 3 * least, 0]),
        "both dominated": ([1, least, 2 * least, 0], [least, 1, 0, 2 * least]),
        "equal": ([1, 3 * least, least, 0], [1, 3 * least, least, 0]),
        "ties": ([1, least, least, least], [0, 0.5, 0.25, 0.25]),
        "certain": ([0, 1, 0, 0], [0.5, 0, 0.25, 0.25]),
        "certain target": ([1, least, least, 0], [0, 0, 1, 0]),
        "disjoint": ([1, least, 0, 0], [0, 0, 0.5, 0.5]),
        "ordinary": ([0.5, 0.25, 0.25, 0], [0.125, 0.125, 0.25, 0.5]),
    }
    return {name: tuple(np.array(part, dtype) for part in pair) for name, pair in pairs.items()}


def fractions(row):
    """The exact entries of a row, scaled to sum to 1."""
    entries = [Fraction(float(entry)) for entry in row]
    total = sum(entries)
    return [entry / total for entry in entries]


def kernel_of(name, draft, target, tuples):
    """Return the joint law of the index (last: none) and the token: (tuples, k + 1, n).

    For rules whose uniform number i is for draft i alone, or i-th in the order of trying. All
    thresholds are bisected at once, each in a row of its own.
    """
    count, k = tuples.shape
    order = trying_order(name, draft, tuples)
    # Tokens stand in ascending order on the last number, but SpecHub's hub comes first.
    place = np.arange(len(draft))
    if name == "spechub":
        place[np.argmax(draft)] = -1
    tokens = supported(draft, target)
    tokens = tokens[np.argsort(place[tokens])]
    tried, bound = order.T.ravel(), np.tile(place[tokens], count)
    every = np.concatenate([np.tile(tuples, (k, 1)), np.repeat(tuples, len(tokens), axis=0)])
    moved = np.repeat(np.arange(k + 1), [count] * k + [count * len(tokens)])

    def holds(u):
        uniforms = np.full((*u.shape, k + 1), REJECTED)
        uniforms[:, np.arange(len(every)), moved] = u
        token, _, index = run(name, draft, target, every, uniforms)
        drawn = len(tried)
        within = (index[:, drawn:] >= 0) | (place[token[:, drawn:]] <= bound)
        return np.concatenate([index[:, :drawn] == tried, within], axis=1)

    at_once = 4 if len(draft) < 10 else 2  # digits, of which each takes more rows
    found = bisected(holds, (len(every),), draft.dtype, at_once)
    kernel = np.zeros((count, k + 1, len(draft)))
    reached = np.ones(count)
    for i, chance in enumerate(found[: len(tried)].reshape(k, count)):
        accepted = np.take_along_axis(tuples, order[:, i : i + 1], axis=1)[:, 0]
        kernel[np.arange(count), order[:, i], accepted] += reached * chance
        reached = reached * (1 - chance)
    law = np.diff(found[len(tried) :].reshape(count, len(tokens)), axis=1, prepend=0)
    kernel[:, k, tokens] = reached[:, None] * law
    return kernel


def trying_order(name, draft, tuples):
    """Which draft each uniform number is for: SpecHub's first is for the token off the hub."""
    if name != "spechub":
        return np.broadcast_to(np.arange(tuples.shape[1]), tuples.shape)
    hub = int(np.argmax(draft))
    off = np.where(tuples[:, 1] == hub, 0, 1)
    both = (tuples == hub).all(axis=1)
    first = np.where(both, 1, off)
    return np.stack([first, 1 - first], axis=1)


def supported(draft, target):
    """The tokens that the draft or the target has."""
    return np.flatnonzero((draft > 0) | (target > 0))


def spread(row, size):
    """A row whose tokens are far apart in a larger vocabulary, in several blocks of a draw."""
    wide = np.zeros(size, row.dtype)
    wide[np.linspace(0, size - 1, len(row)).astype(int)] = row
    return wide


def bisected(holds, shape, dtype="float64", at_once=4):
    """The threshold in [0, 1] below which a condition on uniform numbers holds, per entry."""

    def below(u):
        return holds(np.minimum(u, REJECTED))

    low, _ = thresholds(below, shape, HALVINGS[str(dtype)], at_once)
    return np.where(below(np.ones((1, *shape)))[0], 1.0, low)


def run(name, draft, target, tuples, uniforms):
    """Call a rule on one row many times."""
    lead = uniforms.shape[:-1]
    pair = (np.tile(row, (*lead, 1)) for row in (draft, target))
    drafts = np.broadcast_to(tuples, (*lead, tuples.shape[-1]))
    return getattr(batch, name)(*pair, drafts, uniforms)
