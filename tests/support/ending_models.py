"""Models whose texts end, and what is known of them without a class that knows of ends."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from block_models import model_pairs


def ending_pairs(seed, n, length, count):
    """Pairs of models, the target's texts over with the last token or one more."""
    for index, case in enumerate(model_pairs(seed, n, length, count)):
        draft, target = case.exact
        end = {n - 1} if index % 3 else {0, n - 1} if n > 2 else {0}
        yield draft, target, end


def law_up_to_end(model, end, length):
    """The law of texts that stop with an end token, from a model that knows none."""
    law = {}
    for text in product(range(model.n), repeat=length):
        stop = next((i + 1 for i, token in enumerate(text) if token in end), length)
        mass = model.mass(text)
        if mass:
            law[text[:stop]] = law.get(text[:stop], 0) + mass
    return law


def kept_up_to_end(rule, end):
    """E[kept] of a rule whose target does not end, counted up to and with the end token."""
    total = 0
    for outcome in rule.outcomes():
        found = [i + 1 for i, token in enumerate(outcome.accepted) if token in end]
        total += outcome.mass * min([len(outcome.accepted), *found])
    return total


def certain(model, end):
    """The same model, but that it repeats an end token for certain: as a table, not as a class."""

    def row(prefix):
        last = next((token for token in prefix if token in end), None)
        return model(prefix) if last is None else [Fraction(i == last) for i in range(model.n)]

    return row
