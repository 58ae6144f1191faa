"""Settings together: with masks, with fewer drafts in some rows, and with each other."""

from functools import partial

import numpy as np
import pytest
from small_verifiers import one_draft

from otspec.batch import warp
from otspec.conformance import check
from otspec.conformance.cases.kinds import Tokens
from otspec.conformance.cases.library import settings_cases
from otspec.conformance.cases.settings import ALLOWED, MASKED, WARPINGS, clear

EXACT = {"mode": "exact", "shape": 1, "dtype": "float64"}
LOGITS = ("draft_logits", "target_logits")
NO_TIES = [2, 5, 3, 6]  # weights of the target


def masked(logits, allowed):
    return np.where(allowed, logits, -np.inf)


def scaled(rows):
    return rows / rows.sum(axis=-1, keepdims=True)


def verify(draft, target, drafts, rng, lengths=None):
    lengths = np.full(len(drafts), drafts.shape[1]) if lengths is None else lengths
    return one_draft(draft, target, drafts, lengths, rng)


def fewer(draft_logits, target_logits, drafts, lengths, rng, temperature, *, wrong):
    """Rows without drafts are not warped."""
    heat = np.where((lengths == 0) & wrong, 1.0, temperature)
    rows = warp(draft_logits, temperature=temperature), warp(target_logits, temperature=heat)
    return verify(*rows, drafts, rng, lengths)


def greedy(draft_logits, target_logits, drafts, rng, temperatures, allowed, *, wrong):
    """Greedy rows have no mask."""
    there = allowed | ((temperatures == 0) & wrong)[:, None]
    rows = draft_logits, masked(target_logits, there)
    return verify(*(warp(each, temperature=temperatures) for each in rows), drafts, rng)


def limited(draft_logits, target_logits, drafts, rng, allowed, wrong, **settings):
    """The mask comes last, or all is allowed where nothing would be left."""
    draft, right = warp(draft_logits, **settings), masked(target_logits, allowed)
    last = warp(target_logits, **settings) * allowed
    left = (last.sum(axis=-1, keepdims=True) > 0) & wrong
    target = np.where(left, last, warp(right, **settings))
    return verify(draft, scaled(target), drafts, rng)


def by_top_k(draft_logits, target_logits, drafts, rng, top_k, allowed, *, wrong):
    return limited(draft_logits, target_logits, drafts, rng, allowed, wrong, top_k=top_k)


def by_top_p(draft_logits, target_logits, drafts, rng, top_p, allowed, *, wrong):
    return limited(draft_logits, target_logits, drafts, rng, allowed, wrong, top_p=top_p)


def by_min_p(draft_logits, target_logits, drafts, rng, min_p, allowed, *, wrong):
    return limited(draft_logits, target_logits, drafts, rng, allowed, wrong, min_p=min_p)


def heated(draft_logits, target_logits, drafts, rng, temperature, min_p, *, wrong):
    """Min-p comes before the temperature."""
    target = warp(target_logits, temperature=temperature, min_p=min_p)
    if wrong:
        kept = masked(target_logits, warp(target_logits, min_p=min_p) > 0)
        target = warp(kept, temperature=temperature)
    return verify(warp(draft_logits, temperature=temperature, min_p=min_p), target, drafts, rng)


def one_of_two(draft_logits, target_logits, drafts, rng, top_p, min_p, *, wrong):
    """Where top-p is set, min-p is dropped."""
    draft = warp(draft_logits, top_p=top_p, min_p=min_p)
    target = warp(target_logits, top_p=top_p, min_p=0.0 if wrong and top_p < 1 else min_p)
    return verify(draft, target, drafts, rng)


def other_of_two(draft_logits, target_logits, drafts, rng, top_p, min_p, *, wrong):
    """Where min-p is set, top-p is dropped."""
    draft = warp(draft_logits, top_p=top_p, min_p=min_p)
    target = warp(target_logits, top_p=1.0 if wrong and min_p > 0 else top_p, min_p=min_p)
    return verify(draft, target, drafts, rng)


@pytest.mark.parametrize(
    "verifier", [fewer, greedy, by_top_k, by_top_p, by_min_p, heated, one_of_two, other_of_two]
)
def test_settings_that_come_together_are_judged(verifier):
    assert check(partial(verifier, wrong=False), **EXACT).passed
    assert check(partial(verifier, wrong=True), **EXACT).outcome == "failed"


MASKED_TARGETS = {  # without the likeliest token, and without the next, by hand
    "top_k": ([0, 5, 3, 0], [0, 0, 3, 6]),
    "top_p": ([0, 5, 3, 0], [0, 0, 3, 6]),  # of 10 at least 6, and of 11 at least 6.6
    "min_p": ([2, 5, 3, 0], [0, 0, 3, 6]),  # at least 1.85, and 2.22
}


@pytest.mark.parametrize("name", MASKED_TARGETS)
def test_a_mask_comes_before_a_limit(name):
    asked = (*LOGITS, name, ALLOWED)
    cases = [case for case in settings_cases(Tokens(1), asked, True) if "masked" in case.name]
    (case,) = [case for case in cases if case.settings[0]]
    wanted = [np.array(weights) / sum(weights) for weights in MASKED_TARGETS[name]]
    np.testing.assert_allclose(case.target[:, 0], wanted, rtol=0, atol=1e-15)
    assert case.uneven


def test_greedy_rows_have_a_mask_that_forbids_the_likeliest_token():
    cases = settings_cases(Tokens(1), (*LOGITS, "temperatures", ALLOWED), False)
    (case,) = [case for case in cases if case.name == "no ties, rows warped apart, masked"]
    greedy = [given == {"temperature": 0.0} for given in case.settings]
    assert case.target[greedy, 0].tolist() == [[0, 1, 0, 0], [0, 0, 0, 1]]


def kept(first, second, weights):
    """Tokens that limits keep one after another, each a function of weights."""
    left = dict(enumerate(weights))
    for limit in (first, second):
        left = limit(left)
    return set(left)


def top_p_of(share):
    def limit(left):
        found, total = {}, 0.0
        for token, weight in sorted(left.items(), key=lambda each: -each[1]):
            if total < share * sum(left.values()):
                found[token] = weight
            total += weight
        return found

    return limit


def min_p_of(share):
    return lambda left: {x: w for x, w in left.items() if w >= share * max(left.values())}


def test_top_p_and_min_p_keep_the_same_in_both_orders():
    both = [each for each in WARPINGS if {"top_p", "min_p"} <= set(each)]
    stricter = set()
    for each in both:
        limits = top_p_of(each["top_p"]), min_p_of(each["min_p"])
        found = [kept(*order, NO_TIES) for order in (limits, limits[::-1])]
        assert found[0] == found[1]
        alone = [kept(limit, dict, NO_TIES) for limit in limits]
        stricter.add((alone[0] < alone[1]) - (alone[1] < alone[0]))
    assert stricter == {1, -1}


@pytest.mark.parametrize("given", MASKED, ids=str)
def test_what_is_left_behind_a_mask_is_clear(given):
    for forbidden in (3, 1):
        logits = np.log(np.array(NO_TIES, dtype=float))[None]
        logits[0, forbidden] = -np.inf
        assert clear(logits, given)
