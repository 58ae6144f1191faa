"""Drafts as strings of another tokenizer: what a rule has to be told (Theory, 51)."""

from fractions import Fraction
from itertools import product

import pytest
from instances import fractions, weights
from numpy.random import default_rng

import otspec
from otspec.drafts import on_target_strings
from otspec.rules import RULES

TARGET = ["a", "b", "ab", "aba", "bb", "babb"]


def longest(string, tokens=TARGET):
    return max((token for token in tokens if string.startswith(token)), key=len)


def enumerated(rows, writes, tokens, steps):
    """The law of the first token, over all texts of so many draft tokens."""
    law = dict.fromkeys(tokens, Fraction(0))
    for text in product(range(len(writes)), repeat=steps):
        mass = Fraction(1)
        for place, token in enumerate(text):
            mass *= rows(text[:place])[token]
        law[longest("".join(writes[token] for token in text), tokens)] += mass
    return list(law.values())


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_law_of_the_first_token_of_all_texts(seed):
    rng = default_rng(seed)
    writes = ["a", "b", "ba"]
    table = {last: weights(rng, 3, 9) for last in (None, 0, 1, 2)}

    def rows(text):
        return table[text[-1] if text else None]

    found = on_target_strings(rows, writes, TARGET)
    assert found.tolist() == enumerated(rows, writes, TARGET, 4)
    target = weights(rng, len(TARGET), 9)
    rule = RULES["pooled-selection"].of_pair(found, target, 2)
    assert otspec.audit(rule.kernel, law=otspec.IID(found, 2), target=target).lossless


def test_a_rule_that_is_told_how_likely_the_strings_are_is_not_lossless():
    drawn = on_target_strings(lambda _: fractions("1/2", "1/2"), ["a", "b"], ["a", "b", "ab"])
    told = fractions("2/5", "2/5", "1/5")  # 1/2, 1/2 and 1/4, scaled
    rule = RULES["maximal-coupling"].of_pair(told, told, 1)
    report = otspec.audit(rule.kernel, law=otspec.IID(drawn, 1), target=told)
    assert (report.lossless, report.total_variation) == (False, Fraction(3, 20))


def test_where_no_token_begins_another_the_strings_probabilities_are_the_law():
    law = on_target_strings(lambda _: ["1/3", "2/3"], ["a", "b"], ["aa", "ab", "b"])
    assert law.tolist() == list(fractions("1/9", "2/9", "2/3"))


def test_strings_without_a_token_are_drawn_again():
    law = on_target_strings(lambda _: ["1/2", "1/4", "1/4"], ["a", "b", "c"], ["a", "ab", ""])
    assert law.tolist() == list(fractions("3/4", "1/4", 0))


def test_what_cannot_be_used_is_refused():
    for writes, strings, message in (
        (["a", ""], ["a"], "empty"),
        (["a", "b"], ["a", "a"], "equal"),
        (["a", "b"], ["c"], "begins with one of strings"),
        (["a"], ["a"], "one string for each"),
    ):
        with pytest.raises(ValueError, match=message):
            on_target_strings(lambda _: [0.5, 0.5], writes, strings)


def trained(kind):
    tokenizers = pytest.importorskip("tokenizers")
    texts = ["abab babb aba", "bb ab abab aba", "babb bab ab"] * 4
    if kind == "wordpiece":
        made = tokenizers.Tokenizer(
            tokenizers.models.WordPiece(unk_token="?", max_input_chars_per_word=100)  # noqa: S106
        )
        trainer = tokenizers.trainers.WordPieceTrainer(
            vocab_size=16, special_tokens=["?"], continuing_subword_prefix=""
        )
    else:
        made = tokenizers.Tokenizer(tokenizers.models.BPE())
        trainer = tokenizers.trainers.BpeTrainer(vocab_size=9, show_progress=False)
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.train_from_iterator(texts, trainer)
    return made


def first_tokens(kind, length):
    """What a trained tokenizer makes first of each string, and its tokens."""
    made = trained(kind)
    tokens = sorted(token for token in made.get_vocab() if {*token} <= {*"ab"})
    texts = ["".join(text) for text in product("ab", repeat=length)]
    return {text: made.encode(text).tokens[0] for text in texts}, tokens


def test_of_a_trained_tokenizer_that_matches_the_longest_it_is_the_law():
    first, tokens = first_tokens("wordpiece", 8)
    assert max(map(len, tokens)) <= 8
    law = dict(
        zip(tokens, on_target_strings(lambda _: ["1/3", "2/3"], ["a", "b"], tokens), strict=True)
    )
    found = dict.fromkeys(tokens, Fraction(0))
    for text, token in first.items():
        found[token] += Fraction(2 ** text.count("b"), 3 ** len(text))
    assert law == found


def test_a_trained_tokenizer_that_merges_is_another_map():
    first, tokens = first_tokens("bpe", 6)
    assert any(token != longest(text, tokens) for text, token in first.items())
