"""Texts decoded together: each what it is alone, independent of the others, in few calls."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from every_branch import TableReader, law_of_model, remembered_rule
from scipy import stats
from searching import by_day
from test_decoding_laws import DRAFT, END, PROMPT, TARGET, WHOLE
from test_transformers import TOLERANCE, fresh, models, random_tree, reader
from tiny_models import transformers

from otspec.blocks import TokenTree
from otspec.blocks.trees.verifiers import draft_selection, leaf_to_root
from otspec.chance import law_of
from otspec.decoding import generate, generate_batch
from otspec.decoding.choices import as_shape, decoder_of
from otspec.decoding.decoder import together
from otspec.decoding.verification import Request, SeededChance, read_text
from otspec.models import WarpedModel
from otspec.traces import Warp, Warping
from otspec.warping import STEPS

PROMPTS = [PROMPT, (0,), (1, 2, 0)]


@pytest.fixture(autouse=True)
def _rules_are_made_once(monkeypatch):
    for module in (draft_selection, leaf_to_root):
        monkeypatch.setattr(module, "made_rule", remembered_rule)


def decoders(rule, tree, prompts=PROMPTS, draft=DRAFT, kind=TableReader):
    shape = as_shape(tree, END)
    return [
        decoder_of(prompt, rule, shape, draft=kind(draft), target=kind(TARGET))
        for prompt in prompts
    ]


def decoded(batch, most, chances):
    """Return the tokens of each text."""
    texts = [()] * len(batch)
    for number, step in together(batch, most, chances):
        texts[number] += step.tokens
    return tuple(texts)


def joint_law(batch, most):
    return law_of(lambda chance: decoded(batch, most, [chance] * len(batch)))


def product_law(prompts, most):
    laws = [law_of_model(TARGET.after(prompt), most, END).items() for prompt in prompts]
    return {
        tuple(text for text, _ in pairs): np.prod([mass for _, mass in pairs])
        for pairs in product(*laws)
    }


@pytest.mark.parametrize(
    ("rule", "tree", "most"),
    [
        ("pooled-selection", "2", 1),
        ("maximal-coupling", "1", 2),
        ("recursive-rejection-without-replacement", "2x1", 1),
        ("traversal", "2x1", 1),
        ("spechub", "2", 1),
        ("block-published", "1x1", 2),
        ("block-preprint", "1x1", 2),
    ],
)
def test_texts_of_a_batch_have_the_product_of_the_targets_laws(rule, tree, most):
    prompts = PROMPTS[:2]
    assert joint_law(decoders(rule, tree, prompts), most) == product_law(prompts, most)


@pytest.mark.parametrize(
    "warping", [{"temperature": "1/2"}, {"top_k": 1}, {"top_p": "1/2"}, {"min_p": 1}]
)
def test_a_draft_that_is_warped_apart_makes_no_difference_to_the_law(warping):
    draft = WarpedModel(DRAFT, **warping)
    prompts = PROMPTS[:2]
    law = product_law(prompts, 1)
    for rule, tree in (("k-sequential", "2"), ("universal", "2x1"), ("block-preprint", "1x1")):
        assert joint_law(decoders(rule, tree, prompts, draft), 1) == law


@dataclass(frozen=True, eq=False)
class MixedUp(TableReader):
    """A reader that gives the texts of a batch each other's distributions."""

    @classmethod
    def read_all(cls, requests):
        readings = super().read_all(requests)
        rows = [reading.rows for reading in readings]
        if len({len(each) for each in rows}) == 1:
            rows.reverse()
        return [
            type(reading)(each, reading.reader)
            for each, reading in zip(rows, readings, strict=True)
        ]


def test_texts_that_are_mixed_up_are_noticed():
    prompts = PROMPTS[:2]
    batch = decoders("pooled-selection", "2", prompts, kind=MixedUp)
    assert joint_law(batch, 1) != product_law(prompts, 1)


@pytest.mark.parametrize("tree", WHOLE, ids=str)
def test_each_text_is_the_one_that_it_is_alone(tree):
    for rule in WHOLE[tree][1]:
        for seed in range(3):
            alone = [
                [step for _, step in together([each], 6, [SeededChance(seed, number)])]
                for number, each in enumerate(decoders(rule, tree))
            ]
            chances = [SeededChance(seed, number) for number in range(len(PROMPTS))]
            batch = [[] for _ in PROMPTS]
            for number, step in together(decoders(rule, tree), 6, chances):
                batch[number].append(step)
            assert batch == alone


def test_all_texts_are_read_in_one_call(monkeypatch):
    calls, read_all = [], TableReader.read_all

    def counted(requests):
        calls.append((requests[0].drafting, len(requests)))
        return read_all(requests)

    monkeypatch.setattr(TableReader, "read_all", staticmethod(counted))
    chances = [SeededChance(7, number) for number in range(3)]
    texts = [[], [], []]
    for number, step in together(decoders("k-sequential", "2x2x1"), 12, chances):
        texts[number].append(step)
    rounds = [[text[i] for text in texts if i < len(text)] for i in range(max(map(len, texts)))]
    assert [size for drafting, size in calls if not drafting] == list(map(len, rounds))
    drafted = [[step.draft_calls for step in steps] for steps in rounds]
    sizes = [size for drafting, size in calls if drafting]
    assert len(sizes) == sum(map(max, drafted))
    assert sum(sizes) == sum(map(sum, drafted))


def test_a_batch_of_no_text_is_none():
    assert list(together([], 5, [])) == []


# Transformers


def test_what_a_batch_gives_is_what_each_of_its_texts_gives():
    transformers()
    target, _ = models(4)
    rng = np.random.default_rng(3)
    for _ in range(5):
        texts = [tuple(rng.integers(4, size=size).tolist()) for size in (1, 5, 2, 3)]
        known = [reader(target, 4) for _ in texts]
        begun = rng.random(len(texts)) < 0.7  # the others read their text with the first tree
        known = [
            read_text(each, text).reader.keep(range(len(text))) if yes else each
            for each, text, yes in zip(known, texts, begun, strict=True)
        ]
        for _ in range(2):
            trees = [TokenTree(tuple(random_tree(rng, int(rng.integers(1, 6))))) for _ in texts]
            tokens = [rng.integers(4, size=len(tree)).tolist() for tree in trees]
            unread = [text[each.length :] for each, text in zip(known, texts, strict=True)]
            requests = [
                Request(
                    each,
                    [*rest, *new],
                    [*range(-1, len(rest) - 1), *(len(rest) + node for node in tree.parents)],
                    len(tree),
                )
                for each, rest, tree, new in zip(known, unread, trees, tokens, strict=True)
            ]
            readings = type(known[0]).read_all(requests)
            paths = [tree.path(int(rng.integers(len(tree)))) for tree in trees]
            for text, tree, new, reading in zip(texts, trees, tokens, readings, strict=True):
                assert len(reading.rows) == len(tree)
                for node, row in enumerate(reading.rows):
                    alone = fresh(target, [*text, *(new[each] for each in tree.path(node))])
                    assert np.abs(row - alone).max() <= TOLERANCE
            known = [
                reading.reader.keep([*range(len(rest)), *(len(rest) + node for node in path)])
                for reading, rest, path in zip(readings, unread, paths, strict=True)
            ]
            texts = [
                (*text, *(new[node] for node in path))
                for text, new, path in zip(texts, tokens, paths, strict=True)
            ]
            assert [each.length for each in known] == [len(text) for text in texts]


@pytest.mark.parametrize(
    ("rule", "tree"),
    [("pooled-selection", "3x2x1"), ("traversal", "2x2"), ("block-preprint", "1x1x1"),
     ("target-only", "2xtop2"), ("k-sequential", TokenTree(()))],
)  # fmt: skip
def test_texts_of_transformers_are_those_that_they_are_alone(rule, tree):
    """Up to rounding, which decides with a chance of some 1e-13 for each number drawn."""
    transformers()
    target, draft = models(5)
    prompts = [[0], [1, 2, 3, 0], [2, 2]]
    options = {"rule": rule, "tree": tree, "max_new_tokens": 14, "draft_temperature": 0.6}
    heard = []
    batch = generate_batch(
        target, draft, prompts, seed=4, on_step=lambda *each: heard.append(each), **options
    )
    readers = {
        "draft": reader(draft, 5, Warp(0.6)),
        "target": reader(target, 5, Warp()),
    }
    shape = as_shape(tree, (4,))
    for number, (prompt, text) in enumerate(zip(prompts, batch, strict=True)):
        alone = decoder_of(tuple(prompt), rule, shape, **readers)
        assert text.steps == tuple(alone.steps(14, SeededChance(4, number)))
        assert text.steps == tuple(step for each, step in heard if each == number)
    [first] = generate_batch(target, draft, prompts[:1], seed=4, **options)
    assert first == batch[0]
    assert generate_batch(target, draft, [], **options) == []


APART = {
    "draft_temperature": {"draft_temperature": 0.4},
    "draft_top_k": {"draft_top_k": 1},
    "draft_top_p": {"draft_top_p": 0.5, "top_k": 3},
    "draft_min_p": {"draft_min_p": 0.9},
    "all of the draft": {"draft_top_p": 1, "draft_min_p": 0, "top_p": 0.9, "min_p": 0.1},
}


def law_of_two(target, prompt, warping):
    """Return the law of the two tokens after a prompt."""
    law, first = {}, fresh(target, prompt, warping)
    for one in np.flatnonzero(first).tolist():
        second = fresh(target, (*prompt, one), warping)
        law |= {(one, two): first[one] * second[two] for two in np.flatnonzero(second).tolist()}
    return law


def fits(texts, law):
    """Whether texts may be of a law: chi-squared is not above the largest of 20,000 samples'."""
    counts = Counter(text.tokens for text in texts)
    if set(counts) - set(law) or len(law) == 1:
        return set(counts) == set(law)
    expected = len(texts) * np.array(list(law.values()))
    drawn = np.random.default_rng(0).multinomial(len(texts), expected / expected.sum(), 20_000)
    observed = np.array([counts[text] for text in law])
    squares = ((np.vstack([drawn, observed]) - expected) ** 2 / expected).sum(axis=1)
    return squares[-1] <= squares[:-1].max()


@pytest.mark.parametrize("apart", by_day(APART, ["draft_top_k", "all of the draft"]))
def test_texts_with_a_draft_that_is_warped_apart_have_the_targets_law(apart):
    transformers()
    target, draft = models(4)
    options = APART[apart] | {"temperature": 3.0}  # so that no token is nearly certain
    warping = Warping(**{name: options[name] for name in STEPS if name in options})
    prompts = [(0, 1), (2,)]
    for rule, tree in (("pooled-selection", "2x1"), ("block-published", "1x1")):
        found = generate_batch(
            target, draft, prompts * 300, rule=rule, tree=tree, max_new_tokens=2, seed=1, end=(),
            **options,
        )  # fmt: skip
        for place, prompt in enumerate(prompts):
            assert fits(found[place::2], law_of_two(target, prompt, warping))
            # Of a flatter law: the chi-squared of one with rare tokens has no power.
            assert not fits(found[place::2], law_of_two(target, prompt, Warping(8.0)))


def test_the_draft_is_warped_as_it_is_told():
    """What is accepted says so: a draft of one token is accepted as often as the target says."""
    transformers()
    target, _ = models(4)
    size = 400
    options = {"rule": "token", "tree": "1", "max_new_tokens": 1, "end": ()}
    likeliest = float(fresh(target, (0, 1)).max())
    alike = generate_batch(target, target, [(0, 1)] * size, **options)
    assert all(text.steps[0].accepted for text in alike)
    apart = generate_batch(target, target, [(0, 1)] * size, draft_top_k=1, **options)
    kept = sum(text.steps[0].accepted for text in apart)
    low, high = stats.binom.interval(1 - 1e-9, size, likeliest)
    assert likeliest < 0.9
    assert low <= kept <= high


def test_one_text_has_the_options_of_a_batch():
    transformers()
    target, draft = models(4)
    options = {"tree": "2x1", "max_new_tokens": 10, "end": (), "draft_temperature": 0.5}
    one = generate(target, draft, [0, 1], seed=2, **options)
    readers = {"draft": reader(draft, 4, Warp(0.5)), "target": reader(target, 4, Warp())}
    alone = decoder_of((0, 1), "pooled-selection", as_shape("2x1"), **readers)
    assert one.steps == tuple(alone.steps(10, SeededChance(2)))
