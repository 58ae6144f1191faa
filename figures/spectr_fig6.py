"""SpecTr, figure 6: figure 4 with multi-round rejection sampling added."""

from __future__ import annotations

from figures.registry import item
from figures.spectr_fig4 import DRAFT, TARGETS, BernoulliCurves
from otspec.rules import KSequential, RecursiveRejection


@item("spectr_fig6", "SpecTr, figure 6", size=(7.0, 2.4), panels=(1, 3))
class MultiRoundCurves(BernoulliCurves):
    """The same but where draft and target are alike, and all rules accept with certainty."""

    title = "Draft Ber(0.25): acceptance against k, with multi-round rejection sampling"

    targets = tuple(b for b in TARGETS if b != DRAFT)
    rules = (KSequential, RecursiveRejection)
    styles = tuple(
        {"linestyle": style, "zorder": 2 + i, "markersize": 5 - i}
        for i, style in enumerate(("-", "--", ":"))
    )
    named = 1
