"""The examples of the explorer, from the figures book: ``python -m docs.explorer_presets``.

Writes ``docs/_static/explorer/presets.js``. Drafts and targets are those that the pictures are
made of; where a picture has a whole grid of targets, one of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np

from figures import canonical_fig2, cut_simplex, pooled_barriers, spechub_fig5, spectr_fig4
from figures.contract import Settings
from otspec.datasets import letters

PAGE = Path(__file__).parent / "_static" / "explorer" / "presets.js"
BEGINNING = """\
// The examples: python -m docs.explorer_presets writes this file from the figures book.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};

  explorer.presets = [
"""
END = """\
  ];
})();
"""
HEAVIEST = 300
"""Tokens of the trace that are shown: a link can carry them."""
SYMBOLS = "Tokens 0 to 25 are the letters a to z, token 26 is the space."
UNITS = 100_000
"""Masses of the trace are multiples of 1/100000."""


class Preset(NamedTuple):
    """An example.

    Parameters
    ----------
    title, source : str
        What it is called, and where it is from.
    place : str
        The address of its figure, beside the explorer's.
    law : str
        The draft law, by name.
    k : int
    draft, target : str
        The masses, separated by commas.
    note : str
        What else there is to say, a sentence.
    """

    title: str
    source: str
    place: str
    law: str
    k: int
    draft: str
    target: str
    note: str = ""


def written(masses: Iterable[Fraction | str]) -> str:
    """Return masses as a text."""
    return ",".join(str(mass) for mass in masses)


def coin(chance: Fraction) -> str:
    """Return the masses of 0 and 1."""
    return written((1 - chance, chance))


def uniform(n: int, over: int) -> str:
    """Return the uniform distribution on the first of n tokens."""
    return written([Fraction(1, over)] * over + [Fraction(0)] * (n - over))


def rounded(masses: np.ndarray) -> str:
    """Return masses scaled to sum to 1 as decimals, of which the largest rests are rounded up."""
    wanted = masses / masses.sum() * UNITS
    units = np.floor(wanted).astype(int)
    rests = np.argsort(units - wanted, kind="stable")
    units[rests[: UNITS - units.sum()]] += 1
    return ",".join(f"{unit / UNITS:.5f}".rstrip("0").rstrip(".") for unit in units)


def of_letters(context: str) -> tuple[str, str]:
    """Return what the bigram and the trigram model expect after a few letters."""
    pair = letters()
    before = pair.read(context)
    return written(pair.bigram(before)), written(pair.trigram(before))


def of_trace(position: int) -> tuple[str, str]:
    """Return the heaviest tokens of a position of the bundled trace, by token id."""
    draft, target = list(Settings().pairs())[position]
    heaviest = np.sort(np.argsort(-np.maximum(draft, target), kind="stable")[:HEAVIEST])
    return rounded(np.asarray(draft)[heaviest]), rounded(np.asarray(target)[heaviest])


def presets() -> list[Preset]:
    """Return all examples, in the order of the list on the page."""
    quarter, targets = spectr_fig4.DRAFT, spectr_fig4.TARGETS
    thirds, sixth = canonical_fig2.DRAFT, canonical_fig2.FIRST[1]
    eight = written(pooled_barriers.DRAFT), written(pooled_barriers.TARGET)
    three = written(spechub_fig5.DRAFT), written(spechub_fig5.TARGET)
    spechub = "SpecHub, figures 5 and 6"
    gallery = "gallery.html#figure-"
    bundled = f"the {HEAVIEST} heaviest tokens of the first position, to five digits"
    return [
        Preset("Three tokens", "Quick start", "quickstart.html", "iid", 2, *three),
        Preset("Three tokens, two distinct drafts", spechub, f"{gallery}spechub-fig5",
               "without-replacement", 2, *three),
        Preset("Three tokens, SpecHub's drafts", spechub, f"{gallery}spechub-fig5",
               "hub", 2, *three),
        Preset("Even draft, right panel beyond the shaded range", "Canonical, figure 2",
               f"{gallery}canonical-fig2", "iid", canonical_fig2.DRAFTS, written(thirds),
               written((sixth, Fraction(2, 3), 1 - sixth - Fraction(2, 3)))),
        Preset("Bernoulli draft 1/4, target 3/4", "SpecTr, figures 4 and 6",
               f"{gallery}spectr-fig4", "iid", 4, coin(quarter), coin(targets[2])),
        Preset("Bernoulli draft 1/4, target 1/10", "SpecTr, figures 4 and 6",
               f"{gallery}spectr-fig4", "iid", 4, coin(quarter), coin(targets[0])),
        Preset("Uniform draft on 120 tokens, target on 15", "SpecTr, figure 5",
               f"{gallery}spectr-fig5", "iid", 16, uniform(120, 120), uniform(120, 15)),
        Preset("Letters after “he”, two drafts", "Canonical, figure 3; SpecHub, figure 7",
               f"{gallery}canonical-fig3", "iid", 2, *of_letters("he"), SYMBOLS),
        Preset("Letters after “ t”, four distinct drafts", "MCSD, figure 3",
               f"{gallery}mcsd-fig3", "without-replacement", 4, *of_letters(" t"), SYMBOLS),
        Preset("Barriers on eight tokens", "Pooled selection",
               "pooled_proofs.html#barriers-in-time", "iid", pooled_barriers.K, *eight),
        Preset("Three tokens in the triangle", "Which targets k drafts serve without a loss",
               f"{gallery}cut-simplex", "iid", cut_simplex.CUT_K, written(cut_simplex.DRAFT),
               written((Fraction(1, 10), Fraction(1, 5), Fraction(7, 10)))),
        Preset("A position of the bundled trace", bundled, "sample.html", "iid", 4, *of_trace(0)),
    ]  # fmt: skip


def script() -> str:
    """Return the whole file."""
    rows = (json.dumps(preset._asdict(), ensure_ascii=False) for preset in presets())
    return BEGINNING + "".join(f"    {row},\n" for row in rows) + END


if __name__ == "__main__":
    PAGE.write_text(script(), encoding="utf-8")
