"""Canonical, figure 2: three tokens, an even draft, two drafts; the optimum and two baselines."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from figures.axes import name_rules, rule_lines
from figures.contract import PAGE, Settings
from figures.curves import Curves, against_k
from figures.registry import item
from otspec.rules import KSequential, RecursiveRejection
from otspec.traces.comparison import OPTIMUM

DRAFT = (Fraction(1, 3),) * 3
DRAFTS = 2
FIRST = (Fraction(1, 3), Fraction(1, 6))
"""q₁ of the left and of the right panel."""
STEP = Fraction(1, 36)
"""Of q₂; it meets all corners of the optimum."""
RULES = (KSequential, RecursiveRejection)
NAMES = {
    OPTIMUM: "optimum",
    KSequential.title: "k-sequential (SpecTr)",
    RecursiveRejection.title: "recursive rejection (SpecInfer)",
}
"""The paper's names beside ours."""
STYLES = tuple(
    {"label": name, "linestyle": style, "zorder": 5 - i, "markevery": 3}
    for i, (name, style) in enumerate(zip(NAMES.values(), ("-", "--", ":"), strict=True))
)


@item("canonical_fig2", "Canonical, figure 2", size=PAGE, panels=(1, 2))
class TriangleCurves(Curves):
    """For each q₁ the acceptance against q₂, exactly but for k-Seq's ρ*.

    The lines end where q₁ + q₂ = 1.
    """

    title = "Three tokens, even draft, k = 2: acceptance against q2, shaded where it can be 1"

    columns = ("q1", "q2")

    def certain(self, first: Fraction, rule: str) -> tuple[Fraction, ...]:
        """Return where a rule always accepts."""
        curve = self.curves[first][rule]
        return tuple(q2 for q2, a in zip(self.xs, curve, strict=False) if a == 1)

    @classmethod
    def compute(cls, settings: Settings) -> TriangleCurves:
        """Return the curves of both panels."""
        step = 2 * STEP if settings.quick else STEP
        places, curves = {}, {}
        for first in FIRST:
            count = (1 - first) / step
            if count.denominator != 1:
                raise ValueError(f"steps of {step} do not end at {1 - first}")
            places[first] = tuple(i * step for i in range(int(count) + 1))
            found = [
                against_k(DRAFT, (first, q2, 1 - first - q2), [DRAFTS], *RULES)
                for q2 in places[first]
            ]
            curves[first] = {rule: tuple(lines[rule][0] for lines in found) for rule in NAMES}
        return cls(max(places.values(), key=len), curves)

    def draw(self, axes: list[Any]) -> None:
        """Draw one panel for each q₁; where the optimum is 1 is shaded."""
        for panel, (first, lines) in zip(axes, self.curves.items(), strict=True):
            certain = self.certain(first, OPTIMUM)
            panel.axvspan(float(certain[0]), float(certain[-1]), color="#F0E442", alpha=0.3, lw=0,
                          zorder=0)  # fmt: skip
            places = self.xs[: len(lines[OPTIMUM])]
            rule_lines(panel, places, lines, styles=STYLES)
            panel.set(title=f"$q_1$ = {first}", xlabel="$q_2$")
            panel.set(ylim=(0.5, 1.02), xlim=(-0.02, float(places[-1]) + 0.02))
            panel.annotate("optimum 1", (float(certain[0] + certain[-1]) / 2, 0.51), ha="center")
        axes[0].set_ylabel("acceptance")
        name_rules(axes[-1])
