"""What rules accept at the positions of a language model, and of records of more of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import otspec
from docs.note.results import Results, in_words, points, probability, scientific, thousands
from figures.contract import Settings
from figures.long_positions import BEST, POOLED, RECORD, RRS, RRSW, column
from figures.long_trace import RECORD as BLOCKS
from figures.long_trace import TREES, recorded
from figures.means import CONFIDENCE, mean_in_words
from figures.pooled_gain import KS as GAIN_KS
from figures.pooled_gain import PooledGain
from otspec import WithoutReplacement, ratios
from otspec.drafts.race import times
from otspec.logged.comparison import mean_and_error
from otspec.rules import KSequential, NaiveSampling, PooledSelectionWithoutReplacement, SpecHub
from otspec.rules import RecursiveRejectionWithoutReplacement as Rejection
from otspec.traces.comparison import OPTIMUM

SHOWN = (2, 4, 8, 16)
SIMULATED = 3
"""From so many distinct drafts on recursive rejection is simulated."""
MODEL = "SmolLM2-135M-Instruct"
"""The target of the trace."""
BINS = 256
FEW, MANY = 4, 16
"""Drafts of which the text gives intervals and pools."""
COMPARED = {"rrs": (POOLED, RRS), "rrsw": (BEST, RRSW)}
"""Name of a rule → the titles of the best rule for its drafts, and its own."""
LENGTH, SEQUENCES = 8, 8
"""Of the recorded trees that are shown."""


def bundled(
    results: Results, settings: Settings, gain: PooledGain, distinct: DistinctDrafts
) -> None:
    """Add the means over the positions of the bundled trace: a table and what is said of it."""
    lines = {
        "optimum = pooled": gain.acceptance[OPTIMUM],
        "k-Seq": gain.acceptance[KSequential.title],
        "RRS": gain.acceptance[RRS],
        "target-only": gain.acceptance[NaiveSampling.title],
        "distinct: optimum = pooled": distinct.optimum,
        "distinct: RRSw": distinct.rejection,
    }
    rows = [[name, *map(probability, _shown(line))] for name, line in lines.items()]
    results.add_table("trace", ["rule", *(f"k = {k}" for k in SHOWN)], rows)
    results.add("trace.model", MODEL)
    results.add("trace.positions", gain.positions)
    results.add("trace.vocabulary", thousands(settings.logged().shape[-1]))
    results.add("trace.one", probability(gain.acceptance[OPTIMUM][0]))
    results.add("trace.hub", probability(distinct.hub))
    results.add("trace.paths", thousands(distinct.paths))
    results.add("trace.simulated", in_words(SIMULATED))
    results.add("trace.fewest", in_words(SHOWN[0]))
    results.add("trace.largest", in_words(SHOWN[-1]))
    results.add("trace.rrsw.error", scientific(distinct.error))
    rrsw = np.subtract(distinct.optimum, distinct.rejection).tolist()
    losses = {"kseq": gain.loss[KSequential.title], "rrs": gain.loss[RRS], "rrsw": rrsw}
    for name, loss in losses.items():
        results.add(f"trace.{name}.least", points(min(_shown(loss))))
        results.add(f"trace.{name}.most", points(max(_shown(loss))))
    off = max(abs(loss) for loss in gain.loss[POOLED])
    results.add("trace.short", scientific(max(distinct.off, off)))


def heights(results: Results) -> None:
    """Add how far off the heights of distinct drafts are: by the step, and by either end."""
    error = 2 * math.exp(-times.STEP) + 2 * math.exp(-times.EARLY)
    results.add("quadrature.error", scientific(error))
    results.add("quadrature.late", scientific(math.exp(-times.LATE)))


def pools(results: Results, gain: PooledGain) -> None:
    """Add how many pools are needed on the bundled trace, and what bins lose there."""
    for name, k in (("few", FEW), ("many", MANY)):
        results.add(name, in_words(k))
        fewest = gain.pools["pooled selection, fewest pools"][gain.ks.index(k)]
        results.add(f"trace.pools.k{k}", f"{np.median(fewest):g}")
        results.add(f"trace.pools.k{k}.most", max(fewest))
    all_of = gain.pools[POOLED][gain.ks.index(SHOWN[0])]
    results.add("trace.ratios", thousands(round(float(np.median(all_of)))))
    results.add("trace.bins", BINS)
    loss = gain.loss[f"pooled selection, {BINS} bins"]
    results.add("trace.bins.loss", scientific(max(_shown(loss))))


def _shown(line: Sequence[float]) -> list[float]:
    """Return the values at the numbers of drafts that are shown."""
    return [line[GAIN_KS.index(k)] for k in SHOWN]


@dataclass(frozen=True)
class DistinctDrafts:
    """Means over the positions of the bundled trace, for the numbers of drafts of the book."""

    optimum: Sequence[float]
    """What is accepted at best."""
    rejection: Sequence[float]
    """What recursive rejection accepts."""
    hub: float
    """What SpecHub accepts of its two drafts."""
    off: float
    """By how much pooled selection was off the optimum at most."""
    error: float
    """What the standard errors of the simulated means that are shown are at most."""
    paths: int
    """Drawn sequences of drafts at each position."""

    @classmethod
    def compute(cls, settings: Settings) -> DistinctDrafts:
        """Return the means."""
        best, accepted, rejection, errors, hub = [], [], [], [], []
        for draft, target in settings.pairs():
            optimum = otspec.optimal_acceptances(
                draft, target, GAIN_KS, law=WithoutReplacement.name
            )
            best.append(optimum)
            accepted.append(
                [PooledSelectionWithoutReplacement(draft, target, k).acceptance() for k in GAIN_KS]
            )
            pair = ratios.Pair(draft, target)
            known = Rejection.acceptances_of(pair, GAIN_KS)
            rejection.append([float(each.value) for each in known])
            paths = Rejection(draft, target, max(GAIN_KS)).paths()
            _, error = paths.acceptances()
            errors.append([error[k] for k in SHOWN if k >= SIMULATED])
            hub.append(float(SpecHub(draft, target, 2).acceptance()))
        return cls(
            np.mean(best, axis=0).tolist(),
            np.mean(rejection, axis=0).tolist(),
            float(np.mean(hub)),
            float(np.max(np.abs(np.array(best) - np.array(accepted)))),
            # One seed at all positions: standard errors add at most.
            float(np.max(np.mean(errors, axis=0))),
            paths.size,
        )


def texts(results: Results) -> None:
    """Add differences at one position of each text of the recorded trace, with intervals."""
    kept = recorded(RECORD)
    results.add("texts.count", len(kept[column(1, 1)][POOLED]))
    results.add("texts.confidence", round(100 * CONFIDENCE))
    for name, (best, other) in COMPARED.items():
        for k in (FEW, MANY):
            at = kept[column(1, k)]
            losses = [100 * (a - b) for a, b in zip(at[best], at[other], strict=True)]
            mean, ends = mean_in_words(losses, digits=1)
            results.add(f"texts.{name}.k{k}", f"{mean:.1f}")
            results.add(f"texts.{name}.k{k}.ends", ends)


def trees(results: Results) -> None:
    """Add what is kept of the recorded drafted blocks in trees of several sequences."""
    kept, alone = recorded(TREES), recorded(BLOCKS)[str(LENGTH)]
    results.add("trees.length", LENGTH)
    results.add("trees.sequences", in_words(SEQUENCES))
    results.add("trees.alone", f"{1 + np.mean(alone['token verification']):.2f}")
    tree = "x".join(map(str, (SEQUENCES, *(1,) * (LENGTH - 1))))
    results.add("trees.kseq", f"{1 + np.mean(kept[tree][KSequential.title]):.2f}")
    for title, name in ((POOLED, "iid"), (BEST, "distinct")):
        more = np.subtract(kept[tree][title], kept[tree][KSequential.title]).tolist()
        mean, error = mean_and_error(more)
        results.add(f"trees.{name}", f"{mean:.2f}")
        results.add(f"trees.{name}.error", f"{error:.2f}")
