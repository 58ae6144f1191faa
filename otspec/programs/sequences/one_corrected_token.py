"""Programs of the long run (Theory, 20 and 21), and the best rule that corrects one token only."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base import Array, Frozen, IntArray, as_integer, cached_property, counted_power, zeros
from otspec.distributions import as_k
from otspec.models.base import Model, Prefix, as_models
from otspec.models.joint_contexts import JointContexts
from otspec.programs.formulation import ProgramBuilder, Size, check_size
from otspec.solvers import LinearProgram, Sense

MOST_LENGTH = 100  # most tokens of a block; the programs grow as the alphabet to their power

Share = tuple[int, Any]  # a column of a program, and its coefficient


@dataclass(frozen=True, eq=False)
class LongRunProgram(Frozen, ABC):
    """Shares of all blocks of a long text, by where they begin and what becomes of them.

    Texts that end follow one another: each block is over with an end token, and the next one
    begins a new text.
    """

    title: ClassVar[str]
    smaller: ClassVar[str] = "use shorter blocks or models that remember less"

    draft: Model
    target: Model
    length: int  # L, the tokens of a block

    def __post_init__(self) -> None:
        draft, target = as_models(self.draft, self.target)
        length = as_k(self.length, "length")
        length = as_integer(length, "length", 1, MOST_LENGTH, otherwise="use shorter blocks")
        if target.ended(()):
            raise ValueError(
                "target is the model of a text that is over: use that of its beginning"
            )
        self._hold(draft=draft, target=target, length=length)

    @cached_property
    def contexts(self) -> JointContexts:
        """What the two models remember."""
        return JointContexts(self.draft, self.target)

    @abstractmethod
    def build(self) -> LinearProgram:
        """Build the linear program."""

    def texts_after(self, start: Prefix, length: int) -> Iterator[tuple[Prefix, Any]]:
        """Yield the target's texts of a length after a start, with their probabilities."""
        return self.target.after(start).texts(length)


class Rows:
    """Rows of a program under construction, one by one."""

    def __init__(self, model: ProgramBuilder, like: Array) -> None:
        self._model, self._like = model, like
        self._found: dict[str, tuple[list[tuple[int, ...]], list[list[Share]]]] = {}

    def add(self, prefix: str, name: tuple[int, ...], shares: list[Share]) -> None:
        """Add a row of the block of rows with a prefix."""
        names, rows = self._found.setdefault(prefix, ([], []))
        names.append(name)
        rows.append(shares)

    def put(self, prefix: str, lower: float, upper: float) -> None:
        """Put a block of rows, all with the same bounds, into the program, if there are any."""
        names, rows = self._found.pop(prefix, ([], []))
        if not names:
            return
        numbers = self._model.rows(prefix, padded(names), lower, upper)
        counts = [len(shares) for shares in rows]
        columns, values = zip(*(share for shares in rows for share in shares), strict=True)
        where = np.array(columns, dtype=np.intp)
        coefficients = zeros(len(values), like=self._like)
        coefficients[:] = values
        self._model.put(np.repeat(numbers, counts), where, coefficients)


def padded(names: list[tuple[int, ...]]) -> IntArray:
    """Return names of different lengths as name indices; an arrow stands where one has ended."""
    width = max(map(len, names))
    filled = [(*name, *(-1,) * (width - len(name))) for name in names]
    return np.array(filled, dtype=np.intp).reshape(len(names), width)


@dataclass(frozen=True, eq=False)
class OneTokenProgram(LongRunProgram):
    """Tokens per call, in the long run, of a rule after whose corrected token the target follows.

    Variables r(c, s) ≥ 0: the share of blocks that begin in context c and keep at least the text s
    of 0 to L tokens. With it, r(c, sx) ≤ r(c, s) M_b(x | cs), r(c, sx) ≤ r(c, ∅) M_s(sx | c), and
    in every context as many blocks begin as end. The optimum is the sum of all r. A text that is
    over has no variable: its end token is decoded whether it is kept or corrected. Parameters and
    errors: :class:`LongRunProgram`.
    """

    title: ClassVar[str] = "one corrected token in the long run"

    @cached_property
    def columns(self) -> dict[tuple[int, Prefix], int]:
        """The number of each variable, by context and text."""
        numbers: dict[tuple[int, Prefix], int] = {}
        for context, start in enumerate(self.contexts.texts):
            draft = self.draft.after(start)
            for length in range(self.length + 1):
                for text, _ in self.texts_after(start, length):
                    if draft.mass(text) > 0 and not self.target.ended(start + text):
                        numbers[context, text] = len(numbers)
        return numbers

    def size(self) -> Size:
        """Return the size of the program: an upper bound where probabilities are zero."""
        n, states = self.target.n, len(self.contexts.texts)
        texts = states * sum(counted_power(n, length) for length in range(self.length + 1))
        return Size(2 * texts + states + 1, texts, (5 + n) * texts)

    def build(self) -> LinearProgram:
        """Build the linear program; errors as :meth:`LongRunProgram.build`."""
        check_size(self.title, self.size(), self.smaller)
        model = ProgramBuilder(self.target(()))
        names = [(context, *text) for context, text in self.columns]
        columns = model.columns("kept", padded(names), 0, np.inf)
        rows = Rows(model, self.target(()))
        balance: dict[int, list[Any]] = defaultdict(list)
        for (context, text), column in self.columns.items():
            start = self.contexts.texts[context]
            if not text:
                balance[context].append((column, -1))
            else:
                whole = self.draft.after(start).mass(text)
                rows.add(
                    "drafted", (context, *text), [(column, 1), (self.columns[context, ()], -whole)]
                )
            wanted = enumerate(self.target(start + text).tolist())
            for token, chance in ((token, chance) for token, chance in wanted if chance > 0):
                after = self.contexts.after(context, (*text, token))
                balance[after].append((column, chance))
                longer = self.columns.get((context, (*text, token)))
                if longer is not None:
                    balance[after].append((longer, -1))
                    rows.add("wanted", (context, *text, token), [(longer, 1), (column, -chance)])
        for context, shares in balance.items():
            rows.add("balance", (context,), shares)
        rows.add("all", (), [(self.columns[context, ()], 1) for context in balance])
        for prefix in ("drafted", "wanted"):
            rows.put(prefix, -np.inf, 0)
        rows.put("balance", 0, 0)
        rows.put("all", 1, 1)
        return model.program(self.title, Sense.MAXIMIZE, columns)
