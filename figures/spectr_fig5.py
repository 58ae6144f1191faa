"""SpecTr, figure 5: a uniform draft and uniform targets, the optimum and k-Seq against k."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import otspec
from figures.contract import Item, Numbers, Settings
from figures.looks import look
from otspec.rules import KSequential
from otspec.traces.comparison import OPTIMUM

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOKENS = 120
"""d: the draft is uniform over so many tokens."""
TARGETS = (120, 60, 30, 15, 8)
"""d_q: the target is uniform over the first so many tokens; divisors of d."""
KS = tuple(range(1, 17))


@dataclass(frozen=True)
class UniformCurves:
    """Acceptance against k, exactly.

    Parameters
    ----------
    ks : tuple of int
    optimum, k_sequential : dict
        d_q → the acceptance for each k.
    """

    ks: tuple[int, ...]
    optimum: dict[int, tuple[Fraction, ...]]
    k_sequential: dict[int, tuple[Fraction, ...]]


def uniform(size: int) -> list[Fraction]:
    """Return U(size) over all tokens."""
    return [Fraction(int(token < size), size) for token in range(TOKENS)]


def compute(settings: Settings) -> UniformCurves:
    """Return all curves."""
    ks = KS[:8] if settings.quick else KS
    draft = uniform(TOKENS)
    optimum, sequential = {}, {}
    for size in TARGETS:
        target = uniform(size)
        optimum[size] = tuple(otspec.optimal_acceptances(draft, target, ks))
        sequential[size] = tuple(KSequential(draft, target, k).acceptance() for k in ks)
    return UniformCurves(ks, optimum, sequential)


def numbers(data: UniformCurves) -> Numbers:
    """Return one row for each target and k."""
    rows = [
        (size, k, float(data.optimum[size][i]), float(data.k_sequential[size][i]))
        for size in data.optimum
        for i, k in enumerate(data.ks)
    ]
    return Numbers(("target tokens d_q", "k", "optimum", "k-sequential"), tuple(rows))


def draw(axes: Axes, data: UniformCurves) -> None:
    """Draw one line for each target, with k-Seq around it."""
    for size, best in data.optimum.items():
        first = size == TARGETS[0]
        title = KSequential.title
        axes.plot(data.ks, best, label=OPTIMUM if first else None,
                  **look(OPTIMUM, markersize=2.5))  # fmt: skip
        axes.plot(data.ks, data.k_sequential[size], label=title if first else None,
                  **look(title, linestyle="", markersize=6, fillstyle="none"))  # fmt: skip
        axes.annotate(f"$d_q$ = {size}", (data.ks[0], float(best[0])), xytext=(-6, 0),
                      textcoords="offset points", ha="right", va="center", fontsize=7)  # fmt: skip
    axes.set_xlabel("number of drafts k")
    axes.set_xticks(data.ks[1::2])
    axes.set_xlim(1 - 0.22 * data.ks[-1], data.ks[-1] + 0.5)
    axes.set_ylabel("acceptance")
    axes.set_ylim(0, 1.08)
    axes.legend(loc="lower right")


ITEM = Item(
    name="spectr_fig5",
    title=f"Draft U({TOKENS}), target U(d_q): acceptance against k",
    source="SpecTr, figure 5",
    compute=compute,
    numbers=numbers,
    draw=draw,
)
