"""Cases: their laws, and how symbols are tokens of a vocabulary."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from otspec.conformance.cases.arrays import logits_given
from otspec.conformance.cases.cases import embedded, memoryless, mixed, remembering, spread
from otspec.conformance.cases.kinds import Block, Tokens, Tree
from otspec.conformance.cases.library import (
    ROWS,
    TABLES,
    among,
    cases_of,
    needs_lengths,
    small_cases,
)
from otspec.conformance.cases.text_cases import text_cases
from otspec.conformance.cases.warping import neutral

KINDS = {"tokens": Tokens(3), "block": Block.of_length(2), "tree": Tree((-1, -1, 0, 1))}


@pytest.mark.parametrize("length", [1, 2, 3])
def test_the_law_of_texts_is_the_product_of_rows(length):
    draft, target = TABLES["rows that depend on the text"]
    case = remembering("a table", draft, target)
    rows = [[Fraction(w, sum(row)) for w in row] for row in target]
    for text, mass in zip(product(range(3), repeat=length), case.texts(length)[0], strict=True):
        right, row = Fraction(1), rows[0]
        for symbol in text:
            right, row = right * row[symbol], rows[symbol + 1]
        assert mass == pytest.approx(float(right), rel=1e-14)  # a few roundings


def test_pairs_of_a_mixed_case_keep_their_laws():
    first, second = memoryless("a", (1, 1), (1, 3)), memoryless("b", (1, 3), (1, 1))
    both = mixed("both", [first, second])
    assert both.variants == 2
    assert both.texts(2).tolist() == [first.texts(2)[0].tolist(), second.texts(2)[0].tolist()]


def test_beside_a_case_stands_a_pair_of_models_of_which_no_draft_is_kept():
    case = memoryless("four", (1, 2, 1, 0), (1, 1, 1, 1))
    beside = case.with_rejected
    assert beside.draft.shape == beside.target.shape == (2, 5, 4)
    assert (beside.draft[0] == case.draft[0]).all()
    assert (beside.target[0] == case.target[0]).all()
    assert beside.draft[1].tolist() == [[1 / 3, 1 / 3, 1 / 3, 0]] * 5
    assert beside.target[1].tolist() == [[0, 0, 0, 1]] * 5


def test_an_embedded_case_has_its_probabilities_at_its_tokens():
    case = embedded(memoryless("a", (4, 2, 2), (1, 1, 2)), 11, [10, 0, 5])
    wide = case.rows(case.draft[0, 0])
    assert wide.tolist() == [0.25, 0, 0, 0, 0, 0.25, 0, 0, 0, 0, 0.5]
    assert case.places.tolist() == [10, 0, 5]
    assert case.tokens(np.array([[2, 0]]), np.random.default_rng(0)).tolist() == [[5, 10]]
    assert case.symbols[[10, 0, 5, 3]].tolist() == [0, 1, 2, 3]


def test_a_spread_case_shares_a_symbol_among_its_tokens():
    case = spread(memoryless("a", (1, 3), (1, 1)), 7)
    assert case.symbols.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert case.sizes.tolist() == [4, 3]
    assert case.rows(case.draft[0, 0]).tolist() == [1 / 16] * 4 + [1 / 4] * 3
    tokens = case.tokens(np.repeat([0, 1], 4_000), np.random.default_rng(0))
    assert (case.symbols[tokens] == np.repeat([0, 1], 4_000)).all()
    counts = np.bincount(tokens, minlength=7)
    # Six standard deviations of a count of 4,000 trials.
    assert abs(counts[:4] - 1_000).max() < 6 * np.sqrt(4_000 * 3 / 16)
    assert abs(counts[4:] - 4_000 / 3).max() < 6 * np.sqrt(4_000 * 2 / 9)


@pytest.mark.parametrize("kind", KINDS)
def test_every_case_is_a_pair_of_models(kind):
    names = set()
    for case in cases_of(KINDS[kind], 1_031, uneven=True):
        for rows in (case.draft, case.target):
            assert (rows >= 0).all()
            assert np.allclose(rows.sum(axis=-1), 1, rtol=0, atol=1e-15)
            assert case.rows(rows[0, 0]).sum() == pytest.approx(1, abs=1e-12)
        assert sorted(case.symbols[case.places]) == list(range(case.n))
        assert case.name not in names
        names.add(case.name)


def test_large_cases_have_their_symbols_at_both_ends_and_at_borders_of_warps():
    large = [c for c in cases_of(KINDS["block"], 65_539, uneven=True) if c.vocabulary == 65_539]
    used = {int(place) for case in large if case.sizes.max() == 1 for place in case.places}
    borders = [31, 32, 127, 128, 255, 256, 1023, 1024, 32_767, 32_768, 65_535, 65_536]
    assert used == {0, *borders, 65_538}
    ends = {tuple(np.flatnonzero(np.isin(case.places, [0, 65_538]))) for case in large}
    assert len(ends) > 2  # not always the same symbols


def test_texts_are_told_of_the_first_and_the_last_law_in_a_large_vocabulary():
    *_, first, last, spread = text_cases(2, 4_099)
    assert [case.vocabulary for case in (first, last, spread)] == [4_099] * 3
    assert first.name != last.name
    assert spread.name == f"{text_cases(2, 4_099)[0].name}, spread over 4,099 tokens"


def test_tokens_that_a_case_does_not_have_get_logits_of_minus_infinity():
    case = among(neutral(memoryless("two symbols", (1, 3), (1, 1))), 7)
    found = logits_given(case, {}, {"draft": case.draft_logits[0, 0]})["draft_logits"]
    wanted = np.full(7, -np.inf)
    wanted[case.places] = np.log([0.25, 0.75]) + 0.5
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("vocabulary", [8, 9, 33])
def test_a_small_vocabulary_has_all_symbols(vocabulary):
    for case in cases_of(KINDS["tree"], vocabulary, uneven=True):
        assert len(set(case.places.tolist())) == case.n


def weights_of(name):
    """Draft and target of a case, in fractions."""
    return [[Fraction(weight, sum(row)) for weight in row] for row in ROWS[name]]


def test_rows_are_what_their_names_say():
    nothing, certain = Fraction(0), Fraction(1)
    draft, target = weights_of("ties")
    assert set(Counter(q / p for p, q in zip(draft, target, strict=True)).values()) == {2}
    draft, target = weights_of("draft and target alike")
    assert draft == target
    draft, target = weights_of("nearly alike")
    assert sum(abs(p - q) for p, q in zip(draft, target, strict=True)) == Fraction(2, 64)
    for name in ("disjoint supports", "both certain, of two tokens"):
        assert all(min(pair) == 0 for pair in zip(*weights_of(name), strict=True))
    pairs = list(zip(*weights_of("a drafted token that the target never says"), strict=True))
    assert any(p > 0 == q for p, q in pairs)
    pairs = list(zip(*weights_of("a token that is never drafted"), strict=True))
    assert any(p == 0 < q for p, q in pairs)
    for name, *wanted in (
        ("one certain draft", (certain, certain), (nothing, Fraction(1, 2))),
        ("one certain target", (nothing, Fraction(1, 2)), (certain, certain)),
        ("both certain, of one token", (certain, certain), (certain, certain)),
        ("a target that is nearly certain", (nothing, Fraction(1, 2)), (Fraction(999, 1000), 1)),
        ("a draft that is nearly certain", (Fraction(999, 1000), 1), (nothing, Fraction(1, 2))),
        ("both nearly certain, of one token", (Fraction(99, 100), 1), (Fraction(99, 100), 1)),
        ("both all but certain, of one token", *[(Fraction(999, 1000), 1)] * 2),
    ):
        for row, (least, most) in zip(weights_of(name), wanted, strict=True):
            assert least <= max(row) <= most, name
            assert (max(row) == 1) == (least == 1), name
    draft, target = weights_of("both nearly certain, of one token")
    assert draft.index(max(draft)) == target.index(max(target))
    draft, target = weights_of("a grammar that forbids the likeliest drafts")
    allowed = [p for p, q in zip(draft, target, strict=True) if q]
    assert sorted(draft)[: len(allowed)] == sorted(allowed)
    (drafted, _), (wanted, _) = weights_of("an unlikely draft")
    assert wanted < drafted < Fraction(1, 10)
    draft, target = TABLES["good drafts after bad ones"]
    assert draft[1] == target[1]
    assert sum(map(min, draft[0], target[0])) == sum(draft[0]) / 2


UNROUND = (
    "a target that is nearly certain", "a draft that is nearly certain", "an unlikely draft",
    "temperatures far apart", "a cold draft and a warm target", "a warm draft and a cold target",
)  # fmt: skip


@pytest.mark.parametrize("name", sorted(ROWS.keys() - set(UNROUND)))
def test_probabilities_are_short_numbers(name):
    """In base 2 or in base 10."""
    for row in ROWS[name]:
        assert sum(row) in {2**i for i in range(8)} | {10**i for i in range(6)}


def test_degenerate_pairs_are_among_the_cases():
    cases = list(small_cases(KINDS["tokens"]))
    pairs = [(case.draft[0, 0], case.target[0, 0]) for case in cases]
    found = {
        "zeros": any((p == 0).any() for p, _ in pairs),
        "ties": any(len(set((q / p).tolist())) < len(p) for p, q in pairs if (p > 0).all()),
        "alike": any((p == q).all() for p, q in pairs),
        "one ulp": any(
            p.dtype == float and 0 < abs(np.float32(q) - np.float32(p)).max() < 2e-7
            for p, q in pairs
        ),
        "disjoint": any(not (np.minimum(p, q) > 0).any() for p, q in pairs),
        "one token": any(len(p) == 1 for p, _ in pairs),
        "one-hot": any((p == 1).any() and len(p) > 1 for p, _ in pairs),
        "fewer than drafts": any(np.count_nonzero(p) < 3 for p, _ in pairs),
        "subnormal": any(((p > 0) & (p < np.finfo(np.float32).tiny)).any() for p, _ in pairs),
        "rows that differ": any(case.variants > 1 for case in cases),
        "no drafts": any(case.uneven for case in cases),
    }
    assert [name for name, there in found.items() if not there] == []


def test_a_verifier_of_whole_rows_is_not_given_fewer_drafts():
    kind = Tokens(3, "without-replacement")
    for case in cases_of(kind, 1_031, uneven=False):
        assert not case.uneven
        assert (np.count_nonzero(case.draft, axis=-1) >= 3).all()
    assert any(needs_lengths(kind, case) for case in cases_of(kind, 1_031, uneven=True))
