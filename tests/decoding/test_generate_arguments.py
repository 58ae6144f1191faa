"""What decoding refuses: models that cannot read trees, and what does not go together."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from otspec.blocks import TokenTree
from otspec.decoding import generate, generate_batch
from otspec.rules import KSequential


class Configuration(SimpleNamespace):
    """What a model says of itself."""

    def get_text_config(self):
        return self


class Model:
    """What looks like a causal model of transformers, and is never asked."""

    def __init__(self, training=False, **said):
        known = {"vocab_size": 5, "_attn_implementation": "sdpa", "max_position_embeddings": 20}
        self.config = Configuration(**(known | said))
        self.training = training

    def forward(self, position_ids):
        raise AssertionError(position_ids)


class NoPositions(Model):
    """A model that finds the positions of tokens itself."""

    def forward(self):
        raise AssertionError


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (None, "target is NoneType: it must be a causal model of transformers"),
        ("gpt2", "target is str: it must be a causal model of transformers"),
        (Model(training=True), r"call target.eval\(\) first"),
        (NoPositions(), "takes no position_ids"),
        (Model(_attn_implementation="flash_attention_2"), 'attn_implementation="sdpa"'),
        (Model(sliding_window=8), "do not see the whole text"),
        (Model(layer_types=["full_attention", "linear_attention"]), "do not see the whole text"),
    ],
)
def test_models_that_cannot_read_trees_are_refused(model, said):
    with pytest.raises(ValueError, match=said):
        generate(model, Model(), [0])
    with pytest.raises(ValueError, match=said.replace("target", "draft")):
        generate(Model(), model, [0])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"prompt": []}, "prompt has no token"),
        ({"prompt": "the cat"}, "prompt is 'the cat'"),
        ({"prompt": [0, 5]}, r"prompt\[1\] is 5, but token ids run from 0 to 4"),
        ({"rule": "best"}, "rule is 'best': it must be one of k-sequential, "),
        ({"rule": KSequential([1], [1], 1)}, "it must be one of"),
        ({"rule": int}, "it must be one of"),
        ({"rule": "spechub"}, r"verifies exactly 2 drafts.*1, 2, 4 children"),
        ({"rule": "maximal-coupling", "tree": "2"}, "verifies exactly 1 drafts"),
        ({"rule": "token"}, "verifies one drafted block, but the tree has branches"),
        ({"rule": "token", "tree": TokenTree((-1, -1))}, "but the tree has branches"),
        ({"rule": "token", "tree": TokenTree(())}, "verifies one drafted block"),
        ({"tree": "4x"}, "write the children by depth"),
        ({"tree": TokenTree((-1,) * 10_001)}, "tree has 10,001 nodes"),
        ({"max_new_tokens": 0}, "max_new_tokens must be at least 1"),
        ({"max_new_tokens": 17}, "come to 21 tokens, but the models have positions for 20"),
        ({"temperature": 0}, "for greedy decoding use top_k=1"),
        ({"top_k": 0}, "top_k"),
        ({"top_p": 1.5}, "top_p is 1.5"),
        ({"draft_temperature": 0}, "draft_temperature is 0: it must be positive"),
        ({"draft_top_k": 0}, "draft_top_k must be at least 1"),
        ({"draft_top_p": 1.5}, "draft_top_p is 1.5"),
        ({"draft_min_p": -1}, "draft_min_p is -1"),
        ({"draft_top_p": 0.5, "top_p": 2}, "^top_p is 2"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"end": [7]}, "end holds 7"),
        ({"on_step": 3}, "on_step is 3: it must be a function of one step"),
        ({"skip_layers": [0]}, "draft and skip_layers are two draft models: pass draft=None"),
        ({"draft": None, "skip_layers": 3}, "skip_layers is 3: it must be a collection of layers"),
        ({"draft": None, "skip_layers": [-1]}, "skip_layers must be at least 0"),
        ({"draft": None, "skip_layers": "1;2"}, "skip_layers '1;2' holds '1;2': write layers"),
        ({"draft": None, "skip_layers": [0]}, "Model has no model.layers"),
    ],
)
def test_what_cannot_be_used_is_refused(options, said):
    given = {"draft": Model(), "prompt": [0], "max_new_tokens": 8} | options
    with pytest.raises(ValueError, match=said):
        generate(Model(), **given)


@pytest.mark.parametrize(
    ("prompts", "options", "said"),
    [
        (3, {}, "prompts is 3: it must be a list of prompts, each a sequence of token ids"),
        ("the cat", {}, "prompts is 'the cat'"),
        ([0, 1], {}, r"prompts\[0\] is 0: it must be a sequence of integer token ids"),
        ([[0], []], {}, r"prompts\[1\] has no token"),
        ([[0], [1, 5]], {}, r"prompts\[1\]\[1\] is 5, but token ids run from 0 to 4"),
        ([[0], [0] * 10], {}, r"prompts\[1\], max_new_tokens .* come to 21 tokens"),
        ([[0]], {"rule": "best"}, "rule is 'best'"),
        ([[0]], {"on_step": 3}, "on_step is 3: it must be a function of a number and a step"),
        ([[0]], {"seed": -1}, "seed must be at least 0"),
        ([], {"draft_top_k": 0}, "draft_top_k must be at least 1"),
    ],
)
def test_what_cannot_be_used_in_a_batch_is_refused(prompts, options, said):
    with pytest.raises(ValueError, match=said):
        generate_batch(Model(), Model(), prompts, **({"max_new_tokens": 8} | options))


def test_a_batch_has_no_option_that_one_text_has_not():
    with pytest.raises(TypeError, match="tempertaure"):
        generate_batch(Model(), Model(), [[0]], tempertaure=2)


def test_the_smaller_vocabulary_is_the_one_of_both():
    with pytest.raises(ValueError, match="token ids run from 0 to 2"):
        generate(Model(), Model(vocab_size=3), [3])
    with pytest.raises(ValueError, match="positions for 9"):
        generate(Model(max_position_embeddings=9), Model(), [3], max_new_tokens=8)
