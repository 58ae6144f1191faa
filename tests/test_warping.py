"""Warping: both of its doors against a plain loop over the tokens; ties, zeros and edges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otspec import batch, traces

DOORS = {"traces": traces.warp, "batch": batch.warp}


def plain(logits, temperature=1.0, top_k=None, top_p=None):
    """Temperature, top-k, top-p and softmax, as they are described: token by token."""
    highest = max(logits)
    scaled = [(logit - highest) / temperature for logit in logits]
    if top_k is not None:
        smallest = sorted(scaled, reverse=True)[:top_k][-1]
        scaled = [value if value >= smallest else -math.inf for value in scaled]
    weights = [math.exp(value) for value in scaled]
    chances = [weight / math.fsum(weights) for weight in weights]
    if top_p is None:
        return chances
    kept, reached = set(), 0.0
    for token in sorted(range(len(chances)), key=lambda token: (-chances[token], token)):
        if reached < top_p or not kept:
            kept.add(token)
        reached += chances[token]
    mass = math.fsum(chances[token] for token in kept)
    return [chance / mass if x in kept else 0.0 for x, chance in enumerate(chances)]


def agree(door, logits, **options):
    found = DOORS[door](np.array(logits, dtype=float), **options)
    wanted = plain(logits, **options)
    assert [value > 0 for value in found.tolist()] == [value > 0 for value in wanted]
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
    return found


rows = st.lists(st.integers(-3, 3) | st.just(-math.inf), min_size=1, max_size=9).filter(
    lambda row: max(row) > -math.inf
)


@pytest.mark.parametrize("door", DOORS)
@given(
    logits=rows,
    temperature=st.sampled_from([1.0, 0.5, 2.0]),
    top_k=st.none() | st.integers(1, 12),
    # Sums of powers of e are no such fractions, but for equal logits: see below.
    top_p=st.none() | st.sampled_from([0.1234567, 0.4321, 0.8765432, 0.999]),
)
def test_every_row_is_that_of_the_plain_loop(door, logits, temperature, top_k, top_p):
    agree(door, logits, temperature=temperature, top_k=top_k, top_p=top_p)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("top_p", [1e-300, 0.25, 0.2500000001, 0.5, 0.75, 1 - 2**-53, 1.0])
def test_of_tokens_that_tie_those_of_lowest_id_are_kept(door, top_p):
    found = agree(door, [0.0, 0.0, -math.inf, 0.0, 0.0], top_p=top_p)
    kept = max(1, math.ceil(4 * top_p))
    assert np.flatnonzero(found).tolist() == [0, 1, 3, 4][:kept]
    above = agree(door, [0.0, 1.0, 0.0, 1.0, 0.0], top_p=0.85)
    assert np.flatnonzero(above).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("door", DOORS)
def test_all_that_tie_with_the_last_of_the_largest_are_kept(door):
    found = agree(door, [1.0, 3.0, 2.0, 2.0, 0.0, 2.0], top_k=2)
    assert np.flatnonzero(found).tolist() == [1, 2, 3, 5]
    # top-p comes after top-k, and chooses among what that has kept.
    found = agree(door, [1.0, 3.0, 2.0, 2.0, 0.0, 2.0], top_k=2, top_p=0.6)
    assert np.flatnonzero(found).tolist() == [1, 2]


@pytest.mark.parametrize("door", DOORS)
def test_top_k_and_top_p_see_what_the_temperature_has_made(door):
    row = [2.0, 1.0, 0.0]
    assert np.count_nonzero(agree(door, row, temperature=0.1, top_p=0.9)) == 1
    assert np.count_nonzero(agree(door, row, temperature=10.0, top_p=0.9)) == 3
    # Logits that differ may tie once they are divided.
    assert np.count_nonzero(agree(door, [0.0, -1e-300, -1.0], temperature=1e300, top_k=1)) > 1


@pytest.mark.parametrize("door", DOORS)
def test_one_token_and_masked_tokens(door):
    for options in ({}, {"top_k": 1}, {"top_p": 0.5}, {"top_k": 2, "top_p": 1.0}):
        assert agree(door, [7.0], **options).tolist() == [1.0]
        assert agree(door, [-math.inf, 7.0, -math.inf], **options).tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    "options", [{}, {"temperature": 0.7, "top_k": 40}, {"top_p": 0.9}, {"top_k": 300, "top_p": 0.5}]
)
def test_both_doors_give_the_same_floats(options):
    logits = np.random.default_rng(0).gumbel(size=(5, 2_000)).round(2)
    together = batch.warp(logits, **options)
    for row, found in zip(logits, together, strict=True):
        np.testing.assert_array_equal(found, batch.warp(row, **options))
        np.testing.assert_array_equal(found, traces.warp(row, **options))


def test_a_batch_has_rows_without_a_distribution():
    logits = np.array([[0.0, 0.0], [-np.inf, -np.inf], [np.nan, 0.0], [np.inf, 0.0]])
    for options in ({}, {"top_k": 1}, {"top_p": 0.4}):
        found = batch.warp(logits, **options)
        assert np.isnan(found[1:]).all()
        assert found[0].sum() == 1
