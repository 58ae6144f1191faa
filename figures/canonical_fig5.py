"""Canonical, figures 5 to 7: how many tokens top-p leaves of draft and target."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from figures.axes import legend_outside
from figures.contract import PAGE, Cell, Numbers, Picture, Settings
from figures.on_letters import Warping, letter_pair
from figures.registry import item
from otspec._base.arithmetic import Array

TOP_P = 0.95
"""The paper's."""
LETTERS, TRACE = "letters", "trace"
DRAFT, TARGET = "draft", "target"
LOOKS = {DRAFT: {"color": "#0072B2"}, TARGET: {"color": "#D55E00", "linestyle": "--"}}


@item("canonical_fig5", "Canonical, figures 5 to 7", size=PAGE, panels=(1, 2), traced=True)
class EffectiveSizes(Picture):
    """How likely a place has at most so many tokens left.

    Parameters
    ----------
    shares : dict
        Models and side → number of tokens → the share of places with exactly so many.
    """

    title = "Tokens that top-p 0.95 leaves of draft and target"

    shares: dict[tuple[str, str], dict[int, float]]

    @classmethod
    def compute(cls, settings: Settings) -> EffectiveSizes:
        """Return the law of the number of tokens, at temperature 1."""
        pair = letter_pair(Warping(top_p=TOP_P))
        found = {
            (LETTERS, DRAFT): shares_of(pair.draft, pair.places),
            (LETTERS, TARGET): shares_of(pair.target, pair.places),
        }
        logged = islice(settings.logged().pairs(top_p=TOP_P), 4 if settings.quick else None)
        _, *sides = zip(*logged, strict=True)
        alike = np.ones(len(sides[0]))
        for name, rows in zip((DRAFT, TARGET), sides, strict=True):
            found[TRACE, name] = shares_of(np.array(rows), alike)
        return cls(found)

    def numbers(self) -> Numbers:
        """Return one row for each number of tokens that occurs."""
        rows: list[tuple[Cell, ...]] = []
        for setting, shares in self.shares.items():
            below = np.cumsum(list(shares.values())).tolist()
            for (tokens, share), so_far in zip(shares.items(), below, strict=True):
                rows.append((*setting, tokens, share, so_far))
        return Numbers(("models", "model", "tokens left", "share", "at most so many"), tuple(rows))

    def draw(self, axes: list[Any]) -> None:
        """Draw one step line for draft and target."""
        panels = dict(zip((LETTERS, TRACE), axes, strict=True))
        for (models, side), shares in self.shares.items():
            tokens, below = np.array(list(shares)), np.cumsum(list(shares.values()))
            first, last = np.array([1]), np.array([0.0])
            panels[models].step(
                np.concatenate([first, tokens]), np.concatenate([last, below]), where="post",
                label=side, **LOOKS[side],
            )  # fmt: skip
        for models, panel in panels.items():
            panel.set(title=models, xlabel="tokens left", ylim=(0, 1.02))
        panels[TRACE].set_xscale("log")
        panels[LETTERS].set_ylabel("share of places with at most so many")
        legend_outside(panels[TRACE])


def shares_of(rows: Array, weights: Array) -> dict[int, float]:
    """Return the law of the number of tokens of positive probability: (r, n), (r,) -> size → share.

    Parameters
    ----------
    rows : ndarray, shape (r, n)
    weights : ndarray, shape (r,)
        Of the places.
    """
    sizes, which = np.unique(np.count_nonzero(rows, axis=1), return_inverse=True)
    shares = np.bincount(which, weights) / weights.sum()
    kept = shares > 0
    return dict(zip(sizes[kept].tolist(), shares[kept].tolist(), strict=True))
