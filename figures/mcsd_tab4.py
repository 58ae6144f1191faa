"""MCSD, table 4: trees of drafts under three ways to verify."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from figures.contract import Cell, Numbers, Settings, Table
from figures.registry import item
from figures.spechub_tab4 import NORMAL, random_pairs
from figures.tree_starts import means_and_errors, starts
from otspec.blocks import as_branching
from otspec.distributions import Distribution
from otspec.rules import NaiveSampling, RecursiveRejection, RecursiveRejectionWithoutReplacement
from otspec.rules.distinct_paths import DistinctPaths

RULES: dict[str, Any] = {
    "MCSS w/o replacement": RecursiveRejectionWithoutReplacement,
    "MCSS w/ replacement": RecursiveRejection,
    "MCNS": NaiveSampling,
}
"""The paper's names."""
DISTINCT = next(iter(RULES))
PRINTED: dict[tuple[str, str], tuple[tuple[float, float], ...]] = {
    ("LLaMA-13B", "4x2x2"): ((1.91, 2.45), (1.89, 2.39), (1.21, 1.52)),
    ("Vicuna-13B", "16x1"): ((1.64, 2.00), (1.55, 1.95), (1.45, 1.78)),
    ("LLaMA-33B", "8x2x1x1"): ((2.17, 2.71), (2.04, 2.55), (1.33, 1.65)),
    ("Vicuna-33B", "16x1x1"): ((1.73, 2.10), (1.66, 2.01), (1.50, 1.80)),
}
"""Target and its best tree → speedup and tokens per call, rule by rule, with tree attention."""
PATHS, QUICK_PATHS = 500, 50
SEED = 0
TOY = (0.25, 0.5)
"""Temperature and similarity of the toy models: pairs of SpecHub's table 4 with N(0,1) logits."""
TOYS, QUICK_TOYS = 20, 2


def efficiency(tree: Sequence[int], acceptance: Callable[[int], float]) -> float:
    """Return 1 + Σ_i Π_{j ≤ i} a(k_j): every step accepts k drafts with probability a(k)."""
    total = reached = 1.0
    for k in tree:
        reached *= acceptance(k)
        total += reached
    return total


def toy_efficiencies(draft: Distribution, target: Distribution, size: int) -> list[list[float]]:
    """Return the tokens per call on memoryless models: rule by rule, tree by tree."""
    trees = [as_branching(tree) for _, tree in PRINTED]
    paths = DistinctPaths(draft, target, max(max(tree) for tree in trees), size, SEED)

    def acceptance(name: str, k: int) -> float:
        if name == DISTINCT and k > 2:
            return paths.rule(k).acceptance()
        return float(RULES[name](draft, target, k).acceptance())

    return [[efficiency(tree, partial(acceptance, name)) for tree in trees] for name in RULES]


@item("mcsd_tab4", "MCSD, table 4", seed=SEED, traced=True)
class Ablation(Table):
    """Tokens per call of the target, tree by tree.

    Parameters
    ----------
    trace, errors : dict
        Rule → means over places of the trace, and their standard errors over places.
    toy : dict
        Rule → means over pairs of memoryless models.
    gains, gain_errors : dict
        A rule and the next → means over places of how many more tokens the first has, and
        their standard errors.
    places, toys : int
        How many the means are over.
    """

    title = "Tokens per call of trees under three verification algorithms, T = 1"

    trace: dict[str, tuple[float, ...]]
    errors: dict[str, tuple[float, ...]]
    toy: dict[str, tuple[float, ...]]
    gains: dict[tuple[str, str], tuple[float, ...]]
    gain_errors: dict[tuple[str, str], tuple[float, ...]]
    places: int
    toys: int

    @classmethod
    def compute(cls, settings: Settings) -> Ablation:
        """Return all means."""
        size = QUICK_PATHS if settings.quick else PATHS
        trees = [as_branching(tree) for _, tree in PRINTED]
        depth, most = max(map(len, trees)), max(max(tree) for tree in trees)
        values: dict[str, list[list[float]]] = {name: [] for name in RULES}
        for start in starts(settings, depth, most, size, SEED):
            for name, rule in RULES.items():
                chosen = start.distinct if name == DISTINCT else rule
                values[name].append([start.efficiency(tree, chosen) for tree in trees])
        columns = {name: np.array(rows) for name, rows in values.items()}
        found = {name: means_and_errors(rows) for name, rows in columns.items()}
        names = list(RULES)
        gains = {
            (first, second): means_and_errors(columns[first] - columns[second])
            for first, second in pairwise(names)
        }
        count = QUICK_TOYS if settings.quick else TOYS
        toys = [toy_efficiencies(*pair, size) for pair in random_pairs(NORMAL, TOY, count)]
        toy = dict(zip(names, np.mean(toys, axis=0).tolist(), strict=True))
        return cls(
            {name: means for name, (means, _) in found.items()},
            {name: errors for name, (_, errors) in found.items()},
            {name: tuple(row) for name, row in toy.items()},
            {key: means for key, (means, _) in gains.items()},
            {key: errors for key, (_, errors) in gains.items()},
            len(values[DISTINCT]),
            len(toys),
        )

    def numbers(self) -> Numbers:
        """Return one row for each tree and rule."""
        rows: list[tuple[Cell, ...]] = []
        for i, ((target, tree), printed) in enumerate(PRINTED.items()):
            for name, (speedup, tokens) in zip(RULES, printed, strict=True):
                ours = (self.trace[name][i], self.errors[name][i], self.toy[name][i])
                rows.append((tree, name, target, f"{speedup:.2f}", f"{tokens:.2f}", *ours))
        columns = ("tree", "algorithm", "paper's target", "paper, speedup", "paper, τ",
                   "ours, trace", "ours, s.e.", "ours, toy")  # fmt: skip
        return Numbers(columns, tuple(rows))

    def notes(self) -> list[str]:
        """Say what orders the algorithms, and by how much."""
        models = (
            "τ is the expected number of tokens per call of the target. The trees are those that "
            "were best for the paper's models, LLaMA-68M and the target named; ours are other "
            f"models, at {self.places} places of the trace. Speedups are the paper's: they depend "
            "on its machine."
        )
        toys = (
            f"Toy: means over {self.toys} pairs of memoryless models with 50 tokens, logits as in "
            f"SpecHub's table 4, T = {TOY[0]}, λ = {TOY[1]}. More than two distinct drafts are "
            "simulated, on the toys and on the trace, with errors far below those of the places."
        )
        found = [models, toys]
        for i, (first, second) in enumerate(self.gains):
            texts = []
            for j, ((_, tree), printed) in enumerate(PRINTED.items()):
                mean, error = self.gains[first, second][j], self.gain_errors[first, second][j]
                toy = self.toy[first][j] - self.toy[second][j]
                gain = printed[i][1] - printed[i + 1][1]
                texts.append(
                    f"{tree} {mean:+.3f} ± {error:.3f} (toy {toy:+.3f}, paper {gain:+.2f})"
                )
            found.append(f"{first} above {second}, in tokens: {'; '.join(texts)}.")
        return found
