"""SpecTr, figure 4: two Bernoulli distributions, the optimum and k-Seq against k."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import otspec
from figures.contract import PAGE, Item, Numbers, Settings
from figures.looks import look
from otspec.rules import KSequential
from otspec.traces.comparison import OPTIMUM

DRAFT = Fraction(1, 4)
"""P(1) of the draft; tokens are 0 and 1."""
TARGETS = (Fraction(1, 10), Fraction(1, 4), Fraction(3, 4), Fraction(1))
KS = tuple(range(1, 11))


@dataclass(frozen=True)
class BernoulliCurves:
    """Acceptance against k, exactly but for k-Seq's ρ*.

    Parameters
    ----------
    ks : tuple of int
    optimum, k_sequential : dict
        P(1) of the target → the acceptance for each k.
    """

    ks: tuple[int, ...]
    optimum: dict[Fraction, tuple[Fraction, ...]]
    k_sequential: dict[Fraction, tuple[Fraction, ...]]


def compute(settings: Settings) -> BernoulliCurves:
    """Return all curves."""
    ks = KS[:4] if settings.quick else KS
    optimum, sequential = {}, {}
    draft = [1 - DRAFT, DRAFT]
    for b in TARGETS:
        target = [1 - b, b]
        optimum[b] = tuple(otspec.optimal_acceptances(draft, target, ks))
        sequential[b] = tuple(KSequential(draft, target, k).acceptance() for k in ks)
    return BernoulliCurves(ks, optimum, sequential)


def numbers(data: BernoulliCurves) -> Numbers:
    """Return one row for each target and k."""
    rows = [
        (float(b), k, float(data.optimum[b][i]), float(data.k_sequential[b][i]))
        for b in data.optimum
        for i, k in enumerate(data.ks)
    ]
    return Numbers(("target P(1)", "k", "optimum", "k-sequential"), tuple(rows))


def draw(axes: list[Any], data: BernoulliCurves) -> None:
    """Draw one panel for each target."""
    for panel, b in zip(axes, data.optimum, strict=True):
        panel.plot(data.ks, data.optimum[b], label=OPTIMUM, **look(OPTIMUM))
        panel.plot(data.ks, data.k_sequential[b], label=KSequential.title,
                   **look(KSequential.title, linestyle="--", zorder=3))  # fmt: skip
        panel.set_title(f"target Ber({float(b):g})")
        panel.set_xlabel("number of drafts k")
        panel.set_xticks(data.ks[1::2])
        panel.set_ylim(0, 1.05)
    axes[0].set_ylabel("acceptance")
    axes[1].legend(loc="lower right")


ITEM = Item(
    name="spectr_fig4",
    title="Draft Ber(0.25): acceptance against k",
    source="SpecTr, figure 4",
    compute=compute,
    numbers=numbers,
    draw=draw,
    size=(PAGE[0], 2.2),
    panels=(1, 4),
)
