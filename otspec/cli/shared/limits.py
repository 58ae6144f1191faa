"""How many digits exact results may have before a command refuses to compute them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from otspec._base.arithmetic import is_exact
from otspec.distributions import Distribution
from otspec.drafts import LAWS

_MOST_WORK = 3e10
"""Operations on digits that take about ten seconds."""


def check_digits(
    laws: Iterable[str],
    pair: tuple[Distribution, Distribution],
    ks: Sequence[int],
    *,
    rules: bool = False,
) -> None:
    """Refuse numbers of drafts whose exact results would take minutes.

    Those of laws with powers are fractions over the k-th power of the common denominator, one for
    each prefix of the tokens; rules also add up to k of them for each token, and k-sequential's ρ
    has some 40 digits.

    ``laws``: by name. ``rules``: whether all rules are computed too.
    """
    draft, target = pair
    if not is_exact(draft) or not any(LAWS[law].powers for law in laws):
        return
    unit = math.lcm(*(value.denominator for value in (*draft.tolist(), *target.tolist())))
    digits = unit.bit_length() * math.log10(2) + (40 if rules else 0)
    for k in ks:
        work = len(draft) * (k * digits) ** (2 if rules else 1.5)
        if work > _MOST_WORK:
            raise ValueError(
                f"k is {k:,}: exact results over {len(draft):,} tokens would have about "
                f"{k * digits:,.0f} digits each, which takes minutes: use a smaller k, or decimals "
                "such as 0.25 without --exact"
            )
