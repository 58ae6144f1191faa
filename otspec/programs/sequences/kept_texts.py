"""How likely what is kept begins with each text (Theory, 16), corrected or not (Theory, 8, 9)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from otspec._base import Frozen, as_callable, as_choice, as_instance, cached_property
from otspec._base.arithmetic import Array, IntArray, Number, positive_part, zeros
from otspec.distributions import check_alike
from otspec.models.base import LanguageModel
from otspec.programs.formulation import ProgramBuilder
from otspec.programs.sequences import drafted_texts
from otspec.programs.sequences.drafted_texts import Drafted, DraftedSets, Levels, Marks
from otspec.solvers import LinearProgram, Solution


@dataclass(frozen=True, eq=False)
class KeptTexts(Frozen, ABC):
    """A program whose first variables are A(s), how likely what is kept begins with a text s.

    A(s) is at most M_b(s), or where one token is corrected A(sy) ≤ A(s) M_b(y | s); and at least
    Σ_y A(sy). Only texts that draft and target may have get a variable. Maximized is Σ A(s).

    Parameters
    ----------
    drafted : Drafted
    target : callable
        Language model: prefix → distribution.
    corrects : {"block", "one"}
        Whether corrections may reach to the end of the block, or one token is corrected and the
        plain target follows.

    Raises
    ------
    ValueError
        Another alphabet or arithmetic than the target's.
    """

    drafted: Drafted
    target: LanguageModel
    corrects: str = "block"

    def __post_init__(self) -> None:
        as_instance(self.drafted, "drafted", Drafted, "a law of drafted texts, such as DraftedSets")
        as_callable(self.target, "target", "a language model, a callable from a prefix")
        as_corrects(self.corrects)
        if isinstance(self.drafted, DraftedSets):
            self._hold(drafted=self.drafted.up_to_end(self.target))
        check_alike("drafted", self._drafted[1], "target()", self._wanted[1])

    @abstractmethod
    def build(self) -> LinearProgram:
        """Build the linear program."""

    @cached_property
    def _drafted(self) -> Levels:
        return self.drafted.masses()

    @cached_property
    def _wanted(self) -> Levels:
        return drafted_texts.text_masses(self.target, self.drafted.depth, "target")

    @cached_property
    def places(self) -> tuple[IntArray, ...]:
        """The numbers of the texts of each length that can be kept at all."""
        pairs = zip(self._drafted, self._wanted, strict=True)
        return tuple(np.flatnonzero((one > 0) & (other > 0)) for one, other in pairs)

    @property
    def texts(self) -> int:
        """How many texts but the empty one can be kept."""
        return sum(map(len, self.places[1:]))

    def flat(self, levels: Levels | Marks) -> Array:
        """Return the numbers of the texts that can be kept, in the order of the variables."""
        pairs = zip(levels[1:], self.places[1:], strict=True)
        return np.concatenate([level[places] for level, places in pairs])

    def levels(self, flat: Array) -> Levels:
        """Return a number for each text from those of the variables; 0 for the others."""
        levels, start = [zeros(1, like=flat)], 0
        for length, places in enumerate(self.places[1:], 1):
            level = zeros(self.drafted.n**length, like=flat)
            level[places] = flat[start : start + len(places)]
            start += len(places)
            levels.append(level)
        return tuple(levels)

    def at_least(self, solution: Solution) -> Levels:
        """Return A(s) for each text; 1 for the empty one."""
        empty, *longer = self.levels(solution.primal)
        return (empty + 1, *longer)

    def columns(self) -> tuple[IntArray, ...]:
        """Return the variable of each text of each length; −1 where it has none."""
        found, start = [], 0
        for length, places in enumerate(self.places):
            level = np.full(self.drafted.n**length, -1, dtype=np.intp)
            if length:
                level[places] = np.arange(start, start + len(places))
                start += len(places)
            found.append(level)
        return tuple(found)

    def prices(self, weights: Array) -> Levels:
        """Return the prices of texts from the duals of the rows that bound A by what is drafted.

        A text costs the weights of all its beginnings. One that is never drafted costs more than
        all others, so that nothing is gained by it.
        """
        prices = drafted_texts.added_up(self.levels(positive_part(weights)), self.drafted.n)
        most = max(price.max() for price in prices) + self.drafted.depth
        for price, chance in zip(prices, self._drafted, strict=True):
            price[chance == 0] = most
        return prices

    def _begun(self) -> tuple[ProgramBuilder, IntArray]:
        """Return a program with the variables A and the rows without drafts, and A's columns."""
        model, rules = ProgramBuilder(self._wanted[0]), CORRECTIONS[self.corrects]
        columns = [
            model.columns("A", self._names(length), 0, rules.ceiling(length, self._masses(length)))
            for length in range(1, len(self.places))
        ]
        for length in range(1, len(columns)):
            # Where among the shorter texts the beginnings of the longer ones are.
            parents = np.searchsorted(
                self.places[length], self.places[length + 1] // self.drafted.n
            )
            names = self._names(length), self._names(length + 1)
            chances = self._masses(length + 1) / self._masses(length)[parents]
            rules.write(model, names, (columns[length - 1], columns[length]), parents, chances)
        return model, np.concatenate(columns)

    def _masses(self, length: int) -> Array:
        """Return M_b(s) of the texts of a length that can be kept."""
        return self._wanted[length][self.places[length]]

    def _names(self, length: int) -> IntArray:
        shape = (self.drafted.n,) * length
        return np.column_stack(np.unravel_index(self.places[length], shape)).astype(np.intp)


class _WholeBlock:
    """How likely what is kept may begin with each text, A(s): the whole block is corrected.

    Then A(s) ≤ M_b(s), and A(s) ≥ Σ_y A(sy) (Theory, 8).
    """

    def left(self, prices: Levels, wanted: Levels, n: int) -> Number:
        """Return the most of E[len(s) − u(s)] over what the target allows to be kept."""
        # That is E[max len(s) − u(s)] over the beginnings of the target's text.
        gains = tuple(length - level for length, level in enumerate(prices))
        return (wanted[-1] * drafted_texts.highest_so_far(gains, n)[-1]).sum()

    def ceiling(self, length: int, wanted: Array) -> Array:  # noqa: ARG002 -- of any length
        """Return what A(s) is at most for texts of a length, if no row says so: M_b(s)."""
        return wanted

    def write(
        self,
        model: ProgramBuilder,
        names: tuple[IntArray, IntArray],
        columns: tuple[IntArray, IntArray],
        parents: IntArray,
        chances: Array,  # noqa: ARG002 -- the ceiling says what the target allows
    ) -> None:
        """Write the rows for texts s of a length and the texts sy: A(s) ≥ Σ_y A(sy)."""
        # names, columns: of the texts s and of the texts sy. parents: for each text sy the place of
        # s. chances: M_b(y | s).
        rows = model.rows("longer", names[0], 0, np.inf)
        model.put(rows, columns[0])
        model.put(rows[parents], columns[1], -1)

    def mended(self, kept: Levels, passed: Levels, wanted: Levels, n: int) -> Levels:
        """Return A of a float solution, not above what is selected nor what the target allows."""
        # It is at least the sum of those of longer texts.
        mended: list[Array] = []
        for level, through, aim in zip(kept[::-1], passed[::-1], wanted[::-1], strict=True):
            least = mended[-1].reshape(-1, n).sum(axis=1) if mended else 0
            mended.append(np.maximum(np.minimum(np.minimum(level, through), aim), least))
        return tuple(reversed(mended))

    def over(self, kept: Levels, wanted: Levels, n: int) -> Levels:  # noqa: ARG002 -- as the other
        """Return by how much A is above what the target allows."""
        return tuple(level - aim for level, aim in zip(kept, wanted, strict=True))


class _OneToken(_WholeBlock):
    """One token, after which the plain target follows: A(sy) ≤ A(s) M_b(y | s) (Theory, 9)."""

    def left(self, prices: Levels, wanted: Levels, n: int) -> Number:
        """Return the most that whoever stops the target's text gets of len(s) − u(s)."""
        # The text s is left before a next token that is known, and nothing beyond it.
        length = len(prices) - 1
        worth: Array = wanted[-1] * (length - prices[-1])
        for depth in range(length - 1, -1, -1):
            stopped = wanted[depth + 1] * np.repeat(depth - prices[depth], n)
            worth = np.maximum(stopped, worth).reshape(-1, n).sum(axis=1)
        return worth[0]

    def ceiling(self, length: int, wanted: Array) -> Array:
        """Return M_b(s) for one token; longer texts have rows."""
        return wanted if length == 1 else np.full(len(wanted), np.inf)

    def write(
        self,
        model: ProgramBuilder,
        names: tuple[IntArray, IntArray],
        columns: tuple[IntArray, IntArray],
        parents: IntArray,
        chances: Array,
    ) -> None:
        """Write A(sy) ≤ A(s) M_b(y | s)."""
        rows = model.rows("next", names[1], -np.inf, 0)
        model.put(rows, columns[1])
        model.put(rows, columns[0][parents], -chances)

    def mended(self, kept: Levels, passed: Levels, wanted: Levels, n: int) -> Levels:
        """Return masses within what the next token leaves of those of shorter texts."""
        mended = [kept[0]]
        for length in range(1, len(kept)):
            limit = np.repeat(mended[-1], n) * next_tokens(wanted, length, n)
            least = np.minimum(kept[length], passed[length])
            mended.append(positive_part(np.minimum(least, limit)))
        return tuple(mended)

    def over(self, kept: Levels, wanted: Levels, n: int) -> Levels:
        """Return A(sy) − A(s) M_b(y | s)."""
        return tuple(
            kept[length] - np.repeat(kept[length - 1], n) * next_tokens(wanted, length, n)
            for length in range(1, len(kept))
        )


def next_tokens(wanted: Levels, length: int, n: int) -> Array:
    """Return M_b(y | s) for all texts sy of a length; 0 where s is impossible."""
    shorter = np.repeat(wanted[length - 1], n)
    return wanted[length] / np.where(shorter > 0, shorter, 1)


CORRECTIONS = {"block": _WholeBlock(), "one": _OneToken()}
"""By name: the whole block, or one token."""


def as_corrects(corrects: str) -> str:
    """Check what may be corrected."""
    return as_choice(corrects, "corrects", CORRECTIONS)
