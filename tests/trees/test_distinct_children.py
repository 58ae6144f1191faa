"""Trees of distinct drafts whose rule is a function, and says only when made how they are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import oracles
import pytest
from drafted_trees import answered, distinct, models, top, verified
from instances import pairs
from programs import drawn
from searching import enough

import otspec
from otspec.blocks import DraftSelection, decoded_law
from otspec.blocks.base import enumerated_expected
from otspec.blocks.trees.verifiers.nodes import made_rule
from otspec.drafts import SingleDraftLaw, TooFewTokensError
from otspec.logged import LoggedBlock
from otspec.rules import (
    PairRule,
    PlannedRule,
    PooledSelectionWithoutReplacement,
    RecursiveRejectionWithoutReplacement,
    Rule,
)

pytestmark = pytest.mark.usefixtures("rules_made_once")


@dataclass(frozen=True, eq=False)
class Wrapped(Rule):
    """A rule that makes its law when it is asked for it."""

    draft: tuple
    target: tuple
    k: int
    title = "wrapped"

    @property
    def law(self):
        return otspec.WithoutReplacement(self.draft, self.k)

    def verify(self, drafts, chance):
        rule = RecursiveRejectionWithoutReplacement(self.draft, self.target, self.k)
        return rule.verify(drafts, chance)


class Minimal(PairRule):
    """The least that a rule for distinct drafts has to say."""

    title = "minimal"
    law_class: type[SingleDraftLaw] = otspec.WithoutReplacement

    def verify(self, drafts, chance):
        rule = RecursiveRejectionWithoutReplacement(self.draft, self.target, self.k)
        return rule.verify(drafts, chance)


def top_plus_one(draft, k):
    return oracles.top_plus_one_table(draft, min(k, sum(mass > 0 for mass in draft)))


@pytest.fixture
def rng():
    return np.random.default_rng(172)


def function(draft, target, k):
    return RecursiveRejectionWithoutReplacement(draft, target, k)


def pairs_only(draft, target, k):
    return PooledSelectionWithoutReplacement(draft, target, k)


def planned(law_class):
    def factory(draft, target, k):
        return PlannedRule(otspec.optimal_plan(law_class(draft, k), target, solver="rational"))

    return factory


FACTORIES = {
    "function": (function, distinct),
    "partial": (partial(RecursiveRejectionWithoutReplacement, normalize=True), distinct),
    "wrapped": (Wrapped, distinct),
    "minimal": (Minimal, distinct),
    "plan": (planned(otspec.WithoutReplacement), distinct),
    "top plus one": (planned(otspec.TopPlusOne), top_plus_one),
    "top": (otspec.rules.TargetOnly, top),
}
"""Functions of draft, target and k that make rules for distinct drafts, and the drafts' table."""


@pytest.mark.parametrize("name", FACTORIES)
def test_no_more_distinct_children_than_tokens_to_draw_whatever_makes_the_rule(name, rng):
    factory, draws = FACTORIES[name]
    for tree in ("3x2", "2x3"):
        for draft, target in models(170, enough(16, 8), 2, 2):
            selection = DraftSelection(draft, target, tree, factory)
            assert answered(selection) == verified(selection, draws, merges=False)
            found = decoded_law(selection, 3)
            assert found == dict(target.texts(3))
            assert {type(mass) for mass in found.values()} == {Fraction}
            assert selection.expected() == enumerated_expected(selection)
            support = sum(mass > 0 for mass in draft(()))
            assert len(drawn(selection, rng).children()) == min(int(tree[0]), support)


@pytest.mark.parametrize(
    ("factory", "draws"),
    [(pairs_only, distinct), FACTORIES["plan"], FACTORIES["top"], FACTORIES["top plus one"]],
)
def test_functions_that_make_optimal_rules_attain_the_optimum(factory, draws):
    """Also a rule for pairs, where there is a single token to draw."""
    single = 0
    for draft, target in pairs(171, 40, 4):
        models = (lambda _, row=draft: row, lambda _, row=target: row)
        best = oracles.optimum(draws(draft, 2), target)
        assert DraftSelection(*models, "2", factory).expected() == best
        single += sum(mass > 0 for mass in draft) == 1
    assert single >= 5


@pytest.mark.parametrize("name", FACTORIES)
def test_functions_serve_logged_blocks_alike(name):
    draft, target = ["1/2", "1/2", 0], ["1/5", "2/5", "2/5"]
    block = LoggedBlock([draft, draft], [target, target], [0, 1])
    factory = FACTORIES[name][0]
    assert block.expected_of_tree("4x3", factory) == block.expected_of_tree("2x2", factory)


def test_a_single_token_to_draw_is_coupled_by_a_rule_for_pairs_too():
    """1/4 of the target is on the token; of two tokens there is a pair."""
    sure, target = np.array([1.0, 0.0, 0.0]), np.array([0.25, 0.25, 0.5])
    both = np.array([0.5, 0.5, 0.0])
    pairs_of_hubs = otspec.rules.RULES["spechub-two-hubs"]
    one = made_rule(pairs_of_hubs, sure, target, 2)
    assert (type(one), one.k, one.acceptance()) == (otspec.rules.MaximalCoupling, 1, 0.25)
    assert type(made_rule(pairs_of_hubs, both, target, 2)) is pairs_of_hubs
    fewer = made_rule(RecursiveRejectionWithoutReplacement, both, target, 3)
    assert (type(fewer), fewer.k) == (RecursiveRejectionWithoutReplacement, 2)


def test_what_distinct_drafts_lack_is_told_apart_from_other_refusals():
    with pytest.raises(TooFewTokensError, match=r"2 tokens.*too few for 3") as refusal:
        RecursiveRejectionWithoutReplacement(["1/2", "1/2", 0], [1, 0, 0], 3)
    assert isinstance(refusal.value, ValueError)

    def refusing(draft, target, k):
        raise ValueError(f"k is {k}: never")

    selection = DraftSelection(lambda _: ["1/2", "1/2"], lambda _: ["1/2", "1/2"], "3", refusing)
    with pytest.raises(ValueError, match="k is 3: never"):
        selection.expected()


def test_a_tree_of_the_likeliest_tokens_keeps_the_target_mass_of_its_nodes():
    for draft, target in models(173, 12, 3, 2):
        kept, level = Fraction(1), {(): Fraction(1)}
        for count in (2, 1):
            level = {
                (*text, y): mass * target(text)[y]
                for text, mass in level.items()
                for (children,) in [top(list(draft(text)), count)]
                for y in children
            }
            kept += sum(level.values())
        selection = DraftSelection(draft, target, "2x1", otspec.rules.TargetOnly)
        assert selection.expected() == kept - 1
