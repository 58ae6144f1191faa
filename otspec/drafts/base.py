"""What every draft law answers from its table of tuples, or of what a rule sees (Programs, 1)."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec import distributions
from otspec._base import Frozen, arguments, as_array, as_flag, as_integer, cached_property, counted
from otspec._base.arithmetic import Array, IntArray, Number, as_number, is_exact, sums_by
from otspec.chance import Chance
from otspec.distributions import Distribution, DistributionLike, Normalize, Unasked

TABLE_LIMIT = 20_000_000
"""Most integers in a table of tuples (160 MB), a tenth of it with exact masses, which are slow."""


class TooManyTuplesError(ValueError):
    """There are more tuples of drafts than a table holds."""


class DraftLaw(Frozen, ABC):
    """The joint law of k draft tokens over a vocabulary of n tokens.

    Subclasses give :attr:`k`, :meth:`_probabilities`, :meth:`table_rows` and :meth:`_table`, and
    formulas for what is answered here by the table.
    """

    k: int
    """Number of drafts."""
    iid: ClassVar[bool] = False
    """Whether drafts are independent and alike, as those of several nodes are then together."""
    independent: ClassVar[bool] = False
    """Whether drafts are independent, each perhaps with a distribution of its own."""

    @property
    def n(self) -> int:
        """Vocabulary size."""
        return len(self._probabilities())

    @property
    def exact(self) -> bool:
        """Whether probabilities are ``Fraction`` rather than float."""
        return is_exact(self._probabilities())

    @abstractmethod
    def _probabilities(self) -> Array:
        """Return what the law was made of: an array whose first axis is the vocabulary."""

    @abstractmethod
    def table_rows(self) -> int:
        """Return how many tuples the table would have at most, up to 10^18, without building it."""

    @abstractmethod
    def _table(self) -> tuple[IntArray, Array]:
        """Return tuples (m, k) and masses (m,); zero masses may be among them."""

    def tuples(self) -> tuple[IntArray, Array]:
        """Return every tuple of positive probability with its probability.

        Result: tuples, int of shape (m, k), and masses of shape (m,), float64 or ``Fraction``,
        which sum to 1.

        Raises
        ------
        TooManyTuplesError
            More than 20 million token ids; 2 million with exact masses.
        """
        size = self.table_rows() * self.k
        if size > (TABLE_LIMIT // 10 if self.exact else TABLE_LIMIT):
            raise TooManyTuplesError(
                f"a table of {counted(self.table_rows())} draft tuples (n = {self.n}, "
                f"k = {self.k}) is too large: use a smaller vocabulary, or inside() and sample(), "
                "which need no table"
            )
        tuples, masses = self._table()
        possible = masses > 0
        return tuples[possible], masses[possible]

    def inside(self, tokens: Iterable[int]) -> Number:
        """Return P(all drafts inside a token set); ``ValueError`` for a token id out of range."""
        members = distributions.token_set(tokens, self.n)
        if len(members) == 0:
            return self._number(0)
        return self._inside(members)

    def _inside(self, members: IntArray) -> Number:
        """Answer :meth:`inside` for distinct ascending ids, at least one."""
        tuples, masses = self.tuples()
        chosen = np.zeros(self.n, dtype=bool)
        chosen[members] = True
        return self._number(masses[chosen[tuples].all(axis=1)].sum())

    def inside_prefixes(self, order: IntArray) -> Array:
        """Return P(all drafts inside order[:j]) for every j at once.

        Parameters
        ----------
        order : ndarray of int, shape (n,)
            A permutation of the token ids.

        Returns
        -------
        ndarray, shape (n + 1,)
            Entry j is ``inside(order[:j])``; entry 0 is 0.

        Raises
        ------
        ValueError
            Not each token id once.
        """
        order = arguments.as_permutation(order, self.n)
        tuples, masses = self.tuples()
        rank = np.empty(self.n, dtype=np.intp)
        rank[order] = np.arange(self.n)
        completed = sums_by(rank[tuples].max(axis=1) + 1, masses, self.n + 1)
        return np.cumsum(completed)

    @property
    def accuracy(self) -> float:
        """By how much :meth:`inside` may be off: 0 in exact arithmetic."""
        # In floats a bound on the rounding of k products of sums of n terms, all at most 1.
        return 0.0 if self.exact else float(np.finfo(float).eps) * (self.k + 1) * (self.n + 2)

    def as_target(
        self, target: DistributionLike, *, normalize: Normalize = Unasked.FALSE
    ) -> Distribution:
        """Check a target: a distribution of the law's length and arithmetic.

        Plain integers, such as ``[1, 0, 0]``, are floats beside a law in floats.

        Raises
        ------
        ValueError
            As :func:`otspec.distributions.as_distribution`; or another length or arithmetic.
        """
        checked = distributions.as_distribution(target, "target", normalize=normalize)
        if is_exact(checked) and not self.exact and as_array(target, "target").dtype.kind in "iu":
            checked = distributions.as_distribution(checked.astype(float), "target")
        distributions.check_alike("law", self._probabilities(), "target", checked)
        return checked

    def for_target(self, target: Distribution) -> "DraftLaw":  # noqa: ARG002 -- it is alike
        """Return the law in the arithmetic of a checked target: itself, unless it serves either."""
        return self

    def marginal(self, i: int) -> Distribution:
        """Return the law of draft i alone, shape (n,); ``ValueError`` unless 0 ≤ i < k."""
        numbered = f"drafts are numbered from 0 to {self.k - 1}"
        number = arguments.as_integer(i, "i", 0, self.k - 1, wanted=numbered, otherwise=numbered)
        return self._marginal(number)

    def _marginal(self, i: int) -> Distribution:
        tuples, masses = self.tuples()
        return sums_by(tuples[:, i], masses, self.n)

    def sample(self, size: int, rng: np.random.Generator) -> IntArray:
        """Draw tuples of drafts.

        Parameters
        ----------
        size : int
            How many tuples.
        rng : numpy.random.Generator

        Returns
        -------
        ndarray of int, shape (size, k)
            A token of probability zero is never drawn. Exact probabilities are rounded to
            float64 for the draw.

        Raises
        ------
        ValueError
            No generator, or a size that is negative or beyond the memory.
        """
        return self._sample(arguments.as_size(size, width=self.k), arguments.as_generator(rng))

    def _sample(self, size: int, rng: np.random.Generator) -> IntArray:
        tuples, masses = self.tuples()
        return tuples[draw(masses, size, rng)]

    def draw(self, chance: Chance) -> tuple[int, ...]:
        """Draw one tuple of drafts: along every branch of ``chance`` the law of :meth:`tuples`."""
        tuples, masses = self.tuples()
        return tuple(tuples[chance.choose(masses)].tolist())

    def _number(self, value: object) -> Number:
        return as_number(value, like=self._probabilities())


def as_law(law: Any, name: str = "law") -> DraftLaw:
    """Check a draft law."""
    return arguments.as_instance(law, name, DraftLaw, "a draft law, such as IID(draft, k)")


def as_drafts(x: Any, law: DraftLaw) -> tuple[int, ...]:
    """Check a tuple of drafts."""
    drafts = arguments.as_tokens(x, law.n, "x", count=law.k)
    if len(drafts) != law.k:
        given = arguments.how_many(x, drafts, law.k)
        raise ValueError(f"x has {given} drafts, but the law has k = {law.k}")
    return drafts


def draw(masses: Array, size: int, rng: np.random.Generator) -> IntArray:
    """Draw indices with the given probabilities by inversion of their cumulative sums."""
    # Only indices of positive mass come out: the uniform is scaled to the last cumulative sum, and
    # the search takes the first entry above it.
    return inverted(np.cumsum(masses.astype(float)), rng.random(size))


def inverted(cumulative: Array, uniforms: Array) -> IntArray:
    """Return the indices that uniform numbers fall on, given cumulative sums of masses."""
    drawn: IntArray = np.searchsorted(cumulative, uniforms * cumulative[-1], side="right")
    # u·total can round up to total: then the first index that reaches it is the last possible.
    last = np.searchsorted(cumulative, cumulative[-1], side="left")
    return np.minimum(drawn, last).astype(np.intp)


@dataclass(frozen=True, eq=False)
class Support(Frozen):
    """The draft tuples of positive probability, or their sets of distinct tokens.

    A *pair* is a row together with one of its distinct tokens: a draft that may be accepted.

    Acceptance, and every constraint of the transport problem, depends on a tuple only through
    its set of distinct tokens: adding up the tuples of one set gives a solution on sets, and
    splitting that in proportion to P(x) gives one on tuples. Rows of sets therefore lose nothing,
    whatever the law, and shrink n^k rows to at most Σ_{j ≤ k} C(n, j).

    ``keys``, shape (m, k): the tuple of each row; of a set the tokens ascending, the largest
    repeated. ``masses``, shape (m,): of the rows. ``rows``, ``tokens``, shape (p,): the pairs, row
    by row, tokens ascending.
    """

    law: DraftLaw
    sets: bool
    keys: IntArray
    masses: Array
    rows: IntArray
    tokens: IntArray

    def row_of(self, x: Sequence[int]) -> int | None:
        """Return the row of a draft tuple, or None if it has probability 0."""
        key = np.array([as_drafts(x, self.law)], dtype=np.intp)
        return self._row_numbers.get(tuple((_as_set_keys(key) if self.sets else key)[0].tolist()))

    def pairs_of(self, row: int) -> slice:
        """Return the stretch of pairs that belong to a row."""
        row = as_integer(row, "row", 0, len(self.keys) - 1)
        return slice(*np.searchsorted(self.rows, [row, row + 1]))

    @cached_property
    def _row_numbers(self) -> dict[tuple[int, ...], int]:
        return {tuple(key): row for row, key in enumerate(self.keys.tolist())}


def support(law: DraftLaw, *, sets: bool = True) -> Support:
    """Return what a rule sees of the drafts of a law: tuples, or sets of distinct tokens."""
    keys, masses = as_law(law).tuples()
    if as_flag(sets, "sets"):
        keys, masses = _added_up(_as_set_keys(keys), masses)
        ascending = keys
    else:
        ascending = np.sort(keys, axis=1)
    distinct = np.ones(ascending.shape, dtype=bool)
    distinct[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
    rows = np.nonzero(distinct)[0]
    return Support(law, sets, keys, masses, rows, ascending[distinct])


def _as_set_keys(tuples: IntArray) -> IntArray:
    """Sort each tuple and replace repetitions by its largest token: equal sets, equal keys."""
    ordered = np.sort(tuples, axis=1)
    repeated = np.zeros(ordered.shape, dtype=bool)
    repeated[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    return np.sort(np.where(repeated, ordered[:, -1:], ordered), axis=1)


def _added_up(keys: IntArray, masses: Array) -> tuple[IntArray, Array]:
    """Add up the masses of equal keys; keys come out in lexicographic order."""
    order = np.lexsort(keys.T[::-1])
    keys, masses = keys[order], masses[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    return keys[first], sums_by(np.cumsum(first) - 1, masses, int(first.sum()))
