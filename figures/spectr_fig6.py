"""SpecTr, figure 6: figure 4 with multi-round rejection sampling added."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from figures import spectr_fig4
from figures.contract import PAGE, Item, Numbers, Settings
from figures.looks import look
from figures.spectr_fig4 import DRAFT
from otspec.rules import KSequential, RecursiveRejection
from otspec.traces.comparison import OPTIMUM

RULES = (OPTIMUM, KSequential.title, RecursiveRejection.title)
STYLES = ("-", "--", ":")


@dataclass(frozen=True)
class MultiRoundCurves:
    """Acceptance against k, exactly but for k-Seq's ρ*.

    Parameters
    ----------
    ks : tuple of int
    acceptance : dict
        P(1) of the target → rule → the acceptance for each k.
    """

    ks: tuple[int, ...]
    acceptance: dict[Fraction, dict[str, tuple[Fraction, ...]]]


def compute(settings: Settings) -> MultiRoundCurves:
    """Return all curves; where draft and target are alike all rules accept with certainty."""
    known = spectr_fig4.compute(settings)
    draft = [1 - DRAFT, DRAFT]
    acceptance = {}
    for b in known.optimum:
        if b == DRAFT:
            continue
        rounds = tuple(RecursiveRejection(draft, [1 - b, b], k).acceptance() for k in known.ks)
        curves = (known.optimum[b], known.k_sequential[b], rounds)
        acceptance[b] = dict(zip(RULES, curves, strict=True))
    return MultiRoundCurves(known.ks, acceptance)


def numbers(data: MultiRoundCurves) -> Numbers:
    """Return one row for each target and k."""
    rows = [
        (float(b), k, *(float(curves[rule][i]) for rule in RULES))
        for b, curves in data.acceptance.items()
        for i, k in enumerate(data.ks)
    ]
    return Numbers(("target P(1)", "k", *RULES), tuple(rows))


def draw(axes: list[Any], data: MultiRoundCurves) -> None:
    """Draw one panel for each target."""
    for panel, (b, curves) in zip(axes, data.acceptance.items(), strict=True):
        for i, (rule, style) in enumerate(zip(RULES, STYLES, strict=True)):
            panel.plot(data.ks, curves[rule], label=rule,
                       **look(rule, linestyle=style, zorder=2 + i, markersize=5 - i))  # fmt: skip
        panel.set_title(f"target Ber({float(b):g})")
        panel.set_xlabel("number of drafts k")
        panel.set_xticks(data.ks[1::2])
        panel.set_ylim(0, 1.05)
    axes[0].set_ylabel("acceptance")
    axes[0].legend(loc="lower right")


ITEM = Item(
    name="spectr_fig6",
    title="Draft Ber(0.25): acceptance against k, with multi-round rejection sampling",
    source="SpecTr, figure 6",
    compute=compute,
    numbers=numbers,
    draw=draw,
    size=(PAGE[0], 2.3),
    panels=(1, 3),
)
