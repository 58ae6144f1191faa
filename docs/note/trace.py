"""What the records of longer traces say, and how many blocks of tokens a rule needs."""

from __future__ import annotations

import math

import numpy as np

from docs.note.evidence import FEW, SHOWN
from docs.note.results import Results, in_words, scientific, thousands
from figures.long_positions import BEST, POOLED, RECORD, RRS, RRSW, column
from figures.long_trace import RECORD as BLOCKS
from figures.long_trace import TREES, recorded
from figures.means import mean_in_words
from figures.pooled_gain import PooledGain
from otspec.drafts.race import inside
from otspec.rules import KSequential

BINS = 256
MANY = 16
"""Drafts of which the text gives intervals and pools, beside FEW."""
COMPARED = {"rrs": (POOLED, RRS), "rrsw": (BEST, RRSW)}
"""Name of a rule → the titles of the best rule for its drafts, and its own."""
LENGTH, SEQUENCES = 8, 8
"""Of the recorded trees that are shown."""
UNSURE = {"iid": 0.0, "distinct": 0.02}
"""What the lower ends of the gains on trees are below: the text says that they are near 0."""


def heights(results: Results) -> None:
    """Add how far off the heights of distinct drafts are: by the step, and by either end.

    At the angle of the step its error is 2 / (e^34 − cos^k) of an increment.
    """
    steps = {k: inside.step_and_angle(k) for k in range(3, SHOWN[-1] + 1)}
    # What omitted terms are at most, over the integral that they stand for.
    excess = max(k * h / -math.expm1(-k * h) for k, (h, _) in steps.items())
    error = 2 / math.expm1(inside.STEP) + 2 * excess * math.exp(-inside.EARLY)
    results.add("quadrature.error", scientific(error))
    results.add("quadrature.late", scientific(excess * math.exp(-inside.LATE)))
    results.add("quadrature.most", SHOWN[-1])
    for name in ("STEP", "EARLY", "LATE"):
        results.add(f"quadrature.{name.lower()}.digits", getattr(inside, name))
    for name, k in (("first", 3), ("last", SHOWN[-1])):
        h, angle = steps[k]
        results.add(f"quadrature.{name}.h", f"{h:.2f}")
        results.add(f"quadrature.{name}.angle", f"{angle:.2f}")


def pools(results: Results, gain: PooledGain) -> None:
    """Add how many blocks of tokens are needed on the bundled trace, and what bins lose there."""
    for name, k in (("few", FEW), ("many", MANY)):
        results.add(name, in_words(k))
        fewest = gain.pools["pooled selection, fewest pools"][gain.ks.index(k)]
        results.add(f"trace.pools.k{k}", f"{np.median(fewest):g}")
        results.add(f"trace.pools.k{k}.most", max(fewest))
    all_of = gain.pools[POOLED][gain.ks.index(SHOWN[0])]
    results.add("trace.ratios", thousands(round(float(np.median(all_of)))))
    results.add("trace.bins", BINS)
    loss = gain.loss[f"pooled selection, {BINS} bins"]
    results.add("trace.bins.loss", scientific(max(loss)))


def texts(results: Results) -> None:
    """Add differences at one position of each text of the recorded trace, with intervals."""
    kept = recorded(RECORD)
    results.add("texts.count", len(kept[column(1, 1)][POOLED]))
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
        mean, ends = mean_in_words(more, digits=2)
        if not float(ends.split(" ")[0]) < UNSURE[name]:
            raise AssertionError(f"{ends} excludes 0: the note says that it does not")
        results.add(f"trees.{name}", f"{mean:.2f}")
        results.add(f"trees.{name}.ends", ends.replace("-", "\N{MINUS SIGN}"))
