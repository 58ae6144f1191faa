"""Drafts of a batch have the law of the draft model, and count where they should."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from otspec.conformance.cases.cases import memoryless, remembering, spread
from otspec.conformance.cases.drafting import drafted, drawn, patterns
from tests.support import oracles

SIZE = 40_000
TREE = (-1, -1, 0, 0)


def sampled(parents, law, case, size, seed):
    rng = np.random.default_rng(seed)
    return drafted(parents, law, case, rng.integers(case.variants, size=size), rng)


def check_frequencies(seen, law, size=SIZE):
    """No outcome is off by more than six standard deviations and a count."""
    assert set(seen) <= {outcome for outcome, mass in law.items() if mass > 0}
    for outcome, mass in law.items():
        wanted = float(mass) * size
        assert abs(seen[outcome] - wanted) <= 6 * np.sqrt(wanted) + 1, outcome


def test_drafts_of_a_tree_follow_the_text():
    table = ((2, 1, 1), (1, 3, 0), (1, 1, 2), (0, 1, 1))
    case = remembering("a table", table, table)
    sample = sampled(TREE, "iid", case, SIZE, 1)
    rows = [[Fraction(w, sum(row)) for w in row] for row in table]
    law = {
        text: rows[0][text[0]]
        * rows[0][text[1]]
        * rows[text[0] + 1][text[2]]
        * rows[text[0] + 1][text[3]]
        for text in product(range(3), repeat=4)
    }
    check_frequencies(Counter(map(tuple, sample.drafts.tolist())), law)
    assert sample.there.all()
    assert (sample.tokens == sample.drafts).all()


@pytest.mark.parametrize(
    ("law", "table", "k"),
    [
        ("without-replacement", oracles.without_replacement_table, 3),
        ("hub", lambda draft, _: oracles.hub_table(draft), 2),
        ("top-plus-one", oracles.top_plus_one_table, 2),
    ],
)
def test_siblings_have_the_law_that_is_asked_for(law, table, k):
    weights = (4, 2, 1, 1)
    case = memoryless("a", weights, weights)
    sample = sampled((-1,) * k, law, case, SIZE, 2)
    right = table([Fraction(w, 8) for w in weights], k)
    check_frequencies(Counter(map(tuple, sample.drafts.tolist())), right)


def test_of_distinct_drafts_there_are_as_many_as_tokens():
    case = memoryless("a", (3, 1, 0, 0), (1, 1, 1, 1))
    sample = sampled((-1, -1, -1, 0), "without-replacement", case, 1_000, 3)
    assert sample.there.tolist() == [[True, True, False, True]] * 1_000
    assert (np.sort(sample.drafts[:, :2], axis=1) == [0, 1]).all()
    assert sample.lengths.tolist() == [3] * 1_000


def test_rows_of_a_batch_take_a_pair_each():
    case = memoryless("a", (1, 0), (1, 0))
    other = memoryless("b", (0, 1), (0, 1))
    both = type(case)(
        "both", *(np.concatenate([a, b]) for a, b in [(case.draft, other.draft)] * 2), case.symbols
    )
    sample = sampled((-1,), "iid", both, 1_000, 4)
    assert (sample.drafts[:, 0] == sample.variants).all()
    assert 0 < sample.variants.mean() < 1


@pytest.mark.parametrize(
    ("parents", "sets"),
    [
        ((-1, -1), {(0, 0), (1, 0), (1, 1)}),
        ((-1, 0, 1), {(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)}),
        ((-1, -1, 0), {(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 0, 1), (1, 1, 1)}),
    ],
)
def test_sets_of_nodes_have_the_first_siblings_and_their_parents(parents, sets):
    assert set(patterns(parents)) == {tuple(map(bool, each)) for each in sets}
    assert len(patterns(parents)) == len(sets)


def test_uneven_rows_have_each_set_of_nodes_equally_often():
    case = memoryless("a", (1, 1), (1, 1), uneven=True)
    sample = sampled((-1, -1, 0), "iid", case, SIZE, 5)
    law = {each: Fraction(1, 5) for each in patterns((-1, -1, 0))}
    check_frequencies(Counter(map(tuple, sample.there.tolist())), law)


def test_symbols_of_many_tokens_are_drafted_as_any_of_them():
    case = spread(memoryless("a", (1, 1), (1, 1)), 6)
    sample = sampled((-1, -1), "iid", case, SIZE, 6)
    assert (case.symbols[sample.tokens] == sample.drafts).all()
    law = {pair: Fraction(1, 36) for pair in product(range(6), repeat=2)}
    check_frequencies(Counter(map(tuple, sample.tokens.tolist())), law)


def test_no_symbol_of_weight_0_is_drawn():
    rows = np.tile([0.0, 1e-300, 0.0, 1.0, 0.0], (SIZE, 1))
    assert set(drawn(rows, np.random.default_rng(7)).tolist()) <= {1, 3}
