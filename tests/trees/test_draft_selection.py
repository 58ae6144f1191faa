"""Draft selection, exactly: against every drafted tree verified one by one, and its special cases.

Sampling is in test_draft_selection_samples, the best coupling in test_candidate_program.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from drafted_trees import (
    FOUR,
    IID_RULES,
    RULES,
    answered,
    as_floats,
    models,
    models_for,
    optimal,
    some_models,
    takes,
    verified,
)
from each_case import each
from instances import pairs, weights
from programs import drawn
from searching import NIGHTLY

import otspec
from otspec.blocks import DraftSelection, TokenVerification, as_branching, decoded_law
from otspec.blocks.base import enumerated_expected
from otspec.blocks.trees.verifiers import nodes
from otspec.models import TableModel
from otspec.models.tables import random_pair
from otspec.rules import (
    KSequential,
    PooledSelection,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
)
from otspec.rules.base.accepted import NotExactError
from validation.mcsd import algorithms as mcsd
from validation.models import LanguageModel
from validation.spectr.sequences import (
    decoded,
    independent_drafts,
    prefix_tree,
    sequential_plan,
)

SIZES = [("3", 2), ("2", 3), ("2x2", 2), ("3x2", 2), ("2x1x2", 2), ("1x2x2", 2), ("2x2", 3)]


def cases():
    every = [(rule, tree, n) for rule in RULES for tree, n in SIZES if takes(rule, tree)]
    return [case for case in every if case != ("k-sequential", "2x2", 3)]


def count(rule, tree, n):
    """How many pairs of models: fewer where the fractions of an irrational root grow long."""
    if rule == "k-sequential":
        return {"2x2": 3, "3": 8, "2": 8}.get(tree, 1)
    if rule not in IID_RULES:
        return FOUR if "x" in tree else 8
    return {"2x2": FOUR if n == 2 else 1, "3": 8, "2": 8}.get(tree, 2)


def is_the_targets_text(selection, tokens):
    """Theorem 2: exactly, and as numbers of the models' arithmetic."""
    decoded = decoded_law(selection, tokens)
    assert decoded == dict(selection.target.texts(tokens))
    assert {type(mass) for mass in decoded.values()} == {Fraction}


@pytest.mark.usefixtures("rules_made_once")
@each(("rule", "tree", "n"), cases())
def test_outcomes_are_those_of_every_tree_verified_one_by_one(rule, tree, n):
    made, draws = RULES[rule]
    for draft, target in some_models(rule, 150, count(rule, tree, n), n, len(as_branching(tree))):
        merges = rule in IID_RULES and len(as_branching(tree)) > 1
        if not merges:  # where nothing is merged, both are one
            apart = DraftSelection(draft, target, tree, made, merge=False)
            assert answered(apart) == answered(DraftSelection(draft, target, tree, made))
        for merge in (True, False) if merges else (True,):
            selection = DraftSelection(draft, target, tree, made, merge)
            found = answered(selection)
            assert found == verified(selection, draws, merge and rule in IID_RULES)
            assert sum(found.values()) == 1
            outcomes = list(selection.outcomes())
            assert sum(outcome.mass for outcome in outcomes) == 1
            assert len({outcome.accepted for outcome in outcomes}) == len(outcomes)
            kept = sum(len(head) * mass for (head, _), mass in found.items())
            assert selection.expected() == enumerated_expected(selection) == kept
            assert selection.efficiency() == kept + 1
            assert type(selection.expected()) is Fraction
            is_the_targets_text(selection, selection.depth + 1)


@pytest.mark.usefixtures("rules_made_once")
@pytest.mark.parametrize("rule", RULES)
def test_theorem_2_over_several_blocks(rule):
    tree = "1x1" if rule == "coupling" else "2x2"
    for draft, target in some_models(rule, 151, 2 if rule == "k-sequential" else FOUR, 2, 2):
        is_the_targets_text(DraftSelection(draft, target, tree, RULES[rule][0]), 4)
    if rule in ("recursive-distinct", "pooled-distinct", "spechub", "coupling"):
        for draft, target in models_for(rule, 152, 3 if NIGHTLY else 2, 3, 2):
            is_the_targets_text(DraftSelection(draft, target, tree, RULES[rule][0]), 5)


@pytest.mark.usefixtures("rules_made_once")
@pytest.mark.parametrize("rule", RULES)
def test_floats_are_the_exact_numbers_rounded(rule):
    tree = "1x1" if rule == "coupling" else "2x2"
    for draft, target in some_models(rule, 153, FOUR, 3, 1):
        exact, rounded = (
            DraftSelection(*pair, tree, RULES[rule][0])
            for pair in ((draft, target), (as_floats(draft), as_floats(target)))
        )
        assert type(rounded.expected()) is float
        if rule != "optimal":  # of which there are many, with different numbers of equal drafts
            assert rounded.expected() == pytest.approx(exact.expected(), abs=1e-9)
        assert rounded.expected() == pytest.approx(enumerated_expected(rounded), abs=1e-12)
        found = decoded_law(rounded, 3)
        for text, mass in target.texts(3):
            assert found[text] == pytest.approx(mass, abs=1e-9)


@pytest.fixture
def rng():
    return np.random.default_rng(158)


def chain(rng, n):
    return TableModel({(): weights(rng, n, 6, 0.2)} | {(x,): weights(rng, n, 6) for x in range(n)})


def literal(model, n):
    return LanguageModel(lambda prefix: tuple(model(prefix)), n)


def alg_2(draft, target, k):
    """SpecTr's algorithm 2 with ρ = k, which needs no root."""
    return KSequential(draft, target, k, rho=k)


@pytest.mark.usefixtures("rules_made_once")
@pytest.mark.parametrize(
    ("n", "length", "count"), [(2, 1, 3), (2, 2, 2), (2, 2, 3), (2, 3, 2), (3, 2, 2)]
)
def test_sequences_drawn_independently_are_spectrs_algorithm_3(rng, n, length, count):
    for _ in range(4):
        draft, target = chain(rng, n), chain(rng, n)
        pair = literal(draft, n), literal(target, n)
        text = decoded(*pair, sequential_plan, independent_drafts(pair[0], length, count))
        selection = DraftSelection(draft, target, (count,) + (1,) * (length - 1), alg_2)
        found = {(*head, token): mass for (head, token), mass in answered(selection).items()}
        assert found == text
        assert selection.efficiency() == sum(len(tokens) * mass for tokens, mass in text.items())


@pytest.mark.parametrize("factors", [(2,), (2, 1), (1, 2), (2, 2), (1, 1, 2)])
def test_prefix_trees_are_spectrs_algorithm_4(rng, factors):
    for _ in range(4):
        draft, target = chain(rng, 2), chain(rng, 2)
        pair = literal(draft, 2), literal(target, 2)
        leaves = prefix_tree(pair[0], factors, tuple)
        text = decoded(*pair, sequential_plan, leaves, factors)
        selection = DraftSelection(draft, target, factors, alg_2)
        assert {(*h, y): mass for (h, y), mass in answered(selection).items()} == text


@pytest.mark.parametrize("config", [(1,), (3,), (2, 1), (1, 2), (2, 2), (3, 1, 2)])
def test_without_merging_it_is_mcsds_algorithm_1_at_every_step(config):
    for draft, target in models(154, 8, 2, len(config)):
        selection = DraftSelection(draft, target, config, RecursiveRejection, merge=False)
        literal = mcsd.block(
            *((lambda prefix, m=m: tuple(m(prefix))) for m in (draft, target)), config
        )
        assert {(*h, y): mass for (h, y), mass in answered(selection).items()} == literal
        assert selection.efficiency() == mcsd.efficiency(literal)


COUPLING = [r for r in RULES if takes(r, "1x1") and r not in ("naive", "target-only")]
"""The rules that look at the draft before they draw from the target."""


@pytest.mark.parametrize("rule", COUPLING)
@pytest.mark.parametrize("length", [1, 3])
def test_one_draft_is_token_verification(rule, length):
    for draft, target in models(155, 8, 2, length):
        one = TokenVerification(draft, target, length)
        selection = DraftSelection(draft, target, (1,) * length, RULES[rule][0])
        assert selection.expected() == one.expected()
        assert answered(selection) == answered(one)


def test_no_rule_keeps_more_than_the_optimal_one_of_a_single_step():
    for draft, target in pairs(156, 24, 3):
        best = DraftSelection(lambda _, p=draft: p, lambda _, q=target: q, "2", optimal).expected()
        assert best == otspec.optimal_acceptance(otspec.IID(draft, 2), target).acceptance
        for rule in IID_RULES:
            made = DraftSelection(lambda _, p=draft: p, lambda _, q=target: q, "2", RULES[rule][0])
            assert made.expected() <= best


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "pooled-distinct"])
def test_extreme_models(rule):
    tree = "1x1" if rule == "coupling" else "2x2"
    one = otspec.models.memoryless(["1"])
    first, second = (otspec.models.memoryless(row) for row in (["1", "0"], ["0", "1"]))
    same = otspec.models.memoryless(["1/3", "2/3"])
    for draft, target, kept in ((one, one, 2), (first, first, 2), (first, second, 0)):
        assert DraftSelection(draft, target, tree, RULES[rule][0]).expected() == kept
    if rule != "naive":
        assert DraftSelection(same, same, tree, RULES[rule][0]).expected() == 2


def test_no_more_distinct_children_than_tokens_to_draw(rng):
    draft = TableModel({(): ["1/2", "1/2", 0], (0,): ["0", "1", "0"], (1,): ["1/3", "1/3", "1/3"]})
    target = TableModel({(): ["1/5", "2/5", "2/5"]})
    selection = DraftSelection(draft, target, "3x2", RecursiveRejectionWithoutReplacement)
    narrow = DraftSelection(draft, target, "2x2", RecursiveRejectionWithoutReplacement)
    assert selection.expected() == narrow.expected()
    assert answered(selection) == answered(narrow)
    sizes = {len(drawn(selection, rng).tokens) for _ in range(20)}
    assert sizes == {2 + 1 + 2}  # below token 0 there is one token, below token 1 are two


def test_a_certain_hub_is_drafted_twice_but_counts_once():
    draft = TableModel({(): ["1", "0"], (0,): ["1/2", "1/2"]})
    target = TableModel({(): ["1/2", "1/2"], (0,): ["1/4", "3/4"]})
    for merge in (True, False):
        selection = DraftSelection(draft, target, "2x2", RULES["spechub"][0], merge)
        is_the_targets_text(selection, 4)


def test_merging_never_matters_without_a_second_level():
    for draft, target in models(157, 8, 3, 1):
        for rule in IID_RULES:
            on, off = (DraftSelection(draft, target, "2", RULES[rule][0], m) for m in (True, False))
            assert on.expected() == off.expected()


def test_markov_models_are_summed_over_what_they_remember(rng):
    draft, target = random_pair(3, "1/3", rng)
    made = []

    def counting(p, q, k):
        made.append(k)
        return RecursiveRejection(p, q, k)

    short = DraftSelection(draft, target, "2x1x1", counting)
    assert short.expected() == enumerated_expected(short)
    made.clear()
    long = DraftSelection(draft, target, "2" + "x1" * 11, counting)
    assert short.expected() < long.expected() < 12
    assert len(made) <= 2 * (1 + 3 * 2)  # after each last token with one node or two; not 3^11


def test_too_many_tuples_are_refused_by_name(monkeypatch, rng):
    draft, target = random_pair(10, 0.3, rng, order=0)

    def binned(p, q, k):
        return PooledSelection(p, q, k, 4)

    wide = DraftSelection(draft, target, "6x1", binned)
    says = r"1,000,000 tuples of k = 6 drafts over 10 tokens are too many for an exact sum: use a "
    says += r"smaller tree, merge=False, or simulate\(\)"
    for ask in (wide.expected, wide.efficiency, lambda: list(wide.outcomes())):
        with pytest.raises(ValueError, match=says):
            ask()
    assert len(wide.sample(rng).accepted) <= 2
    with pytest.raises(ValueError, match=says):  # only the tuples tell what a rule really does
        list(DraftSelection(draft, target, "6x1", RecursiveRejection).outcomes())
    draft, target = random_pair(2, "1/3", rng, order=0)
    monkeypatch.setattr(nodes, "TUPLE_LIMIT", 2**3)
    with pytest.raises(ValueError, match="16 tuples of k = 4 drafts over 2"):
        DraftSelection(draft, target, "2x2x1", binned).expected()
    assert DraftSelection(draft, target, "2x2x1", binned, merge=False).expected() > 0


def test_after_some_text_it_is_the_same_rule(rng):
    draft, target = chain(rng, 2), chain(rng, 2)
    selection = DraftSelection(draft, target, "2x1", RecursiveRejection, merge=False)
    for prefix in product(range(2), repeat=2):
        again = selection.restarted(draft.after(prefix), target.after(prefix))
        assert (again.branching, again.rule, again.merge) == ((2, 1), RecursiveRejection, False)
        rows = [lambda x, m=model, p=prefix: m(p + x) for model in (draft, target)]
        assert (
            again.expected() == DraftSelection(*rows, "2x1", RecursiveRejection, False).expected()
        )


class Unformulated(RecursiveRejection):
    """Has the program of its verification, and no formula."""

    def _by_position(self):
        raise NotExactError("no formula")

    def acceptance(self):
        raise NotExactError("no formula")


def test_a_rule_without_formulas_is_enumerated():
    trees = ["2", "2x1", "1x2", "[[]][]", "2x2", "[][[]]"]
    for pair, tree in zip(pairs(41, 6, 3), trees, strict=True):
        models = [otspec.models.memoryless(law) for law in pair]
        plain, formula = (
            DraftSelection(*models, tree, rule) for rule in (Unformulated, RecursiveRejection)
        )
        assert plain.expected() == formula.expected()
        assert decoded_law(plain, 2) == decoded_law(formula, 2)
