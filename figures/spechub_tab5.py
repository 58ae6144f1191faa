"""SpecHub, tables 5 to 9: tokens per call on binary trees, here on the letters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from figures.contract import Cell, Numbers, Settings, Table
from figures.registry import item
from otspec._base.arithmetic import Number
from otspec.blocks import DraftSelection
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

LEVELS = (1, 2, 3, 4, 5)
"""How many tokens deep the drafts go. The paper counts the root, too: its depth is one more."""
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
"""By the paper's depth, the least and the most that SpecHub is above RRSw, and above RRS, in the
eight rows for T = 1, and for T = 0.6, which stands beside our T = 1/2."""


class Setting(NamedTuple):
    """Draft and target by name, and the temperature of both."""

    draft: str
    target: str
    temperature: str


WEAK = Setting("unigram", "bigram", "1")
SETTINGS = (Setting("bigram", "trigram", "1"), Setting("bigram", "trigram", "1/2"), WEAK)
Key = tuple[Setting, int, str]
"""Setting, levels, and rule as the table calls it."""


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
        """Yield each number of levels with the tokens per call of its binary tree."""
        tree = DraftSelection(self.draft, self.target, (2,), rule, merge)
        for levels in LEVELS:
            deeper = tree.with_tree((2,) * levels)
            yield levels, float(1 + deeper.expected_after(self.beginnings))


@item("spechub_tab5", "SpecHub, tables 5 to 9")
class BinaryTrees(Table):
    """Tokens per call at a random place of the text.

    Parameters
    ----------
    values : dict
        Setting, levels and rule → tokens per call.
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
                for levels, value in exact.efficiencies(rule, merge=False):
                    values[setting, levels, name] = value
            merged = _Pair(setting, exact=False).efficiencies(RecursiveRejection, merge=True)
            for levels, value in merged:
                values[setting, levels, MERGED] = value
        return cls(values)

    def gain(self, setting: Setting, levels: int, over: str) -> float:
        """Return how many tokens per call SpecHub has more than another rule."""
        return self.values[setting, levels, HUB] - self.values[setting, levels, over]

    @property
    def settings(self) -> list[Setting]:
        """What was computed."""
        return list(dict.fromkeys(setting for setting, _, _ in self.values))

    def numbers(self) -> Numbers:
        """Return one row for each setting and number of levels."""
        names = (RRS, MERGED, *list(RULES)[1:])
        rows: list[tuple[Cell, ...]] = []
        for setting in self.settings:
            for levels in LEVELS:
                found = [self.values[setting, levels, name] for name in names]
                gains: list[Cell] = []
                for over in (RRSW, RRS):
                    printed = _printed(setting, levels, over)
                    shown = f"{printed[0]:.3f} to {printed[1]:.3f}" if printed else ""
                    gains += [self.gain(setting, levels, over), shown]
                rows.append((*setting, levels, *found, *gains))
        columns = ("draft", "target", "T", "levels", *names)
        gains_of = ("SpecHub − RRSw", "in the paper", "SpecHub − RRS", "in the paper")
        return Numbers(columns + gains_of, tuple(rows))

    def notes(self) -> list[str]:
        """Say whether the order and the gains are those of the paper."""
        how = (
            "Tokens per call, E[τ] + 1, at a random place of the text; computed in fractions, the "
            "merged trees in floats. RRS: of equal drafts the first goes on alone, as in MCSD; "
            "merged: they go on together, as in SpecTr's algorithm 3."
        )
        depth = (
            "Levels are drafted tokens from the root to a leaf. The paper's tree of depth d has "
            "2^d − 1 nodes with the root, and so d − 1 levels; no row of its depth d has d tokens "
            "per call."
        )
        return [how, depth, *map(self._order, self.settings)]

    def _order(self, setting: Setting) -> str:
        ranks = [
            sorted((RRS, RRSW, HUB), key=lambda name: self.values[setting, levels, name])
            for levels in LEVELS
        ]
        same = all(rank == [RRS, RRSW, HUB] for rank in ranks)
        verdict = "the paper's order, RRS < RRSw < SpecHub," if same else "not the paper's order"
        inside = [str(levels) for levels in LEVELS if self._inside(setting, levels)]
        where = f"inside with {', '.join(inside)} levels" if inside else "outside everywhere"
        gains = ", ".join(f"{self.gain(setting, levels, RRSW):+.3f}" for levels in LEVELS)
        return (
            f"{setting.draft} → {setting.target}, T = {setting.temperature}: {verdict} with "
            f"{LEVELS[0]} to {LEVELS[-1]} levels. SpecHub less RRSw is {gains}; of the range that "
            f"the paper prints that is {where}."
        )

    def _inside(self, setting: Setting, levels: int) -> bool:
        printed = _printed(setting, levels, RRSW)
        gain = self.gain(setting, levels, RRSW)
        return printed is not None and printed[0] <= gain <= printed[1]


def _printed(setting: Setting, levels: int, over: str) -> tuple[float, float] | None:
    """Return the least and the most that the paper prints for SpecHub's gain over another rule."""
    row = PRINTED[setting.temperature].get(levels + 1)
    if row is None:
        return None
    return row[:2] if over == RRSW else row[2:]
