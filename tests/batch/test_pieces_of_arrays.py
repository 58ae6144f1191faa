"""What the array kernels are put together from, by hand: every number is a sum of powers of two."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from batch_backends import library as imported

from otspec.batch import optimal_acceptance
from otspec.batch._array_api import inversion, sorted_rows, sums
from otspec.batch._array_api import optimum as arrays_of_optima
from otspec.batch._array_api.library import geometric, library_of
from otspec.batch._array_api.sequences.drafted_block import longer
from otspec.batch._array_api.warping import Settings, _counts_all
from otspec.batch._calls import completed_pair

ARRAYS = ("numpy", "torch")
SIZES = (5, 255, 256, 257, 600, 1_024)


def of(name):
    """Return what makes an array of a library."""
    found = imported(name)
    return found.tensor if name == "torch" else found.array


def made(size, seed, rows=2):
    """Multiples of 1/1024, whose sums are exact in any order."""
    return np.random.default_rng(seed).integers(0, 9, size=(rows, size)) / 1_024


def library(like, at_once):
    return replace(library_of(like), at_once=at_once)


@pytest.mark.parametrize(
    ("shape", "copies", "at_once", "wanted"),
    [
        ((4, 1_000), 1, 2_048, [(0, 512, 256), (512, 768, 256), (768, 1_000, 232)]),
        ((4, 700), 2, 2_048, [(0, 256, 256), (256, 512, 256), (512, 700, 188)]),
        ((1_000,), 1, 512, [(0, 512, 256), (512, 768, 256), (768, 1_000, 232)]),
        ((1_000,), 1, None, [(0, 768, 256), (768, 1_000, 232)]),
        ((2, 3, 512), 1, 6 * 512, [(0, 512, 256)]),
        ((2, 3, 512), 1, 6 * 512 - 1, [(0, 256, 256), (256, 512, 256)]),
        ((1, 512), 1, 1, [(0, 256, 256), (256, 512, 256)]),
        ((0, 300), 1, 256, [(0, 256, 256), (256, 300, 44)]),
        ((5, 200), 1, 9_999, [(0, 200, 200)]),
        ((5, 256), 1, None, [(0, 256, 256)]),
    ],
)  # fmt: skip
def test_stretches_are_blocks_of_which_so_many_fit(shape, copies, at_once, wanted):
    values = np.zeros(shape)
    found = library(values, at_once).slices(values, copies=copies)
    assert [(part.start, part.stop, width) for part, width in found] == wanted


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("at_once", [1, 1_024, None])
@pytest.mark.parametrize("name", ARRAYS)
def test_sums_over_the_vocabulary_are_whole(name, at_once, size):
    array, p, q = of(name), made(size, 1), made(size, 2)
    draft, target = array(p), array(q)
    kept = library(draft, at_once)
    scale = array(np.array([0.5, 2.0]))
    factors = np.array([[0.5], [2.0]])
    (common, left) = sums.totals(
        kept, draft, target, sums.common(kept, scale), sums.excess(kept, scale)
    )
    assert common.tolist() == np.minimum(q, factors * p).sum(axis=1).tolist()
    assert left.tolist() == np.maximum(q - factors * p, 0).sum(axis=1).tolist()
    (plain,) = sums.totals(kept, draft, target, sums.common(kept))
    assert plain.tolist() == np.minimum(q, p).sum(axis=1).tolist()
    several = sums.overlaps(kept, draft, target, array(np.array([[0.5, 1.0], [2.0, 0.0]])))
    assert several.tolist() == [
        [np.minimum(q[row], one * p[row]).sum() for one in ones]
        for row, ones in enumerate([(0.5, 1.0), (2.0, 0.0)])
    ]
    outside, rest = sums.split(kept, draft, target, scale)
    above = q > factors * p
    assert outside.tolist() == (p * above).sum(axis=1).tolist()
    assert rest.tolist() == (q * ~above).sum(axis=1).tolist()
    (blocks,) = sums.block_sums(kept, draft, target, sums.the_target)
    edges = range(0, size, 256)
    assert blocks.tolist() == [[row[at : at + 256].sum() for at in edges] for row in q]


def test_what_is_mixed_is_share_and_rest():
    p, q = made(300, 3), made(300, 4)
    kept = library(p, 256)
    share = np.array([[0.25], [0.75]])
    numbers = np.array([[0.5]]), np.array([[0.25]]), np.array([[1.5]])
    line = sums.KnownWeight("line", kept, numbers)
    law = np.minimum(q, np.minimum(0.5 * p + 0.25 * q, 1.5 * p))
    assert line(p, q).tolist() == law.tolist()
    mixed = replace(line, excess=True, share=share)(p, q)
    assert mixed.tolist() == (share * q + (1 - share) * (q - law)).tolist()
    scaled = sums.KnownWeight("scaled", kept, (share,), 4.0)
    assert scaled(p, q).tolist() == np.minimum(q, 4 * share * p).tolist()


@pytest.mark.parametrize(
    ("uniform", "index", "left"),
    [
        (0.0, 0, 0.0), (0.125, 0, 0.5), (0.25, 2, 0.0), (0.5, 2, 0.5), (0.75, 3, 0.0),
        (0.875, 3, 0.5),
        # Beyond all shares, as after rounding: the largest weight, and its last number below 1.
        (1.0, 2, 1 - 2**-53),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ARRAYS)
def test_a_uniform_number_falls_where_shares_pass_it(name, uniform, index, left):
    array = of(name)
    weights = array(np.array([[2.0, 0.0, 4.0, 2.0]]))
    found = inversion.locate(library_of(weights), weights, array(np.array([uniform])))
    assert [each.tolist() for each in found] == [[index], [left]]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ARRAYS)
def test_excluded_tokens_are_taken_out(name, size, monkeypatch):
    array, p = of(name), made(size, 5)
    draft = array(p)
    kept = library(draft, None)
    drafts = np.array([[0, size - 1, size // 2], [1, 0, size - 2]])
    taken = np.take_along_axis(p, drafts, axis=1)
    for compared in (4_096, 2):  # all at once, and one after the other
        monkeypatch.setattr(inversion, "_COMPARED", compared)
        off = inversion.off_drafts(kept, draft, array(drafts), array(taken))
        assert off.tolist() == [
            [row.sum() - some[:count].sum() for count in range(4)]
            for row, some in zip(p, taken, strict=True)
        ]
        there = np.array([[True, False, True], [False, True, True]])
        off = inversion.off_drafts(kept, draft, array(drafts), array(taken), array(there))
        assert off.tolist() == [
            [row.sum() - (some * which)[:count].sum() for count in range(4)]
            for row, some, which in zip(p, taken, there, strict=True)
        ]
    (blocks,) = sums.block_sums(kept, draft, draft, sums.the_draft)
    left = inversion.without(kept, draft, draft, sums.the_draft, blocks, array(drafts))
    wide = p.copy()
    np.put_along_axis(wide, drafts, 0.0, axis=1)
    last = drafts[:, -1] // 256
    for row, block in enumerate(last):
        wanted = [p[row, at : at + 256].sum() for at in range(0, size, 256)]
        wanted[block] = wide[row, 256 * block : 256 * (block + 1)].sum()
        assert left[row].tolist() == wanted


@pytest.mark.parametrize("size", SIZES)
def test_a_block_ends_with_the_vocabulary(size):
    p, q = made(size, 6), made(size, 7)
    block = np.array([(size - 1) // 256, 0])
    ids, weights = inversion.block_weights(
        library_of(p), p, q, sums.the_target, block, np.array([[-1], [2]])
    )
    for row, first in enumerate((block * 256).tolist()):
        wanted = q[row].copy()
        if row:
            wanted[2] = 0
        wanted = wanted[first : first + 256].tolist()
        assert weights[row].tolist() == wanted + [0.0] * (min(size, 256) - len(wanted))
        assert ids[row, : len(wanted)].tolist() == list(range(first, first + len(wanted)))


@pytest.mark.parametrize(
    ("chance", "count", "wanted"),
    [(0.0, 5, 5), (1.0, 5, 1), (0.5, 1, 1), (0.5, 3, Fraction(7, 4)), (0.25, 2, Fraction(7, 4))],
)
def test_tries_until_it_happens_are_a_geometric_sum(chance, count, wanted):
    found = geometric(library_of(np.zeros(1)), np.array([chance]), float(count))
    assert found[0] == pytest.approx(float(wanted), rel=1e-15)


def test_the_first_of_equal_entries_is_the_largest():
    kept = library_of(np.zeros(1))
    assert kept.largest(np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 1.0]])).tolist() == [1, 0]
    assert kept.first(np.array([[False, True, True], [False, False, False]])).tolist() == [1, 0]
    values = np.arange(24.0).reshape(2, 3, 4)
    assert kept.at(values, np.array([2, 0])).tolist() == [[8, 9, 10, 11], [12, 13, 14, 15]]
    assert kept.pick(values[0], np.array([3, 0, 1])).tolist() == [3, 4, 9]
    assert kept.quotient(np.array([1.0, 3.0]), np.array([2.0, 1.5]), 9.0).tolist() == [0.5, 2]
    with np.errstate(all="ignore"):
        found = kept.quotient(np.array([1.0, 1.0]), np.array([0.0, -1.0]), otherwise=9.0)
    assert found.tolist() == [9, 9]
    assert kept.numbers([3, 3, 0, 3]).tolist() == [3, 3, 0, 3]
    assert kept.arange(3).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("row", "null"),
    [((0.25, 0.5), 0.25), ((0.5, 0.5), 0.0), ((0.5, 0.5 + 2**-24), 0.0), ((0.0, 0.0), 1.0)],
)
def test_the_null_token_has_what_is_missing(row, null):
    draft, target = np.array([row], dtype=np.float32), np.array([[0.5, 0.5]], dtype=np.float32)
    rows = completed_pair(True, draft, target)
    assert [each.dtype for each in rows] == [np.float32] * 2
    assert rows[0].tolist() == [[*draft[0].tolist(), null]]
    assert rows[1].tolist() == [[0.5, 0.5, 0]]


@pytest.mark.parametrize(
    ("drafted", "wanted", "ratio"),
    [(0.25, 0.25, 1 / 3), (0.5, 0.25, 1), (0.5, 0.1875, 1), (0.25, 1 / 16, 0), (0.25, 0.0, 0)],
)
def test_a_block_is_owed_what_the_draft_says_more_than_the_target(drafted, wanted, ratio):
    # Of ratio 1/2, share 1/4 and mass 1/2: drafted / 8 over what is left of wanted − drafted / 4.
    before = [np.array([[each]]) for each in (0.5, 0.25, 0.5)]
    with np.errstate(all="ignore"):
        found = longer(library_of(np.zeros(1)), before, np.array([drafted]), np.array([wanted]))
    assert found.tolist() == [[pytest.approx(ratio, rel=1e-15)]]


def optimum(p, q, k):
    """1 + min over sets A of q(A) − p(A)^k, over all sets."""
    sets = product((0, 1), repeat=len(p))
    return 1 + min(q @ np.array(each) - (p @ np.array(each)) ** k for each in sets)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (2, 1, 2)])
def test_optima_are_those_over_all_sets_whatever_axes_there_are(lead, k):
    p, q = np.random.default_rng(k).integers(0, 4, size=(2, *lead, 6)) + 0.0
    p[..., 0], q[..., 1] = 1, 1
    p, q = p / p.sum(axis=-1, keepdims=True), q / q.sum(axis=-1, keepdims=True)
    rows = zip(p.reshape(-1, 6), q.reshape(-1, 6), strict=True)
    wanted = np.reshape([optimum(*row, k) for row in rows], lead)
    with np.errstate(all="ignore"):
        of_arrays = [
            each.acceptance(library_of(p), p, q, k) for each in (sorted_rows, arrays_of_optima)
        ]
    for found in (*of_arrays, np.asarray(optimal_acceptance(p, q, k))):
        assert found == pytest.approx(wanted, abs=1e-14)


@pytest.mark.parametrize(("slope", "expected"), [(0.5, 0.5), (0.005, 0.02), (0.995, 0.98)])
def test_places_crowd_around_where_the_minimum_is_expected(slope, expected):
    """Of two drafts the mass there is the chord's slope; 2% of the stretch are left beside it."""
    scales, outside, overlap = np.array([[0, 2], [1, 0], [0, 2 * slope]], dtype=float)
    with np.errstate(divide="ignore"):
        known = arrays_of_optima.Tangents(library_of(scales), 2, scales, outside, overlap)
        found = known.places()
    # A quarter, a half and three quarters on the way, as which a place is so much nearer.
    way = 1 - 0.5**arrays_of_optima.NEARER
    assert found == pytest.approx([1 - way * (1 - expected), expected, way * expected], abs=1e-12)


@pytest.mark.parametrize("name", ["top_k", "top_p", "min_p"])
def test_of_one_limit_of_rows_it_is_not_known_that_no_token_is_left_out(name):
    none = {"top_k": 5, "top_p": 1.0, "min_p": 0.0}
    some = {"top_k": 4, "top_p": 0.9, "min_p": 0.1}
    assert _counts_all(Settings(**none), 5)
    assert not _counts_all(Settings(**none | {name: some[name]}), 5)
    assert not _counts_all(Settings(**none | {name: np.full((2, 1), none[name])}), 5)
