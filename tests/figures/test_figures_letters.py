"""The tables of tokens per call on the letters: the numbers, and what is printed beside them."""

from fractions import Fraction

import letters_enumerated as enumerated
import pytest

from figures.contract import Settings
from figures.spechub_tab5 import (
    DEPTHS,
    HUB,
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
def quick():
    return BinaryTrees.compute(Settings(quick=True))


def test_the_printed_gains_are_those_of_the_papers_tables():
    for ours, theirs in (("1", "1.0"), ("1/2", "0.6")):
        for depth in DEPTHS:
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
    for depth in DEPTHS:
        found = {name: quick.values[WEAK, depth, name] for name in (*RULES, MERGED)}
        assert 1 < found[RRS] < found[MERGED]
        assert found[RRS] < found["pooled"]
        assert max(found.values()) == found["pooled, distinct"]
        assert quick.gain(WEAK, depth, RRSW) == found[HUB] - found[RRSW] < 0
    table = quick.numbers()
    assert len(table.rows) == len(DEPTHS)
    assert table.rows[0][:4] == ("unigram", "bigram", "1", 2)
    how, weak = quick.notes()
    assert "in fractions" in how
    assert weak.startswith("unigram → bigram, T = 1: not the paper's order at depth 2 to 5.")
    assert weak.endswith("that is outside at every depth.")


def test_notes_say_where_the_order_is_the_papers():
    values = {}
    for depth in DEPTHS:
        for name, value in ((RRS, 1.0), (RRSW, 1.5), (HUB, 1.6), (MERGED, 1.2), ("pooled", 2.0)):
            values[SETTINGS[0], depth, name] = value
        values[SETTINGS[0], depth, "pooled, distinct"] = 2.0
    _, verdict = BinaryTrees(values).notes()
    assert "the paper's order, RRS < RRSw < SpecHub, at depth 2 to 5" in verdict
    assert "inside at depth 3, 4, 5." in verdict
