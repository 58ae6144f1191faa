"""Laws of drafts from several distributions, and any joint law."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import InitVar, dataclass, field
from functools import reduce
from typing import ClassVar

import numpy as np

from otspec._base import Array, IntArray, Number, arithmetic, as_list, as_permutation
from otspec.chance import Chance
from otspec.distributions import Distribution, DistributionLike, as_distribution, check_alike
from otspec.drafts.base import DraftLaw, draw
from otspec.drafts.single import ByRatio, register


class Product(DraftLaw):
    """A product of one-token distributions; :meth:`_factors` yields them in draft order."""

    independent: ClassVar[bool] = True

    @abstractmethod
    def _factors(self) -> Iterator[Distribution]:
        """Yield one distribution per draft."""

    def _probabilities(self) -> Array:
        return next(self._factors())

    def table_rows(self) -> int:
        """Return how many tuples the table would have at most."""
        return arithmetic.counted_power(self.n, self.k)

    def _table(self) -> tuple[IntArray, Array]:
        tuples = np.indices((self.n,) * self.k).reshape(self.k, -1).T
        masses = reduce(np.multiply.outer, self._factors()).ravel()
        return tuples.astype(np.intp), masses

    def _marginal(self, i: int) -> Distribution:
        return list(self._factors())[i]

    def _sample(self, size: int, rng: np.random.Generator) -> IntArray:
        return np.stack([draw(factor, size, rng) for factor in self._factors()], axis=1)

    def draw(self, chance: Chance) -> tuple[int, ...]:
        """Draw one tuple: each draft from its distribution."""
        return tuple(chance.choose(factor) for factor in self._factors())


@register
@dataclass(frozen=True, eq=False)
class IID(ByRatio, Product):
    """k drafts drawn independently from one distribution.

    Law: P(x) = Π p(x_i), and P(all drafts inside A) = p(A)^k. Source: SpecTr, sec. 5; the setting
    of SpecTr, Canonical and MCSD alg. 1. Parameters and errors:
    :class:`otspec.drafts.SingleDraftLaw`.

    Examples
    --------
    >>> IID(["1/2", "1/2"], k=3).inside([0])
    Fraction(1, 8)
    """

    name: ClassVar[str] = "iid"
    words: ClassVar[str] = "i.i.d."
    iid: ClassVar[bool] = True
    powers: ClassVar[bool] = True

    def _factors(self) -> Iterator[Distribution]:
        return (self.draft for _ in range(self.k))

    def _probabilities(self) -> Array:
        return self.draft

    def _marginal(self, i: int) -> Distribution:  # noqa: ARG002 -- all are alike
        return self.draft

    def _inside(self, members: IntArray) -> Number:
        return self._number(arithmetic.power(self.draft[members].sum(), self.k))

    def inside_prefixes(self, order: IntArray) -> Array:
        """Return p(order[:j])^k for every j: one cumulative sum."""
        return arithmetic.power(
            arithmetic.prefix_sums(self.draft[as_permutation(order, self.n)]), self.k
        )


@dataclass(frozen=True, eq=False)
class Independent(Product):
    """Drafts drawn independently, each from its own distribution.

    Law: P(x) = Π p_i(x_i), and P(all drafts inside A) = Π p_i(A).
    Source: Canonical, app. G (non-identical drafts).

    Parameters
    ----------
    drafts : sequence of array_like, each of shape (n,)
        One distribution per draft, in draft order.
    normalize : bool
        Scale each to sum 1.

    Raises
    ------
    ValueError
        No distribution, an unusable one, different lengths or different arithmetic.

    Examples
    --------
    >>> Independent([["1/2", "1/2"], ["1/3", "2/3"]]).inside([0])
    Fraction(1, 6)
    """

    drafts: Sequence[DistributionLike]
    k: int = field(init=False)
    normalize: InitVar[bool] = field(default=False, kw_only=True)

    def __post_init__(self, normalize: bool) -> None:
        given = as_list(self.drafts, "drafts", "a sequence of distributions")
        if not given:
            raise ValueError("drafts is empty: pass one distribution per draft")
        checked = tuple(
            as_distribution(draft, f"drafts[{i}]", normalize=normalize)
            for i, draft in enumerate(given)
        )
        for i, draft in enumerate(checked[1:], start=1):
            check_alike("drafts[0]", checked[0], f"drafts[{i}]", draft)
        self._hold(drafts=checked, k=len(checked))

    def _factors(self) -> Iterator[Distribution]:
        return iter(self.drafts)

    def _inside(self, members: IntArray) -> Number:
        return self._number(np.prod([draft[members].sum() for draft in self._factors()]))

    def inside_prefixes(self, order: IntArray) -> Array:
        """Return Π p_i(order[:j]) for every j: one cumulative sum per draft."""
        order = as_permutation(order, self.n)
        return reduce(
            np.multiply, (arithmetic.prefix_sums(draft[order]) for draft in self._factors())
        )


@dataclass(frozen=True, eq=False)
class Joint(DraftLaw):
    """k drafts with an arbitrary joint distribution.

    Parameters
    ----------
    table : array_like, shape (n,) * k
        ``table[x_1, ..., x_k]`` is the probability of that tuple.
    normalize : bool
        Scale the table to sum 1.

    Raises
    ------
    ValueError
        Not of shape (n,) * k, or not a distribution.

    Examples
    --------
    >>> Joint([["1/2", 0], ["1/4", "1/4"]]).inside([0])
    Fraction(1, 2)
    """

    table: Array
    k: int = field(init=False)
    normalize: InitVar[bool] = field(default=False, kw_only=True)

    def __post_init__(self, normalize: bool) -> None:
        numbers = arithmetic.as_numbers(self.table, "table")
        if numbers.ndim < 1 or len(set(numbers.shape)) != 1:
            raise ValueError(
                f"table must have one axis of the vocabulary's length per draft, but has shape "
                f"{numbers.shape}: reshape it to (n,) * k"
            )
        flat = as_distribution(numbers.ravel(), "table", normalize=normalize)
        self._hold(table=flat.reshape(numbers.shape), k=numbers.ndim)

    def _probabilities(self) -> Array:
        return self.table

    def table_rows(self) -> int:
        """Return how many tuples the table would have at most."""
        return int(self.table.size)

    def _table(self) -> tuple[IntArray, Array]:
        tuples = np.indices(self.table.shape).reshape(self.k, -1).T
        return tuples.astype(np.intp), self.table.ravel()
