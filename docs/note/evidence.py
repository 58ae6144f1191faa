"""What rules accept at logged positions of three pairs of models, with paired intervals."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import otspec
from docs.note.results import Results, in_words, points, probability, scientific, short, thousands
from figures.contract import Settings
from figures.means import CONFIDENCE, radius
from otspec import IID, WithoutReplacement
from otspec._base.arithmetic import Array
from otspec.distributions import Distribution
from otspec.drafts import TopK, TopPlusOne
from otspec.logged.comparison import mean_and_error
from otspec.ratios import Pair
from otspec.rules import (
    Graded,
    KSequential,
    PairRule,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
)
from otspec.traces import Trace, load_trace

KS = tuple(range(1, 17))
TABLED = (1, 2, 3, 4, 6, 8, 12, 16)
SHOWN = (2, 4, 8, 16)
"""Numbers of drafts of which the text gives intervals."""
FEW = 4
"""Drafts of which the text says how much longer a step may take."""
LOGGED = Path(__file__).parent / "pairs" / "logged.npz"
"""Positions of a target and two drafts that ``python -m docs.note.pairs`` trained."""
GRADES = 6
"""Of the batched rule, which has so many by default."""
BEST: tuple[Any, ...] = (PooledSelection, PooledSelectionWithoutReplacement)
LIKELIEST = (TopPlusOne, TopK)
"""Draft laws with the likeliest tokens: all k but one, which is drawn, or all of them."""
OTHERS: dict[str, type[PairRule]] = {
    "k-Seq": KSequential,
    "RRS": RecursiveRejection,
    "RRSw": RecursiveRejectionWithoutReplacement,
}
LARGE = "(1) SmolLM2, layers skipped"
SMALL = ("(2) small, draft of one layer", "(3) small, draft of two layers")
"""Pairs, and what the pictures call them; the tables have the numbers in front."""
MODEL = "SmolLM2-135M-Instruct"
"""The target of the bundled trace."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is accepted at each position of a pair, for several k.

    Parameters
    ----------
    optima : dict
        Name of a draft law → shape (positions, number of k).
    losses : dict
        Name of a rule → how far it is below the optimum of its draft law, of the same shape.
    ks : tuple of int
    """

    optima: dict[str, Array]
    losses: dict[str, Array]
    ks: tuple[int, ...] = KS

    @classmethod
    def of(
        cls, pairs: Iterable[tuple[Distribution, Distribution]], ks: tuple[int, ...] = KS
    ) -> Evidence:
        """Return what is found at these positions.

        A draft with fewer tokens than k gives all of them, where drafts are distinct.
        """
        names = [best.law_class.name for best in BEST] + [law.name for law in LIKELIEST]
        optima: dict[str, list[Array]] = {name: [] for name in names}
        losses: dict[str, list[Array]] = {name: [] for name in OTHERS}
        for draft, target in pairs:
            tokens = np.count_nonzero(draft)
            fewer = tuple(min(k, tokens) for k in ks)
            possible = {name: ks if name == IID.name else fewer for name in names}
            for law, rows in optima.items():
                rows.append(otspec.optimal_acceptances(draft, target, possible[law], law=law))
            ratios = Pair(draft, target)
            for name, rule in OTHERS.items():
                law = rule.law_class.name
                losses[name].append(optima[law][-1] - _accepted(rule, ratios, possible[law]))
        return cls(
            {law: np.array(rows) for law, rows in optima.items()},
            {name: np.array(rows) for name, rows in losses.items()},
            ks,
        )

    def loss(self, rule: str, k: int) -> tuple[float, float]:
        """Return the mean loss of a rule, and half the width of its interval, paired."""
        mean, error = mean_and_error(self.losses[rule][:, self.ks.index(k)])
        return mean, radius(error, len(self.losses[rule]))


def _accepted(rule: type[PairRule], ratios: Pair, ks: tuple[int, ...]) -> Array:
    """Return what a rule accepts for ascending k; from three distinct drafts on it is simulated."""
    drawn = [k for k in ks if k > 2] if rule is RecursiveRejectionWithoutReplacement else []
    known = rule.acceptances_of(ratios, ks[: len(ks) - len(drawn)])
    accepted = np.array([float(each.value) for each in known])
    if not drawn:
        return accepted
    paths = RecursiveRejectionWithoutReplacement(ratios.draft, ratios.target, drawn[-1]).paths()
    return np.append(accepted, paths.acceptances()[0][drawn])


def small_pairs(path: Path = LOGGED) -> tuple[Trace, dict[str, Any]]:
    """Return the trace of the models trained for the note, and the facts of their training."""
    with np.load(path) as arrays:
        facts: dict[str, Any] = json.loads(str(arrays["settings"][0]))
    return load_trace(path), facts


def sampled(settings: Settings, **sampling: Any) -> dict[str, list[Any]]:
    """Return draft and target at the positions of each pair of models, by the pair's name.

    ``sampling`` is that of :meth:`otspec.traces.Trace.pairs`. If quick, there are a few positions.
    """
    small, _ = small_pairs()
    found = {LARGE: [row[1:] for row in settings.logged().pairs(**sampling)]}
    for index, name in enumerate(SMALL):
        found[name] = [row[1:] for row in small.pairs(**sampling) if row[0][-1] == index]
    return {name: rows[:4] if settings.quick else rows for name, rows in found.items()}


def gathered(settings: Settings) -> dict[str, Evidence]:
    """Return the evidence of each pair, by its name."""
    return {name: Evidence.of(pairs) for name, pairs in sampled(settings).items()}


def shown(results: Results, settings: Settings, evidence: dict[str, Evidence]) -> None:
    """Add the table of optima, and what the text says of losses."""
    head = ["drafts", *(f"k = {k}" for k in TABLED)]
    titles = {IID.name: "i.i.d.", WithoutReplacement.name: "distinct"}
    titles |= {TopPlusOne.name: "all but one likeliest", TopK.name: "likeliest"}
    columns = [KS.index(k) for k in TABLED]
    rows = []
    for name, each in evidence.items():
        number = name.partition(" ")[0]
        for law, title in titles.items():
            means = each.optima[law].mean(0)[columns]
            rows.append(
                [
                    f"{number}\N{NO-BREAK SPACE}{title}",
                    *map(short, means),
                ]
            )
    results.add_table("optima", head, rows)
    for rule in OTHERS:
        means = [each.loss(rule, k)[0] for each in evidence.values() for k in KS[1:]]
        name = rule.lower().replace("-", "")
        results.add(f"pairs.{name}.least", points(min(means)))
        results.add(f"pairs.{name}.most", points(max(means)))
    results.add("evidence.fewest", in_words(SHOWN[0]))
    results.add("evidence.largest", in_words(SHOWN[-1]))
    results.add("evidence.confidence", round(100 * CONFIDENCE))
    large = evidence[LARGE]
    for rule, law in (("RRS", IID.name), ("RRSw", WithoutReplacement.name)):
        loss, best = large.loss(rule, FEW)[0], large.optima[law][:, KS.index(FEW)].mean()
        results.add(
            f"pairs.share.{'iid' if rule == 'RRS' else 'distinct'}",
            points(loss / (1 + best - loss)),
        )
    results.add("trace.model", MODEL)
    results.add("trace.positions", len(large.losses["RRS"]))
    results.add("trace.vocabulary", thousands(settings.logged().shape[-1]))


def simulated(results: Results, settings: Settings) -> None:
    """Add how exact simulated numbers and the batched rules are on the bundled trace."""
    errors, hub = [], []
    lost: dict[str, list[Array]] = {best.law_class.name: [] for best in BEST}
    for draft, target in settings.pairs():
        paths = RecursiveRejectionWithoutReplacement(draft, target, KS[-1]).paths()
        error = paths.acceptances()[1]
        errors.append([error[k] for k in KS[2:]])
        hub.append(float(SpecHub(draft, target, 2).acceptance()))
        for best in BEST:
            law = best.law_class.name
            optima = otspec.optimal_acceptances(draft, target, SHOWN, law=law)
            graded = [best(draft, target, k, Graded(GRADES)) for k in SHOWN]
            lost[law].append(optima - [float(each.accepted_selection().sum()) for each in graded])
    results.add("trace.paths", thousands(paths.size))
    # One seed at all positions: standard errors add at most.
    results.add("trace.rrsw.error", scientific(float(np.max(np.mean(errors, axis=0)))))
    results.add("trace.hub", probability(np.mean(hub)))
    results.add("batch.grades", in_words(GRADES))
    results.add("batch.heavy", Graded(GRADES).heavy)
    for name, law in (("iid", IID.name), ("distinct", WithoutReplacement.name)):
        results.add(f"batch.loss.{name}", scientific(float(np.max(np.mean(lost[law], axis=0)))))


def training(results: Results) -> None:
    """Add what is said of the small models."""
    trace, facts = small_pairs()
    results.add("small.vocabulary", thousands(trace.shape[-1]))
    results.add("small.positions", trace.shape[0])
    for name in ("prompt", "drawn", "files", "tokens"):
        results.add(f"small.{name}", thousands(facts[name]))
    results.add("small.layers", in_words(facts["layers"][0]))
    for index, name in enumerate(("target", "one", "two")):
        results.add(f"small.{name}.parameters", thousands(facts["parameters"][index]))
        results.add(f"small.{name}.loss", f"{facts['losses'][index]:.2f}")
