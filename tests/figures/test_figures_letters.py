"""The tables of tokens per call on the letters: the numbers, and what is printed beside them."""

from fractions import Fraction

import letters_enumerated as enumerated
import pytest

from figures.spechub_tab5 import (
    HUB,
    LEVELS,
    MERGED,
    PRINTED,
    RRS,
    RRSW,
    RULES,
    SETTINGS,
    WEAK,
    BinaryTrees,
)
from validation.spechub.tables import BATCHES, gains


@pytest.fixture(scope="module")
def quick(computed):
    return computed(BinaryTrees, quick=True)


def test_the_printed_gains_are_those_of_the_papers_tables():
    for ours, theirs in (("1", "1.0"), ("1/2", "0.6")):
        for depth in (2, 3, 4, 5):
            rows = [
                gains(row)
                for row in BATCHES
                if row.tree == f"2^{depth}" and row.temperature == theirs
            ]
            assert len(rows) == 8
            over_rrs, over_rrsw = zip(*rows, strict=True)
            wanted = min(over_rrsw), max(over_rrsw), min(over_rrs), max(over_rrs)
            assert PRINTED[ours][depth] == pytest.approx(wanted, abs=5e-5)


@pytest.mark.parametrize("rule", [HUB, RRSW])
def test_the_smallest_tree_is_an_enumeration_that_shares_nothing(quick, rule):
    places = enumerated.grams(1)
    total = sum(
        Fraction(count, sum(places.values())) * enumerated.expected(rule, 2, symbol)
        for symbol, count in places.items()
    )
    assert quick.values[WEAK, 2, rule] == float(1 + total)


def test_the_numbers_are_what_they_must_be(quick):
    assert quick.settings == [WEAK]
    assert SETTINGS[0][:2] == ("bigram", "trigram")
    for levels in LEVELS:
        found = {name: quick.values[WEAK, levels, name] for name in (*RULES, MERGED)}
        if levels == 1:  # where there is nothing that could go on together
            assert found[MERGED] == pytest.approx(found[RRS], abs=1e-14)
        else:
            assert 1 < found[RRS] < found[MERGED]
        assert found[RRS] < found["pooled"]
        assert max(found.values()) == found["pooled, distinct"]
        assert quick.gain(WEAK, levels, RRSW) == found[HUB] - found[RRSW] < 0
    table = quick.numbers()
    assert len(table.rows) == len(LEVELS)
    assert table.rows[0][:4] == ("unigram", "bigram", "1", 1)
    how, _, weak = quick.notes()
    assert "in fractions" in how
    assert weak.startswith("unigram → bigram, T = 1: not the paper's order with 1 to 5 levels.")
    assert weak.endswith("that is outside everywhere.")


def test_the_papers_depth_counts_the_root():
    # A call of d levels may give d + 1 tokens: no row of depth d comes near that, and EAGLE's, of
    # 1.8 to 3.5 tokens, come near d.
    most = {
        depth: max(row.spechub for row in BATCHES if row.tree == f"2^{depth}")
        for depth in (2, 3, 4, 5)
    }
    assert all(depth - 1.5 < value < depth for depth, value in most.items())


def test_notes_say_where_the_order_is_the_papers():
    values = {}
    for levels in LEVELS:
        for name, value in ((RRS, 1.0), (RRSW, 1.5), (HUB, 1.6), (MERGED, 1.2), ("pooled", 2.0)):
            values[SETTINGS[0], levels, name] = value
        values[SETTINGS[0], levels, "pooled, distinct"] = 2.0
    *_, verdict = BinaryTrees(values).notes()
    assert "the paper's order, RRS < RRSw < SpecHub, with 1 to 5 levels" in verdict
    assert "inside with 2, 3, 4 levels." in verdict
