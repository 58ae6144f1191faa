"""Layer Verification, beside an enumeration of its description and the rules it contains."""

from fractions import Fraction

import numpy as np
import pytest

from otspec.auditing import audit_blocks
from otspec.blocks import BlockVerification, LayerVerification, UniversalTree
from otspec.models import memoryless
from otspec.rules import (
    NaiveSampling,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
)
from validation import drafted, layer, tree_rules
from validation.models import Table

COIN = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
THREE = memoryless(["1/2", "1/3", "1/6"]), memoryless(["1/6", "1/6", "2/3"])
DISTINCT = RecursiveRejectionWithoutReplacement, PooledSelectionWithoutReplacement


@pytest.mark.parametrize(
    ("pair", "tree"), [(COIN, "1x1x1"), (COIN, "[[[]][]][]"), (THREE, "[][[]]"), (THREE, "2")]
)
def test_it_is_lossless_and_keeps_what_its_scores_say(pair, tree):
    report = audit_blocks(LayerVerification(*pair, tree))
    assert report.lossless
    assert report.expected <= report.optimum


@pytest.mark.parametrize("rule", [RecursiveRejection, NaiveSampling, *DISTINCT])
def test_every_lossless_rule_makes_it_lossless(rule):
    assert audit_blocks(LayerVerification(*COIN, "2x1", rule)).lossless


@pytest.mark.parametrize("tree", ["2x1x1", "[[[]][]][]", "[[]][][]", "3x1"])
def test_with_recursive_rejection_it_is_the_enumeration(tree):
    pair = {
        name: Table((tuple(model(())),))
        for name, model in zip(("draft", "target"), COIN, strict=True)
    }
    wanted = drafted.kept(layer.layered(tree_rules.rejection), tree=tree, **pair)
    assert LayerVerification(*COIN, tree, RecursiveRejection, merge=False).expected() == wanted


def test_on_a_chain_it_is_block_verification_and_on_a_star_the_rule():
    for pair in (COIN, THREE):
        block = BlockVerification(*pair, 3)
        found = LayerVerification(*pair, "1x1x1")
        assert found.expected() == block.expected()
        assert LayerVerification(*pair, "3").expected() == UniversalTree(*pair, "3").expected()


def test_neither_it_nor_the_lift_is_always_better():
    pair = memoryless(["1/2", "1/2"]), memoryless(["1/3", "2/3"])
    more, less = (
        [kind(*pair, tree, merge=False).expected() for kind in (LayerVerification, UniversalTree)]
        for tree in ("[[[][]][]][]", "[[]][]")
    )
    assert more == [Fraction(37, 16), Fraction(1775, 768)]
    assert less[0] < less[1]


def test_equal_models_keep_everything_and_disjoint_ones_nothing():
    tree = "2x2"
    assert LayerVerification(COIN[0], COIN[0], tree).expected() == 2
    apart = memoryless([0, 1]), memoryless([1, 0])
    assert LayerVerification(*apart, tree).expected() == 0
    floats = [memoryless(np.array([0.5, 0.5])), memoryless(np.array([0.25, 0.75]))]
    exact = LayerVerification(*COIN, "2x1x1").expected()
    assert LayerVerification(*floats, "2x1x1").expected() == pytest.approx(float(exact), abs=1e-12)


@pytest.mark.parametrize("pair", [([3, 8], [2, 3]), ([4, 1], [4, 3])])
def test_scores_of_floats_may_sum_to_more_than_1(pair):
    """By a rounding, here; a thousand operations on numbers up to 2 are off by less than 1e-12."""
    exact = [[Fraction(part, sum(parts)) for part in parts] for parts in pair]
    floats = [[float(part) for part in parts] for parts in exact]
    kept = [
        LayerVerification(*map(memoryless, models), "3x1").expected() for models in (exact, floats)
    ]
    assert abs(float(kept[0]) - kept[1]) < 1e-12
