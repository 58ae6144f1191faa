"""The sizes, looks and cells of the tests of a check, from their formulas and by hand."""

import math

import numpy as np
import pytest
from scipy.stats import ncx2

from otspec.conformance.cases.cases import memoryless, mixed, remembering
from otspec.conformance.cases.kinds import Block, Tokens
from otspec.conformance.evidence.evidence import (
    Evidence,
    Requirement,
    affordable,
    raised,
    requirement,
    requirement_of,
)
from otspec.conformance.evidence.statistics import (
    TextsOnly,
    add_answer,
    fine_counts,
    joint_statistics,
    no_answers,
    text_statistics,
)


def missed(cells, detect, alarm, rounding, size, ratio, least):
    """How often a noncentral chi-squared statistic misses (Conformance, 2)."""
    needed = math.log(2 / alarm) + size * math.log(1 + 2 * rounding)
    statistic = 2 * (needed + (cells - 1) / 2 * math.log(1 + ratio)) * (1 + ratio) / ratio
    return ncx2.cdf(statistic, cells - 1, size * least * detect**2)


@pytest.mark.parametrize(
    ("cells", "detect", "alarm", "rounding", "peak", "least"),
    [
        (2, 0.05, 1e-4, 0.0, 0.0, 4.0),
        (9, 0.1, 1e-6, 1e-6, 0.5, 4.0),
        (5, 0.001, 1e-6, 1e-6, 0.99, 1 / 0.016),
        (5, 0.0001, 1e-6, 0.0, 0.99, 1 / 0.0099),
    ],
)
def test_a_requirement_has_the_fewest_samples_that_find_it(
    cells, detect, alarm, rounding, peak, least
):
    found = requirement(cells, detect, alarm, rounding, peak)
    assert found.threshold == pytest.approx(math.log(1 / alarm))
    assert raised(detect, peak) == pytest.approx(least * detect**2)
    ratio = found.size / found.concentration
    assert ratio in (3, 10, 30)
    given = cells, detect, alarm, rounding
    assert missed(*given, found.size, ratio, least) <= 0.00025
    fewer = found.size - max(2, found.size // 500)
    assert min(missed(*given, fewer, each, least) for each in (3, 10, 30)) > 0.00025


def test_what_is_affordable_has_the_missed_chance_of_its_ratio():
    found = affordable(4, 2_000, 1e-6, 0.0)
    ratio = found.size / found.concentration
    assert missed(4, found.detect, 1e-6, 0.0, 2_000, ratio, 4.0) == pytest.approx(2.5e-4, rel=1e-3)
    smaller = [missed(4, 0.999 * found.detect, 1e-6, 0.0, 2_000, each, 4.0) for each in (3, 10, 30)]
    assert min(smaller) > 2.5e-4
    assert affordable(4, 2, 1e-6, 0.0).concentration == 1.0  # no fewer pseudo-counts


@pytest.mark.parametrize(
    ("law", "cells", "peak"),
    [([0.5, 0.25, 0.25], 3, 0.5), ([0.9, 0.0, 0.0, 0.1], 3, 0.9), ([1.0], 1, 1.0)],
)
def test_cells_without_probability_are_one(law, cells, peak):
    found = requirement_of(np.array(law), 0.05, 1e-6, 1e-6, 10**9)
    assert found == requirement(cells, 0.05, 1e-6, 1e-6, peak)
    assert requirement_of(np.array(law), 0.05, 1e-6, 1e-6, found.size) is found
    short = requirement_of(np.array(law), 0.05, 1e-6, 1e-6, found.size - 1)
    assert short == affordable(cells, found.size - 1, 1e-6, 1e-6, peak)


@pytest.mark.parametrize(
    ("size", "looks"),
    [(1, [1]), (3, [2, 3]), (512, [256, 384, 512]), (700, [350, 512, 525, 700]),
     (1_024, [512, 768, 1_024]), (1_025, [512, 513, 769, 1_024, 1_025]),
     (4_100, [512, 1_024, 2_048, 2_050, 3_075, 4_096, 4_100])],
)  # fmt: skip
def test_looks_are_powers_of_two_and_half_and_three_quarters(size, looks):
    needs = Requirement(2, 0.1, 0.01, 0.0, size, 6.0)
    evidence = Evidence(np.array([0.5, 0.5]), needs)
    assert evidence.looks() == looks
    early = {math.ceil(size / 2), math.ceil(3 * size / 4)}
    assert {each for each in range(1, size + 1) if evidence.may_pass(each)} == early


def test_what_is_near_is_so_by_pearsons_statistic():
    """1 of 8,000 laws at the distance has a smaller one: two cells, a fifth of 1,000 samples."""
    needs = Requirement(2, 0.1, 0.01, 0.0, 2_000, 6.0)
    evidence = Evidence(np.array([0.2, 0.8]), needs)
    assert evidence.freedom == 1
    counts = np.stack([np.arange(200, 261), 1_000 - np.arange(200, 261)], axis=1)
    statistic = ((counts - [200, 800]) ** 2 / [200, 800]).sum(axis=1)
    near = ncx2.cdf(statistic, 1, 1_000 * 4 * 0.1**2) <= 0.001 / 8
    assert evidence.near(counts).tolist() == near.tolist()
    assert 0 < near.sum() < len(near)
    assert [evidence.passes(each) for each in counts] == near.tolist()


def test_a_law_is_mixed_with_the_rounding():
    needs = Requirement(4, 0.1, 0.01, 0.01, 2_000, 6.0)
    evidence = Evidence(np.array([1.0, 2.0, 0.0, 1.0]), needs)
    assert evidence.expected == pytest.approx([0.25, 0.4975, 0.0025, 0.25])
    assert evidence.freedom == 2


# A pair of rows: after token 1 the second row, after token 0 the first.
CASE = remembering("a", ((1, 1), (1, 3), (3, 1)), ((1, 1), (1, 3), (3, 1)))


def test_fine_cells_are_texts_in_the_order_of_their_symbols():
    texts = np.array([[0, 0], [0, 1], [1, 0], [1, 0], [2, 0], [0, 2]])
    marks = np.array([0, 1, 1, 1, 0, 1])
    found = fine_counts(TextsOnly(2, 2), CASE, texts, marks, np.zeros(6, dtype=int))
    assert found.tolist() == [[1, 0, 0, 0, 1], [0, 1, 2, 0, 1]]
    pair = mixed("b", [CASE, CASE])
    which = np.array([0, 1, 0, 1, 1, 0])
    found = fine_counts(TextsOnly(2), pair, texts, None, which)
    assert found.tolist() == [[1, 0, 1, 0, 0, 1, 1, 0, 2]]


def test_the_law_of_beginnings():
    first, whole = text_statistics(TextsOnly(2), CASE)
    assert (first.name, whole.name) == ("law of the first token", "law of the text")
    assert first.expected.tolist() == [0.5, 0.5, 0]
    assert whole.expected.tolist() == [1 / 8, 3 / 8, 3 / 8, 1 / 8, 0]
    assert first.cells.tolist() == [[0, 0, 1, 1, 2]]
    assert whole.cells.tolist() == [[0, 1, 2, 3, 4]]
    assert first.labels == ("token 0", "token 1", "a token of probability 0")
    assert whole.labels == (
        "text (0, 0)", "text (0, 1)", "text (1, 0)", "text (1, 1)", "a token of probability 0"
    )  # fmt: skip
    assert first.counts(np.array([[1, 2, 3, 4, 5]])).tolist() == [3, 7, 5]
    names = [each.name for each in text_statistics(TextsOnly(3), CASE)]
    assert names == ["law of the first token", "law of the first 2 tokens", "law of the text"]
    (alone,) = text_statistics(TextsOnly(1), mixed("b", [CASE, CASE]))
    assert alone.name == "law of the output"
    assert alone.labels[:3] == ("token 0 of pair 0", "token 1 of pair 0", "token 0 of pair 1")
    assert alone.expected.tolist() == [0.25] * 4 + [0]


def test_the_joint_laws_of_a_block():
    kind, case = Block.of_length(1), CASE
    # Nothing kept and token 0, 1; one token kept and token 0, 1 after it.
    law = np.array([[[0.1, 0.2], [0.3, 0.4]]])
    acceptance, position, joint = joint_statistics(kind, case, law)
    assert acceptance.expected == pytest.approx([0.3, 0.7, 0])
    assert acceptance.labels[:2] == ("nothing accepted", "something accepted")
    assert position.labels == ("nothing accepted", "1 tokens kept", "a token of probability 0")
    assert position.expected == pytest.approx([0.3, 0.7, 0])
    assert joint.name == "joint law of kept length and token"
    assert joint.expected == pytest.approx([0.1, 0.2, 0.3, 0.4, 0])
    # Of texts 00, 01, 10, 11: the first token without, the second with one kept.
    assert joint.cells.tolist() == [[0, 0, 1, 1, 4], [2, 3, 2, 3, 4]]
    assert joint.labels[2] == "1 tokens kept, then token 0"


def test_the_joint_laws_of_tokens():
    kind = Tokens(2)
    case = memoryless("a", (1, 1), (1, 1))
    law = np.array([[[0.1, 0.1], [0.2, 0.2], [0.3, 0.1]]])
    acceptance, position, joint = joint_statistics(kind, case, law)
    assert acceptance.expected == pytest.approx([0.2, 0.8, 0])
    assert position.labels[:3] == ("nothing accepted", "draft 1 accepted", "draft 2 accepted")
    assert position.expected == pytest.approx([0.2, 0.4, 0.4, 0])
    assert joint.name == "joint law of accepted draft and token"
    assert joint.cells.tolist() == [[0, 1, 6], [2, 3, 6], [4, 5, 6]]
    assert joint.labels[3] == "draft 1 accepted, then token 1"


def test_an_answer_is_continued_by_the_target():
    kind = Block.of_length(1)
    law = no_answers(kind, CASE)
    assert law.shape == (2, 5)
    add_answer(law, CASE, 0, 0, (1,), 0.5)
    add_answer(law, CASE, 0, 1, (0, 1), 0.25)
    add_answer(law, CASE, 0, 1, (0, 2), 0.125)
    # After token 1 the target says 0 with 3/4.
    assert law.tolist() == [[0, 0, 0.375, 0.125, 0], [0, 0.25, 0, 0, 0.125]]
    pair = mixed("b", [CASE, CASE])
    law = no_answers(kind, pair)
    add_answer(law, pair, 1, 0, (0,), 1.0)
    assert law[0].tolist() == [0] * 4 + [0.25, 0.75, 0, 0, 0]
