"""SpecHub, tables 5 to 9: tokens per call on binary trees of depth 2 to 5, here on the letters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from figures.contract import Cell, Numbers, Settings, Table
from figures.registry import item
from otspec.arithmetic import Number
from otspec.datasets import letters
from otspec.models import NGramModel, Prefix, WarpedModel
from otspec.rules import (
    PairRule,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
)
from otspec.trees import DraftSelection

DEPTHS = (2, 3, 4, 5)
RRS, MERGED, RRSW, HUB = "RRS", "RRS, merged", "RRSw", "SpecHub"
RULES: dict[str, type[PairRule]] = {
    RRS: RecursiveRejection,
    RRSW: RecursiveRejectionWithoutReplacement,
    HUB: SpecHub,
    "pooled": PooledSelection,
    "pooled, distinct": PooledSelectionWithoutReplacement,
}
"""As the paper calls them, and the best rules for two i.i.d. and for two distinct drafts."""
PRINTED: dict[str, dict[int, tuple[float, float, float, float]]] = {
    "1": {
        2: (0.0197, 0.0476, 0.0417, 0.0663),
        3: (0.0113, 0.1076, 0.0889, 0.1763),
        4: (0.0581, 0.1665, 0.1856, 0.2344),
        5: (0.0770, 0.2443, 0.1867, 0.3471),
    },
    "1/2": {
        2: (0.0040, 0.0234, 0.0354, 0.0752),
        3: (0.0010, 0.0404, 0.0621, 0.1647),
        4: (0.0293, 0.1146, 0.1643, 0.2489),
        5: (0.0474, 0.1193, 0.2409, 0.3455),
    },
}
"""The least and the most that SpecHub is above RRSw, and above RRS, in the paper's eight rows for a
depth at T = 1, and at T = 0.6, which stands beside our T = 1/2."""


class Setting(NamedTuple):
    """Draft and target by name, and the temperature of both."""

    draft: str
    target: str
    temperature: str


WEAK = Setting("unigram", "bigram", "1")
SETTINGS = (Setting("bigram", "trigram", "1"), Setting("bigram", "trigram", "1/2"), WEAK)
Key = tuple[Setting, int, str]
"""Setting, depth, and rule as the table calls it."""


class _Pair:
    """A draft and a target at a temperature, and where they begin."""

    def __init__(self, setting: Setting, *, exact: bool) -> None:
        models = letters(exact=exact)
        target: NGramModel = getattr(models, setting.target)
        self.beginnings: Mapping[Prefix, Number] = target.contexts()
        self.draft, self.target = (
            WarpedModel(model, temperature=setting.temperature)
            for model in (getattr(models, setting.draft), target)
        )

    def efficiencies(self, rule: type[PairRule], *, merge: bool) -> Iterator[tuple[int, float]]:
        """Yield each depth with the tokens per call of its binary tree."""
        tree = DraftSelection(self.draft, self.target, (2,), rule, merge)
        for depth in DEPTHS:
            deeper = tree.with_branching((2,) * depth)
            yield depth, float(1 + deeper.expected_after(self.beginnings))


@item("spechub_tab5", "SpecHub, tables 5 to 9")
class BinaryTrees(Table):
    """Tokens per call at a random place of the text.

    Parameters
    ----------
    values : dict
        Setting, depth and rule → tokens per call.
    """

    title = "Tokens per call on binary trees, letters"

    values: dict[Key, float]

    @classmethod
    def compute(cls, settings: Settings) -> BinaryTrees:
        """Return all of it exactly, but for the merged trees, which are in floats."""
        values: dict[Key, float] = {}
        for setting in [WEAK] if settings.quick else SETTINGS:
            exact = _Pair(setting, exact=True)
            for name, rule in RULES.items():
                for depth, value in exact.efficiencies(rule, merge=False):
                    values[setting, depth, name] = value
            merged = _Pair(setting, exact=False).efficiencies(RecursiveRejection, merge=True)
            for depth, value in merged:
                values[setting, depth, MERGED] = value
        return cls(values)

    def gain(self, setting: Setting, depth: int, over: str) -> float:
        """Return how many tokens per call SpecHub has more than another rule."""
        return self.values[setting, depth, HUB] - self.values[setting, depth, over]

    @property
    def settings(self) -> list[Setting]:
        """What was computed."""
        return list(dict.fromkeys(setting for setting, _, _ in self.values))

    def numbers(self) -> Numbers:
        """Return one row for each setting and depth."""
        names = (RRS, MERGED, *list(RULES)[1:])
        rows: list[tuple[Cell, ...]] = []
        for setting in self.settings:
            for depth in DEPTHS:
                found = [self.values[setting, depth, name] for name in names]
                least_w, most_w, least, most = PRINTED[setting.temperature][depth]
                above = [self.gain(setting, depth, over) for over in (RRSW, RRS)]
                paper = f"{least_w:.3f} to {most_w:.3f}", f"{least:.3f} to {most:.3f}"
                rows.append((*setting, depth, *found, above[0], paper[0], above[1], paper[1]))
        columns = ("draft", "target", "T", "depth", *names)
        gains = ("SpecHub − RRSw", "in the paper", "SpecHub − RRS", "in the paper")
        return Numbers(columns + gains, tuple(rows))

    def notes(self) -> list[str]:
        """Say whether the order and the gains are those of the paper."""
        how = (
            "Tokens per call, E[τ] + 1, at a random place of the text; computed in fractions, the "
            "merged trees in floats. RRS: of equal drafts the first goes on alone, as in MCSD; "
            "merged: they go on together, as in SpecTr's algorithm 3."
        )
        return [how, *map(self._order, self.settings)]

    def _order(self, setting: Setting) -> str:
        ranks = [
            sorted((RRS, RRSW, HUB), key=lambda name: self.values[setting, depth, name])
            for depth in DEPTHS
        ]
        same = all(rank == [RRS, RRSW, HUB] for rank in ranks)
        verdict = "the paper's order, RRS < RRSw < SpecHub," if same else "not the paper's order"
        inside = [str(depth) for depth in DEPTHS if self._inside(setting, depth)]
        where = f"inside at depth {', '.join(inside)}" if inside else "outside at every depth"
        gains = ", ".join(f"{self.gain(setting, depth, RRSW):+.3f}" for depth in DEPTHS)
        return (
            f"{setting.draft} → {setting.target}, T = {setting.temperature}: {verdict} at depth "
            f"2 to 5. SpecHub less RRSw is {gains}; of the range that the paper prints that is "
            f"{where}."
        )

    def _inside(self, setting: Setting, depth: int) -> bool:
        least, most, *_ = PRINTED[setting.temperature][depth]
        return least <= self.gain(setting, depth, RRSW) <= most
