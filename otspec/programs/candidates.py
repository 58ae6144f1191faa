"""Couplings of sets of candidate sequences with blocks (SpecTr, sec. 5, for blocks)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base import IntArray, Number, as_callable, as_instance, as_tokens
from otspec.distributions import as_distribution, as_k, check_alike
from otspec.models.base import LanguageModel
from otspec.programs.sequences.block import BlockCoupling
from otspec.programs.sequences.drafted_texts import Sequences


@dataclass(frozen=True, eq=False)
class CandidateProgram(BlockCoupling):
    """Couple the law of drafted candidates with the target's law of L tokens.

    Maximizes the expected length of the longest beginning of the target's block that one of the
    candidates has. Variables π(S, y) ≥ 0 for sets S of candidates and blocks y. Its optimum bounds
    what any rule keeps of such drafts, also one that looks at whole blocks. It is
    :class:`otspec.programs.BlockProgram` if every set is a single sequence. Source: SpecTr,
    sec. 5 (optimal transport with membership cost) for blocks instead of tokens.

    Parameters
    ----------
    candidates : mapping
        From sets of sequences of at most L tokens to their probabilities, such as
        :meth:`otspec.blocks.TreeRule.candidates` returns.
    target : callable
        Language model: prefix → distribution, in the arithmetic of the probabilities.
    length : int
        L

    Raises
    ------
    ValueError
        Probabilities that do not sum to 1 or are unlike the target's; longer sequences, or none.
    """

    name: ClassVar[str] = "candidate"
    title: ClassVar[str] = "candidates (SpecTr, sec. 5, for blocks)"
    smaller: ClassVar[str] = "use shorter blocks, fewer drafts or fewer tokens"

    candidates: Mapping[Sequences, Number]
    target: LanguageModel
    length: int

    def __post_init__(self) -> None:
        wanted = "a mapping from sets of sequences to their probabilities"
        as_instance(self.candidates, "candidates", Mapping, wanted)
        self._hold(length=as_k(self.length, "length"), candidates=dict(self.candidates))
        as_callable(self.target, "target", "a language model, a callable from a prefix")
        masses = as_distribution(list(self.candidates.values()), "candidates")
        start = as_distribution(self.target(()), "target(())")
        check_alike("candidates", masses[:1], "target(())", start[:1])
        for sequences in self.candidates:
            as_instance(sequences, "a key of candidates", frozenset, "a frozenset of sequences")
            tokens = [as_tokens(each, len(start), "a candidate") for each in sequences]
            if not tokens or not all(0 < len(sequence) <= self.length for sequence in tokens):
                raise ValueError(
                    f"candidates holds {sorted(tokens)}: sequences must have from 1 to "
                    f"{self.length} tokens, the length"
                )

    def _drafted(self) -> int:
        return len(self.candidates)

    def _draft_law(self) -> tuple[IntArray, Mapping[Sequences, Number]]:
        return np.arange(len(self.candidates), dtype=np.intp)[:, None], self.candidates
