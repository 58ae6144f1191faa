"""Couplings of sets of candidate sequences with the target's blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec.arguments import as_callable, as_instance, as_tokens
from otspec.arithmetic import Array, Number, as_numbers, counted_power
from otspec.distributions import as_distribution, as_k, check_alike
from otspec.models.contract import LanguageModel
from otspec.programs.block import block_law
from otspec.programs.formulation import Lines, Size, assemble, check_size
from otspec.solvers import LinearProgram, Sense

Sequences = frozenset[tuple[int, ...]]
"""The different candidate sequences that were drafted."""


@dataclass(frozen=True, eq=False)
class CandidateProgram:
    """Couple the law of drafted candidates with the target's law of L tokens.

    Maximises the expected length of the longest beginning of the target's block that one of the
    candidates has. Variables π(S, y) ≥ 0 for sets S of candidates and blocks y. Its optimum bounds
    what any rule keeps of such drafts, also one that looks at whole blocks. It is
    :class:`otspec.programs.BlockProgram` if every set is a single sequence. Source: SpecTr,
    sec. 5 (optimal transport with membership cost) for blocks instead of tokens.

    Parameters
    ----------
    candidates : mapping
        From sets of sequences of L tokens to their probabilities, such as
        :meth:`otspec.blocks.DraftSelection.candidates` returns.
    target : callable
        Language model: prefix → distribution, in the arithmetic of the probabilities.
    length : int
        L

    Raises
    ------
    ValueError
        Probabilities that do not sum to 1 or are unlike the target's; sequences of another
        length.
    """

    candidates: Mapping[Sequences, Number]
    target: LanguageModel
    length: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", as_k(self.length, "length"))
        wanted = "a mapping from sets of sequences to their probabilities"
        as_instance(self.candidates, "candidates", Mapping, wanted)
        object.__setattr__(self, "candidates", dict(self.candidates))
        as_callable(self.target, "target", "a language model, a callable from a prefix")
        masses = as_distribution(list(self.candidates.values()), "candidates")
        start = as_distribution(self.target(()), "target(())")
        check_alike("candidates", masses[:1], "target(())", start[:1])
        for sequences in self.candidates:
            as_instance(sequences, "a key of candidates", frozenset, "a frozenset of sequences")
            tokens = [as_tokens(each, len(start), "a candidate") for each in sequences]
            if any(len(sequence) != self.length for sequence in tokens) or not tokens:
                raise ValueError(
                    f"candidates holds {sorted(tokens)}: sequences must have {self.length} "
                    "tokens, as many as the length"
                )

    def size(self) -> Size:
        """Return the size of the program."""
        blocks = counted_power(len(self.target(())), self.length)
        sets = len(self.candidates)
        return Size(sets + blocks, sets * blocks, 2 * sets * blocks)

    def build(self) -> LinearProgram:
        """Build the linear program.

        Raises
        ------
        ValueError
            It would not fit in memory; the message names its size.
        """
        check_size("candidate", self.size(), "use shorter blocks, fewer drafts or fewer tokens")
        masses: Array = as_numbers(list(self.candidates.values()), "candidates")
        blocks, target = block_law(self.target, self.length, "target")
        sets, outputs = np.indices((len(masses), len(blocks)), dtype=np.intp).reshape(2, -1)
        rows, columns = Lines(masses), Lines(masses)
        drafts = rows.add("draft", np.arange(len(masses))[:, None], masses, masses)
        wanted = rows.add("target", blocks, target, target)
        pairs = np.column_stack([sets, blocks[outputs]])
        mass = columns.add("pi", pairs, 0, np.inf)
        kept = [
            longest_beginning(sequences, tuple(block))
            for sequences in self.candidates
            for block in blocks.tolist()
        ]
        return assemble(
            "candidates (SpecTr, sec. 5, for blocks)",
            Sense.MAXIMISE,
            rows,
            columns,
            mass,
            [(drafts[sets], mass, 1), (wanted[outputs], mass, 1)],
            weights=np.array(kept).astype(masses.dtype),
        )


def longest_beginning(sequences: Sequences, block: tuple[int, ...]) -> int:
    """Return how many tokens of a block one of the sequences begins with."""
    return max(_common(sequence, block) for sequence in sequences)


def _common(first: tuple[Any, ...], second: tuple[Any, ...]) -> int:
    for depth, (one, other) in enumerate(zip(first, second, strict=True)):
        if one != other:
            return depth
    return len(first)
