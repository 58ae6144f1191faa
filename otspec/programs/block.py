"""Couplings of whole blocks: the expected length of the common prefix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from otspec.arguments import as_callable
from otspec.arithmetic import Array, IntArray, counted_power, zeros
from otspec.distributions import as_distribution, as_k, check_alike
from otspec.models.contract import LanguageModel
from otspec.programs.formulation import Lines, Size, arrow, assemble, check_size
from otspec.solvers import LinearProgram, Sense


@dataclass(frozen=True, eq=False)
class BlockProgram:
    """Couple the draft's and the target's law of L tokens; maximise E[common prefix length].

    Variables π(x, y) ≥ 0 for blocks x, y; marginals M_s^L and M_b^L. Source: Block, eqs. 3–5;
    its optimum is Σ_{ℓ ≤ L} Σ_{x^ℓ} min(M_s(x^ℓ), M_b(x^ℓ)) (thm. 1). n^{2L} variables.

    Parameters
    ----------
    draft, target : callable
        Language models: prefix → distribution over one alphabet, in one arithmetic.
    length : int
        L, the tokens of a block.

    Raises
    ------
    ValueError
        A model's answer that is no distribution, or of another length or arithmetic than its
        others; a length below 1.
    """

    draft: LanguageModel
    target: LanguageModel
    length: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", as_k(self.length, "length"))
        as_callable(self.draft, "draft", "a language model, a callable from a prefix")
        as_callable(self.target, "target", "a language model, a callable from a prefix")
        draft = as_distribution(self.draft(()), "draft()")
        check_alike("draft()", draft, "target()", as_distribution(self.target(()), "target()"))

    @property
    def n(self) -> int:
        """The size of the alphabet."""
        return len(self.draft(()))

    def size(self) -> Size:
        """Return the size of the program."""
        blocks = counted_power(self.n, self.length)
        return Size(2 * blocks, blocks**2, 2 * blocks**2)

    def build(self) -> LinearProgram:
        """Build the linear program.

        Raises
        ------
        ValueError
            It would not fit in memory; the message names its size.
        """
        check_size("block", self.size(), "use shorter blocks or a smaller alphabet")
        blocks, draft = block_law(self.draft, self.length, "draft")
        _, target = block_law(self.target, self.length, "target")
        count = len(blocks)
        first, second = (index.ravel() for index in np.indices((count, count), dtype=np.intp))
        rows, columns = Lines(draft), Lines(draft)
        drafts = rows.add("draft", blocks, draft, draft)
        outputs = rows.add("target", blocks, target, target)
        pairs = np.column_stack([arrow(blocks[first], blocks[second, 0]), blocks[second, 1:]])
        mass = columns.add("pi", pairs, 0, np.inf)
        same = np.cumprod(blocks[first] == blocks[second], axis=1).sum(axis=1)
        return assemble(
            "block (Block, eqs. 3-5)",
            Sense.MAXIMISE,
            rows,
            columns,
            mass,
            [(drafts[first], mass, 1), (outputs[second], mass, 1)],
            weights=same.astype(draft.dtype),
        )


def block_law(model: LanguageModel, length: int, name: str) -> tuple[IntArray, Array]:
    """Return all blocks of a length and their probabilities.

    Parameters
    ----------
    model : callable
        prefix → distribution.
    length : int
    name : str
        What error messages call the model.

    Returns
    -------
    blocks : ndarray of int, shape (n**length, length)
        In lexicographic order.
    masses : ndarray, shape (n**length,)

    Raises
    ------
    ValueError
        An answer of the model that is no distribution, or unlike its others.
    """
    start = as_distribution(model(()), f"{name}()")
    n = len(start)
    masses = start
    for depth in range(1, length):
        extended = zeros(n ** (depth + 1), like=start)
        for number, prefix in enumerate(np.ndindex(*(n,) * depth)):
            following = as_distribution(model(prefix), f"{name}{prefix}")
            check_alike(f"{name}()", start, f"{name}{prefix}", following)
            extended[number * n : (number + 1) * n] = masses[number] * following
        masses = extended
    blocks = np.indices((n,) * length).reshape(length, -1).T.astype(np.intp)
    return blocks, masses
