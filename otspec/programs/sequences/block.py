"""Couplings of whole blocks, and their plans (Theory, 8; Block, def. 1 and eqs. 3-5)."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base import Frozen, arithmetic, as_callable, plain
from otspec.distributions import as_distribution, as_k, check_alike
from otspec.models.base import LanguageModel, Model
from otspec.programs.formulation import ProgramBuilder, Size, arrow, check_size
from otspec.programs.sequences import drafted_texts
from otspec.programs.sequences.drafted_texts import DraftedSets, Sequences
from otspec.programs.sequences.path_program import PathPlan
from otspec.programs.sequences.text_program import PriceBound
from otspec.solvers import LinearProgram, Sense, SolverName, solve
from otspec.solvers.base import SOLVER_TOLERANCE


@dataclass(frozen=True, eq=False)
class BlockPlan(Frozen):
    """A coupling π of drafted sets of sequences with the target's blocks of L tokens.

    Kept is the longest beginning of the block that one of the sequences has. Source: Block,
    def. 1 and eqs. 3-5 (there with one sequence).

    Parameters
    ----------
    drafted : DraftedSets
    target : callable
        Language model: prefix → distribution.
    coupled : ndarray, shape (d, n**L)
        π(D, y): the mass of each set and each block, in lexicographic order.
    duals : ndarray, shape (n**L,)
        What the optimum gains by a block that is more likely: any numbers prove a bound.
    """

    drafted: DraftedSets
    target: LanguageModel
    coupled: arithmetic.Array
    duals: arithmetic.Array

    @property
    def expected(self) -> arithmetic.Number:
        """E[tokens kept]."""
        return arithmetic.as_number((self.coupled * self._kept()).sum(), like=self.coupled)

    def check(self) -> None:
        """Check both marginals.

        Raises
        ------
        ValueError
            A negative mass or a marginal that is off: at all in exact arithmetic, in floats by
            more than ten times the solvers' tolerance.
        """
        slack = 0.0 if arithmetic.is_exact(self.coupled) else 10 * SOLVER_TOLERANCE
        lowest = min(self.coupled.min(), 0)
        if -lowest > slack:
            raise ValueError(f"the coupling has a negative mass, {plain(lowest)}")
        own = drafted_texts.text_masses(self.target, self.drafted.depth, "target")
        for name, found, wanted in (
            ("draft", self.coupled.sum(axis=1), self.drafted.chances),
            (
                "target",
                self.coupled.sum(axis=0),
                own[-1],
            ),
        ):
            worst = np.abs(found - wanted).max()
            if worst > slack:
                raise ValueError(f"the coupling's {name} marginal is off by {plain(worst)}")

    def bound(self) -> PriceBound:
        """Return the bound that the duals prove.

        The price of a text s is len(s) less the smallest dual of the blocks that begin with s.
        """
        n, smallest = self.drafted.n, [self.duals]
        for _ in range(self.drafted.depth):
            smallest.append(smallest[-1].reshape(-1, n).min(axis=1))
        prices = tuple(length - least for length, least in enumerate(reversed(smallest)))
        return PriceBound.of(self.drafted, self.target, "block", prices)

    def paths(self) -> PathPlan:
        """Return what the coupling selects of each set, with most of the block, and keeps of it."""
        drafted, n, length = self.drafted, self.drafted.n, self.drafted.depth
        selected = arithmetic.zeros(len(drafted.pairs[0]), like=self.coupled)
        ends = [arithmetic.zeros(n**depth, like=self.coupled) for depth in range(length + 1)]
        masses, kept = arithmetic.positive_part(self.coupled), self._kept()
        for number, sequences in enumerate(drafted.candidates):
            first = int(np.searchsorted(drafted.pairs[0], number))
            for place in np.flatnonzero(masses[number] > 0).tolist():
                head = drafted_texts.text_at(place, length, n)[: kept[number, place]]
                choice = next(
                    i for i, each in enumerate(sorted(sequences)) if each[: len(head)] == head
                )
                selected[first + choice] += masses[number, place]
                ends[len(head)][drafted_texts.place_of(head, n)] += masses[number, place]
        return PathPlan.of(self.bound(), selected, drafted_texts.summed_below(tuple(ends), n))

    def _kept(self) -> arithmetic.IntArray:
        return kept_tokens(self.drafted.candidates, self.drafted.n, self.drafted.depth)


def kept_tokens(sets: Iterable[Sequences], n: int, length: int) -> arithmetic.IntArray:
    """Return how many tokens each set of sequences keeps of each block, shape (d, n**length)."""
    rows = []
    for sequences in sets:
        row = np.zeros(n**length, dtype=np.intp)
        for kept in range(1, length + 1):
            for text in {sequence[:kept] for sequence in sequences if len(sequence) >= kept}:
                row.reshape(n**kept, -1)[drafted_texts.place_of(text, n)] = kept
        rows.append(row)
    return np.array(rows)


class BlockCoupling(Frozen, ABC):
    """Couple what is drafted with the target's law of L tokens; maximize E[tokens kept].

    Variables π(x, y) ≥ 0 for everything x that may be drafted and every block y; both marginals.
    """

    name: ClassVar[str]  # what error messages call the program
    title: ClassVar[str]
    smaller: ClassVar[str]  # what to do when the program is too large

    target: LanguageModel
    length: int

    @property
    def n(self) -> int:
        """The size of the alphabet."""
        return len(self.target(()))

    @abstractmethod
    def _drafted(self) -> int:
        """Return how many different things may be drafted."""

    @abstractmethod
    def _draft_law(self) -> tuple[arithmetic.IntArray, Mapping[Sequences, arithmetic.Number]]:
        """Return their name indices, (d, ·), and each as a set of sequences with its mass."""

    def size(self) -> Size:
        """Return the size of the program."""
        drafted, blocks = self._drafted(), arithmetic.counted_power(self.n, self.length)
        return Size(drafted + blocks, drafted * blocks, 2 * drafted * blocks)

    def build(self) -> LinearProgram:
        """Build the linear program."""
        check_size(self.name, self.size(), self.smaller)
        names, law = self._draft_law()
        draft = arithmetic.as_numbers(list(law.values()), "candidates")
        blocks, target = block_law(self.target, self.length, "target")
        drafted, output = np.indices((len(draft), len(blocks)), dtype=np.intp).reshape(2, -1)
        model = ProgramBuilder(draft)
        drafts = model.rows("draft", names, draft, draft)
        outputs = model.rows("target", blocks, target, target)
        mass = model.columns("pi", arrow(names[drafted], blocks[output]), 0, np.inf)
        model.put(drafts[drafted], mass)
        model.put(outputs[output], mass)
        kept = kept_tokens(law, self.n, self.length)
        kept = np.minimum(kept, ends(self.target, blocks)).ravel()
        return model.program(self.title, Sense.MAXIMIZE, mass, kept.astype(draft.dtype))

    def plan(self, solver: SolverName | None = None) -> BlockPlan:
        """Return a best coupling; by default the solver is "rational" if exact, else "highs"."""
        solution = solve(self.build(), solver)
        _, sets = self._draft_law()
        possible = {each: mass for each, mass in sets.items() if mass > 0}
        drafted = DraftedSets(possible, self.n).up_to_end(self.target)
        # What is drafted is cut where the target's text ends, blocks where nothing more is drafted.
        beyond = self.n ** (self.length - drafted.depth)
        coupled = arithmetic.zeros(
            (len(drafted.candidates), self.n**drafted.depth), like=solution.primal
        )
        masses = solution.primal.reshape(len(sets), -1, beyond).sum(axis=2)
        for each, row in zip(sets, masses, strict=True):
            if each in possible:
                coupled[drafted.numbers[drafted_texts.up_to_end(each, self.target)]] += row
        duals = solution.duals[len(sets) :].reshape(-1, beyond).min(axis=1)
        return BlockPlan(drafted, self.target, coupled, duals)


@dataclass(frozen=True, eq=False)
class BlockProgram(BlockCoupling):
    """Couple the draft's and the target's law of L tokens; maximize E[common prefix length].

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

    name: ClassVar[str] = "block"
    title: ClassVar[str] = "block (Block, eqs. 3-5)"
    smaller: ClassVar[str] = "use shorter blocks or a smaller alphabet"

    draft: LanguageModel
    target: LanguageModel
    length: int

    def __post_init__(self) -> None:
        self._hold(length=as_k(self.length, "length"))
        as_callable(self.draft, "draft", "a language model, a callable from a prefix")
        as_callable(self.target, "target", "a language model, a callable from a prefix")
        draft = as_distribution(self.draft(()), "draft()")
        check_alike("draft()", draft, "target()", as_distribution(self.target(()), "target()"))

    def _drafted(self) -> int:
        return arithmetic.counted_power(self.n, self.length)

    def _draft_law(self) -> tuple[arithmetic.IntArray, Mapping[Sequences, arithmetic.Number]]:
        blocks, masses = block_law(self.draft, self.length, "draft")
        pairs = zip(map(tuple, blocks.tolist()), masses.tolist(), strict=True)
        return blocks, {frozenset([block]): mass for block, mass in pairs}


def ends(model: LanguageModel, blocks: arithmetic.IntArray) -> arithmetic.IntArray:
    """Return how many tokens each block has up to the end of the model's text: (b, L) -> (b,)."""
    number, length = blocks.shape
    if not isinstance(model, Model):  # whose texts never end
        return np.full(number, length)
    return np.array([len(model.up_to_end(tuple(block))) for block in blocks.tolist()])


def block_law(
    model: LanguageModel, length: int, name: str
) -> tuple[arithmetic.IntArray, arithmetic.Array]:
    """Return all blocks of a length and their probabilities.

    ``model``: prefix → distribution. ``name``: what error messages call the model. ``blocks``,
    shape (n**length, length): in lexicographic order. ``masses``: shape (n**length,).
    """
    masses = drafted_texts.text_masses(model, length, name)
    n = len(masses[1])
    blocks = np.indices((n,) * length).reshape(length, -1).T.astype(np.intp)
    return blocks, masses[-1]
