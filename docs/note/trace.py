"""What rules accept at the positions of a language model, and of records of more of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

import otspec
from docs.note.results import Results, points, probability, scientific, thousands
from figures.contract import Settings
from figures.draft_laws import DraftLaws
from figures.long_positions import (
    BEST,
    KS,
    POOLED,
    RECORD,
    RRS,
    RRSW,
    column,
)
from figures.long_trace import RECORD as BLOCKS
from figures.long_trace import TREES, recorded
from figures.means import mean_in_words
from figures.pooled_gain import KS as GAIN_KS
from figures.pooled_gain import PooledGain
from otspec import IID, WithoutReplacement, ratios
from otspec.drafts import TopK, TopPlusOne
from otspec.rules import KSequential, NaiveSampling, PooledSelectionWithoutReplacement, SpecHub
from otspec.rules.distinct_paths import DistinctPaths
from otspec.traces.comparison import OPTIMUM

SHOWN = (2, 4, 8, 16)
PATHS, SEED = 500, 0
"""Of recursive rejection of more than two distinct drafts, which has no other sum."""
PLACES = ((1.0, 1.0), (0.6, 0.6), (1.0, 0.3))
"""Temperatures of draft and target."""
NAMES = {
    IID.name: "i.i.d.",
    WithoutReplacement.name: "distinct",
    TopPlusOne.name: "top and one drawn",
    TopK.name: "top",
}
"""Draft laws, and what the note calls them."""
LONG = {RRS: "rrs", RRSW: "rrsw", POOLED: "iid", BEST: "distinct"}
LENGTH = 8


def bundled(results: Results, settings: Settings, gain: PooledGain) -> None:
    """Add the means over the positions of the bundled trace: a table and what is said of it."""
    distinct, error = _distinct(settings)
    lines = {
        "optimum = pooled": gain.acceptance[OPTIMUM],
        "k-Seq": gain.acceptance[KSequential.title],
        "RRS": gain.acceptance["recursive rejection"],
        "target-only": gain.acceptance[NaiveSampling.title],
        "distinct: optimum = pooled": distinct[OPTIMUM],
        "distinct: RRSw": distinct["rrsw"],
    }
    ks = [gain.ks.index(k) for k in SHOWN]
    rows = [[name, *(probability(line[i]) for i in ks)] for name, line in lines.items()]
    results.add_table("trace", ["rule", *(f"k = {k}" for k in SHOWN)], rows)
    results.add("trace.positions", gain.positions)
    results.add("trace.vocabulary", thousands(settings.logged().shape[-1]))
    results.add("trace.one", probability(gain.acceptance[OPTIMUM][0]))
    results.add("trace.hub", probability(distinct["hub"]))
    for name, line in (("kseq", "k-Seq"), ("rrs", "RRS")):
        losses = [gain.acceptance[OPTIMUM][i] - lines[line][i] for i in ks]
        results.add(f"trace.{name}.least", points(min(losses)))
        results.add(f"trace.{name}.most", points(max(losses)))
    losses = [distinct[OPTIMUM][i] - distinct["rrsw"][i] for i in ks]
    results.add("trace.rrsw.least", points(min(losses)))
    results.add("trace.rrsw.most", points(max(losses)))
    results.add("trace.short", scientific(max(error, _short(gain))))
    for k, i in zip(SHOWN, ks, strict=True):
        fewest, all_of = (gain.pools[name][i] for name in _POOLS)
        if k in (4, 16):
            results.add(f"trace.pools.k{k}", f"{np.median(fewest):g}")
            results.add(f"trace.pools.k{k}.most", max(fewest))
    results.add("trace.ratios", thousands(round(float(np.median(all_of)))))
    loss = gain.loss["pooled selection, 256 bins"]
    results.add("trace.bins", "256")
    results.add("trace.bins.loss", scientific(max(loss[i] for i in ks)))


_POOLS = "pooled selection, fewest pools", "pooled selection"


def _short(gain: PooledGain) -> float:
    return max(abs(loss) for loss in gain.loss["pooled selection"])


def _distinct(settings: Settings) -> tuple[dict[str, Sequence[float]], float]:
    """Return the means for distinct drafts, and the most that pooled selection was off."""
    best, accepted, rejection, hub = [], [], [], []
    ks = GAIN_KS
    for draft, target in settings.pairs():
        pair = ratios.Pair(draft, target)
        law = WithoutReplacement.name
        best.append(otspec.optimal_acceptances(draft, target, ks, law=law))
        accepted.append(
            [PooledSelectionWithoutReplacement(draft, target, k).acceptance() for k in ks]
        )
        rejection.append(DistinctPaths(pair, max(ks), PATHS, SEED).acceptances()[0][list(ks)])
        hub.append(SpecHub(draft, target, 2).acceptance())
    off = float(np.max(np.abs(np.array(best) - np.array(accepted))))
    means = {OPTIMUM: np.mean(best, axis=0), "rrsw": np.mean(rejection, axis=0)}
    return means | {"hub": np.mean(hub)}, off


def texts(results: Results) -> None:
    """Add means over one position of each text of the recorded trace, with intervals."""
    kept = recorded(RECORD)
    ks = [k for k in KS if k in (2, 4, 8, 16, 64)]
    titles = {POOLED: "optimum", RRS: "RRS", BEST: "distinct: optimum", RRSW: "distinct: RRSw"}
    rows = [
        [name, *(probability(np.mean(kept[column(1, k)][title])) for k in ks)]
        for title, name in titles.items()
    ]
    results.add_table("texts", ["rule", *(f"k = {k}" for k in ks)], rows)
    results.add("texts.count", len(kept[column(1, 1)][POOLED]))
    results.add("texts.most", max(ks))
    for best, other in ((POOLED, RRS), (BEST, RRSW)):
        for k in (4, 16):
            at = kept[column(1, k)]
            losses = [100 * (a - b) for a, b in zip(at[best], at[other], strict=True)]
            mean, ends = mean_in_words(losses, digits=1)
            results.add(f"texts.{LONG[other]}.k{k}", f"{mean:.1f}")
            results.add(f"texts.{LONG[other]}.k{k}.ends", ends)


def trees(results: Results) -> None:
    """Add what is kept of the recorded drafted blocks in trees of several sequences."""
    kept, alone = recorded(TREES), recorded(BLOCKS)[str(LENGTH)]
    results.add("trees.length", LENGTH)
    results.add("trees.alone", f"{1 + np.mean(alone['token verification']):.3f}")
    for sequences in (4, 8):
        tree = "x".join(map(str, (sequences, *(1,) * (LENGTH - 1))))
        for title, name in (
            (KSequential.title, "kseq"),
            (POOLED, "iid"),
            (BEST, "distinct"),
        ):
            results.add(f"trees.{name}.k{sequences}", f"{1 + np.mean(kept[tree][title]):.3f}")


def laws(settings: Settings) -> DraftLaws:
    """Return the optimum of each draft law at the temperatures that are drawn."""
    return DraftLaws.at(settings, PLACES)


def of_laws(results: Results, data: DraftLaws) -> None:
    """Add the optima of draft laws, at several temperatures."""
    ks = sorted({key[3] for key in data.optima} & set(SHOWN))
    rows = [
        [of_draft, of_target, name]
        + [probability(data.mean((of_draft, of_target, law, k))[0]) for k in ks]
        for of_draft, of_target in _asked(data.optima)
        for law, name in NAMES.items()
    ]
    results.add_table("laws", ["draft T", "target T", "drafts", *(f"k = {k}" for k in ks)], rows)


def _asked(keys: Iterable[tuple[float, float, str, int]]) -> list[tuple[float, float]]:
    return list(dict.fromkeys((key[0], key[1]) for key in keys))
