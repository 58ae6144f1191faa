"""The numbers of an advice by batch size, from counts that are made up, and its words."""

import math

import numpy as np
import pytest
from advice_logs import arrays_of, blocks, written_texts
from scipy.stats import t

from otspec.advice import advise, advise_by_load
from otspec.advice.loads.advice import COLUMNS, Load, LoadAdvice
from otspec.advice.loads.cuts import Along, Cut, Tallied
from otspec.advice.loads.search import PATHS, THRESHOLDS, LoadSearch, _at
from otspec.advice.on_texts import FoldedTally
from otspec.frames import Rows
from otspec.logged import LoggedBlock
from otspec.traces import Trace, Warp, Warping

COSTS = {"draft_cost": "1:0.1,64:0.2", "target_cost": "1:1,4:1,64:4"}
CUTS = [
    Cut("no draft", 0.0, 0), Cut("fixed length", 0.0, 1), Cut("confidence-kept", 0.5, 2),
    Cut("path-kept", 0.25, 3), Cut("dynamic tree", 0.2, 3),
]  # fmt: skip
KINDS = ["no draft", "fixed length", "threshold", "threshold", "dynamic tree"]
TEXTS, DEPTH = 12, 3


def tallied(rng):
    """Return counts of twelve texts, in which the two ways to count drafts differ."""
    calls = rng.integers(5, 9, (TEXTS, len(CUTS))).astype(float)
    drafted = rng.uniform(0, 6, (TEXTS, len(CUTS), 2, DEPTH))
    for place, cut in enumerate(CUTS):
        drafted[:, place, :, cut.length :] = 0
    return Tallied(calls * rng.uniform(1, 3, calls.shape), calls, drafted)


def linear(size, *points):
    return float(np.interp(size, *zip(*points, strict=True)))


def draft_cost(size):
    return linear(size, (1, 0.1), (64, 0.2))


def target_cost(size):
    return linear(size, (1, 1), (4, 1), (64, 4))


def seconds_of(place, batch, calls, drafted):
    """Return the seconds of each text, and what is drafted at each level of it."""
    cut, levels = CUTS[place], np.zeros((TEXTS, DEPTH))
    for level in range(DEPTH):
        off = [
            np.square(way - calls * way.sum() / calls.sum()).sum() for way in drafted[:, :, level].T
        ]
        levels[:, level] = drafted[:, int(off[1] < off[0]), level]
    if cut.policy == "dynamic tree":
        nodes = levels.sum(axis=0) / calls.sum()
        call = draft_cost(batch) + target_cost(batch * (1 + nodes.sum()))
        for count in nodes[:2]:
            call += min(1, batch * count) * draft_cost(batch * max(1, count))
        return calls * call, levels
    whole = calls * target_cost(batch)
    for level in range(cut.length):
        more = target_cost(batch * (level + 2)) - target_cost(batch * (level + 1))
        whole += levels[:, level] * (draft_cost(batch) + more)
    return whole, levels


@pytest.mark.parametrize("batch", [1, 4, 12])
@pytest.mark.parametrize("seed", range(3))
def test_every_number_of_a_batch_size(batch, seed):
    found = tallied(np.random.default_rng(seed))
    search = LoadSearch.of(COSTS["draft_cost"], COSTS["target_cost"], [batch])
    rows = {row.kind: row for row in _at(batch, CUTS, found, search.draft, search.target)}
    parts = [
        seconds_of(place, batch, found.calls[:, place], found.drafted[:, place])
        for place in range(len(CUTS))
    ]
    time = np.stack([seconds for seconds, _ in parts], axis=1)
    rates = found.tokens.sum(axis=0) / time.sum(axis=0)
    # Of texts 0, 5, 10 the choice that is best on all others, and so on.
    folds, kept, spent = np.arange(TEXTS) % 5, 0, 0
    for fold in range(5):
        one, others = folds == fold, folds != fold
        place = int(np.argmax(found.tokens[others].sum(axis=0) / time[others].sum(axis=0)))
        kept, spent = kept + found.tokens[one, place].sum(), spent + time[one, place].sum()
    assert set(rows) == set(KINDS)
    for kind, row in rows.items():
        place = max((i for i, each in enumerate(KINDS) if each == kind), key=lambda i: rates[i])
        tokens, calls = found.tokens[:, place], found.calls[:, place]
        assert (row.batch, row.policy, row.threshold, row.length) == (batch, *CUTS[place])
        assert row.drafted == pytest.approx(parts[place][1].sum() / calls.sum())
        assert row.tokens == pytest.approx(tokens.sum() / calls.sum())
        assert row.rate == pytest.approx(batch * rates[place])
        assert row.speed_up == pytest.approx(rates[place] / rates[0])
        assert row.best == (rates[place] == max(rates))
        assert row.held_out == pytest.approx(kept / spent / rates[0])
        # What each text adds to the logarithm of the ratio, and the t interval of the sum.
        each = tokens / tokens.sum() - time[:, place] / time[:, place].sum()
        each = each - found.tokens[:, 0] / found.tokens[:, 0].sum() + time[:, 0] / time[:, 0].sum()
        radius = t.ppf(0.975, TEXTS - 1) * math.sqrt(TEXTS / (TEXTS - 1) * (each**2).sum())
        ends = np.array([1 - radius, 1 + radius]) * row.speed_up
        assert row.speed_up_interval == pytest.approx((max(ends[0], 0), ends[1]))


LOADS = [
    Load(8, "dynamic tree", "dynamic tree", 0.25, 3, 4.126, 2.5, 123.456, 1.5, (1.25, 1.75), True,
         1.4),
    Load(8, "no draft", "no draft", 0.0, 0, 0.0, 1.0, 80.0, 1.0, (1.0, 1.0), False, 1.4),
    Load(1_024, "threshold", "path-kept", 0.05, 2, 1.25, 2.0, 90_000.0, 2.0, (math.nan,) * 2, True,
         1.875),
]  # fmt: skip


def test_rows_and_words():
    advice = LoadAdvice(Rows(LOADS, Load, "a log"), 12, "a log")
    assert advice.cells() == [
        ("dynamic tree *", "-", "8", "0.25", "3", "4.13", "2.500", "123.5", "1.500",
         "1.250 to 1.750"),
        ("no draft", "-", "8", "0", "0", "0.00", "1.000", "80", "1.000", "1.000 to 1.000"),
        ("threshold *", "path-kept", "1024", "0.05", "2", "1.25", "2.000", "9e+04", "2.000", ""),
    ]  # fmt: skip
    assert {len(row) for row in advice.cells()} == {len(COLUMNS)}
    assert list(advice.sentences()) == [
        (
            "* The fastest at its batch size. Mean drafted tokens per request: 4.1 at batch size "
            "8, 1.2 at batch size 1,024."
        ),
        "Cross-validated, these choices are 1.400, 1.875 times as fast as no draft.",
    ]
    assert list(advice.best) == [LOADS[0], LOADS[2]]
    intervals = [row["speed_up_interval"] for row in advice.document()]
    assert intervals == [[1.25, 1.75], [1.0, 1.0], None]


def test_what_is_searched_for_by_default():
    assert (0.05, *(i / 10 for i in range(1, 10))) == THRESHOLDS
    assert PATHS == (0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005)
    search = LoadSearch.of(1, 1, [1])
    assert (search.depth, search.thresholds, search.paths) == (8, [*THRESHOLDS], [*PATHS])
    certain = LoggedBlock([[1.0, 0.0]] * 9, [[1.0, 0.0]] * 9, [0] * 9)
    found = advise_by_load([certain] * 2, draft_cost=0.1, target_cost=1)
    assert list(dict.fromkeys(one.batch for one in found.choices)) == [1, 8, 32, 128]
    assert max(one.length for one in found.choices) == 8


@pytest.mark.parametrize("kind", ["draft_tokens", "target_tokens"])
def test_files_a_trace_and_blocks_say_the_same(tmp_path, kind):
    logged = blocks(6, 3) if kind == "draft_tokens" else written_texts(4, 6)
    paths = [tmp_path / f"{name}.npz" for name in "ab"]
    for path, some in zip(paths, (logged[:2], logged[2:]), strict=True):
        np.savez(path, **arrays_of(some, kind))
    options = {**COSTS, "batches": (1, 4), "depth": 2, "thresholds": (0.3,), "paths": (0.2,)}
    whole = advise_by_load(logged, **options)
    trace = Trace(**arrays_of(logged, kind))
    for logs in (paths, trace, [str(path) for path in paths]):
        found = advise_by_load(logs, **options)
        assert found.texts == whole.texts == len(logged)
        for one, other in zip(found.choices, whole.choices, strict=True):
            assert (one.batch, one.kind, one.length) == (other.batch, other.kind, other.length)
            assert one.rate == pytest.approx(other.rate, rel=1e-9)
            assert one.speed_up_interval == pytest.approx(other.speed_up_interval, rel=1e-6)
    alone = advise_by_load(paths[0], **options)
    assert (alone.texts, alone.source) == (2, f"{paths[0]} (T = 1)")
    assert advise_by_load(paths, **options).source == "2 sources (T = 1)"
    assert whole.source == f"{len(logged)} logged texts"
    assert advise_by_load(trace, **options, warping=Warping(0.7), drawn=Warp(0.7)).texts == len(
        logged
    )
    if kind == "target_tokens":
        with pytest.raises(ValueError, match=r"were drawn from it with T = 0\.5"):
            advise_by_load(paths, **options, drawn=Warp(0.5))
    with pytest.raises(ValueError, match=r"logs: .*no\.npz"):
        advise_by_load(str(tmp_path / "no.npz"), **options)


def test_a_written_text_that_ends_counts_to_its_end():
    """Four certain tokens, the last of which ends the text: two at a time, in two calls."""
    rows = [[1.0, 0.0]] * 3 + [[0.0, 1.0]]
    text = LoggedBlock(rows, rows, [0, 0, 0, 1], [1], rows)
    found = advise_by_load([text] * 3, draft_cost=0.5, target_cost=1, batches=[1], depth=1)
    best = found.best[0]
    assert (best.kind, best.tokens, best.rate) == ("fixed length", 2.0, 2 / 1.5)


@pytest.mark.parametrize("kind", ["draft", "target"])
def test_a_dynamic_tree_along_a_text_is_counted_place_by_place(kind):
    draft, target = np.random.default_rng(5).dirichlet(np.ones(3), (2, 4))
    tokens, depth, written = (2, 0, 1, 2), 2, kind == "target"
    if written:  # by a token that is never drafted, too
        draft[1] = [0, 0.75, 0.25]
    along = Along.of(LoggedBlock(draft, target, tokens, (), target if written else None), depth)
    law = target if written else draft
    for least in (0.02, 0.1, 0.3):
        kept, nodes = along.tree(least)
        for start, level in np.ndindex(4 if written else 1, depth):
            text, here = tokens[start : start + level + 1], range(start, start + level)
            if len(text) <= level:  # the text is over
                assert (kept[level, start], nodes[0, level, start]) == (0, 0)
                continue
            path, wanted, seen = (
                math.prod(rows[i, tokens[i]] for i in here) for rows in (draft, target, law)
            )
            inside = [x for x in range(3) if path * draft[start + level, x] >= least]
            number = len(inside) / seen
            mass = wanted / seen * sum(target[start + level, x] for x in inside)
            assert nodes[0, level, start] == pytest.approx(number)
            assert kept[level, start] == pytest.approx(text[-1] in inside if written else mass)


def test_no_interval_ends_beyond_what_can_be():
    """Of two texts, whose t quantile is 12.706: no speed is below 0, and no more than all lost."""
    tokens, calls = np.array([[10.0, 1.0], [10.0, 9.0]]), np.full((2, 2), 2.0)
    tally = FoldedTally.of_none(2).with_texts(np.arange(2), tokens, calls)
    assert tally.tokens_per_call().tolist() == [5.0, 2.5]
    # The second choice adds -0.4 and 0.4 to the logarithm of the ratio.
    radius = 12.7062047 * math.sqrt(2 * 0.32) * 0.5
    loss, (low, high) = tally.loss(1, 0, np.ones(2))
    assert (loss, high) == (0.5, 1.0)
    assert low == pytest.approx(0.5 - radius)
    # The first is chosen for each fold where both cost the same: always 5 tokens a call.
    speed, (low, high) = tally.held_out(np.ones(2))
    assert (speed, low, high) == (5.0, 5.0, 5.0)
    speed, (low, high) = tally.held_out(np.array([100.0, 1.0]))
    assert (speed, low) == (2.5, 0.0)
    assert high == pytest.approx(2.5 + 2.5 * 12.7062047 * math.sqrt(2 * 0.32))
    one = FoldedTally.of_none(1).with_texts(np.array([5]), np.ones((1, 1)), np.ones((1, 1)))
    assert np.isnan([one.held_out(np.ones(1))[0], *one.held_out(np.ones(1))[1]]).all()


BLOCK = LoggedBlock([[0.5, 0.5]], [[0.5, 0.5]], [0])


@pytest.mark.parametrize(
    ("argument", "value", "bound"),
    [
        ("nodes", 0, "at least 1"), ("nodes", 4_097, "at most 4,096"), ("depth", 0, "at least 1"),
        ("depth", 501, "at most 500"), ("widest", 0, "at least 1"),
        ("total_variation", -0.1, "between 0 and 1"), ("total_variation", 1.1, "between 0 and 1"),
        ("batches", [0], "at least 1"), ("thresholds", [-0.1], "between 0 and 1"),
        ("thresholds", [1.1], "between 0 and 1"), ("paths", [1.1], "between 0 and 1"),
        ("paths", [-0.1], "between 0 and 1"),
    ],
)  # fmt: skip
def test_numbers_of_an_advice_have_bounds(argument, value, bound):
    by_load = argument in ("batches", "thresholds", "paths")
    with pytest.raises(ValueError, match=f"{argument}.* must be {bound}(\\D|$)"):
        (advise_by_load if by_load else advise)(
            [BLOCK], draft_cost=0.1, target_cost=1, **{argument: value}
        )
