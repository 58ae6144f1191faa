"""Ratios target/draft and the order that they give: the axis of every threshold argument."""

from dataclasses import InitVar, dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from otspec._base import Frozen, cached_property
from otspec._base.arithmetic import Array, IntArray, is_exact, prefix_sums, suffix_sums
from otspec.distributions import Distribution, as_pair

POWER = 1000  # scales a subnormal number to a normal one below 1, exactly


class Ordered(NamedTuple):
    """The tokens of a pair by ascending target/draft, all of shape (n,)."""

    ratios: Array
    draft: Array
    target: Array


@dataclass(frozen=True, eq=False)
class Pair(Frozen):
    """A draft and a target, with the order of their ratios once for all that ask for it.

    Parameters and errors: :func:`otspec.distributions.as_pair`.

    Examples
    --------
    >>> pair = Pair(["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"])
    >>> pair.order.tolist(), [str(ratio) for ratio in pair.by_ratio.ratios]
    ([0, 2, 1], ['1/5', '3/2', '2'])
    """

    draft: Distribution
    target: Distribution
    normalize: InitVar[bool] = field(default=False, kw_only=True)

    def __post_init__(self, normalize: bool) -> None:
        draft, target = as_pair(self.draft, self.target, normalize=normalize)
        self._hold(draft=draft, target=target)

    @property
    def exact(self) -> bool:
        """Whether probabilities are ``Fraction`` rather than float."""
        return is_exact(self.draft)

    def in_floats(self) -> "Pair":
        """Return the pair in floats, which is itself if it is in floats."""
        return Pair(self.draft.astype(float), self.target.astype(float)) if self.exact else self

    @cached_property
    def ratios(self) -> Array:
        """Target/draft token by token, as :func:`target_to_draft` has it, shape (n,)."""
        return target_to_draft(self.draft, self.target)

    @cached_property
    def order(self) -> IntArray:
        """The token ids by ascending target/draft, as :func:`order` has them, shape (n,)."""
        return _sorted(self.draft, self.target, self.ratios)[0]

    @cached_property
    def by_ratio(self) -> Ordered:
        """Ratios, draft and target in that order."""
        order = self.order
        return Ordered(self.ratios[order], self.draft[order], self.target[order])

    @cached_property
    def below(self) -> tuple[Array, Array]:
        """Draft and target mass of the first tokens in that order, shape (n + 1,) each."""
        return prefix_sums(self.by_ratio.draft), prefix_sums(self.by_ratio.target)

    @cached_property
    def above(self) -> tuple[Array, Array]:
        """Draft and target mass from each place of that order on, shape (n + 1,) each."""
        return suffix_sums(self.by_ratio.draft), suffix_sums(self.by_ratio.target)


def target_to_draft(draft: Distribution, target: Distribution) -> Array:
    """Return target/draft token by token, shape (n,), of any nonnegative weights.

    ``inf`` where the draft is zero, also where both are: such a token is never drafted, so no
    threshold concerns it. Float ratios beyond the floats are the largest one: for comparison with
    thresholds, not with each other (see :func:`ranked`).
    """
    if is_exact(draft):
        pairs = zip(target.tolist(), draft.tolist(), strict=True)
        ratios = np.empty(len(draft), dtype=object)
        ratios[:] = [Fraction(q) / p if p else np.inf for q, p in pairs]
        return ratios
    ratios = np.full(len(draft), np.inf)
    with np.errstate(over="ignore"):  # a subnormal draft: the ratio is beyond every threshold
        np.divide(target, draft, out=ratios, where=draft > 0)
    overflowed = np.isinf(ratios)
    overflowed &= draft > 0
    if overflowed.any():  # drafted all the same: before those that are not
        ratios[overflowed] = np.finfo(float).max
    return ratios


def order(draft: Distribution, target: Distribution) -> IntArray:
    """Return the token ids (n,) by ascending target/draft; undrafted tokens come last.

    Exact ratios are sorted stably; float ties come in any (but a reproducible) order.
    """
    # Floats: two ratios that differ by more than a rounding of 53 bits are told apart wherever they
    # lie. Those beyond the largest float, and those that have lost digits below the smallest normal
    # one, are sorted again by ratios that are scaled by a power of two.
    return _sorted(draft, target, target_to_draft(draft, target))[0]


def ranked(draft: Distribution, target: Distribution) -> tuple[IntArray, Array, Array]:
    """Return :func:`order`, the ratios so ordered, and whether each is another than that before."""
    ratios = target_to_draft(draft, target)
    tokens, finer = _sorted(draft, target, ratios)
    keys = ratios[tokens]
    first = np.ones(len(tokens), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    for stretch, scaled in finer:
        first[stretch][1:] = scaled[1:] != scaled[:-1]
    return tokens, keys, first


def ascending(keys: Array) -> IntArray:
    """Return the indices by ascending key: exact ones stably, floats in any order if tied."""
    if is_exact(keys):
        values = keys.tolist()
        return np.array(sorted(range(len(values)), key=values.__getitem__), dtype=np.intp)
    return np.argsort(keys)


def _sorted(
    draft: Distribution, target: Distribution, ratios: Array
) -> tuple[IntArray, list[tuple[slice, Array]]]:
    """Return the tokens in order, and the scaled ratios of stretches that floats cannot hold."""
    tokens = ascending(ratios)
    finer: list[tuple[slice, Array]] = []
    if is_exact(ratios):
        return tokens, finer
    limits = np.finfo(float)
    for low, high, target_power, draft_power in (
        (np.nextafter(0, 1), limits.tiny, POWER, 0),  # 0 itself is exact
        (limits.max, np.inf, 0, POWER),
    ):
        stretch = slice(*np.searchsorted(ratios, [low, high], sorter=tokens).tolist())
        part = tokens[stretch]
        if len(part) > 1:
            # Both masses are at most 1, so that this one is within the floats.
            scaled = np.ldexp(target[part], target_power) / np.ldexp(draft[part], draft_power)
            again = np.argsort(scaled)
            tokens[stretch] = part[again]
            finer.append((stretch, scaled[again]))
    return tokens, finer
