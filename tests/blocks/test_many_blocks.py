"""Published block verification against token verification over several blocks (Theory, 19)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import prod

import pytest
from block_models import Pair, model_pairs
from instances import fractions
from searching import of_all

from otspec.blocks import BlockVerification, TokenVerification, decoded_after
from otspec.models import CallableModel

SIZES = [(2, 2, 2, 200), (2, 1, 3, 48), (2, 3, 2, 32), (3, 2, 2, 32), (2, 2, 3, 8)]
"""Alphabet, block, how many blocks, and for how many pairs of models."""


@pytest.mark.parametrize(("n", "length", "blocks", "count"), SIZES)
def test_published_verification_decodes_at_least_as_much_in_several_blocks(
    n, length, blocks, count
):
    orders = Counter()
    for case in model_pairs(1_901, n, length, count):
        token, published = (
            decoded_after(rule(*case.exact, length), blocks)
            for rule in (TokenVerification, BlockVerification)
        )
        assert published >= token
        orders[published > token] += 1
    assert orders[True] > (of_all(count // 5) if length > 1 else -1)
    assert orders[False] > 0  # equal and disjoint models, and blocks of one token


def kept_given_text(rule, length, text):
    """Pr(τ ≥ ℓ | Y) for ℓ = 0 to L, from all ways in which a block may end."""
    at_least = [0] * (length + 1)
    for outcome in rule.outcomes():
        kept = len(outcome.accepted)
        if text[:kept] == outcome.accepted:
            chance = outcome.mass * outcome.following.mass(text[kept:])
            for depth in range(kept + 1):
                at_least[depth] += chance
    return [chance / rule.target.mass(text) for chance in at_least]


@pytest.mark.parametrize(("n", "length"), [(2, 2), (2, 3), (3, 2)])
def test_how_much_is_kept_given_the_text_that_comes_out(n, length):
    for case in model_pairs(1_902, n, length, 9):
        token, published = (
            rule(*case.exact, length) for rule in (TokenVerification, BlockVerification)
        )
        for text, _ in token.target.texts(length + 1):
            ratios = [
                token.draft(text[:place])[text[place]] / token.target(text[:place])[text[place]]
                for place in range(length)
            ]
            places = range(length + 1)
            assert kept_given_text(token, length, text) == [
                prod(min(1, ratio) for ratio in ratios[:depth]) for depth in places
            ]
            assert kept_given_text(published, length, text) == [
                min(prod(ratios[:less]) for less in range(depth + 1)) for depth in places
            ]


def test_the_published_rule_may_end_earlier_from_a_later_beginning():
    """Y = 0 1 has the ratios 2 and 1/2: kept from its beginning, but perhaps not from place 1."""
    rows = {
        (): fractions("1/2", "1/2"),
        (0,): fractions("3/4", "1/4"),
        (1,): fractions("1/2", "1/2"),
    }
    wanted = {
        (): fractions("1/4", "3/4"),
        (0,): fractions("1/2", "1/2"),
        (1,): fractions("1/2", "1/2"),
    }
    case = Pair(rows, wanted, 2)
    rule = BlockVerification(*case.exact, 2)
    later = rule.restarted(rule.draft.after((0,)), rule.target.after((0,)))
    whole, rest = kept_given_text(rule, 2, (0, 1, 0)), kept_given_text(later, 2, (1, 0, 0))
    assert whole == [1, 1, 1]
    assert rest[1] < 1
    assert all(more >= less for more, less in pairwise(whole))


def ever_farther(prefix):
    """Five tokens alike, one that the target draws, one that the draft does, then alike or not."""
    drawn, first = ["1/2", "1/2"], [1, 0]
    if len(prefix) > 5 and prefix[5] == 1:
        return [0, 1], first
    return {5: (first, drawn), 6: (drawn, first)}.get(len(prefix), (first, first))


def test_after_two_blocks_a_rule_that_keeps_less_at_first_may_be_ahead():
    """Of five tokens, all alike, four are kept: the second block begins before the sixth."""
    draft, target = (
        CallableModel(lambda prefix, side=side: ever_farther(prefix)[side]) for side in (0, 1)
    )
    published = BlockVerification(draft, target, 5)
    first, five = BlockVerification(draft, target, 4), (0,) * 5
    assert [outcome.accepted for outcome in first.outcomes()] == [five[:4]]
    second = published.restarted(draft.after(five), target.after(five))
    assert first.efficiency() + second.efficiency() == Fraction(17, 2)
    assert decoded_after(published, 2) == Fraction(33, 4)
