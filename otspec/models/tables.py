"""Language models that remember the last tokens: tables, also from files, and Markov chains."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from os import PathLike
from typing import Any

import numpy as np

from otspec._base import Array, Number, arguments, arithmetic, shown
from otspec.distributions import Distribution, as_distribution, as_k, check_alike
from otspec.files import read_file
from otspec.models.base import Continued, Model, Prefix, as_prefix


class TableModel(Model):
    """A table of distributions by the last tokens.

    The token after a prefix has the row of the longest listed ending of the prefix. So one row for
    the empty prefix is a memoryless model; with a row for every text of up to m tokens the model is
    a Markov chain of order m whose first tokens have rows of their own.

    Parameters
    ----------
    rows : mapping
        From tuples of token ids, the empty one among them, to distributions of one length and one
        arithmetic.
    name : str
        What error messages call the model.
    normalize : bool
        Scale every row to sum 1.

    Raises
    ------
    ValueError
        No row for the empty prefix, a prefix that holds no token id, or an unusable distribution.

    Examples
    --------
    >>> model = TableModel({(): ["1/2", "1/2"], (1,): ["1/3", "2/3"]})
    >>> model((0, 1))
    array([Fraction(1, 3), Fraction(2, 3)], dtype=object)
    >>> model.mass((1, 0, 1))
    Fraction(1, 12)
    """

    def __init__(
        self, rows: Mapping[Prefix, Any], name: str = "model", *, normalize: bool = False
    ) -> None:
        arguments.as_instance(rows, "rows", Mapping, "a mapping from prefixes to distributions")
        if () not in rows:
            raise ValueError(
                f"{name} has no row for the empty prefix: add the distribution of the first token"
            )
        for prefix in rows:
            if not isinstance(prefix, tuple) or None in map(arguments.plain_integer, prefix):
                raise ValueError(
                    f"{name} has a row for {shown(prefix)}: a prefix is a tuple of token ids, (0,) "
                    "for the row after token 0"
                )
        self._rows = {
            prefix: as_distribution(row, _row(name, prefix), normalize=normalize)
            for prefix, row in rows.items()
        }
        first = self._rows[()]
        self.n, self.exact = len(first), arithmetic.is_exact(first)
        self.order = max(map(len, rows))
        for prefix, row in self._rows.items():
            check_alike(_row(name, ()), first, _row(name, prefix), row)
            if not all(0 <= token < self.n for token in prefix):
                raise ValueError(
                    f"{_row(name, prefix)}: token ids run from 0 to {self.n - 1}, the length of "
                    "the rows less one"
                )

    @property
    def rows(self) -> dict[Prefix, Distribution]:
        """The rows by the prefixes that they are for."""
        return dict(self._rows)

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the distribution of the token after a prefix, shape (n,)."""
        prefix = as_prefix(prefix, self.n)
        for start in range(max(0, len(prefix) - self.order), len(prefix)):
            if prefix[start:] in self._rows:
                return self._rows[prefix[start:]]
        return self._rows[()]

    def context(self, prefix: Prefix) -> Prefix:
        """Return the last tokens, as many as rows tell apart."""
        prefix = as_prefix(prefix, self.n)
        return prefix[max(0, len(prefix) - self.order) :]

    def after(self, prefix: Prefix) -> Model:
        """Return the model of what follows a prefix, of which only the end is kept."""
        prefix = as_prefix(prefix, self.n)
        return Continued(self, self.context(prefix)) if prefix else self


def memoryless(row: Any) -> TableModel:
    """Return the model that draws every token from one distribution (n,), else ``ValueError``."""
    return TableModel({(): as_distribution(row, "row")})


def markov(transition: Any, first: Sequence[Any] | None = None) -> TableModel:
    """Return a Markov chain of order m.

    Parameters
    ----------
    transition : array_like, shape (n,) * m + (n,)
        Entry (x_1, …, x_m): the distribution of the token after x_1 … x_m.
    first : sequence of array_like, optional
        The distributions of the first m tokens: item j has shape (n,) * j + (n,). By default the
        mean over what could have stood before, uniformly at random.

    Raises
    ------
    ValueError
        Shapes that do not fit, or rows that are no distributions.

    Examples
    --------
    >>> chain = markov([["1/2", "1/2"], ["1/4", "3/4"]], first=[["1", "0"]])
    >>> chain.mass((0, 1, 1))
    Fraction(3, 8)
    """
    rows = arithmetic.as_numbers(transition, "transition")
    n, order = rows.shape[-1] if rows.ndim else 0, rows.ndim - 1
    if order < 1 or set(rows.shape) != {n}:
        raise ValueError(
            f"transition has shape {rows.shape}: a chain of order m over n tokens needs n in all "
            "of its m + 1 axes, m at least 1"
        )
    table = _by_prefix(rows, "transition")
    starts = [_start(rows, depth) for depth in range(order)]
    if first is not None:
        given = arguments.as_list(first, "first", "a sequence of distributions")
        starts = [
            arithmetic.as_numbers(start, f"first[{depth}]") for depth, start in enumerate(given)
        ]
        shapes = [start.shape for start in starts]
        if shapes != [(n,) * (depth + 1) for depth in range(order)]:
            raise ValueError(
                f"first has shapes {shapes}: for order {order} over {n} tokens it needs "
                f"{[(n,) * (depth + 1) for depth in range(order)]}"
            )
    for depth, start in reversed([*enumerate(starts)]):
        table = _by_prefix(start, f"first[{depth}]") | table
    return TableModel(table)


def _by_prefix(rows: Array, name: str) -> dict[Prefix, Distribution]:
    """Return the rows of an array by their indices, each checked."""
    return {at: as_distribution(rows[at], _row(name, at)) for at in np.ndindex(rows.shape[:-1])}


def _start(rows: Array, depth: int) -> Array:
    """Return the mean of the rows over all but the last so many tokens of their contexts."""
    n, order = rows.shape[-1], rows.ndim - 1
    missing = rows.reshape(n ** (order - depth), *(n,) * (depth + 1))
    return missing.sum(axis=0) / arithmetic.as_number(len(missing), like=rows)


def _row(name: str, prefix: Prefix) -> str:
    return f"{name}[{' '.join(map(str, prefix))}]" if prefix else name


def load_model(
    path: str | PathLike[str], name: str = "model", *, exact: bool = False, normalize: bool = False
) -> TableModel:
    """Read a table of distributions by the last tokens.

    Parameters
    ----------
    path : path
        A .json file: one object, from prefixes such as ``""``, ``"0"`` and ``"0 1"`` to lists of
        numbers, as for :class:`TableModel`; or one list of numbers, a memoryless model.
    name : str
        What error messages call the model.
    exact : bool
        Read decimals as the fractions that they write. Fractions such as ``"3/10"`` are always
        read exactly, and then all numbers of the file.
    normalize : bool
        Scale every row to sum 1.

    Raises
    ------
    ValueError
        An unreadable file, a key that is no prefix, or rows that make no model.
    """
    exact, normalize = arguments.as_flag(exact, "exact"), arguments.as_flag(normalize, "normalize")
    if arguments.as_path(path).suffix != ".json":
        raise ValueError(f"{path}: a language model is a .json file of rows by prefix")
    content = read_file(path)
    try:
        exact = exact or any(_has_fraction(row) for row in content.values())
        rows = {}
        for key, row in content.items():
            if not isinstance(row, list) or any(isinstance(cell, list) for cell in row):
                raise ValueError(f"the row of {key!r} is not one list of numbers")
            rows[_prefix(key)] = arithmetic.in_arithmetic(
                row, f"{name}[{key}]" if key.strip() else name, exact
            )
        if len(rows) < len(content):
            raise ValueError("two keys mean the same prefix: write one blank between tokens")
        return TableModel(rows, name, normalize=normalize)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _prefix(key: str) -> Prefix:
    cells = key.split()
    if not all(cell.isascii() and cell.isdigit() for cell in cells):
        raise ValueError(
            f"{key!r} is no prefix: write token ids with blanks between them, such as '0 1', and "
            "'' for the first token"
        )
    return tuple(int(cell) for cell in cells)


def _has_fraction(row: Any) -> bool:
    return isinstance(row, list) and any(isinstance(cell, str) and "/" in cell for cell in row)


MOST_CELLS = 20_000_000  # most numbers of one order of context (160 MB)
GRAIN = 1_000  # denominator of the random parts of exact models


def random_pair(
    n: int, divergence: Number | str, rng: np.random.Generator, *, order: int = 1
) -> tuple[TableModel, TableModel]:
    """Return a random draft and target, Markov chains whose rows all differ by a given amount.

    After every context the draft is (1 − d)·r + d·u and the target (1 − d)·r + d·v, where r, u and
    v are random and u and v have no token in common.

    Parameters
    ----------
    n : int
        Vocabulary size, at least 2.
    divergence : float, Fraction, int or str
        d, the total variation distance of the next tokens after every context. A float makes
        float models, everything else exact ones.
    rng : numpy.random.Generator
    order : int
        How many tokens the chains remember; 0 makes memoryless models.

    Raises
    ------
    ValueError
        Fewer than two tokens, or a divergence that is not between 0 and 1.

    Examples
    --------
    >>> draft, target = random_pair(3, "1/4", np.random.default_rng(0))
    >>> abs(draft((2,)) - target((2,))).sum() / 2
    Fraction(1, 4)
    """
    wanted = "a total variation, between 0 and 1"
    distance = arguments.as_real(divergence, "divergence", 0, 1, wanted=wanted)
    rng = arguments.as_generator(rng)
    if as_k(n, "n") < 2:
        raise ValueError("n is 1: with one token a draft and a target cannot differ; use 2 or more")
    order = arguments.as_integer(order, "order", 0, wanted="0 for memoryless models, or more")
    if arithmetic.counted_power(n, order + 1) > MOST_CELLS:
        raise ValueError(
            f"n = {shown(n)} and order = {shown(order)} make rows of more than {MOST_CELLS:,} "
            "numbers: use a smaller n or order"
        )
    drafts: dict[Prefix, Array] = {}
    targets: dict[Prefix, Array] = {}
    for depth in range(order + 1):
        for prefix in np.ndindex(*(n,) * depth):
            drafts[prefix], targets[prefix] = _rows(n, distance, rng)
    return TableModel(drafts, "draft"), TableModel(targets, "target")


def _rows(n: int, distance: Number, rng: np.random.Generator) -> tuple[Array, Array]:
    exact = isinstance(distance, Fraction)
    shared = _random_row(n, rng, exact)
    order = rng.permutation(n)
    cut = int(rng.integers(1, n))
    rows = []
    for members in (order[:cut], order[cut:]):
        row = (1 - distance) * shared
        row[members] += distance * _random_row(len(members), rng, exact)
        rows.append(row)
    return rows[0], rows[1]


def _random_row(n: int, rng: np.random.Generator, exact: bool) -> Array:
    """Return a distribution drawn uniformly from the simplex, or nearly so in fractions."""
    row: Array = rng.dirichlet(np.ones(n))
    if not exact:
        return row
    counts = 1 + rng.multinomial(GRAIN, row)
    return np.array([Fraction(int(count), GRAIN + n) for count in counts], dtype=object)
