"""What no rule is above in the long run (Theory, 21): a program over windows of the text."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from otspec._base import Number, as_instance, as_integer, cached_property, counted_power, zeros
from otspec.models.base import Prefix
from otspec.models.joint_contexts import JointContexts
from otspec.programs.formulation import ProgramBuilder, Size, check_size
from otspec.programs.sequences.one_corrected_token import LongRunProgram, Rows, Share, padded
from otspec.solvers import LinearProgram, Sense, Solution

MOST_PAST = 1_000  # most tokens of the past that are told apart

LARGEST_DENOMINATOR = 10**8
"""Of the duals that prove the bound; those of small programs are fractions of small numbers."""

Window = tuple[int, Prefix]  # a past, by the number of its context, and the tokens after it


@dataclass(frozen=True, eq=False)
class WindowProgram(LongRunProgram):
    """Calls per token, in the long run, that every lossless rule needs at least.

    Variables κ_j(u, z) ≥ 0, j = 0 to L: how often a block begins after u, the last tokens of the
    text, z follows (L + 1 tokens, or less if the text is over), and at least j of them are kept.
    κ_j falls in j; no more is kept than is drafted after u; and where a block is at work at every
    place, with however many kept tokens before it, the text is the target's. The optimum is the sum
    of κ_0.

    Parameters
    ----------
    draft, target, length
        As for :class:`LongRunProgram`.
    past : int
        How many of the last tokens u is, or more if a model remembers more.
    """

    title: ClassVar[str] = "windows of the long run"
    smaller: ClassVar[str] = "use a shorter past, shorter blocks or models that remember less"

    past: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        past = as_integer(self.past, "past", 0, MOST_PAST, otherwise="use a shorter past")
        self._hold(past=past)

    @cached_property
    def contexts(self) -> JointContexts:
        """What the two models remember, and the last tokens."""
        return JointContexts(self.draft, self.target, self.past)

    @cached_property
    def windows(self) -> list[Window]:
        """The windows (u, z); a text z that is over before has fewer tokens."""
        pasts = enumerate(self.contexts.texts)
        reach = self.length + 1
        return [(u, text) for u, start in pasts for text, _ in self.texts_after(start, reach)]

    @cached_property
    def columns(self) -> dict[tuple[int, int], int]:
        """The number of κ_j(u, z) by j and window, for each token of z after those it keeps."""
        each = [
            (kept, number)
            for kept in range(self.length + 1)
            for number, (_, text) in enumerate(self.windows)
            if kept < len(text)
        ]
        return {names: column for column, names in enumerate(each)}

    def size(self) -> Size:
        """Return the size of the program: an upper bound where probabilities are zero."""
        n, pasts, places = self.target.n, len(self.contexts.texts), self.length + 1
        windows = pasts * counted_power(n, places)
        drafted = sum(counted_power(n, length) for length in range(1, places))
        rows = self.length * windows + pasts * (drafted + n + 1) + 1
        coefficients = windows * (4 * self.length + places * (2 * n + 4))
        return Size(rows, places * windows, coefficients)

    def build(self) -> LinearProgram:
        """Build the linear program; errors as :meth:`LongRunProgram.build`."""
        check_size(self.title, self.size(), self.smaller)
        model = ProgramBuilder(self.target(()))
        for kept in range(self.length + 1):
            alive = [(u, text) for u, text in self.windows if kept < len(text)]
            names = [(kept, *self.contexts.texts[u], -1, *text) for u, text in alive]
            if names:
                model.columns("kappa", padded(names), 0, np.inf)
        rows = Rows(model, self.target(()))
        for (kept, number), more in self.columns.items():
            if kept:
                less = self.columns[kept - 1, number]
                rows.add("falls", (kept, number), [(more, 1), (less, -1)])
        for kept in range(1, self.length + 1):
            self._put_drafted(rows, kept)
        self._put_covered(rows)
        rows.add("all", (), [(column, 1) for column in self.columns.values()])
        rows.put("falls", -np.inf, 0)
        rows.put("drafted", -np.inf, 0)
        rows.put("follows", 0, 0)
        rows.put("arrives", 0, 0)
        rows.put("all", 1, 1)
        return model.program(self.title, Sense.MINIMIZE, np.arange(len(self.windows)))

    def _put_drafted(self, rows: Rows, kept: int) -> None:
        """Say that blocks of which a text is kept are at most those in which it is drafted."""
        begun: dict[int, list[int]] = defaultdict(list)
        shares: dict[Window, list[Share]] = defaultdict(list)
        for number, (u, text) in enumerate(self.windows):
            begun[u].append(number)
            if kept < len(text):
                shares[u, text[:kept]].append((self.columns[kept, number], 1))
        for (u, text), found in shares.items():
            drafted = self.draft.after(self.contexts.texts[u]).mass(text)
            all_begun = [(number, -drafted) for number in begun[u]]
            rows.add("drafted", (u, *text), found + all_begun)

    def _put_covered(self, rows: Rows) -> None:
        """Say that one block is at work at each place, and that the text there is the target's."""
        covering: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for column, u, token in self._places():
            covering[u][token].append(column)
        arriving: dict[int, list[Share]] = defaultdict(list)
        for u, by_token in covering.items():
            row = self.target(self.contexts.texts[u])
            columns = [column for columns in by_token.values() for column in columns]
            arriving[u] += [(column, -1) for column in columns]
            for token, found in by_token.items():
                arriving[self.contexts.next[u][token]] += [(column, 1) for column in found]
                part = [(column, 1) for column in found]
                rows.add("follows", (u, token), [*part, *((c, -row[token]) for c in columns)])
        for u, shares in arriving.items():
            rows.add("arrives", (u,), shares)

    def _places(self) -> Iterator[tuple[int, int, int]]:
        """Yield for each variable the past of the place that it is about, and the token there."""
        for (kept, number), column in self.columns.items():
            u, text = self.windows[number]
            yield column, self.contexts.after(u, text[:kept]), text[kept]

    def certified(self, solution: Solution) -> Number:
        """Return tokens per call that no rule is above, from the duals alone.

        Any duals give such a number: what they violate is added to that of the row that says that
        all variables sum to 1. In exact arithmetic it holds exactly, whatever the solver rounded.

        Parameters
        ----------
        solution : Solution
            Of this program, in floats or exact.

        Raises
        ------
        ValueError
            Something else.
        """
        as_instance(solution, "solution", Solution, "a Solution of this program")
        program = self.build()
        duals = zeros(program.shape[0], like=program.objective)
        duals[:] = solution.duals
        if program.exact:  # near the duals; equal to those that were rounded from simple fractions
            duals[:] = [Fraction(dual).limit_denominator(LARGEST_DENOMINATOR) for dual in duals]
        unbounded = np.isinf(program.row_lower.astype(float))
        duals = np.where(unbounded, np.minimum(duals, 0), duals)
        lacking = (program.objective - program.prices(duals)).min()
        calls = duals[-1] + min(lacking, lacking * 0)
        if not calls > 0:
            raise ValueError("solution has duals that prove nothing: solve the program again")
        return self.target.number(min(1 / calls, self.length + 1))
