"""Published lossy rules under the lossy frontier (Lossy rules): total variation and acceptance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from textwrap import fill
from typing import Any, TypeAlias

import numpy as np

import otspec
from figures.contract import Numbers, Picture, Settings
from figures.looks import look
from figures.registry import item
from otspec._base.writing import write_text
from otspec.distributions import Distribution
from otspec.plots.canvas import ink, letters
from otspec.rules.lossy import (
    Cactus,
    CascadeByPosition,
    CascadeByToken,
    EntropyLenience,
    FuzzyVerification,
    InterpolatedVerification,
    Lenience,
    LossyRule,
    MentoredDecoding,
    RelaxedTop,
    RollbackPolicy,
    ThresholdedTargetOnly,
    TypicalAcceptance,
)
from otspec.rules.lossy.base import kullback_leibler, total_variation

COLUMNS = ("setting", "TV", "KL", "acceptance", "frontier", "wasted")
Pairs: TypeAlias = Sequence[tuple[Distribution, Distribution]]


@dataclass(frozen=True)
class Sweep:
    """A rule for one draft as its parameter moves.

    Parameters
    ----------
    kind : type of LossyRule
    settings : tuple of dict
        Its parameters; the one that the table shows first.
    variant : str
        What tells it from another sweep of the rule.
    """

    kind: type[LossyRule]
    settings: tuple[dict[str, Any], ...]
    variant: str = ""

    @property
    def title(self) -> str:
        """What it is called."""
        return f"{self.kind.title}{self.variant}"


def _moved(name: str, *values: float, **fixed: Any) -> tuple[dict[str, Any], ...]:
    return tuple({name: value} | fixed for value in values)


def _typical(otherwise: str) -> tuple[dict[str, Any], ...]:
    """Return thresholds ε with δ = √ε, as Medusa has them."""
    epsilons = (0.09, 0.001, 0.003, 0.01, 0.03, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)
    return tuple({"epsilon": e, "delta": sqrt(e), "otherwise": otherwise} for e in epsilons)


ON_FRONTIER = (
    Sweep(Lenience, _moved("lenience", 0.5, 0.85, 0.25, 0.08)),
    Sweep(EntropyLenience, _moved("alpha", 0.4, 0.1, 1.0, 2.0, most=0.95)),
    Sweep(MentoredDecoding, _moved("alpha", 0.4, 0.92, 0.7, 0.16, 0.02)),
    Sweep(InterpolatedVerification, _moved("weight", 0.5, 0.05, 0.35, 0.75)),
    Sweep(Cactus, _moved("delta", 0.25, 0.004, 0.03, 0.1)),
    Sweep(FuzzyVerification, _moved("threshold", 0.3, 0.1, 0.2, 0.4)),
    Sweep(CascadeByPosition, _moved("alpha", 0.05, -0.2, 0.2, 0.5)),
)
"""The rules that accept all that their total variation allows."""
BELOW = (
    Sweep(CascadeByToken, _moved("alpha", 0.3, 0.0, 0.1, 0.5, 0.7, 0.9, 0.97, 0.99, 0.999)),
    Sweep(
        RollbackPolicy,
        _moved("rollback", 2.0, 0.1, 0.25, 0.5, 1.0, 1.5, 3.0, 4.0, 6.0, 8.0, 12.0),
    ),
    Sweep(TypicalAcceptance, _typical("target"), ", else a draw"),
    Sweep(TypicalAcceptance, _typical("greedy"), ", else the likeliest"),
    Sweep(RelaxedTop, _moved("delta", 0.6, 0.0, 0.05, 0.1, 0.2, 0.3, 0.45, 0.8, 1.0, count=10)),
)
"""Those that do not."""
NAMES: dict[str, tuple[str, int, tuple[float, float]]] = {
    CascadeByToken.title: (CascadeByToken.title, -1, (0.52, 0.88)),
    RollbackPolicy.title: (RollbackPolicy.title, 1, (0.12, 0.12)),
    f"{TypicalAcceptance.title}, else a draw": ("typical acceptance,\nelse a draw", 2, (0.2, 0.25)),
    f"{TypicalAcceptance.title}, else the likeliest": (
        "typical acceptance,\nelse the likeliest", 2, (0.61, 0.65)
    ),
    RelaxedTop.title: (RelaxedTop.title, -1, (0.27, 0.05)),
}  # fmt: skip
"""What the lines below the frontier are called, by which of their points, and where."""
TREES = (Sweep(ThresholdedTargetOnly, _moved("accumulated", 0.5, k=4, single=0.5)),)
"""Those of several drafts, which have an optimum of their own; in the table alone."""

At = tuple[float, ...]
"""A number at each position."""


@dataclass(frozen=True)
class Row:
    """What a rule does at each position."""

    setting: dict[str, Any]
    variation: At
    divergence: At
    """KL(output, target), in nats."""
    acceptance: At
    frontier: At
    """The most that is accepted with the same total variation."""

    @classmethod
    def found(cls, kind: type[LossyRule], setting: dict[str, Any], pairs: Pairs) -> Row:
        """Return the row of a rule with some parameters."""
        rules = [kind(*pair, **setting) for pair in pairs]
        outputs = [(rule.declared_output, rule.target) for rule in rules]
        off = tuple(float(total_variation(*laws)) for laws in outputs)
        most = zip(map(_optimum, rules), off, strict=True)
        return cls(
            setting,
            off,
            tuple(kullback_leibler(*laws) for laws in outputs),
            tuple(float(rule.acceptance()) for rule in rules),
            tuple(min(1.0, best + more) for best, more in most),
        )

    def means(self) -> tuple[float, ...]:
        """Return the means over the positions, and of what is wasted of the frontier."""
        values = (self.variation, self.divergence, self.acceptance, self.frontier)
        means = [float(np.mean(each)) for each in values]
        return *means, max(means[3] - means[2], 0.0)

    @property
    def called(self) -> str:
        """The parameters, in words."""
        named = {name: value for name, value in self.setting.items() if name != "otherwise"}
        return ", ".join(
            f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
            for name, value in named.items()
        )


def _optimum(rule: LossyRule) -> float:
    """Return the most that a lossless rule accepts of the same drafts."""
    if rule.k == 1:
        return float(np.minimum(rule.draft, rule.target).sum())
    return float(otspec.optimal_acceptance(rule.law, rule.target).acceptance)


@item("lossy_frontier", "ours", size=(7.0, 3.6), panels=(1, 2), traced=True)
class LossyFrontier(Picture):
    """One draft at each position of the trace, at temperature 1.

    Parameters
    ----------
    optima : tuple of float
        The most that a lossless rule accepts, position by position.
    rows : dict
        The title of a sweep → a :data:`Row` for each setting.
    """

    title = "Published lossy rules under the frontier of what their total variation allows"

    optima: tuple[float, ...]
    rows: dict[str, tuple[Row, ...]]

    @classmethod
    def compute(cls, settings: Settings) -> LossyFrontier:
        """Return what the rules do at all positions; at four and for three settings if quick."""
        pairs = list(settings.pairs())
        optima = tuple(float(np.minimum(*pair).sum()) for pair in pairs)
        most = 3 if settings.quick else None
        return cls(
            optima,
            {
                sweep.title: tuple(
                    Row.found(sweep.kind, each, pairs) for each in sweep.settings[:most]
                )
                for sweep in (*ON_FRONTIER, *BELOW, *TREES)
            },
        )

    @property
    def position(self) -> int:
        """The position that is shown alone: where the optimum is nearest to its mean."""
        optima = np.array(self.optima)
        return int(np.argmin(np.abs(optima - optima.mean())))

    def numbers(self) -> Numbers:
        """Return a row for each rule and setting: means, and the one position."""
        rows = [
            (
                title, row.called, *row.means(),
                row.variation[self.position], row.acceptance[self.position],
            )
            for title, rows in self.rows.items() for row in rows
        ]  # fmt: skip
        return Numbers(("rule", *COLUMNS, "TV at one", "acceptance at one"), tuple(rows))

    def draw(self, axes: list[Any]) -> None:
        """Draw one position to the left, the mean to the right."""
        one, mean = axes
        for panel, best, at in (
            (one, self.optima[self.position], lambda values: values[self.position]),
            (mean, float(np.mean(self.optima)), np.mean),
        ):
            panel.plot([0, 1 - best, 1], [best, 1, 1], color=ink(), linewidth=2.2,
                       zorder=2, label="frontier")  # fmt: skip
            for sweep in (*ON_FRONTIER, *BELOW):
                points = sorted(
                    (at(row.variation), at(row.acceptance)) for row in self.rows[sweep.title]
                )
                below = sweep in BELOW
                style = look(sweep.kind.title) if below else {"color": ink(), "marker": "o"}
                panel.plot(
                    *np.transpose(points), label=sweep.title, **style, markersize=4.5,
                    linestyle="-" if below else "", linewidth=1.2,
                    markerfacecolor="none" if "draw" in sweep.variant else None,
                    zorder=3 if below else 4,
                )  # fmt: skip
                if below and panel is one:
                    name, place, at_name = NAMES[sweep.title]
                    pointer = {"arrowstyle": "-", "color": style["color"], "linewidth": 0.6}
                    panel.annotate(name, points[min(place, len(points) - 1)], at_name, va="center",
                                   color=letters(style["color"]), arrowprops=pointer)  # fmt: skip
            panel.set(xlim=(-0.02, 1.0), ylim=(0, 1.03), xlabel="total variation of the output")
        one.set(ylabel="acceptance", title=f"position {self.position + 1}")
        mean.set(title=f"mean of {len(self.optima)} positions")
        listed = ", ".join(sweep.title for sweep in ON_FRONTIER)
        one.figure.supxlabel(
            fill(f"Dots on the frontier: {listed}", 110), fontsize="medium", linespacing=1.4
        )
        mean.annotate(
            "frontier", (0.75, 1), (0, -4), textcoords="offset points", ha="center", va="top"
        )

    def write(self, folder: Path, formats: Sequence[str]) -> list[Path]:
        """Write the picture, and the table of the page: each rule at its first setting."""
        path = folder / f"{self.name}_rules.md"
        write_text(path, self.table().as_markdown())
        return [*super().write(folder, formats), path]

    def table(self) -> Numbers:
        """Return the means of each rule at its first setting."""
        rows = []
        for sweep in (*ON_FRONTIER, *BELOW, *TREES):
            row = self.rows[sweep.title][0]
            rows.append((sweep.title, sweep.kind.source, row.called, *row.means()))
        return Numbers(("rule", "source", *COLUMNS), tuple(rows))
