"""Warping: both of its doors against a plain loop over the tokens; ties, zeros and edges."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otspec import batch, traces
from otspec.models import WarpedModel, memoryless
from otspec.warping import ORDERS, STEPS, as_order, name_of_order

DOORS = {"traces": traces.warp, "batch": batch.warp}


ENGINES = {
    "temperature-first": "TKPM",
    "early-min-p": "TMKP",
    "joint": "TPKM",
    "temperature-last": "KPMT",
}
LETTERS = {"T": "temperature", "K": "top_k", "P": "top_p", "M": "min_p"}


def softmax(scaled):
    weights = [math.exp(value) for value in scaled]
    return [weight / math.fsum(weights) for weight in weights]


def nucleus(chances, top_p):
    """Return the fewest likeliest tokens that reach a probability."""
    kept, reached = set(), 0
    for token in sorted(range(len(chances)), key=lambda token: (-chances[token], token)):
        if reached < top_p or not kept:
            kept.add(token)
        reached += chances[token]
    return kept


def plain(logits, temperature=1.0, top_k=None, top_p=None, min_p=None, order="temperature-first"):
    """The four steps and a softmax, as they are described: token by token."""
    scaled = [logit - max(logits) for logit in logits]
    for letter in ENGINES[order]:
        kept = set(range(len(logits)))
        if letter == "T":
            scaled = [value / temperature for value in scaled]
        elif letter == "K" and top_k is not None:
            smallest = sorted(scaled, reverse=True)[:top_k][-1]
            kept = {x for x, value in enumerate(scaled) if value >= smallest}
        elif letter == "P" and top_p is not None:
            kept = nucleus(softmax(scaled), top_p)
        elif letter == "M" and min_p is not None:
            chances = softmax(scaled)
            kept = {x for x, chance in enumerate(chances) if chance >= min_p * max(chances)}
        scaled = [value if x in kept else -math.inf for x, value in enumerate(scaled)]
    return softmax(scaled)


def agree(door, logits, **options):
    found = DOORS[door](np.array(logits, dtype=float), **options)
    order = options.get("order", "temperature-first")
    if not isinstance(order, str):
        steps = {tuple(LETTERS[letter] for letter in word): name for name, word in ENGINES.items()}
        options["order"] = steps[tuple(order)]
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
    min_p=st.none() | st.sampled_from([0.0, 0.01234, 0.2, 0.4321, 0.999]),
    order=st.sampled_from(sorted(ENGINES)),
)
def test_every_row_is_that_of_the_plain_loop(door, logits, order, **numbers):
    agree(door, logits, order=order, **numbers)
    agree(door, logits, order=[LETTERS[letter] for letter in ENGINES[order]], **numbers)


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


@pytest.mark.parametrize("door", DOORS)
def test_min_p_is_a_share_of_the_likeliest(door):
    row = np.log([0.4, 0.2, 0.2, 0.1, 0.1])
    for min_p, kept in ((0, 5), (0.24, 5), (0.26, 3), (0.49, 3), (0.51, 1), (1, 1)):
        assert np.count_nonzero(agree(door, row.tolist(), min_p=min_p)) == kept
    # All that tie with the largest stay, and a token of probability 0 at no min_p but 0.
    tied = agree(door, [1.0, -math.inf, 1.0, 0.0], min_p=1.0)
    assert tied.tolist() == [0.5, 0.0, 0.5, 0.0]
    assert agree(door, [-math.inf, 0.0], min_p=0.0).tolist() == [0.0, 1.0]
    # A colder row has fewer tokens with such a share; of a row at its own temperature as many.
    assert np.count_nonzero(agree(door, row.tolist(), temperature=0.5, min_p=0.24)) == 3
    last = agree(door, row.tolist(), temperature=0.5, min_p=0.24, order="temperature-last")
    assert np.count_nonzero(last) == 5


@pytest.mark.parametrize("door", DOORS)
def test_orders_differ_where_they_should(door):
    row = np.log([0.4, 0.3, 0.2, 0.1]).tolist()

    def kept(**options):
        return np.count_nonzero(agree(door, row, **options))

    # Of the two that top-k keeps the first has 4/7, of all it has 2/5.
    assert kept(top_k=2, top_p=0.5) == 1
    assert kept(top_k=2, top_p=0.5, order="joint") == 2
    # What min-p has left out does not count for top-p, if it came before.
    assert kept(top_p=0.55, min_p=0.6) == 2
    assert kept(top_p=0.55, min_p=0.6, order="early-min-p") == 1
    # A warm row has more tokens in its nucleus, unless the temperature comes last.
    assert kept(temperature=4.0, top_p=0.65) == 3
    assert kept(temperature=4.0, top_p=0.65, order="temperature-last") == 2
    # Top-k keeps the same tokens wherever it stands, and min-p after top-p: only shares count.
    for order in ENGINES:
        assert kept(temperature=2.0, top_k=3, order=order) == 3


def test_the_steps_of_orders_are_those_of_the_engines():
    for name, word in ENGINES.items():
        assert as_order(name) == tuple(LETTERS[letter] for letter in word)
        assert name_of_order(as_order(name)) == name
    assert list(ENGINES) == list(ORDERS)
    backwards = tuple(reversed(STEPS))
    assert name_of_order(backwards) == "min_p, top_p, top_k, temperature"
    assert as_order(iter(backwards)) == backwards


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"min_p": -0.1}, "min_p is -0.1: it must be at least 0 and at most 1"),
        ({"min_p": 1.1}, "min_p is 1.1"),
        ({"min_p": math.nan}, "min_p is nan"),
        ({"order": "top-k-first"}, "order is 'top-k-first': it must be one of temperature-first"),
        ({"order": ("top_k", "top_p", "min_p")}, "each of temperature, top_k, top_p, min_p once"),
        ({"order": ("top_k",) * 4}, "order is"),
        ({"order": (*STEPS, "top_k")}, "order has more than 4"),
        ({"order": None}, "order is None"),
    ],
)
def test_what_is_no_option_is_refused(door, options, says):
    with pytest.raises(ValueError, match=says) as refused:
        DOORS[door](np.zeros(3), **options)
    assert "\n" not in str(refused.value)


# The exact one against a plain reference of fractions


def plain_exactly(row, power, top_k, top_p, min_p, letters):
    """The four steps on fractions that sum to 1 after each of them."""
    row = list(row)
    for letter in letters:
        ranked = sorted(row, reverse=True)
        if letter == "T":
            row = [mass**power for mass in row]
        elif letter == "K" and top_k is not None:
            row = [mass if mass >= ranked[min(top_k, len(row)) - 1] else 0 for mass in row]
        elif letter == "P" and top_p is not None:
            kept = nucleus(row, top_p)
            row = [mass if x in kept else 0 for x, mass in enumerate(row)]
        elif letter == "M" and min_p is not None:
            row = [mass if mass >= min_p * ranked[0] else 0 for mass in row]
        row = [mass / Fraction(sum(row)) for mass in row]
    return row


@given(
    weights=st.lists(st.integers(0, 4), min_size=1, max_size=6).filter(any),
    power=st.integers(1, 3),
    top_k=st.none() | st.integers(1, 8),
    top_p=st.none() | st.integers(1, 12).map(lambda share: Fraction(share, 12)),
    min_p=st.none() | st.integers(0, 8).map(lambda share: Fraction(share, 8)),
    letters=st.permutations("TKPM"),
)
def test_fractions_are_warped_exactly_in_every_order(weights, power, top_k, top_p, min_p, letters):
    row = [Fraction(weight, sum(weights)) for weight in weights]
    options = {"top_k": top_k, "top_p": top_p, "min_p": min_p}
    order = [LETTERS[letter] for letter in letters]
    model = WarpedModel(memoryless(row), temperature=Fraction(1, power), order=order, **options)
    assert model(()).tolist() == plain_exactly(row, power, **options, letters=letters)


@given(
    weights=st.lists(st.integers(0, 30), min_size=1, max_size=6).filter(any),
    power=st.integers(1, 3),
    top_k=st.none() | st.integers(1, 8),
    # Sums and quotients of such weights are no such shares, so that rounding decides nothing.
    top_p=st.none() | st.sampled_from([Fraction(share, 10007) for share in (1009, 5003, 9973)]),
    min_p=st.none() | st.sampled_from([Fraction(share, 10007) for share in (0, 101, 3001, 9001)]),
    letters=st.permutations("TKPM"),
)
def test_floats_are_near_the_exact_ones(weights, power, letters, **cuts):
    row = [Fraction(weight, sum(weights)) for weight in weights]
    order = [LETTERS[letter] for letter in letters]
    exact = plain_exactly(row, power, **cuts, letters=letters)
    with np.errstate(divide="ignore"):
        logits = np.log([float(mass) for mass in row])
    for door in DOORS.values():
        found = door(logits, temperature=1 / power, order=order, **cuts)
        assert np.abs(found - np.array([float(mass) for mass in exact])).max() < 1e-14
