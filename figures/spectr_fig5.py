"""SpecTr, figure 5: a uniform draft and uniform targets, the optimum and k-Seq against k."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from figures.axes import rule_lines
from figures.contract import Settings
from figures.curves import Curves, against_k
from figures.registry import item
from otspec.rules import KSequential
from otspec.traces.comparison import OPTIMUM

TOKENS = 120
"""d: the draft is uniform over so many tokens."""
TARGETS = (120, 60, 30, 15, 8)
"""d_q: the target is uniform over the first so many tokens; divisors of d."""
KS = tuple(range(1, 17))
STYLES: tuple[dict[str, Any], ...] = (
    {"markersize": 2.5},
    {"linestyle": "", "markersize": 6, "fillstyle": "none"},
)


def uniform(size: int) -> list[Fraction]:
    """Return U(size) over all tokens."""
    return [Fraction(int(token < size), size) for token in range(TOKENS)]


@item("spectr_fig5", "SpecTr, figure 5", size=(7.0, 3.0))
class UniformCurves(Curves):
    """For each d_q the acceptance against k, exactly."""

    title = f"Draft U({TOKENS}), target U(d_q): acceptance against k"

    columns = ("target tokens d_q", "k")

    @classmethod
    def compute(cls, settings: Settings) -> UniformCurves:
        """Return all curves."""
        ks = KS[:8] if settings.quick else KS
        draft = uniform(TOKENS)
        return cls(ks, {d: against_k(draft, uniform(d), ks, KSequential) for d in TARGETS})

    def draw(self, axes: list[Any]) -> None:
        """Draw one line for each target, with k-Seq around it."""
        (panel,) = axes
        for size, lines in self.curves.items():
            rule_lines(panel, self.xs, lines, styles=STYLES, named=size == TARGETS[0])
            first = (self.xs[0], float(lines[OPTIMUM][0]))
            panel.annotate(f"$d_q$ = {size}", first, xytext=(-6, 0), textcoords="offset points",
                           ha="right", va="center", fontsize=7)  # fmt: skip
        panel.set(xlabel="number of drafts k", xticks=self.xs[1::2])
        panel.set(xlim=(1 - 0.22 * self.xs[-1], self.xs[-1] + 0.5))
        panel.set(ylabel="acceptance", ylim=(0, 1.08))
        panel.legend(loc="lower right")
