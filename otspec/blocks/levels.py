"""E[τ] for one draft by dynamic programming over what the models remember and a ratio."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from otspec.arithmetic import Array, Number
from otspec.blocks.models import Model, Prefix

STATE_LIMIT = 3_000_000
"""Most states of one depth before an exact computation is refused (about 1 GB)."""

Step: TypeAlias = Callable[[Any, Any, Array, Array], tuple[Array, Array]]
"""(mass, ratio, draft, target probabilities of the next tokens) → masses and ratios after them.

All draft probabilities are positive.
"""


def expected_accepted(draft: Model, target: Model, length: int, step: Step) -> Number:
    """Return Σ_{ℓ ≤ L} Σ_{x^ℓ} mass(x^ℓ) · min(1, ratio(x^ℓ)) for masses and ratios made stepwise.

    Texts with equal ratios after which both models remember the same are one state. So on Markov
    models in exact arithmetic there are far fewer states than texts.

    Parameters
    ----------
    draft, target : Model
    length : int
        L
    step : callable
        From the mass and the ratio of a text and the probabilities of one more token to the
        masses and the ratios of the longer texts; both are 1 for the empty text.

    Returns
    -------
    float or Fraction

    Raises
    ------
    ValueError
        More than three million states of one depth.
    """
    total: Any = draft.number(0)
    one = draft.number(1)
    level: dict[Any, tuple[Prefix, Any]] = {((), (), one): ((), one)}
    for depth in range(length):
        longer: dict[Any, tuple[Prefix, Any]] = {}
        for (_, _, ratio), (prefix, mass) in level.items():
            drafted, wanted = draft(prefix), target(prefix)
            possible = np.flatnonzero((drafted > 0) & (wanted > 0))
            masses, ratios = step(mass, ratio, drafted[possible], wanted[possible])
            total += kept_mass(masses, ratios)
            if depth + 1 == length:
                continue
            rows = zip(possible.tolist(), masses.tolist(), ratios.tolist(), strict=True)
            for token, more, next_ratio in rows:
                text = (*prefix, token)
                key = draft.context(text), target.context(text), next_ratio
                longer[key] = text, longer[key][1] + more if key in longer else more
        if len(longer) > STATE_LIMIT:
            raise ValueError(
                f"length is {length}: after {depth + 1} tokens there are {len(longer):,} states, "
                "too many for an exact sum; use a smaller length, or simulate()"
            )
        level = longer
    return draft.number(total)


def kept_mass(masses: Array, ratios: Array) -> Any:
    """Return Σ mass · min(1, ratio) over the texts that are longer by one token."""
    return (masses * np.minimum(ratios, 1)).sum()
