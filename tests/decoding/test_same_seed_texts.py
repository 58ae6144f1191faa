"""The same seed, the same text: with shared noise no draft, tree or batch changes a token."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from every_branch import TableReader, law_of_model
from scipy import stats
from searching import NIGHTLY, enough
from test_decoding_laws import DRAFT, END, LOPSIDED, PROMPT, TARGET
from test_transformers import models
from tiny_models import transformers

from otspec import batch
from otspec.blocks import DraftSelection, TokenTree
from otspec.decoding import generate, generate_batch
from otspec.decoding.choices import as_shape, decoder_of
from otspec.decoding.decoder import together
from otspec.decoding.verification import SeededChance
from otspec.models import TableModel, memoryless
from otspec.rules import GumbelCoupling

RULE = "gumbel-coupling"
TREES = ["1", "1x1x1", "2x1", "3x2x2", "2xtop2", LOPSIDED]
DRAFTS = {
    "a table": DRAFT,
    "the target": TARGET,
    "disjoint": memoryless([0, 0, 1]),
    "uniform": memoryless(["1/3"] * 3),
}


def text_of(seed, tree, draft=DRAFT, most=12, end=END):
    decoder = decoder_of(
        PROMPT, RULE, as_shape(tree, end), draft=TableReader(draft), target=TableReader(TARGET)
    )
    steps = list(decoder.steps(most, SeededChance(seed)))
    return [token for step in steps for token in step.tokens], steps


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_the_text_is_that_of_plain_decoding(tree):
    """10,080 texts at night, of six trees and four drafts."""
    for seed in range(enough(420)):
        plain, _ = text_of(seed, TokenTree(()))
        assert 1 <= len(plain) <= 12
        for draft in DRAFTS.values():
            assert text_of(seed, tree, draft)[0] == plain, (seed, draft)


def test_texts_have_the_law_of_the_target():
    size = enough(3_000)
    texts = Counter(tuple(text_of(seed, "2x1", most=3)[0]) for seed in range(size))
    law = law_of_model(TARGET.after(PROMPT), 3, END)
    assert set(texts) <= set(law)
    expected = [float(mass) * size for mass in law.values()]
    found = [texts.get(text, 0) for text in law]
    assert min(expected) > 5
    assert stats.chisquare(found, expected).pvalue > 1e-6


def test_a_draft_that_is_the_target_is_always_accepted():
    for seed in range(20):
        _, steps = text_of(seed, "1x1", TARGET, end=frozenset())
        assert all(step.accepted == 2 for step in steps[:-1])
    kept = [step.accepted for seed in range(200)
            for step in text_of(seed, "1", memoryless([1, 0, 0]), most=1)[1]]  # fmt: skip
    # One draft, token 0 for certain: accepted as often as the target says it.
    wanted = float(TARGET(PROMPT)[0])
    assert abs(np.mean(kept) - wanted) < 5 * np.sqrt(wanted * (1 - wanted) / 200)


@pytest.mark.parametrize("tree", ["1x1x1", "3x2x2", LOPSIDED], ids=str)
def test_the_first_call_keeps_what_the_tree_is_worth(tree):
    """Hoeffding's inequality for means of numbers from 0 to the depth, wrong once in 1e9."""
    size = enough(4_000)
    decoder = decoder_of(
        PROMPT, RULE, as_shape(tree), draft=TableReader(DRAFT), target=TableReader(TARGET)
    )
    kept = [next(decoder.steps(8, SeededChance(seed))).accepted for seed in range(size)]
    rule = DraftSelection(DRAFT.after(PROMPT), TARGET.after(PROMPT), tree, GumbelCoupling)
    limit = rule.tree.depth * np.sqrt(np.log(2e9) / (2 * size))
    assert abs(np.mean(kept) - float(rule.expected())) <= limit


def test_texts_of_a_batch_are_those_alone():
    prompts = [PROMPT, (0,), (1, 2, 0)]
    decoders = [
        decoder_of(
            prompt, RULE, as_shape("2x2", END), draft=TableReader(DRAFT), target=TableReader(TARGET)
        )
        for prompt in prompts
    ]
    found = {number: [] for number in range(3)}
    for number, step in together(decoders, 9, [SeededChance(4, number) for number in range(3)]):
        found[number] += step.tokens
    for number, decoder in enumerate(decoders):
        alone = [t for step in decoder.steps(9, SeededChance(4, number)) for t in step.tokens]
        assert found[number] == alone
    assert found[0] != [t for step in decoders[0].steps(9, SeededChance(4, 1)) for t in step.tokens]


def test_the_noise_is_that_of_the_batch_function():
    """An engine that takes batch.shared_noise with the same key decodes the same text."""
    chance = SeededChance(7)
    key = int(np.random.SeedSequence(7).generate_state(1, np.uint64)[0])
    row = batch.shared_noise(np.zeros((1, 5)), np.array([3]), key)[0]
    assert (chance.noise(3, 5) == row).all()
    chance.choose(np.array([0.5, 0.5]))  # what is drawn otherwise changes nothing
    assert (chance.noise(3, 5) == row).all()
    assert (chance.noise(4, 5) != row).all()


def test_random_transformers():
    """Rows of a tree differ from plain ones by rounding, which changes no token of these texts.

    250 texts at night, 20 by day.
    """
    transformers()
    target, draft = models(40)
    plain = {
        seed: generate(
            target, draft, [1, 2], rule=RULE, tree=TokenTree(()), max_new_tokens=20, seed=seed,
            end=[],
        ).tokens
        for seed in range(50 if NIGHTLY else 4)
    }  # fmt: skip
    assert len(set(plain.values())) > 2
    for tree in ("1x1", "3x2"):
        for seed, tokens in plain.items():
            text = generate(
                target, draft, [1, 2], rule=RULE, tree=tree, max_new_tokens=20, seed=seed, end=[]
            )
            assert text.tokens == tokens
            # Not a matter of the draft's temperature either.
            warm = generate(
                target, draft, [1, 2], rule=RULE, tree=tree, max_new_tokens=20, seed=seed, end=[],
                draft_temperature=2.0,
            )  # fmt: skip
            assert warm.tokens == tokens
    texts = generate_batch(
        target, draft, [[1, 2], [3]], rule=RULE, tree="2x1", max_new_tokens=20, seed=0, end=[]
    )
    again = generate_batch(
        target, draft, [[1, 2], [3]], rule=RULE, tree="1x1x1", max_new_tokens=20, seed=0, end=[]
    )
    assert [text.tokens for text in texts] == [text.tokens for text in again]


def test_lists_of_noise_are_no_rule_for_decoding():
    with pytest.raises(ValueError, match="rule is 'gumbel-lists': it must be one of"):
        decoder_of(
            PROMPT, "gumbel-lists", as_shape("2"), draft=TableReader(DRAFT),
            target=TableReader(TARGET),
        )  # fmt: skip


def test_forbidden_tokens_are_never_decoded():
    target = TableModel({(): ["1/2", "0", "1/2"]})
    decoder = decoder_of(
        PROMPT, RULE, as_shape("2x2"), draft=TableReader(DRAFT), target=TableReader(target)
    )
    for seed in range(30):
        assert all(1 not in step.tokens for step in decoder.steps(8, SeededChance(seed)))
