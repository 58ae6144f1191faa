"""The law that logged tokens were drawn from, where it is not the draft's (Theory, 27)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from otspec._base.arguments import as_list
from otspec._base.arithmetic import Number, is_exact
from otspec.distributions import Distribution, as_distribution, check_alike

MOST_LOST = 1e-12
"""Up to which mass floats that were rounded to zero count as such."""


def as_sampling(
    sampling: Any, draft: Sequence[Distribution], target: Sequence[Distribution], positions: int
) -> tuple[Distribution, ...]:
    """Check the rows of the law that logged tokens were drawn from."""
    given = as_list(sampling, "sampling", "a sequence of distributions")
    if len(given) < positions:
        raise ValueError(
            f"sampling has {len(given)} rows, but there are {positions} tokens: log the law that "
            "each of them was drawn from"
        )
    rows = tuple(as_distribution(row, f"sampling[{i}]") for i, row in enumerate(given))
    for i, row in enumerate(rows):
        check_alike("draft[0]", draft[0], f"sampling[{i}]", row)
    for position, three in enumerate(zip(rows[:positions], draft, target, strict=False)):
        _check_support(position, *three)
    return rows


def _check_support(
    position: int, row: Distribution, draft: Distribution, target: Distribution
) -> None:
    lost = np.flatnonzero((row == 0) & (draft > 0) & (target > 0))
    if lost.size == 0:
        return
    mass: Number = np.minimum(draft[lost], target[lost]).sum()
    if is_exact(draft) or mass > MOST_LOST:
        raise ValueError(
            f"sampling[{position}] never draws token {lost[0]}, which can be drafted and accepted "
            "there: estimates would miss it; use tokens of a law that draws all that both models "
            "give, such as the target's own"
        )


def check_drafted(draft: Sequence[Distribution], sampled: Sequence[Distribution]) -> None:
    """Refuse tokens of another law than the draft's."""
    for position, rows in enumerate(zip(draft, sampled, strict=False)):
        if not np.array_equal(*rows):
            raise ValueError(
                f"sampling[{position}] is not the draft there, and the law of one block is that of "
                "drafted tokens only: ask by_level() or expected(), which weigh tokens"
            )
