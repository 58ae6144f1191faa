"""Transformers that read trees: what each text gives by itself, and the target's law of texts."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from every_branch import RememberedReader, law_of_model, law_of_texts, remembered_rule
from searching import NIGHTLY
from tiny_models import transformers
from tiny_transformers import tiny_llama

from otspec.blocks import TokenTree
from otspec.blocks.trees.verifiers import draft_selection, leaf_to_root
from otspec.decoding import generate, usable_rules
from otspec.decoding.choices import as_shape, decoder_of
from otspec.decoding.transformer import TransformerReader
from otspec.decoding.verification import read_text
from otspec.models import CallableModel
from otspec.models.pretrained import without_layers
from otspec.rules import PairRule
from otspec.rules.shared_noise.base import SharedNoise
from otspec.traces import Warping

transformers()

EPS = float(np.finfo(float).eps)
TOLERANCE = 3_000 * EPS
"""Of a probability: no way from an embedding to it has more roundings, in two layers of 8 numbers
with logits of at most 10, and no way of decoding so short a text draws from more than ten."""
PROMPT = (0, 1)


@cache
def models(n=3):
    """Return a target and a draft model."""
    return tiny_llama(0, n), tiny_llama(1, n)


def fresh(model, text, warping=None):
    """Return the distribution after a text that the model reads alone, and as one."""
    import torch

    with torch.inference_mode():
        logits = model(torch.tensor([text]), use_cache=False).logits[0, -1].numpy()
    return (warping or Warping()).distribution(logits, "logits", "logits")


def reader(model, n=3, warping=None):
    return TransformerReader(model, n, warping or Warping())


@cache
def remembered(warping):
    """Return readers of the target and the draft that all decoders share."""
    target, draft = (RememberedReader(reader(model, warping=warping)) for model in models())
    return {"target": target, "draft": draft}


def random_tree(rng, nodes):
    return [int(rng.integers(-1, node)) if node else -1 for node in range(nodes)]


def test_what_a_tree_gives_is_what_each_of_its_texts_gives():
    target, _ = models(4)
    rng = np.random.default_rng(7)
    for _ in range(3):
        text, known = (1, 0), read_text(reader(target, 4), (1, 0)).reader.keep((0, 1))
        for _ in range(3):
            tree = TokenTree(tuple(random_tree(rng, 6)))
            tokens = rng.integers(4, size=6).tolist()
            first = known.read(tokens[:2], tree.parents[:2], 2)
            second = first.reader.read(tokens[2:], tree.parents[2:], 4)
            for node, row in enumerate([*first.rows, *second.rows]):
                alone = fresh(target, [*text, *(tokens[each] for each in tree.path(node))])
                assert np.abs(row - alone).max() <= TOLERANCE
            path = tree.path(int(rng.integers(6)))
            known, text = second.reader.keep(path), (*text, *(tokens[each] for each in path))
            assert known.length == len(text)


ANY_K = [
    name
    for name, rule in usable_rules().items()
    if issubclass(rule, PairRule) and rule.only_k is None and not issubclass(rule, SharedNoise)
]
WHOLE = {
    "1x1": (3, ["maximal-coupling", "token", "block-published", "block-preprint"]),
    "2": (3, ANY_K),
    "2x1": (2, ["pooled-selection", "recursive-rejection-without-replacement", "traversal"]),
    "2x2": (2, ["spechub"]),
    "[[]][]": (2, ["universal"]),
    TokenTree((-1, -1, 0, 0, 2)): (2, ["target-only", *(["universal"] if NIGHTLY else [])]),
}
"""Which trees are decoded with which rules, and how many tokens."""


@pytest.mark.parametrize("tree", WHOLE, ids=str)
def test_texts_have_the_targets_law(tree, monkeypatch):
    most, names = WHOLE[tree]
    for name in names:
        assert distance(monkeypatch, name, tree, most, Warping()) <= TOLERANCE


def test_warped_texts_have_the_warped_targets_law(monkeypatch):
    for name, warping in (
        ("pooled-selection", Warping(0.7, top_p=0.9)),
        ("recursive-rejection-without-replacement", Warping(1.5, top_k=2)),
        ("traversal", Warping(1.5, min_p=0.5, order="temperature-last")),
    ):
        assert distance(monkeypatch, name, "2x1", 2, warping) <= TOLERANCE


def distance(monkeypatch, rule, tree, most, warping):
    """Return the total variation of the law of decoded texts and that of the target's texts.

    Where two ways lead to one text, both models must have the same keys and values of it.
    """
    for module in (draft_selection, leaf_to_root):
        monkeypatch.setattr(module, "made_rule", remembered_rule)
    target, _ = models()
    end = frozenset([2])
    decoder = decoder_of(PROMPT, rule, as_shape(tree, end), **remembered(warping))
    law = law_of_texts(decoder, most, end, same_caches)
    wanted = CallableModel(lambda text: fresh(target, [*PROMPT, *text], warping))
    masses = law_of_model(wanted, most, end)
    assert set(law) == set(masses)
    return sum(abs(law[text] - masses[text]) for text in masses) / 2


def same_caches(one, other):
    for first, second in ((one.target, other.target), (one.draft, other.draft)):
        assert first.reader.parents == second.reader.parents == ()
        if first.length == second.length:
            for pair in zip(first.reader.layers, second.reader.layers, strict=True):
                for numbers, others in zip(*pair, strict=True):
                    assert float((numbers - others).abs().max()) <= TOLERANCE


@pytest.mark.parametrize(
    ("rule", "tree"),
    [("pooled-selection", "3x2x1"), ("spechub", "2x2x2"), ("block-preprint", (1, 1, 1, 1)),
     ("target-only", TokenTree((-1, -1, 0, 0, 2))), ("k-sequential", TokenTree(()))],
)  # fmt: skip
def test_the_likeliest_tokens_are_those_that_transformers_decodes(rule, tree):
    import torch

    target, draft = models(8)
    options = {"max_new_tokens": 20, "do_sample": False}
    wanted = target.generate(torch.tensor([[0, 1]]), **options)[0, 2:].tolist()
    text = generate(target, draft, [0, 1], rule=rule, tree=tree, max_new_tokens=20, top_k=1)
    assert list(text.tokens) == wanted
    assert text.ended == (wanted[-1] == 7)


def test_numbers_of_calls_and_what_was_accepted():
    target, draft = models(4)
    heard = []
    text = generate(
        target, draft, [0], tree="2x2", max_new_tokens=25, seed=4, end=(), on_step=heard.append
    )
    assert text.steps == tuple(heard)
    assert len(text.tokens) == 25
    assert text.target_calls == len(heard)
    assert text.draft_calls == 2 * len(heard)
    assert text.accepted == tuple(sum(s.accepted >= d for s in heard) for d in (1, 2))
    assert text.acceptance[1] == text.accepted[1] / text.accepted[0]
    assert text.efficiency == 1 + sum(text.accepted) / len(heard)
    again = generate(target, draft, [0], tree="2x2", max_new_tokens=25, seed=4, end=())
    assert again == text


def test_a_model_as_its_own_draft_is_always_accepted():
    target, _ = models(4)
    for rule in ("token", "block-published", "block-preprint"):
        text = generate(target, target, [0], rule=rule, tree=(1, 1), max_new_tokens=12, end=())
        assert text.accepted == (4, 4)


def test_the_target_drafts_without_some_of_its_layers():
    target, _ = models(4)
    options = {"tree": (2, 1), "max_new_tokens": 12, "seed": 3, "end": ()}
    text = generate(target, None, [0], skip_layers=[1], **options)
    assert text == generate(target, without_layers(target, [1]), [0], **options)
    assert text == generate(target, None, [0], skip_layers="1-1", **options)
    assert text.draft_calls == 2 * text.target_calls


def test_what_transformers_read_is_what_they_are_asked():
    target, draft = models(4)
    calls = []
    for name, model in (("target", target), ("draft", draft)):
        handle = model.register_forward_pre_hook(
            lambda _, args, name=name: calls.append((name, args[0].shape[1]))
        )
        calls.append((name, handle))
    handles = [calls.pop()[1] for _ in range(2)]
    text = generate(target, draft, [0, 1, 2], tree="2x1", max_new_tokens=6, end=())
    for handle in handles:
        handle.remove()
    assert sum(name == "target" for name, _ in calls) == text.target_calls
    assert sum(name == "draft" for name, _ in calls) == text.draft_calls
    # The prompt is read once, and after it what was decoded, besides the trees.
    assert calls[0] == ("draft", 3)
    assert calls[2] == ("target", 3 + text.steps[0].drafted)
    later = [size for name, size in calls[3:] if name == "target"]
    assert later == [1 + step.drafted for step in text.steps[1:]]
