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
from otspec.conformance.evidence import dependence
from otspec.conformance.evidence.batches import KernelBatches
from otspec.conformance.evidence.dependence import CallPairs, RowPairs, rows_apart, taken
from otspec.conformance.evidence.sizes import SingleRows
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


def compared(monkeypatch, pairs, size, kind):
    """The places, as (call, row), whose answers are compared in each way, and what was handed."""
    made = pairs(None, kind, CASE, None, np.random.default_rng(0))
    calls, found = [], []

    def said(drafts):
        calls.append(drafts.drafts)
        places = np.arange(len(drafts.drafts))
        return np.array([np.full(len(places), len(calls) - 1), places])

    def places(*answers):
        found.append([[tuple(place) for place in each.T.tolist()] for each in answers])
        return np.zeros(answers[0].shape[1], int)

    monkeypatch.setattr(dependence, "more_agree", places)
    object.__setattr__(made, "said", said)
    assert len(list(made.compared(size))) == len(pairs.ways)
    return found, calls


def independent(pairs):
    """Whether pairs form no cycle, by joining what they join."""
    root = {}

    def find(place):
        while place in root:
            place = root[place]
        return place

    for one, two in pairs:
        ends = find(one), find(two)
        if ends[0] == ends[1]:
            return False
        root[ends[0]] = ends[1]
    return True


def test_which_rows_are_compared(monkeypatch):
    """Without drafts all rows are alike; there are 600 of each call."""
    found, calls = compared(monkeypatch, RowPairs, 300, Block.of_length(0))
    assert len(calls) == 2
    apart = set()
    for (words, fault), way in zip(RowPairs.ways[2:], found[2:], strict=True):
        assert words in fault
        assert [{call for call, _ in each} for each in way if each] in ([{0}, {0}, {1}, {1}], [])
        one, two, three, four = ([row for _, row in each] for each in way)
        assert (one, two) == (three, four)  # the same rows of both calls
        assert independent(zip(one, two, strict=True))
        differences, sums = set(np.subtract(two, one)), set(np.add(two, one))
        if "mirrored" in words:
            assert (sums, len(one)) == ({599}, 300)
        elif "half" in words:
            assert (differences, len(one)) == ({300}, 300)
        elif words == "neighboring rows":
            assert differences == {1}
            apart.add(tuple(one[:3]))
        else:
            (distance,) = differences or {int(words.split()[1])}
            assert words == f"rows {distance} apart"
            fewest = min(300, 600 - distance) - distance * (distance <= 8)
            assert max(0, fewest) <= len(one) <= 300
    assert apart == {(0, 1, 2), (0, 2, 4), (1, 3, 5)}


@pytest.mark.parametrize("size", [300, 301])
def test_rows_that_are_compared_have_equal_drafts_but_in_one_way(monkeypatch, size):
    found, (drafts, again) = compared(monkeypatch, RowPairs, size, Tokens(2))
    assert (drafts == again).all()
    assert len(np.unique(drafts, axis=0)) == 2
    for way, (one, two, *_) in zip(RowPairs.ways, found, strict=True):
        same = {(drafts[a] == drafts[b]).all() for (_, a), (_, b) in zip(one, two, strict=True)}
        assert same <= {way[0] != "rows of different drafts"}
        assert independent(zip(one, two, strict=True))
    # All that are half a call apart, and mirrored ones; enough of the others.
    assert [len(way[0]) for way in found[-2:]] == [size] * 2
    assert all(len(way[0]) > 120 for way in found[1:60])


@pytest.mark.parametrize("size", [3, 64, 150])
def test_which_calls_are_compared(monkeypatch, size):
    found, calls = compared(monkeypatch, CallPairs, size, Tokens(2))
    assert len(calls) == 2 * min(64, size)
    assert sum(map(len, calls)) <= 4 * size + 2 * len(calls)
    starts = set()
    one, two, three, four = found.pop()
    assert [(*a, c) for a, c in zip(one, [x for x, _ in three], strict=True)] == [
        (call, row, call + 1)
        for call in range(0, len(calls), 2)
        for row in range(0, len(calls[0]), 2)
    ][:size]
    assert two == [(call, row + 1) for call, row in one]
    assert four == [(call, row + 1) for call, row in three]
    assert CallPairs.ways[-3:] == (*RowPairs.ways[:2], rows_apart(1))
    for words in ("equal", "different"):
        one, two, three, four = found.pop()
        assert independent(zip(one, two, strict=True))
        for (call, i), (also, j), (later, k), (same, m) in zip(one, two, three, four, strict=True):
            assert (call % 2, also, later, same, i, j) == (0, call, call + 1, call + 1, k, m)
            alike = (calls[call][i] == calls[call][j]).all()
            assert (alike, i // 2 == j // 2, i % 2) == (words == "equal", False, j % 2)
    for (words, _), (one, two, three, four) in zip(CallPairs.ways[:-3], found, strict=True):
        assert independent(zip(one, two, strict=True))
        for (i, row), (j, same), (k, beside), (m, other) in zip(one, two, three, four, strict=True):
            assert (row, beside, k, m) == (same, row + 1, i, j)
            assert other == beside
            assert j - i == (1 if words == "calls" else int(words.split()[1]))
        if words == "calls":
            starts.add(tuple(dict.fromkeys(call for call, _ in one[:size])))
        elif len(calls) == 128:
            apart = int(words.split()[1])
            assert size - 3 * apart * (apart <= 8) <= len(one) <= size
    assert {each[:2] for each in starts} == {(0, 1), (0, 2), (1, 3)}


A, B, C, D = (np.array(each) for each in ([1, 2], [1, 3], [4, 3], [1, 2]))


def test_places_in_which_pairs_agree():
    # Of two places: a and b agree in one, c and d in none, a and d in both, c and b in one.
    assert dependence.more_agree(*(each[:, None] for each in (A, B, C, D))).tolist() == [
        1 + 0 - 2 - 1
    ]


def test_pairs_that_agree_more_are_counted_first_and_coins_stand_for_others():
    made = RowPairs(None, Tokens(2), CASE, None, np.random.default_rng(0))
    ways = np.full(1_000, 2), np.full(1_000, -1), np.ones(400, int), np.zeros(1_000, int)
    object.__setattr__(made, "compared", lambda _size: iter(ways))
    counts = made(1_000)
    assert counts.shape == (1, 8)
    ahead, behind = counts.reshape(-1, 2).T
    assert (ahead + behind).tolist() == [1_000] * 4
    # Six standard deviations of the coins, 600 and 1,000.
    assert ahead[:2].tolist() == [1_000, 0]
    assert abs(ahead[2] - 700) < 6 * np.sqrt(150)
    assert abs(ahead[3] - 500) < 6 * np.sqrt(250)


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
        ({"batches": SingleRows}, [1] * 64),
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
        seeds = np.concatenate([call.seeds for call in calls]).tolist()
        starts = np.concatenate([call.starts for call in calls]).tolist()
        streams = 4 if "large" in options or "before" in options else 16
        assert len(set(starts)) <= streams
        assert all(0 <= start < 1_024 or start in (4_096, 65_536) for start in starts)
        assert all(0 <= seed < 2**63 for seed in seeds)
        if alike:  # one seed in each call, in this order
            ends = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1]
            ends *= 1 + len(calls) // len(ends)
            assert [set(call.seeds.tolist()) for call in calls] == [
                {it} for it in ends[: len(calls)]
            ]
        else:
            assert len(set(zip(seeds, starts, strict=True))) == len(set(starts)) > 1


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
