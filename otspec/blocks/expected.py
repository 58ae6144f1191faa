"""E[τ] for one draft (Theory, 7–9), by dynamic programming over contexts and a ratio."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np

from otspec._base.arithmetic import (
    Array,
    IntArray,
    Number,
    as_whole,
    over_one_denominator,
    quotient,
)
from otspec.models.base import BEGINNING, Model, Prefix

STATE_LIMIT = 1_000_000
"""Most states of all depths before an exact computation is refused (about ten seconds)."""

Step: TypeAlias = Callable[[Any, Any, Array, Array], tuple[Array, Array]]
"""(wanted, drafted mass, draft, target probabilities of next tokens) → both masses after them."""
_Level: TypeAlias = dict[Any, tuple[Prefix, Any, Any]]
"""(draft's context, target's context, ratio) → a text, wanted and drafted mass."""
_Row: TypeAlias = tuple[IntArray, Array, Array]
"""Tokens that both models may draw, and their probabilities."""


def expected_up_to(
    draft: Model,
    target: Model,
    length: int,
    step: Step,
    beginnings: Mapping[Prefix, Number] = BEGINNING,
) -> list[Number]:
    """Return Σ_{ℓ ≤ L} Σ_{x^ℓ} min(wanted, drafted mass of x^ℓ) for L = 1, …, ``length``."""
    # Texts with equal ratios of the two after which both models remember the same are one state. So
    # on Markov models in exact arithmetic there are far fewer states than texts.
    kept = _kept(draft, target, length, step, beginnings)
    return [draft.number(total) for total in accumulate(kept)]


def _kept(
    draft: Model, target: Model, length: int, step: Step, beginnings: Mapping[Prefix, Number]
) -> Iterator[Any]:
    """Yield the probability that at least ℓ tokens are kept, for ℓ = 1 to L."""
    # Exact masses are whole numbers over the product of the depths' common denominators.
    level: _Level = {}
    weights, scale = as_whole(list(map(draft.number, beginnings.values())))
    for text, mass in zip(beginnings, weights, strict=True):
        _add_text(level, draft, target, text, mass, mass)
    states = 0
    for depth in range(1, length + 1):
        rows, unit = _rows(draft, target, level)
        scale = scale * unit
        kept: Any = 0 * scale
        longer: _Level = {}
        for (*contexts, _), (prefix, wanted, drafted) in level.items():
            tokens, draft_row, target_row = rows[tuple(contexts)]
            masses = step(wanted, drafted, draft_row, target_row)
            kept = kept + np.minimum(*masses).sum()
            if depth < length:
                _add(longer, draft, target, prefix, tokens, masses)
        yield quotient(kept, scale)
        states += len(longer)
        if states > STATE_LIMIT:
            raise ValueError(
                f"length is {length}: after {depth} tokens there are {states:,} states, "
                "too many for an exact sum; use a smaller length, or simulate()"
            )
        level = longer


def _rows(draft: Model, target: Model, level: _Level) -> tuple[dict[Any, _Row], Any]:
    """Return the next tokens after each pair of contexts, all over one denominator, and that."""
    texts = {key[:2]: prefix for key, (prefix, _, _) in level.items()}
    pairs: dict[Any, tuple[IntArray, Array, Array]] = {}
    for contexts, prefix in texts.items():
        drafted, wanted = draft(prefix), target(prefix)
        possible = np.flatnonzero((drafted > 0) & (wanted > 0))
        pairs[contexts] = possible, drafted[possible], wanted[possible]
    if not pairs:  # no text goes on
        return {}, 1
    *whole, unit = over_one_denominator(*(row for pair in pairs.values() for row in pair[1:]))
    rows = zip(pairs, whole[::2], whole[1::2], strict=True)
    return {key: (pairs[key][0], drafted, wanted) for key, drafted, wanted in rows}, unit


def _add(
    longer: _Level,
    draft: Model,
    target: Model,
    prefix: Prefix,
    tokens: IntArray,
    masses: Sequence[Array],
) -> None:
    """Add the texts that are longer by one token to their states."""
    rows = zip(tokens.tolist(), *(mass.tolist() for mass in masses), strict=True)
    for token, wanted, drafted in rows:
        if wanted and drafted:  # else below the range of floats: so are all longer texts
            _add_text(longer, draft, target, (*prefix, token), wanted, drafted)


def _add_text(
    level: _Level, draft: Model, target: Model, text: Prefix, wanted: Any, drafted: Any
) -> None:
    """Add a text to its state, unless it is over."""
    if target.ended(text):
        return
    key = draft.context(text), target.context(text), _ratio(wanted, drafted)
    _, more_wanted, more_drafted = level.get(key, (text, 0, 0))
    level[key] = text, wanted + more_wanted, drafted + more_drafted


def _ratio(wanted: Any, drafted: Any) -> Any:
    """Return what is equal for equal wanted/drafted."""
    if isinstance(wanted, float):
        return wanted / drafted
    common = math.gcd(wanted, drafted)
    return wanted // common, drafted // common
