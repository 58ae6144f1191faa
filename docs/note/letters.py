"""What rules accept and keep on the letters, a pair of models of which everything is known."""

from __future__ import annotations

from itertools import islice

import otspec
from docs.note.examples import OPTIMAL
from docs.note.results import Results, in_words, probability, thousands
from figures.contract import Settings
from figures.on_letters import letter_trees
from otspec.datasets import letters
from otspec.datasets.english_letters import ALPHABET
from otspec.rules import (
    KSequential,
    PairRule,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
)

RULES: dict[str, type[PairRule]] = {
    "kseq": KSequential,
    "rrs": RecursiveRejection,
    "rrsw": RecursiveRejectionWithoutReplacement,
    "hub": SpecHub,
    "iid": PooledSelection,
    "distinct": PooledSelectionWithoutReplacement,
}
K, DEPTH = 2, 4


def exactly(results: Results, settings: Settings) -> None:
    """Add the acceptance of two drafts at a random place, in fractions.

    Pooled selection has to accept after every context what the least cut allows.

    Raises
    ------
    AssertionError
        It does not.
    """
    pair, few = letters(), 4 if settings.quick else None
    places = dict(islice(pair.target.contexts().items(), few))
    accepted = dict.fromkeys(RULES, 0)
    for context, share in places.items():
        draft, target = pair.draft(context), pair.target(context)
        for name, rule in RULES.items():
            made = rule(draft, target, K)
            value = made.acceptance()
            if rule in OPTIMAL and value != _optimum(made):
                raise AssertionError(f"{name} is not optimal after {context}")
            accepted[name] += share * value
    results.add("letters.symbols", len(ALPHABET))
    results.add("letters.contexts", thousands(len(places)))
    results.add("letters.k", K)
    for name, value in accepted.items():
        results.add(f"letters.{name}", probability(value))


def _optimum(rule: PairRule) -> object:
    return otspec.optimal_acceptance(rule.law, rule.target).acceptance


def trees(results: Results, settings: Settings) -> None:
    """Add tokens per call of a binary tree at a random place; of a small one if quick."""
    depth = 1 if settings.quick else DEPTH
    results.add("letters.tree.depth", in_words(depth))
    for name, rule in RULES.items():
        kept = letter_trees(rule).tokens_per_call((2,) * depth)
        results.add(f"letters.tree.{name}", f"{float(kept):.3f}")
