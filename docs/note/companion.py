"""What the companion of the note says of shared noise, and of drafts trained for their use."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import otspec
from docs.note.cost import DOCS, table_of
from docs.note.results import Results, in_words, points, probability
from figures.contract import Settings
from figures.means import radius
from figures.train_for_k import USES, TrainForK, trained_for
from otspec import IID, WithoutReplacement
from otspec.logged.comparison import mean_and_error
from otspec.rules import GumbelCoupling, GumbelLists, NaiveSampling

KS = (1, 2, 4, 8, 16)
EXAMPLE = (["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"])
"""SpecHub's pair."""
BEST = {WithoutReplacement.name: "optimum, distinct", IID.name: "optimum, i.i.d."}
RULES = {"one race": GumbelCoupling, "k lists": GumbelLists, "independent noise": NaiveSampling}


def example(results: Results) -> None:
    """Add what two drafts of three tokens accept with shared noise, and the optima."""
    draft, target = ([Fraction(mass) for mass in masses] for masses in EXAMPLE)
    race = GumbelCoupling(draft, target, 2).acceptance()
    for name, masses in (("draft", draft), ("target", target)):
        results.add(f"noise.{name}", "(" + ", ".join(map(str, masses)) + ")")
    results.add("noise.k", 2)
    results.add("noise.race", race)
    results.add("noise.race.decimal", probability(race))
    lists = GumbelLists(np.array(draft, float), np.array(target, float), 2)
    results.add("noise.lists", probability(lists.acceptance()))
    for name, law in (("iid", IID), ("distinct", WithoutReplacement)):
        best = otspec.optimal_acceptance(law(draft, 2), target)
        results.add(f"noise.{name}", best.acceptance)


def shared_noise(results: Results, settings: Settings) -> None:
    """Add what shared noise accepts on the bundled trace, and what it loses, with intervals."""
    found: dict[str, list[list[float]]] = {name: [] for name in (*BEST.values(), *RULES)}
    for draft, target in settings.pairs():
        for law, name in BEST.items():
            optima = otspec.optimal_acceptances(draft, target, KS, law=law)
            found[name].append(optima.tolist())
        for name, rule in RULES.items():
            found[name].append([float(each) for each in rule.acceptances(draft, target, KS)])
    rows = [[name, *map(probability, np.mean(lines, axis=0))] for name, lines in found.items()]
    results.add_table("noise", ["rule", *(f"k = {k}" for k in KS)], rows)
    race, lists = (np.array(found[name]) for name in ("one race", "k lists"))
    best = np.array(found[BEST[WithoutReplacement.name]])
    results.add("noise.positions", len(race))
    shares = 100 * race.mean(0) / best.mean(0)
    results.add("noise.least", f"{shares.min():.0f}")
    results.add("noise.most", f"{shares.max():.0f}")
    results.add("noise.largest", in_words(KS[-1]))
    for name, place in (("one", 0), ("most", -1)):
        mean, error = mean_and_error((best - race)[:, place])
        results.add(f"noise.price.{name}", points(mean))
        results.add(f"noise.price.{name}.wide", points(radius(error, len(race))))
    gap = np.array(found[BEST[IID.name]]) - race
    results.add("noise.price.iid", points(gap.mean(0)[-1]))
    gains = (race - lists).mean(0)[1:]
    results.add("noise.gain.least", points(gains.min()))
    results.add("noise.gain.most", points(gains.max()))


def training(results: Results, settings: Settings) -> None:
    """Add what drafts gain and lose that were trained for a use, as it was recorded."""
    for name, record in (("training", "letters"), ("logged", "logged")):
        head, *rows = table_of(DOCS / "tables" / f"train_for_k_{record}.md")
        results.add_table(name, head, [[cell.replace(" ± ", "±") for cell in row] for row in rows])
    (before,) = [row for row in rows if row[0] == "as logged"]
    for name, use in (("one", "one draft"), ("distinct", "2 distinct")):
        results.add(f"logged.before.{name}", before[head.index(use)].lstrip("+"))
    acceptance = TrainForK.compute(settings).acceptance
    gains = {
        (trained, use): 100 * float(np.mean(found[use] - acceptance["KL"][use]))
        for trained, found in acceptance.items()
        for use in found
    }
    own = [gains[trained_for(law, k), (law, k)] for law, k in USES]
    results.add("training.least", f"{min(own):.1f}")
    results.add("training.most", f"{max(own):.1f}")
    results.add("training.worst", f"{-min(gains.values()):.0f}")
