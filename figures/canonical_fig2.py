"""Canonical, figure 2: three tokens, an even draft, two drafts; the optimum and two baselines."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import otspec
from figures.contract import PAGE, Item, Numbers, Settings
from figures.looks import look
from otspec.rules import KSequential, RecursiveRejection
from otspec.traces.comparison import OPTIMUM

DRAFT = (Fraction(1, 3),) * 3
DRAFTS = 2
FIRST = (Fraction(1, 3), Fraction(1, 6))
"""q₁ of the left and of the right panel."""
STEP = Fraction(1, 36)
"""Of q₂; it meets all corners of the optimum."""
RULES = {
    OPTIMUM: "optimum",
    KSequential.title: "k-sequential (SpecTr)",
    RecursiveRejection.title: "recursive rejection (SpecInfer)",
}
"""The paper's names beside ours."""
STYLES = ("-", "--", ":")
EVERY = 3


@dataclass(frozen=True)
class TriangleCurves:
    """Acceptance along two lines in the triangle of targets, exactly but for k-Seq's ρ*.

    Parameters
    ----------
    places : dict
        q₁ → the values of q₂.
    acceptance : dict
        q₁ → rule → the acceptance at each q₂.
    """

    places: dict[Fraction, tuple[Fraction, ...]]
    acceptance: dict[Fraction, dict[str, tuple[Fraction, ...]]]

    def certain(self, first: Fraction, rule: str) -> tuple[Fraction, ...]:
        """Return where a rule always accepts."""
        curve = self.acceptance[first][rule]
        return tuple(q2 for q2, a in zip(self.places[first], curve, strict=True) if a == 1)


def compute(settings: Settings) -> TriangleCurves:
    """Return the curves of both panels."""
    step = 2 * STEP if settings.quick else STEP
    places, acceptance = {}, {}
    for first in FIRST:
        count = (1 - first) / step
        if count.denominator != 1:
            raise ValueError(f"steps of {step} do not end at {1 - first}")
        places[first] = tuple(i * step for i in range(int(count) + 1))
        targets = [(first, q2, 1 - first - q2) for q2 in places[first]]
        acceptance[first] = {
            OPTIMUM: tuple(otspec.optimal_acceptances(DRAFT, q, [DRAFTS])[0] for q in targets),
            KSequential.title: tuple(
                KSequential(DRAFT, q, DRAFTS).acceptance() for q in targets
            ),
            RecursiveRejection.title: tuple(
                RecursiveRejection(DRAFT, q, DRAFTS).acceptance() for q in targets
            ),
        }  # fmt: skip
    return TriangleCurves(places, acceptance)


def numbers(data: TriangleCurves) -> Numbers:
    """Return one row for each target."""
    rows = [
        (float(first), float(q2), *(float(curves[rule][i]) for rule in RULES))
        for first, curves in data.acceptance.items()
        for i, q2 in enumerate(data.places[first])
    ]
    return Numbers(("q1", "q2", *RULES), tuple(rows))


def draw(axes: list[Any], data: TriangleCurves) -> None:
    """Draw one panel for each q₁; where the optimum is 1 is shaded."""
    for panel, (first, curves) in zip(axes, data.acceptance.items(), strict=True):
        certain = data.certain(first, OPTIMUM)
        panel.axvspan(float(certain[0]), float(certain[-1]), color="#F0E442", alpha=0.3, lw=0,
                      zorder=0)  # fmt: skip
        for i, (rule, style) in enumerate(zip(RULES, STYLES, strict=True)):
            panel.plot(data.places[first], curves[rule], label=RULES[rule], markevery=EVERY,
                       **look(rule, linestyle=style, zorder=5 - i))  # fmt: skip
        panel.set_title(f"$q_1$ = {first}")
        panel.set_xlabel("$q_2$")
        panel.set_ylim(0.5, 1.02)
        panel.set_xlim(-0.02, float(data.places[first][-1]) + 0.02)
    axes[0].set_ylabel("acceptance")
    axes[0].legend(loc="lower center")


ITEM = Item(
    name="canonical_fig2",
    title="Three tokens, even draft, k = 2: acceptance against q2, shaded where it can be 1",
    source="Canonical, figure 2",
    compute=compute,
    numbers=numbers,
    draw=draw,
    size=PAGE,
    panels=(1, 2),
)
