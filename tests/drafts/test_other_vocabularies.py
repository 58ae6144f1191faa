"""Drafts of another vocabulary: lossless if the rule is told the law of the mapped drafts.

Theory, 44.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from instances import fractions, weights
from numpy.random import default_rng

import otspec
from otspec.drafts import on_target_tokens
from otspec.rules import RULES, NaiveSampling

RULE_NAMES = ("recursive-rejection", "k-sequential", "pooled-selection", "maximal-coupling")


def mapped_law(source, k, become, n):
    """The law of k mapped drafts, by the definition: none is drafted without a counterpart."""
    kept = [token for token, to in enumerate(become) if to is not None]
    whole = sum(source[token] for token in kept)
    table = np.full((n,) * k, Fraction(0), dtype=object)
    for x in product(kept, repeat=k):
        mass = Fraction(1)
        for token in x:
            mass *= source[token] / whole
        table[tuple(become[token] for token in x)] += mass
    return otspec.Joint(table)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", RULE_NAMES)
def test_rules_are_lossless_that_are_told_the_law_of_the_mapped_drafts(name, seed):
    rng = default_rng(seed)
    m, n, k = 4, 3, 1 if name == "maximal-coupling" else 2
    source, target = weights(rng, m, 9), weights(rng, n, 9)
    become = [int(rng.integers(n)) if rng.random() < 0.7 else None for _ in range(m)]
    become[0] = 1
    kept = [token for token, to in enumerate(become) if to is not None]
    draft = on_target_tokens(source, kept, [become[token] for token in kept], n)
    rule = RULES[name].of_pair(draft, target, k)
    law = mapped_law(source, k, become, n)
    assert otspec.audit(rule.kernel, law=law, target=target).lossless


def test_a_rule_that_is_told_another_law_is_not():
    # Tokens 0 and 1 of the draft are the target's 0; declared are the masses of one of them.
    source = fractions("1/4", "1/4", "1/2")
    told, drawn = fractions("1/3", "2/3"), on_target_tokens(source, [0, 1, 2], [0, 0, 1], 2)
    rule = RULES["maximal-coupling"].of_pair(told, told, 1)
    report = otspec.audit(rule.kernel, law=otspec.IID(drawn, 1), target=told)
    assert (report.lossless, report.total_variation) == (False, Fraction(1, 6))
    looked_up = NaiveSampling(told, told, 1)
    assert otspec.audit(looked_up.kernel, law=otspec.IID(drawn, 1), target=told).lossless


def test_masses_of_common_tokens_that_are_not_scaled_are_not_what_is_drawn():
    source, target = fractions("1/2", "1/4", "1/4"), fractions("1/2", "1/2", 0)
    drawn = on_target_tokens(source, [0, 1], [0, 1], 3)
    # What the vocabularies do not share is a null token to the rule, which is never drafted.
    told = fractions("1/2", "1/4", "1/4")
    rule = RULES["maximal-coupling"].of_pair(told, target, 1)
    report = otspec.audit(rule.kernel, law=otspec.IID(drawn, 1), target=target)
    assert report.output.tolist() == list(fractions("2/3", "1/3", 0))


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_drawing_again_accepts_at_least_what_null_tokens_do_and_at_most_the_common_mass(seed, k):
    rng = default_rng(seed)
    source, target = weights(rng, 4, 9), weights(rng, 4, 9)
    common = [0, 1, 2]
    again = on_target_tokens(source, common, common, 4)
    most = otspec.optimal_acceptance(otspec.IID(again, k), target).acceptance
    null = otspec.optimal_acceptance(
        otspec.Masked(otspec.IID(source, k), keep=common), target
    ).acceptance
    assert null <= most <= sum(target[token] for token in common)


def test_unusable_maps_are_refused():
    for tokens, become, words in (
        ([0, 0], [1, 2], "1 different tokens"),
        ([0, 1], [1], "2 different tokens"),
        ([2], [1], "ever drafted"),
        ([3], [1], "token ids run"),
        ([0], [3], "token ids run"),
    ):
        with pytest.raises(ValueError, match=words):
            on_target_tokens(["1/2", "1/2", 0], tokens, become, 3)
