"""How calls are made up and compared, by hand: sizes, pairs of rows, and rows of one seed."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from each_case import each

from otspec.conformance import same_seed
from otspec.conformance.cases import arrays
from otspec.conformance.cases.arrays import Form
from otspec.conformance.cases.cases import memoryless
from otspec.conformance.cases.drafting import Sample
from otspec.conformance.cases.kinds import Block, Tokens, Tree
from otspec.conformance.evidence.batches import KernelBatches, SingleRows
from otspec.conformance.evidence.dependence import (
    REDRAWN,
    CallPairs,
    DraftPairs,
    RowPairs,
    SlotPairs,
    taken,
)
from otspec.conformance.exact_check import Drafted, drafted_ways, sample_of
from otspec.conformance.keyed import Rows, noise_of
from otspec.conformance.same_seed import SameSeed

CASE = memoryless("a", (4, 2, 1, 1), (1, 2, 4, 1))


@each(
    "dtype,size",
    [("float64", 8), ("float32", 4), ("float16", 2)],
)
def test_two_arrays_of_a_call_take_at_most_half_of_the_memory(monkeypatch, dtype, size):
    form = Form("numpy", dtype)
    monkeypatch.setattr(arrays, "memory", lambda: 4 * size * 2**28)
    form.refuse_too_many(7, 2**28)
    words = f"entries is 7, for which the arrays of one call take {size / 2:.3g} GiB, more than"
    with pytest.raises(ValueError, match=words):
        form.refuse_too_many(7, 2**28 + 1)


def rows_of(pairs, size):
    """The drafts of the rows that are compared, where what is said of a row is its place."""
    made = pairs(None, Tokens(2), CASE, None, np.random.default_rng(0))
    calls = []

    def said(drafts):
        calls.append(drafts.drafts)
        return np.arange(len(drafts.drafts))[:, None] + 100 * len(calls)

    object.__setattr__(made, "said", said)
    return [each[:, 0].tolist() for each in made.rows(size)], calls


@each(
    "pairs,rows",
    [
        (RowPairs, ([100, 102, 104], [101, 103, 105], [200, 202, 204], [201, 203, 205])),
        (SlotPairs, ([100, 101, 102], [103, 104, 105], [200, 201, 202], [203, 204, 205])),
        (CallPairs, ([100, 102, 104], [101, 103, 105], [200, 202, 204], [201, 203, 205])),
    ],
)
def test_which_rows_are_compared(pairs, rows):
    found, calls = rows_of(pairs, 3)
    assert tuple(found) == rows
    assert [len(drafts) for drafts in calls] == [6, 6]
    assert (calls[0] == calls[1]).all() == (pairs is not CallPairs)


def test_rows_that_are_compared_have_other_drafts():
    for pairs, apart in ((RowPairs, 1), (SlotPairs, 50)):
        _, (drafts, _) = rows_of(pairs, 50)
        pair = drafts.reshape(50, 2, 2) if apart == 1 else np.stack([drafts[:50], drafts[50:]], 1)
        assert not (pair[:, 0] == pair[:, 1]).all(axis=1).any()


def test_drafts_that_cannot_differ_are_drawn_again_some_times():
    drawn, case = [], memoryless("one", (1, 0), (1, 1))
    kind = Tokens(1)

    def draw(case, size, rng):
        drawn.append(size)
        return Tokens.draw(kind, case, size, rng)

    own = SimpleNamespace(draw=draw)
    RowPairs(None, own, case, None, np.random.default_rng(0)).apart(5)
    assert drawn == [10] + [5] * REDRAWN
    drawn.clear()
    kind = Block.of_length(0)
    RowPairs(None, own, case, None, np.random.default_rng(0)).apart(5)
    assert drawn == [10]


def test_rows_of_equal_drafts_stand_anywhere_in_both_calls():
    found, calls = rows_of(DraftPairs, 40)
    assert [len(drafts) for drafts in calls] == [80, 80]
    for call, drafts in enumerate(calls, start=1):
        one, two = (np.array(each) - 100 * call for each in found[2 * call - 2 : 2 * call])
        assert (drafts[one] == drafts[two]).all()
        assert sorted([*one, *two]) == list(range(80))
        assert one.tolist() != list(range(40))
    assert found[0] != [place - 100 for place in found[2]]  # in another order


A, B, C, D = (np.array(each) for each in ([[1, 2]], [[1, 3]], [[4, 3]], [[1, 2]]))


@pytest.mark.parametrize(
    ("pairs", "more"),
    # Of two places: a and b agree in one, c and d in none, a and d in both, b and c in one, a and c
    # in none, b and d in one.
    [(RowPairs, 1 + 0 - 2 - 1), (CallPairs, 0 + 1 - 2 - 1)],
)
def test_places_in_which_pairs_agree(pairs, more):
    assert pairs.compared(A, B, C, D).tolist() == [more]


def test_pairs_that_agree_more_are_counted_first_and_ties_half_each():
    made = RowPairs(None, Tokens(2), CASE, None, np.random.default_rng(0))
    same, other = np.zeros((1_000, 1), int), np.ones((1_000, 1), int)
    for rows, counts in (((same, same, other, other), [1_000, 0]),
                         ((same, other, other, same), [0, 1_000])):  # fmt: skip
        object.__setattr__(made, "rows", lambda _size, rows=rows: rows)
        assert made(1_000).tolist() == [counts]
    object.__setattr__(made, "rows", lambda _size: (same,) * 4)
    ((more, less),) = made(1_000)
    # Six standard deviations of 1,000 coins.
    assert more + less == 1_000
    assert abs(more - 500) < 6 * np.sqrt(250)


def test_taken_rows_are_those_of_every_part():
    sample = Sample(*(np.arange(3)[:, None] + 10 * part for part in range(4)))
    assert [part.ravel().tolist() for part in taken(sample, np.array([2, 0, 2]))] == [
        [2, 0, 2], [12, 10, 12], [22, 20, 22], [32, 30, 32]
    ]  # fmt: skip


@each(
    "kind,weights,uneven,ways",
    [
        (Tokens(2), (1, 3, 0), False, {(0, 0): 1, (0, 1): 3, (1, 0): 3, (1, 1): 9}),
        (Tokens(1), (1, 0, 0), False, {(0,): 16}),
        (Tokens(2, "without-replacement"), (1, 3, 0), False, {(0, 1): 4, (1, 0): 12}),
        # Of one token there is no second distinct draft; a tree has no child of it.
        (Tokens(2, "without-replacement"), (1, 0, 0), False, {(0, None): 16}),
        (Tree((-1, -1, 1), "without-replacement"), (0, 1, 0), False, {(1, None, None): 16}),
        # No draft, or one, each half of the time.
        (Tokens(1), (1, 1, 0), True, {(0,): 4, (1,): 4, (None,): 8}),
    ],
)
def test_the_ways_to_draft_have_the_masses_of_the_law(kind, weights, uneven, ways):
    """In sixteenths; None for a draft that is not there."""
    case = memoryless("a", weights, (1, 1, 1), uneven=uneven)
    found = Counter()
    for way in drafted_ways(kind, case):
        assert way.mass > 0
        drafts = zip(way.drafts, way.there, strict=True)
        found[tuple(token if there else None for token, there in drafts)] += way.mass * 16
    assert found == pytest.approx(ways)


def test_the_row_beside_has_the_last_models_and_distinct_siblings():
    way = Drafted(0.5, 0, (3, 1, 2), (True, False, False))
    alone = sample_of(way, CASE)
    assert [part.tolist() for part in alone] == [
        [0], [[3, 1, 2]], [[3, 1, 2]], [[True, False, False]]
    ]  # fmt: skip
    both = sample_of(way, CASE, Tree((-1, -1, 0)))
    assert both.variants.tolist() == [0, 1]
    assert both.drafts.tolist() == both.tokens.tolist() == [[3, 1, 2], [0, 1, 0]]
    assert both.there.tolist() == [[True, False, False], [True, True, True]]


def test_noise_is_that_of_a_seed_and_a_position():
    seeds, positions = np.array([5, 6, 5]), np.array([[0, 1], [0, 1], [1, 2]])
    noise = noise_of(seeds, positions, 7, Form())
    assert noise.shape == (3, 2, 7)
    assert noise.dtype == np.float32
    assert noise_of(seeds, positions, 7, Form("numpy", "float64")).dtype == np.float64
    assert (noise[0, 1] == noise[2, 0]).all()  # seed 5 at position 1
    rows = noise.reshape(6, 7)
    assert len({row.tobytes() for row in rows}) == 5
    flat = noise_of(seeds, positions[:, 0], 7, Form())
    assert (flat == noise[:, 0]).all()


def test_one_row_has_its_own_seed_and_beginning():
    sample = Sample(np.array([1, 2]), np.eye(2), np.eye(2) + 5, np.eye(2) > 0)
    alone = Rows(sample, np.array([7, 8]), np.array([30, 40])).alone(1)
    assert (alone.seeds.tolist(), alone.starts.tolist()) == ([8], [40])
    assert [part.tolist() for part in alone.sample] == [[2], [[0, 1]], [[5, 6]], [[False, True]]]


@each(
    "options,sizes",
    [
        ({}, [32]),
        ({"large": True}, [8]),
        ({"batches": SingleRows}, [1] * 8),
        ({"before": 100}, [200]),
        ({"before": 5_000}, [9_096]),
    ],
)
def test_how_many_rows_are_compared_with_plain_decoding(options, sizes):
    kind = Block.of_length(2)
    given = {"large": False, "batches": KernelBatches, "before": 0, "kind": kind, "case": CASE}
    for wanted, alike in (({"seeds": None}, False), ({"seed": None}, True)):
        engine = SimpleNamespace(wanted=wanted)
        check = SameSeed(engine, None, kind, "kernel", 0, 37, 48)
        calls = list(check._calls(SimpleNamespace(**given | options), np.random.default_rng(0)))
        assert [len(call.seeds) for call in calls] == sizes
        seeds = np.concatenate([call.seeds for call in calls])
        starts = np.concatenate([call.starts for call in calls])
        streams = 4 if "large" in options or "before" in options else 16
        assert len(set(starts.tolist())) <= streams
        assert len(set(zip(seeds.tolist(), starts.tolist(), strict=True))) == len(set(starts))
        assert (len(set(seeds.tolist())) == 1) == alike
        assert 0 <= starts.min() <= starts.max() < 1_024


@pytest.mark.parametrize(
    ("texts", "wrong", "counts", "evidence"),
    [(5, 0, [5, 0], 0.0), (5, 2, [3, 2], np.inf), (0, 1, [0, 1], np.inf)],
)
def test_what_is_reported_of_texts_that_differ(texts, wrong, counts, evidence):
    tried = same_seed._trial("case", texts, wrong)
    assert (tried.case, tried.size, tried.evidence) == ("case", texts, evidence)
    assert tried.counts.tolist() == [counts]
    assert tried.detectable == 0


def test_the_first_row_and_the_first_place_that_differ_are_named():
    rows = Rows(None, np.array([7, 8, 9]), np.array([30, 40, 50]))
    said, wanted = np.array([[0, 1], [0, 4], [3, 3]]), np.array([[0, 1], [0, 2], [0, 3]])
    assert same_seed._first(CASE, rows, said, wanted, said != wanted) == (
        "seed 8 differs first at position 41 of the text: it has a token of probability 0, and "
        "plain decoding has token 2"
    )
    said[1] = wanted[1]
    assert same_seed._first(CASE, rows, said, wanted, said != wanted) == (
        "seed 9 differs first at position 50 of the text: it has token 3, and plain decoding has "
        "token 0"
    )
