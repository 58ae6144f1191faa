"""Which draft law is best (Theory, 1, 2, 13 and 14), at temperatures of draft and target apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np

from figures.contract import Numbers, Picture, Settings
from figures.registry import item
from otspec import optimal_acceptances, rules
from otspec._base.writing import write_text
from otspec.distributions import Distribution
from otspec.drafts import IID, LAWS, Hub, TopK, TopPlusOne, WithoutReplacement
from otspec.plots.axes import against_counts, label_ends, style_of
from otspec.plots.canvas import ink, letters
from otspec.traces.statistics import clustered_mean
from otspec.traces.summary import attains

KS = (1, 2, 4, 8, 16)
TEMPERATURES = (0.3, 0.6, 1.0)
"""Of the draft, row by row, and of the target, column by column."""

COLORS: dict[str, str | None] = {
    IID.name: None,
    WithoutReplacement.name: "#6650C8",
    Hub.name: "#E69F00",
    TopPlusOne.name: "#D55E00",
    TopK.name: "#117733",
}
"""The laws that are compared, and their lines; that of i.i.d. drafts has the ink's color."""

BEST: dict[str, type[rules.PairRule]] = {
    rule.law_class.name: rule
    for rule in (
        rules.PooledSelection,
        rules.PooledSelectionWithoutReplacement,
        rules.SpecHub,
        rules.DrawnDraft,
        rules.TargetOnly,
    )
}
"""The best rule that there is for each law."""

Key = tuple[float, float, str, int]
"""Temperature of the draft, of the target, law, k."""
Place = tuple[float, float]
PLACE = ("draft T", "target T")
Mean = tuple[float, float, float]
"""A mean over positions, and the ends of its interval."""


@item("draft_laws", "ours", size=(7.0, 6.0), panels=(3, 3), traced=True)
class DraftLaws(Picture):
    """The optimum of every draft law that has a name, and what its best rule accepts.

    Parameters
    ----------
    optima, accepted : dict
        (temperature of the draft, of the target, law, k) → a number at each position.
    texts : tuple of int
        Which text each position is of.
    """

    title = "The optimum of each draft law, at several temperatures of draft and target"

    optima: dict[Key, tuple[float, ...]]
    accepted: dict[Key, tuple[float, ...]]
    texts: tuple[int, ...]

    @classmethod
    def compute(cls, settings: Settings) -> DraftLaws:
        """Return what is found at all positions; at two and for k up to 2 if quick."""
        return cls.at(settings, list(product(TEMPERATURES, repeat=2)))

    @classmethod
    def at(cls, settings: Settings, temperatures: Sequence[Place]) -> DraftLaws:
        """Return the same for some temperatures of draft and target."""
        logged = settings.logged()
        ks, most = (KS[:2], 2) if settings.quick else (KS, logged.positions)
        optima: dict[Key, tuple[float, ...]] = {}
        accepted: dict[Key, tuple[float, ...]] = {}
        places: list[tuple[int, ...]] = []
        for of_draft, of_target in temperatures:
            warped = logged.pairs(temperature=of_target, draft_temperature=of_draft)
            positions = list(islice(warped, most))
            places = [place[:-1] if len(place) > 1 else place for place, _, _ in positions]
            for (law, k), values in found_at((pair for _, *pair in positions), ks).items():
                optima[of_draft, of_target, law, k] = tuple(best for best, _ in values)
                accepted[of_draft, of_target, law, k] = tuple(rule for _, rule in values)
        order = list(dict.fromkeys(places))
        return cls(optima, accepted, tuple(map(order.index, places)))

    def mean(self, key: Key, above: str | None = None) -> Mean:
        """Return the mean optimum, or how far it is above another law's, with its 95% interval.

        Texts are the independent units, or positions if there is one text.
        """
        values = np.array(self.optima[key])
        if above is not None:
            values = values - np.array(self.optima[key[0], key[1], above, key[3]])
        low = 0.0 if above is None else -1.0
        mean, ends = clustered_mean(values, np.array(self.texts), low, 1.0)
        return mean, *ends

    def short(self, key: Key) -> float:
        """Return how far the best rule is below the optimum in the mean."""
        return float(np.mean(self.optima[key]) - np.mean(self.accepted[key]))

    def numbers(self) -> Numbers:
        """Return a row for each temperature, law and k, beside i.i.d. and top-k drafts."""
        columns = [
            "T draft",
            "T target",
            "law",
            "k",
            "optimum",
            "low",
            "high",
            "best rule",
            "short",
        ]
        for law in (IID.name, TopK.name):
            columns += [f"above {law}", f"above {law} low", f"above {law} high"]
        rows = [
            (
                *key, *self.mean(key), BEST[key[2]].title, self.short(key),
                *self.mean(key, IID.name), *self.mean(key, TopK.name),
            )
            for key in self.optima
        ]  # fmt: skip
        return Numbers(tuple(columns), tuple(rows))

    def draw(self, axes: list[Any]) -> None:
        """Draw a panel for each two temperatures: the mean of each law, with its interval."""
        for panel, place in zip(axes, self.places, strict=True):
            named = {}
            for law, own in COLORS.items():
                color = own or ink()
                keys = [key for key in self.optima if key[:3] == (*place, law)]
                ks = [key[3] for key in keys]
                means, lows, highs = np.transpose([self.mean(key) for key in keys])
                look = {"color": color, "linestyle": style_of(law), "label": law}
                (line,) = panel.plot(
                    ks, means, marker="o", markersize=3 if len(ks) > 1 else 5, **look
                )
                if len(ks) > 1:
                    named[law] = line
                else:
                    panel.annotate(law, (ks[0], means[0]), (4, -9), textcoords="offset points",
                                   ha="left", color=letters(color))  # fmt: skip
                if law in (IID.name, TopK.name):
                    panel.fill_between(ks, lows, highs, color=color, alpha=0.12, linewidth=0)
            against_counts(panel, self.ks, "k")
            panel.set(ylim=(0, 1), title=f"draft T = {place[0]:g}, target T = {place[1]:g}")
            if place[1] == TEMPERATURES[-1]:  # the column in which lines are apart
                label_ends(panel, named)
        for panel in axes[:-3]:
            panel.set_xlabel("")
        axes[3].set_ylabel("mean optimum")
        axes[0].figure.supxlabel(
            f"bands: 95% intervals of the mean over texts, of {IID.name} and {TopK.name}",
            fontsize="medium",
        )

    @property
    def places(self) -> list[Place]:
        """The temperatures of draft and target, panel by panel."""
        return sorted({key[:2] for key in self.optima})

    @property
    def ks(self) -> list[int]:
        """The numbers of drafts."""
        return sorted({key[3] for key in self.optima})

    def write(self, folder: Path, formats: Sequence[str]) -> list[Path]:
        """Write the picture, and the tables of the page: each begins with what it is of."""
        paths = super().write(folder, formats)
        for name, table in self.tables().items():
            paths.append(folder / f"{self.name}_{name}.md")
            write_text(paths[-1], f"{self.about}\n\n{table.as_markdown()}")
        return paths

    @property
    def about(self) -> str:
        """What the tables are of."""
        texts = len(set(self.texts))
        return f"Means over {len(self.texts)} positions of {texts} text{'s' if texts > 1 else ''}."

    def tables(self) -> dict[str, Numbers]:
        """Return the tables of the page: the optima, the best laws, and what laws gain."""
        return {
            "optima": self._optima(),
            "best": self._best(),
            "gains": self._gains(),
            "fitted": self.fitted(),
        }

    def _optima(self) -> Numbers:
        """Return the optima with the best rule of each law, and how far that is from them."""
        columns = *PLACE, "law", *(f"k = {k}" for k in self.ks), "best rule", "short"
        rows = []
        for place, law in product(self.places, COLORS):
            keys = {k: (*place, law, k) for k in self.ks if (*place, law, k) in self.optima}
            means = [self.mean(keys[k])[0] if k in keys else "" for k in self.ks]
            short = max(map(self.short, keys.values()))
            rows.append((*map(str, place), f"`{law}`", *means, BEST[law].title, short))
        return Numbers(columns, tuple(rows))

    def _best(self) -> Numbers:
        """Return which law has the highest mean for several drafts, and what the next has less."""
        several = self.ks[1:]
        rows = [
            (*map(str, place), *(self._winner(place, k) for k in several)) for place in self.places
        ]
        return Numbers((*PLACE, *(f"k = {k}" for k in several)), tuple(rows))

    def _winner(self, place: Place, k: int) -> str:
        """Return the best law, or those that are equal, and by how much."""
        keys = [(*place, law, k) for law in COLORS if (*place, law, k) in self.optima]
        means = {key[2]: self.mean(key)[0] for key in keys}
        most = max(means.values())
        first = [law for law, mean in means.items() if attains(mean, most)]
        others = [mean for law, mean in means.items() if law not in first]
        ahead = f", by {most - max(others):.4f}" if others else ""
        return " = ".join(f"`{law}`" for law in first) + ahead

    def _gains(self) -> Numbers:
        """Return what distinct drafts have above others at the same positions, and i.i.d. ones."""
        distinct, iid, top = WithoutReplacement.name, IID.name, TopK.name
        pairs = (distinct, iid), (distinct, top), (iid, top)
        ends = (self.ks[1], self.ks[-1])
        columns = [f"`{law}` above `{other}`, k = {k}" for law, other in pairs for k in ends]
        rows = [
            (
                *map(str, place),
                *(shown(self.mean((*place, law, k), other)) for law, other in pairs for k in ends),
            )
            for place in self.places
        ]
        return Numbers((*PLACE, *columns), tuple(rows))

    def fitted(self) -> Numbers:
        """Return what law and temperature of the draft gain that were chosen on other texts.

        Texts take turns in two halves; what is best on one half is measured on the other.
        """
        columns = ["target T", "k", "chosen on one half", "on the other", "optimum"]
        columns += [f"above `{law}`" for law in (IID.name, WithoutReplacement.name)]
        own = sorted({target for draft, target in self.places if draft == target})
        rows = [(str(target), k, *self._chosen(target, k)) for target, k in product(own, self.ks)]
        return Numbers(tuple(columns), tuple(rows))

    def _chosen(self, target: float, k: int) -> tuple[str | float, ...]:
        """Return both choices, their mean where they were not made, and what they gain there.

        The gains are over a draft with the temperature of the target.
        """
        keys = [key for key in self.optima if key[1] == target and key[3] == k]
        optima, texts = np.array([self.optima[key] for key in keys]), np.array(self.texts)
        chosen, names = np.zeros(len(texts)), []
        for half in (texts % 2 == 0, texts % 2 == 1):
            best = int(np.argmax(optima[:, half].mean(axis=1)))
            chosen[~half] = optima[best, ~half]
            names.append(f"`{keys[best][2]}`, T = {keys[best][0]:g}")
        gains = []
        for law in (IID.name, WithoutReplacement.name):
            plain = np.array(self.optima[target, target, law, k])
            mean, ends = clustered_mean(chosen - plain, texts, -1.0, 1.0)
            gains.append(shown((mean, *ends)))
        return *names, float(chosen.mean()), *gains


def found_at(
    pairs: Iterable[Sequence[Distribution]], ks: Sequence[int]
) -> dict[tuple[str, int], list[tuple[float, float]]]:
    """Return the optimum of every law for each k that it has, and what its best rule accepts."""
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for draft, target in pairs:
        for law in COLORS:
            having = [k for k in ks if LAWS[law].exists(draft, k)]
            if not having:
                continue
            optima = optimal_acceptances(draft, target, having, law=law).tolist()
            accepted = BEST[law].acceptances(draft, target, having)
            for k, best, rule in zip(having, optima, accepted, strict=True):
                found.setdefault((law, k), []).append((best, float(rule)))
    return found


def shown(mean: Mean) -> str:
    """Return a difference with its interval."""
    value, low, high = (f"{number:+z.3f}".replace("-", "−") for number in mean)
    return f"{value} ({low} to {high})"
