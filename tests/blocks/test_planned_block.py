"""The rule of a best plan: lossless, at the optimum, and block verification for one draft."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from coupled_blocks import CoupledBlock
from drafted_trees import as_floats, models

from otspec.auditing.blocks import audit_blocks, best_expected
from otspec.blocks import (
    BlockVerification,
    BlockVerificationPreprint,
    DraftSelection,
    PlannedBlock,
    TokenVerification,
    decoded_law,
)
from otspec.models import memoryless
from otspec.rules import PooledSelection, RecursiveRejectionWithoutReplacement, SpecHub

COIN = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
RULES = [PooledSelection, RecursiveRejectionWithoutReplacement]


def planned(source, corrects="block", kind=PlannedBlock):
    return kind(source.draft, source.target, source, corrects)


@pytest.mark.parametrize(("n", "length"), [(2, 1), (2, 2), (2, 3), (3, 2)])
def test_for_one_draft_the_plans_are_the_two_block_verifications(n, length):
    for draft, target in models(900, 5, n, length):
        for source in (
            TokenVerification(draft, target, length),
            DraftSelection(draft, target, (1,) * length, PooledSelection),
        ):
            preprint = BlockVerificationPreprint(draft, target, length).expected()
            published = BlockVerification(draft, target, length).expected()
            assert planned(source).expected() == preprint
            assert planned(source, "one").expected() == published


@pytest.mark.parametrize("corrects", ["block", "one"])
@pytest.mark.parametrize(("tree", "n"), [("2", 3), ("2x1", 2), ("2x2", 2), ("1x2", 2), ("2x1", 3)])
def test_plans_are_lossless_over_several_blocks_and_keep_the_optimum(tree, n, corrects):
    for rule in RULES:
        for draft, target in models(901, 2, n, 2):
            source = DraftSelection(draft, target, tree, rule)
            made = planned(source, corrects)
            made.plan.check()
            report = audit_blocks(made, source.depth + 1 + (n == 2), optimum=False)
            assert report.lossless
            assert report.tolerance == 0
            assert report.expected == made.expected() == made.plan.bound.value
            assert source.expected() <= made.expected()


@pytest.mark.parametrize("corrects", ["block", "one"])
def test_texts_of_several_blocks_are_the_targets(corrects):
    source = DraftSelection(*COIN, "2x1", PooledSelection)
    assert decoded_law(planned(source, corrects), 5) == dict(COIN[1].texts(5))


def test_a_coupling_of_blocks_is_as_good_a_plan():
    for rule, tree in ((PooledSelection, "2x1"), (SpecHub, "2x2"), (PooledSelection, "1x1")):
        for draft, target in models(902, 3, 2, 2):
            source = DraftSelection(draft, target, tree, rule)
            made = planned(source, kind=CoupledBlock)
            made.plan.check()
            report = audit_blocks(made, 3, optimum=False)
            assert report.lossless
            assert report.expected == planned(source).expected() == best_expected(source)


def test_the_coin_is_where_depth_by_depth_is_not_the_best():
    source = DraftSelection(*COIN, "2x1x1", PooledSelection)
    best = planned(source).expected(), planned(source, "one").expected(), source.expected()
    assert best == (Fraction(85, 32), Fraction(21, 8), Fraction(83, 32))


@pytest.mark.parametrize("corrects", ["block", "one"])
def test_floats_are_lossless_up_to_rounding(corrects):
    for draft, target in models(903, 3, 2, 2):
        exact = planned(DraftSelection(draft, target, "2x1", PooledSelection), corrects)
        pair = as_floats(draft), as_floats(target)
        rounded = planned(DraftSelection(*pair, "2x1", PooledSelection), corrects)
        rounded.plan.check()
        assert audit_blocks(rounded, 4, optimum=False).lossless
        assert abs(rounded.expected() - exact.expected()) < 1e-9
        assert rounded.plan.bound.value >= exact.expected() - 1e-12


def test_samples_have_the_law_of_the_outcomes():
    rng = np.random.default_rng(904)
    made = planned(DraftSelection(*COIN, "2x1", PooledSelection), "one")
    wanted = {outcome.accepted: float(outcome.mass) for outcome in made.outcomes()}
    counts = dict.fromkeys(wanted, 0)
    size = 2_000
    for _ in range(size):
        outcome = made.sample(rng)
        counts[outcome.accepted] += 1
        assert outcome.mass == 1
    for text, mass in wanted.items():
        assert abs(counts[text] / size - mass) < 5 * (mass * (1 - mass) / size) ** 0.5 + 1e-9


def test_what_is_kept_was_drafted():
    made = planned(DraftSelection(*COIN, "2x2", PooledSelection))
    for sequences in made.candidates():
        law = made.plan.kept(sequences)
        assert sum(law.values()) == 1
        assert all(any(x[: len(text)] == text for x in sequences) for text in law)
    with pytest.raises(ValueError, match="such a set is never drafted"):
        made.plan.kept(frozenset([(0, 0, 0)]))


def test_unusable_arguments_are_refused():
    source = DraftSelection(*COIN, "2x1", PooledSelection)
    with pytest.raises(ValueError, match="corrects is 'two'"):
        PlannedBlock(*COIN, source, "two")
    with pytest.raises(ValueError, match=r"drafts is .*a rule that tells"):
        PlannedBlock(*COIN, 3)
