"""The best rule in the long run that corrects one token only (Theory, 20): a program."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base.arithmetic import counted_power
from otspec._base.frozen import cached_property
from otspec.models.base import Prefix
from otspec.programs.builder import ProgramBuilder
from otspec.programs.formulation import Size, check_size
from otspec.programs.sequences.long_run import LongRunProgram, Rows, padded
from otspec.solvers import LinearProgram, Sense


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
                rows.add("drafted", (context, *text), [(column, 1), (self._begun(context), -whole)])
            for token, chance in self._wanted(start + text):
                after = self.contexts.after(context, (*text, token))
                balance[after].append((column, chance))
                longer = self.columns.get((context, (*text, token)))
                if longer is not None:
                    balance[after].append((longer, -1))
                    rows.add("wanted", (context, *text, token), [(longer, 1), (column, -chance)])
        for context, shares in balance.items():
            rows.add("balance", (context,), shares)
        rows.add("all", (), [(self._begun(context), 1) for context in balance])
        for prefix in ("drafted", "wanted"):
            rows.put(prefix, -np.inf, 0)
        rows.put("balance", 0, 0)
        rows.put("all", 1, 1)
        return model.program(self.title, Sense.MAXIMISE, columns)

    def _begun(self, context: int) -> int:
        return self.columns[context, ()]

    def _wanted(self, text: Prefix) -> list[tuple[int, Any]]:
        chances = enumerate(self.target(text).tolist())
        return [(token, chance) for token, chance in chances if chance > 0]
