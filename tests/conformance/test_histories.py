"""Penalties, bad words and grammars: what comes next depends on all of the text, drafts included.

The target of each option is written here anew, from its definition.
"""

import random
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from text_engines import BlockEngine

from otspec.conformance import check, exact_texts
from otspec.conformance.cases.generated import HISTORIES, history_case
from otspec.conformance.cases.tasks import SPECIAL
from otspec.models import memoryless
from otspec.models.base import CallableModel

SMALL = {"mode": "pipeline", "vocabulary": 101, "detect": 0.1, "coarse": 0.6, "entries": 400}


def processed(row, text, frequency_penalty, bad_words, grammar):
    """Return the target's row after a text, by the definition of each option."""
    row = [float(mass) for mass in row]
    for token in text:
        row[token] /= np.exp(frequency_penalty)
    for word in bad_words:
        if tuple(text)[len(text) - len(word) + 1 :] == word[:-1]:
            row[word[-1]] = 0.0
    if grammar is not None and list(text).count(grammar.token) >= grammar.most:
        row[grammar.token] = 0.0
    return np.array(row) / sum(row)


class HistoryEngine(BlockEngine):
    """Blocks whose target is that of the text before, and of the drafts before each draft."""

    def __call__(
        self, draft, target, prompts, length, rng, frequency_penalty, bad_words, grammar
    ):  # fmt: skip
        options = (frequency_penalty, bad_words, grammar)
        if options == (0.0, (), None):
            return super().__call__(draft, target, prompts, length, rng)
        texts, last = [[] for _ in prompts], prompts
        while min(map(len, texts)) < length:
            text = self.drafted(draft, last, rng)
            offered, wanted = self.rows(draft, target, text)
            wanted = [
                [
                    processed(row, self.before(said, tokens[1 : place + 1].tolist()), *options)
                    for place, row in enumerate(rows)
                ]
                for said, tokens, rows in zip(texts, text, wanted, strict=True)
            ]
            numbers = rng.random((len(text), self.block + 1))
            step, count = self.verified(offered, np.array(wanted, "float32"), text, numbers)
            for said, tokens, number in zip(texts, step, count, strict=True):
                said.extend(tokens[:number].tolist())
            last = np.array([said[-1:] for said in texts])
        return np.array([said[:length] for said in texts])

    def before(self, said, drafts):
        """Return the text whose state is taken."""
        return [*said, *drafts]


class OfBeginning(HistoryEngine):
    """The state is that of the block's beginning."""

    def before(self, said, drafts):  # noqa: ARG002 -- that is the fault
        return said


class CountedTwice(HistoryEngine):
    """A draft is counted where it is drafted, and again where it is accepted."""

    def before(self, said, drafts):
        return [*said, *drafts, *drafts]


@pytest.mark.parametrize("option", HISTORIES)
def test_the_law_of_a_history_is_that_of_its_definition(option):
    case, law = history_case(option)
    neutral = {"frequency_penalty": 0.0, "bad_words": (), "grammar": None}
    options = (neutral | {option: HISTORIES[option]}).values()
    found = law.texts(3).reshape(case.variants, 2, 2, 2)
    for (variant, *text), mass in np.ndenumerate(found):
        wanted, context = 1.0, 0
        for place, token in enumerate(text):
            row = processed(case.target[variant, context], text[:place], *options)
            wanted, context = wanted * row[token], token + 1
        assert mass == pytest.approx(wanted, abs=1e-14)
    assert found.sum() == pytest.approx(case.variants, abs=1e-12)


def test_an_engine_whose_state_is_that_of_each_draft_passes():
    assert check(HistoryEngine(), kind="block", **SMALL).passed


@pytest.mark.parametrize("engine", [OfBeginning(), CountedTwice()], ids=["beginning", "twice"])
def test_a_state_of_another_text_is_found_in_each_option(engine):
    report = check(engine, kind="block", **SMALL)
    assert {each.case for each in report.findings} == {
        option.replace("_", " ") for option in HISTORIES
    }
    assert {each.looks_like for each in report.findings} == {(SPECIAL["history"],)}


def generate(draft, target, length, *, twice):
    """Draft two tokens that may be said once each; the engine counts by itself."""
    del target
    text = []
    while len(text) < length:
        said, drafts = list(text), []
        for _ in range(2):
            token = random.choices(range(3), draft(()).tolist())[0]
            row = row_of(said + (drafts if twice else []))
            drafts.append(token)
            if random.random() * draft(())[token] >= row[token]:
                left = [max(q - p, 0) for p, q in zip(draft(()), row, strict=True)]
                text.append(random.choices(range(3), left)[0])
                break
            said.append(token)
            text.append(token)
    return text


def row_of(text):
    """Return a target that halves a token for each time it was said."""
    weights = [Fraction(1, 2 ** list(text).count(token)) for token in range(3)]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("twice", [False, True])
def test_a_token_that_is_counted_twice_within_a_block_is_found_exactly(twice):
    draft, target = memoryless(["1/2", "1/4", "1/4"]), CallableModel(row_of, "target")
    report = exact_texts(partial(generate, twice=twice), draft, target, 3)
    assert report.lossless == (not twice)
    if twice:
        assert report.total_variation > Fraction(1, 100)
