"""What a draft gains if it is trained for the number of drafts that it will make (Train for k)."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit

from figures.contract import Numbers, Picture, Settings
from figures.registry import item
from otspec._base.arithmetic import Array
from otspec._base.writing import write_text
from otspec.plots.canvas import ink

LETTERS = Path(__file__).with_name("training_letters.csv")
TRACE = Path(__file__).with_name("training_trace.csv")
"""Records of trainings; ``python -m figures.record_training`` makes them anew."""
LAWS = {"iid": "i.i.d. drafts", "without-replacement": "distinct drafts"}
KS = (1, 2, 4, 8)
COLORS = {1: "#E69F00", 2: "#56B4E9", 4: "#009E73", 8: "#CC79A7"}
USES = tuple((law, k) for law in LAWS for k in KS if (law, k) != ("without-replacement", 1))
CONFIDENCE = 0.95


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a record: floats with eight digits after the point."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(f"{cell:.8f}" if isinstance(cell, float) else cell for cell in row)
    return text.getvalue()


def trained_for(law: str, k: int) -> str:
    """Return the name of the loss for a use; for one draft both laws are the same."""
    return "k=1" if k == 1 else f"k={k} {law}"


def radius(differences: Array) -> float:
    """Return the half width of Student's interval of a mean: (m,) paired differences."""
    m = len(differences)
    return float(stdtrit(m - 1, (1 + CONFIDENCE) / 2) * differences.std(ddof=1) / np.sqrt(m))


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a record."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@item("train_for_k", "ours", size=(7.0, 3.3), panels=(1, 2))
class TrainForK(Picture):
    """Drafts of letters by what they were trained for, at each use.

    Parameters
    ----------
    acceptance, tokens : dict
        What a draft was trained for → (law, k) → one number for each class of drafts and seed.
    logged : dict
        The same acceptance of the adapter on logged logits, one for each text.
    """

    title = "A draft accepts most at the number of drafts that it was trained for"

    acceptance: dict[str, dict[tuple[str, int], Array]]
    tokens: dict[str, dict[tuple[str, int], Array]]
    logged: dict[str, dict[tuple[str, int], Array]]

    @classmethod
    def compute(cls, settings: Settings) -> TrainForK:  # noqa: ARG003 # records are quick
        """Return what was recorded."""
        numbers: dict[str, Any] = {"acceptance": {}, "tokens": {}}
        for row in read(LETTERS):
            for name, found in numbers.items():
                use = row["law"], int(row["k"])
                found.setdefault(row["trained"], {}).setdefault(use, []).append(float(row[name]))
        logged: dict[str, dict[tuple[str, int], Array]] = {}
        for row in read(TRACE):
            texts = np.array([float(row[name]) for name in row if name.startswith("text")])
            logged.setdefault(row["trained"], {})[row["law"], int(row["k"])] = texts
        for found in numbers.values():
            for uses in found.values():
                uses.update({use: np.array(values) for use, values in uses.items()})
        return cls(**numbers, logged=logged)

    def numbers(self) -> Numbers:
        """Return a row for each training and use: means, the gain over KL and its interval."""
        rows = []
        for data, found in (("letters", self.acceptance), ("logged", self.logged)):
            for trained, uses in found.items():
                for (law, k), values in uses.items():
                    gains = values - found["KL"][law, k]
                    tokens = ""
                    if data == "letters":
                        tokens = f"{self.tokens[trained][law, k].mean():.6f}"
                    rows.append(
                        (data, trained, law, k, float(values.mean()), float(gains.mean()),
                         radius(gains), tokens)
                    )  # fmt: skip
        columns = (
            "data", "trained for", "law", "k", "acceptance", "gain over KL", "radius", "tokens",
        )  # fmt: skip
        return Numbers(columns, tuple(rows))

    def draw(self, axes: list[Any]) -> None:
        """Draw gains over the draft trained on KL, a panel for each law."""
        places = np.arange(len(KS))
        for panel, (law, title) in zip(axes, LAWS.items(), strict=True):
            panel.axhline(0, color=ink(), linewidth=1.2, zorder=2)
            ends = {"KL": 0.0}
            for k in KS:
                found = self.acceptance[trained_for(law, k)]
                uses = [(law if each > 1 else "iid", each) for each in KS]
                gains = [100 * (found[use] - self.acceptance["KL"][use]) for use in uses]
                means = [each.mean() for each in gains]
                panel.errorbar(
                    places, means, yerr=[radius(each) for each in gains], color=COLORS[k],
                    marker="o", markersize=4.5, linewidth=1.6, elinewidth=1, capsize=2.5, zorder=3,
                )  # fmt: skip
                at = KS.index(k)
                panel.plot(
                    places[at], means[at], "o", markersize=10, markerfacecolor="none",
                    markeredgecolor=COLORS[k], zorder=4,
                )  # fmt: skip
                ends[f"k = {k}"] = means[-1]
            heights = apart(list(ends.values()), 0.95)
            for (name, _), height in zip(ends.items(), heights, strict=True):
                color = ink() if name == "KL" else COLORS[int(name[4:])]
                panel.text(3.18, height, name, color=color, va="center", fontsize=8.5)
            panel.set(
                title=title, xticks=places, xticklabels=[str(k) for k in KS], xlim=(-0.2, 3.9),
                ylim=(-10.5, 4.5), xlabel="drafts k that it is used with",
            )  # fmt: skip
        axes[0].set_ylabel("acceptance, in points above\nthe draft trained on KL")
        axes[1].tick_params(labelleft=False)

    def write(self, folder: Path, formats: Sequence[str]) -> list[Path]:
        """Write the picture, and the matrices of the page."""
        found = super().write(folder, formats)
        for name, text in self.tables().items():
            path = folder / f"{self.name}_{name}.md"
            write_text(path, text)
            found.append(path)
        return found

    def tables(self) -> dict[str, str]:
        """Return the matrices of the page in Markdown: trained for × used with."""
        of = {"letters": self.acceptance, "logged": self.logged}
        tables = {
            name: self._matrix(found, partial(_difference, found)) for name, found in of.items()
        }
        tokens = self._matrix(
            self.tokens, lambda trained, use: f"{self.tokens[trained][use].mean():.3f}"
        )
        return {**tables, "tokens": tokens}

    @staticmethod
    def _matrix(found: dict[str, Any], cell: Callable[[str, tuple[str, int]], str]) -> str:
        short = {"iid": "i.i.d.", "without-replacement": "distinct"}
        names = ["one draft" if k == 1 else f"{k} {short[law]}" for law, k in USES]
        lines = [["trained for", *names], ["---", *["---:"] * len(names)]]
        for trained in found:
            law = trained.partition(" ")[2]
            title = trained.replace(law, short.get(law, law))
            lines.append([title, *(cell(trained, use) for use in USES)])
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _difference(found: dict[str, Any], trained: str, use: tuple[str, int]) -> str:
    """Return the gain over KL in points, with its interval; the acceptance itself for KL."""
    values, base = found[trained][use], found["KL"][use]
    if trained == "KL":
        return f"{100 * base.mean():.2f}"
    gains = 100 * (values - base)
    return f"{gains.mean():+.2f} ± {radius(gains):.2f}"


def apart(heights: list[float], least: float) -> list[float]:
    """Return heights in the same order that are some distance apart, as near as can be."""
    order = np.argsort(heights)
    placed = np.array(heights, dtype=float)[order]
    for _ in range(50):
        for i in range(len(placed) - 1):
            lacking = least - (placed[i + 1] - placed[i])
            if lacking > 0:
                placed[i] -= lacking / 2
                placed[i + 1] += lacking / 2
    found = np.empty_like(placed)
    found[order] = placed
    return found.tolist()
