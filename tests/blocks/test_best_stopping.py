"""The best policy for a chain: closed forms, its rule followed, and thresholds below it."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from instances import Exact, pairs

from otspec import audit_blocks
from otspec.blocks import BlockVerification
from otspec.blocks.policies import (
    best_stopping,
    best_threshold,
    policies,
    rate_of,
)
from otspec.chance import law_of
from otspec.models import markov, memoryless

DRAFT = markov([["9/10", "1/10"], ["1/3", "2/3"]])
TARGET = markov([["1/2", "1/2"], ["1/4", "3/4"]])
COSTS = [("1/20", "1/20"), ("1/5", "1/5"), ("0", "1/4"), ("2", "1")]


def rate_of_one(draft: Exact, target: Exact, cost: Fraction, masks: bool) -> Fraction:
    """The best rate of one drafted token: at a share w of q/p where the kept mass bends."""
    shares = {q / p for p, q in zip(draft, target, strict=True) if q < p}
    rates = [Fraction(1)]
    for share in (*shares, Fraction(1)):
        kept = [min(q, share * p) for p, q in zip(draft, target, strict=True)]
        verified = sum(kept) if masks else share
        rates.append((1 + sum(kept)) / (1 + cost * (share + verified)))
    return max(rates)


@pytest.mark.parametrize("masks", [False, True])
def test_one_token_has_a_closed_form(masks: bool) -> None:
    rng = np.random.default_rng(7)
    for draft, target in pairs(3, 40, 4):
        cost = Fraction(int(rng.integers(0, 8)), 8)
        best = best_stopping(memoryless(draft), memoryless(target), 1, (cost, cost), masks=masks)
        assert best.rate == rate_of_one(draft, target, cost, masks)


@pytest.mark.parametrize("costs", COSTS)
@pytest.mark.parametrize("masks", [False, True])
def test_block_verification_of_its_chains_attains_the_rate(
    costs: tuple[str, str], masks: bool
) -> None:
    best = best_stopping(DRAFT, TARGET, 2, costs, masks=masks)
    best.check()
    rule = BlockVerification(*best.models(), 2)
    assert audit_blocks(rule, 3, optimum=False).lossless
    drafted, verified = Fraction(0), Fraction(0)
    for chain, mass in law_of(lambda chance: rule.draw(chance).tokens).items():
        left = [token for token in chain if token < 2]
        verified += mass * len(left)
    mass = {(): Fraction(1)}
    for text in sorted(best.drafts, key=len):
        drafted += mass[text] * best.drafts[text]
        for token in (0, 1):
            share = best.keeps.get((*text, token), 0)
            mass[*text, token] = mass[text] * best.drafts[text] * DRAFT(text)[token] * share
    kept = sum(outcome.mass * len(outcome.accepted) for outcome in rule.outcomes())
    draft_cost, verify_cost = map(Fraction, costs)
    assert (1 + kept) / (1 + draft_cost * drafted + verify_cost * verified) == best.rate


def test_no_threshold_is_above_and_masks_are_not_below() -> None:
    for costs in COSTS:
        stops = best_stopping(DRAFT, TARGET, 2, costs).rate
        masks = best_stopping(DRAFT, TARGET, 2, costs, masks=True).rate
        tuned = best_threshold(DRAFT, TARGET, 2, costs)
        masked = best_threshold(DRAFT, TARGET, 2, costs, ("confidence-masked", "path-masked"))
        assert tuned.rate <= stops <= masks
        assert masked.rate <= masks
    assert stops == 1  # drafting costs more than it brings
    floats = markov([[0.9, 0.1], [1 / 3, 2 / 3]]), markov([[0.5, 0.5], [0.25, 0.75]])
    found = best_stopping(*floats, 2, (0.05, 0.05)).rate
    assert found == pytest.approx(float(best_stopping(DRAFT, TARGET, 2, COSTS[0]).rate), abs=1e-9)


def grown_by(policy, draft, chance):
    return tuple(policy.grow(draft, chance))


def test_the_rate_of_a_policy_is_that_of_its_rule() -> None:
    costs = Fraction(1, 10), Fraction(1, 20)
    for name in ("load", "confidence-kept", "confidence-max", "path-kept", "confidence-masked"):
        policy = policies("1/2", 2)[name]
        masked = policy.rule(DRAFT, TARGET)
        models = masked.draft, masked.target
        rule = policy.rule(DRAFT, TARGET, BlockVerification(*models, 2).verify)
        grown = law_of(partial(grown_by, policy, models[0]))
        drafted = sum(mass * len(texts) for texts, mass in grown.items())
        verified = rule.nodes()
        wanted = (1 + rule.expected()) / (1 + costs[0] * drafted + costs[1] * verified)
        assert rate_of(policy, DRAFT, TARGET, costs) >= wanted
        if name != "load":  # block verification does not see how long a chain was to be
            assert rate_of(policy, DRAFT, TARGET, costs) == wanted


def test_what_cannot_be_planned_is_refused() -> None:
    with pytest.raises(ValueError, match="costs"):
        best_stopping(DRAFT, TARGET, 2, 0.1)
    with pytest.raises(ValueError, match="20,000 texts"):
        best_stopping(DRAFT, TARGET, 20, ("0", "0"))
