"""The law of whole texts, every branch followed, in fractions: the target's, exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from every_branch import (
    TableReader,
    law_of_model,
    law_of_texts,
    remembered_rule,
)
from instances import fractions

from otspec import blocks
from otspec.blocks import TREE_VERIFIERS, TokenTree
from otspec.blocks.trees.verifiers import draft_selection, leaf_to_root
from otspec.blocks.trees.verifiers.leaf_to_root import LeafToRoot
from otspec.chance import branches
from otspec.decoding import Generated, Step, usable_rules
from otspec.decoding.choices import as_shape, decoder_of
from otspec.decoding.decoder import draft_tree
from otspec.decoding.verification import Reading, RuleVerifier, SeededChance, alone
from otspec.drafts import IID, TopK
from otspec.models import EndingModel, TableModel
from otspec.rules import KSequential, PairRule
from otspec.rules.shared_noise.base import SharedNoise

DRAFT = TableModel(
    {
        (): fractions("1/2", "1/3", "1/6"),
        (0,): fractions("1/4", "1/4", "1/2"),
        (1,): fractions(0, "2/5", "3/5"),
        (2,): fractions(1, 0, 0),
    }
)
TARGET = TableModel(
    {
        (): fractions("1/5", "1/5", "3/5"),
        (0,): fractions("1/4", "1/4", "1/2"),
        (1,): fractions("1/2", "1/2", 0),
        (2,): fractions("2/3", "1/6", "1/6"),
        (2, 0): fractions("1/8", "3/8", "1/2"),
    }
)
PROMPT, END = (2, 1), frozenset([2])
TARGET_ENDS = EndingModel(TARGET, END)
RULES = {name: rule for name, rule in usable_rules().items() if not issubclass(rule, SharedNoise)}
"""All whose draws can be followed; texts of shared noise are functions of a seed."""
ANY_K = [name for name, rule in RULES.items() if issubclass(rule, PairRule) and rule.only_k is None]
LIFTED = [name for name, kind in TREE_VERIFIERS.items() if issubclass(kind, LeafToRoot)]
LOPSIDED = TokenTree((-1, -1, 0, 0, 2))
"""Two drafts of which the first has two more, and the first of those another one."""
WHOLE = {
    "1x1": (3, [name for name, rule in RULES.items() if getattr(rule, "only_k", 1) != 2]),
    "1x1x1": (4, list(blocks.BLOCK_RULES)),
    "3": (2, ANY_K),
    "2x1": (2, [*ANY_K, *LIFTED, "greedy-multi-path"]),
    "2x2": (3, ["spechub", "spechub-two-hubs", "pooled-selection-without-replacement"]),
    LOPSIDED: (
        2,
        ["pooled-selection", "target-only", "universal", "traversal-without-replacement"],
    ),
    "[[]][][]": (3, ["recursive-rejection", "recursive-rejection-without-replacement"]),
    "2xtop2": (3, ["k-sequential", "spechub"]),
    "top[[][]][]": (3, ["pooled-selection", "spechub"]),
    "[top[][[]]][top[][]][[]]": (2, ["recursive-rejection"]),
}
"""Which trees are decoded with which rules, and how many tokens."""


@pytest.fixture(autouse=True)
def _rules_are_made_once(monkeypatch):
    for module in (draft_selection, leaf_to_root):
        monkeypatch.setattr(module, "made_rule", remembered_rule)


def decoder(rule, tree, draft=DRAFT, target=TARGET, end=END):
    readers = {"draft": TableReader(draft), "target": TableReader(target)}
    return decoder_of(PROMPT, rule, as_shape(tree, end), **readers)


@pytest.mark.parametrize("tree", WHOLE, ids=str)
def test_texts_have_the_targets_law_exactly(tree):
    most, names = WHOLE[tree]
    for name in names:
        law = law_of_texts(decoder(name, tree), most, END)
        assert law == law_of_model(TARGET.after(PROMPT), most, END), name


def test_a_function_of_ones_own_decodes():
    def token_by_token(drafts, chance):
        for node, token in enumerate(drafts, start=-1):
            wanted, offered = drafts.target(node), drafts.draft(node)
            if not chance.accept(wanted[token], offered[token]):
                rest = np.maximum(wanted - offered, 0)
                return node, rest / rest.sum()
        return len(drafts) - 1

    wanted = law_of_model(TARGET.after(PROMPT), 4, END)
    assert law_of_texts(decoder(token_by_token, "1x1"), 4, END) == wanted
    greedy = decoder(lambda drafts, _: len(drafts) - 1, "1x1")  # keeps whatever is drafted
    assert law_of_texts(greedy, 4, END) != wanted
    with pytest.raises(ValueError, match="or a function verify"):
        decoder(3, "1x1")


def test_every_rule_is_decoded_with():
    assert {name for _, names in WHOLE.values() for name in names} == set(RULES)


@pytest.mark.parametrize("rule", ["pooled-selection", "token"])
def test_plain_decoding_asks_the_target_alone(rule):
    tree = TokenTree(())
    if rule == "token":
        with pytest.raises(ValueError, match="verifies one drafted block"):
            decoder(rule, tree)
        return
    plain = decoder(rule, tree, draft=None)
    assert law_of_texts(plain, 3, END) == law_of_model(TARGET.after(PROMPT), 3, END)


class WrongDrafts(KSequential):
    """A rule whose drafts are not drawn as it takes them to be."""

    law_class = RULES["recursive-rejection-without-replacement"].law_class


class OffByOne(TableReader):
    """A reader that gives the distribution of the token before."""

    def read(self, tokens, parents, last):
        reading = super().read(tokens, parents, last)
        return Reading([reading.rows[0], *reading.rows[:-1]], reading.reader)


def test_what_is_not_lossless_is_noticed():
    wanted = law_of_model(TARGET.after(PROMPT), 2, END)
    assert law_of_texts(decoder(WrongDrafts, "2"), 2, END) != wanted
    readers = {"draft": TableReader(DRAFT), "target": OffByOne(TARGET)}
    shifted = decoder_of(PROMPT, KSequential, as_shape("2x1"), **readers)
    assert law_of_texts(shifted, 2, END) != wanted


@pytest.mark.parametrize(("tree", "law"), [("1x1x1", IID), ("2x2", IID), ("2x2", TopK)])
def test_nothing_is_drafted_behind_an_end_token(tree, law):
    def drafted(chance):
        def children(row, k, *_):
            return law(row, k).draw(chance), law.iid

        shape = as_shape(tree, END)
        return alone(draft_tree(TableReader(DRAFT), PROMPT, shape, children))

    ends = 0
    for _, drafting in branches(drafted):
        tokens, parents = drafting.drafted["tokens"], drafting.drafted["parents"]
        assert not END & {tokens[parent] for parent in parents if parent >= 0}
        assert all(node < 0 or tokens[node] not in END for node in drafting.drafted["families"])
        ends += bool(END & set(tokens))
    assert ends


@pytest.mark.parametrize("rule", [*blocks.BLOCK_RULES, "pooled-selection"])
def test_whatever_is_drafted_behind_an_end_token_makes_no_difference(rule):
    """Texts that are cut at their end have one law, and as much of it is accepted."""
    tree, wanted = ("2x1", 2) if rule == "pooled-selection" else ("1x1x1", 4)
    laws = []
    for end in (END, ()):
        start = decoder(rule, tree, end=end)
        laws.append(law_of_texts(start, wanted, END))
        kept = 0
        for mass, (step, _) in branches(start.step):
            drafted = step.tokens[: step.accepted]
            kept += mass * len(TARGET_ENDS.up_to_end(drafted))
            assert end == () or TARGET_ENDS.up_to_end(drafted) == drafted
        laws.append(kept)
    law, kept, without, as_much = laws
    assert law == without
    assert kept == as_much


def test_behind_an_end_token_no_depth_is_reached():
    ended = Step((1, 2), 2, 3, 3, ended=True)
    drawn, whole = Step((1, 2), 1, 3, 3, ended=True), Step((1, 1, 1, 1), 3, 3, 3)
    assert [step.reached for step in (ended, drawn, whole)] == [2, 2, 4]
    text = Generated((whole, ended), 3)
    assert (text.reached, text.accepted, text.acceptance) == ((2, 2, 1), (2, 2, 1), (1, 1, 1))


class Shorter(RuleVerifier):
    """Takes a block that ends for a block of so few tokens."""

    def verify(self, drafts, start, chance):
        block = replace(self, rule=replace(self.rule, length=len(drafts)))
        verdict = super(Shorter, block).verify(drafts, start, chance)
        rule = replace(verdict.verifier.rule, length=self.rule.length)
        return verdict._replace(verifier=replace(verdict.verifier, rule=rule))


def test_corrections_reach_beyond_a_block_that_ends():
    """They end where the block would have ended: to stop with its end token is not lossless."""
    for rule, lossless in {"token": True, "block-published": True, "block-preprint": False}.items():
        start = decoder(rule, "1x1x1")
        shorter = replace(start, verifier=Shorter(*vars(start.verifier).values()))
        law = law_of_texts(shorter, 4, END)
        assert (law == law_of_model(TARGET.after(PROMPT), 4, END)) is lossless


def test_equal_models_keep_whole_paths():
    for rule in ("k-sequential", "block-preprint"):
        equal = decoder(rule, "1x1x1", target=DRAFT, end=())
        steps = list(equal.steps(20, SeededChance(3)))
        assert {step.accepted for step in steps} == {3}
        assert {step.draft_calls for step in steps} == {3}
        assert sum(len(step.tokens) for step in steps) == 20


def test_equal_drafts_are_one_node_with_the_children_of_all():
    certain = TableModel({(): fractions(0, 1, 0)})
    step, after = decoder("k-sequential", "3x2", certain, certain).step(SeededChance(0))
    assert (step.drafted, step.accepted, step.tokens) == (2, 2, (1, 1, 1))
    assert after.text == (*PROMPT, 1, 1, 1)
    assert after.target.length == len(PROMPT) + 2
    # The last drafted token and the one behind it are not read by the draft model yet.
    assert after.draft.length == len(PROMPT) + 1


def test_distinct_children_are_no_more_than_there_are():
    few = TableModel({(): fractions("1/2", "1/2", 0)})
    law = law_of_texts(decoder("recursive-rejection-without-replacement", "3x2", few), 2, END)
    assert law == law_of_model(TARGET.after(PROMPT), 2, END)
    step, _ = decoder("target-only", "3", few).step(SeededChance(0))
    assert step.drafted == 2


def test_a_text_ends_with_an_end_token_or_with_enough():
    certain = TableModel({(): fractions(0, 1, 0), (1, 1, 1, 1): fractions(0, 0, 1)})
    run = decoder("token", "1x1x1", certain, certain)
    steps = list(run.steps(10, SeededChance(0)))
    assert [step.tokens for step in steps] == [(1, 1, 1, 2)]
    assert steps[0].ended
    assert steps[0].accepted == 3
    most = list(run.steps(2, SeededChance(0)))
    assert [(step.tokens, step.ended, step.accepted) for step in most] == [((1, 1), False, 3)]
