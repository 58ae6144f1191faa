"""Advice on texts that end, from models and from logs: what is kept counts up to the end."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from ending_models import ENDINGS, calls_of_texts, each_ending
from tree_search import kept_of

from otspec.advice import advise
from otspec.advice.evaluation.numbers import drafted_texts
from otspec.blocks import (
    TREE_RULES,
    BlockVerification,
    DraftSelection,
    TokenVerification,
    as_shape,
    best_trees,
)
from otspec.logged import LoggedBlock
from otspec.logged.chances import Asked
from otspec.models import EndingModel
from otspec.rules import RecursiveRejection

pytestmark = pytest.mark.usefixtures("rules_made_once")

NAMES = ["recursive-rejection", "pooled-selection", "target-only"]
OPTIONS = {"draft_cost": 1, "target_cost": 10, "widest": 2, "rules": NAMES}
BY_TITLE = {TREE_RULES[name].title: TREE_RULES[name] for name in NAMES}
CHAINS = {rule.title: rule for rule in (TokenVerification, BlockVerification)}


def repeated(draft, target, end, length, sampled):
    """All texts of a model as logged blocks, each as often as it is likely."""
    pairs = list((draft if sampled == "draft" else target).texts(length))
    whole = math.lcm(*(mass.denominator for _, mass in pairs))
    for tokens, mass in pairs:
        rows = [[model(tokens[:i]) for i in range(length)] for model in (draft, target)]
        sampling = rows[1] if sampled == "target" else None
        yield from [LoggedBlock(*rows, tokens, end, sampling)] * int(mass * whole)


def verifier(choice, draft, ending):
    """The rule of a choice, which equal children leave apart."""
    if choice.rule in CHAINS:
        return CHAINS[choice.rule](draft, ending, choice.depth)
    return DraftSelection(draft, ending, choice.tree, BY_TITLE[choice.rule], merge=False)


def nested(shape):
    return tuple(map(nested, shape.children))


@each_ending()
def test_choices_of_models_keep_what_every_tree_keeps_up_to_the_end(draft, target, end):
    ending = EndingModel(target, end)
    advice = advise((draft, ending), nodes=4, depth=3, trees=["2x1"], **OPTIONS)
    kept = {title: kept_of(draft, target, rule, end) for title, rule in BY_TITLE.items()}
    # Of a chain recursive rejection keeps what token verification does.
    kept[TokenVerification.title] = kept_of(draft, target, TREE_RULES["recursive-rejection"], end)
    seen = set()
    for choice in advice.choices:
        if choice.rule in kept:
            seen.add(choice.rule)
            tree = nested(as_shape(choice.tree))
            assert choice.tokens == 1 + kept[choice.rule](tree, ()), choice
        elif choice.rule in CHAINS:
            block = BlockVerification(draft, ending, choice.depth)
            kept_there = (outcome.mass * len(outcome.accepted) for outcome in block.outcomes())
            assert choice.tokens == 1 + sum(kept_there, start=Fraction(0))
        else:
            assert (choice.rule, choice.tokens) == ("no draft", 1)
    assert seen == set(kept)


@pytest.mark.parametrize("name", ["a biased coin", "the text ends at once", "chains", "no end"])
def test_choices_by_drafted_blocks_keep_what_is_kept_up_to_the_end(name):
    draft, target, end = ENDINGS[name]
    ending = EndingModel(target, end)
    length = 2 if name == "chains" else 3
    logs = list(repeated(draft, target, end, length, "draft"))
    advice = advise(logs, nodes=3, depth=length, **OPTIONS)
    for choice in advice.choices:
        if choice.rule != "no draft":
            exact = verifier(choice, draft, ending).efficiency()
            assert choice.tokens == pytest.approx(float(exact), abs=1e-12), choice
    if name != "chains":  # of models that remember nothing the mean chances are exact
        for rule in ("recursive-rejection", "pooled-selection"):
            best = best_trees(draft, ending, TREE_RULES[rule], 3, length, widest=2).best.expected
            found = [one.tokens for one in advice.choices if one.rule == TREE_RULES[rule].title]
            chains = [one.tokens for one in advice.choices if one.rule == TokenVerification.title]
            assert max(found + chains) == pytest.approx(float(1 + best), abs=1e-12)


def test_choices_by_whole_texts_count_every_call_of_them():
    draft, target, end = ENDINGS["at most three tokens"]
    logs = list(repeated(draft, target, end, 3, "target"))
    assert all(block.ended for block in logs)
    advice = advise(logs, nodes=3, depth=3, **OPTIONS)
    assert advice.source == f"{len(logs)} texts of the target"
    for choice in advice.choices:
        if choice.rule == "no draft":
            assert choice.tokens == 1
            continue
        tokens, calls = calls_of_texts(verifier(choice, draft, EndingModel(target, end)))
        assert choice.tokens == pytest.approx(float(tokens / calls), abs=1e-12), choice


def test_only_an_end_token_that_is_logged_takes_its_weight():
    draft, target, end = ENDINGS["a biased coin"]
    logs = list(repeated(draft, target, end, 3, "draft"))
    asked = [Asked(RecursiveRejection, (1, 2))]
    numbers = drafted_texts(enumerate(logs), asked, 3)
    ((_, kept, going),) = numbers.kept()
    lengths = [len(block.tokens) for block in logs]
    last = np.cumsum(lengths)[[block.ended for block in logs]] - 1
    assert 0 < len(last) < len(logs)
    tokens = np.concatenate([block.tokens for block in logs])
    assert set(tokens[last].tolist()) <= set(end)
    for k, each in kept.items():
        changed = np.flatnonzero((each != going[k]).any(axis=0))
        assert changed.tolist() == last.tolist()


def test_levels_are_those_of_the_blocks_that_are_not_over():
    draft, target, end = ENDINGS["the text ends at once"]
    logs = list(repeated(draft, target, end, 3, "draft"))
    assert {len(block.tokens) for block in logs} == {1, 2, 3}
    advice = advise(logs, nodes=3, **OPTIONS)
    assert max(choice.depth for choice in advice.choices) == 3
    # Its first token is the last: no level but the first keeps anything.
    assert advice.best.depth == 1
