"""Random pairs of language models whose next tokens differ by a given amount."""

from fractions import Fraction

import numpy as np

from otspec._base.arguments import as_generator, as_integer, as_real
from otspec._base.arithmetic import Array, Number, counted_power
from otspec._base.coerce import shown
from otspec.distributions import as_k
from otspec.models.base import Prefix
from otspec.models.tables import TableModel

MOST_CELLS = 20_000_000
"""Most numbers of one order of context (160 MB)."""
GRAIN = 1_000
"""Denominator of the random parts of exact models."""


def random_pair(
    n: int, divergence: Number | str, rng: np.random.Generator, *, order: int = 1
) -> tuple[TableModel, TableModel]:
    """Return a random draft and target, Markov chains whose rows all differ by a given amount.

    After every context the draft is (1 − d)·r + d·u and the target (1 − d)·r + d·v, where r, u and
    v are random and u and v have no token in common. Raises ``ValueError``: fewer than two tokens,
    or a divergence that is not between 0 and 1.

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

    Examples
    --------
    >>> draft, target = random_pair(3, "1/4", np.random.default_rng(0))
    >>> abs(draft((2,)) - target((2,))).sum() / 2
    Fraction(1, 4)
    """
    wanted = "a total variation, between 0 and 1"
    distance = as_real(divergence, "divergence", 0, 1, wanted=wanted)
    rng = as_generator(rng)
    if as_k(n, "n") < 2:
        raise ValueError("n is 1: with one token a draft and a target cannot differ; use 2 or more")
    order = as_integer(order, "order", 0, wanted="0 for memoryless models, or more")
    if counted_power(n, order + 1) > MOST_CELLS:
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
    fractions: Array = np.array([Fraction(int(count), GRAIN + n) for count in counts], dtype=object)
    return fractions
