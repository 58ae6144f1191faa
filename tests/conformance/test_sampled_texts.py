"""Whole texts of engines with models and a state of their own, by samples."""

import itertools

import numpy as np
import pytest
from text_engines import choose

from otspec.conformance import check_texts
from otspec.models import EndingModel, memoryless

LENGTH = 3
CALLS, ROWS = "dependence between calls", "dependence between neighboring rows"


def target(text):
    """It remembers the whole text."""
    return [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.6, 0.2, 0.2]][sum(text) % 3]


def draft(text):
    return [[0.4, 0.3, 0.3], [0.3, 0.2, 0.5]][len(text) % 2]


def rows(model, texts):
    return np.array([model(tuple(text)) for text in texts.tolist()])


def test_dependence_is_looked_for_from_four_times_the_distance_on_or_at_least_a_twentieth():
    for detect, asked in ((0.005, 0.02), (0.05, 0.05), (0.3, 0.15)):
        report = check_texts(Engine(), target, LENGTH, detect=detect, budget=2_000)
        assert {case.asked for case in report.cases} == {detect, asked}


def test_a_budget_counts_texts():
    asked = []

    def counted(size, rng):
        asked.append(size)
        return Engine()(size, rng)

    check_texts(counted, target, LENGTH, budget=5_000)
    assert 2_500 < sum(asked) <= 5_000


class Engine:
    """One draft in each step, verified by a number of which a fault may make another."""

    def __init__(self, once=False, stale=False):
        self.once, self.stale = once, stale

    def __call__(self, size, rng):
        texts, numbers, last = np.zeros((size, 0), dtype=int), rng.random(size), None
        for _ in range(LENGTH):
            p, q = rows(draft, texts), rows(target, texts)
            if self.stale and last is not None:
                q = last
            numbers = numbers if self.once else rng.random(size)
            drafts, each = choose(p, rng.random(size)), np.arange(size)
            kept = numbers * p[each, drafts] < q[each, drafts]
            instead = choose(np.maximum(q - p, 0) + 1e-12 * q, rng.random(size))
            texts = np.concatenate([texts, np.where(kept, drafts, instead)[:, None]], axis=1)
            last = rows(target, texts[:, :-1])
        return texts


def statistics(engine, **options):
    report = check_texts(engine, target, LENGTH, **{"detect": 0.1} | options)
    assert (report.kind, report.mode) == ("texts", "pipeline")
    return [finding.statistic for finding in report.findings]


def test_a_right_engine_passes():
    assert statistics(Engine()) == []


def test_numbers_that_are_drawn_once_are_seen():
    assert statistics(Engine(once=True)) == ["law of the text"]


def test_rows_of_the_step_before_are_seen():
    assert statistics(Engine(stale=True)) == ["law of the first 2 tokens"]


def test_a_seed_of_each_call_is_seen():
    assert statistics(lambda size: Engine()(size, np.random.default_rng(0))) == [CALLS]


@pytest.mark.parametrize(
    ("seed", "found"),
    [
        (lambda call: call // 2, CALLS), (lambda call: (call + 1) // 2, CALLS),
        (lambda call: call % 2, "dependence between calls 2 apart"),
    ],
)  # fmt: skip
def test_seeds_of_several_calls_are_seen(seed, found):
    calls = itertools.count()
    engine = Engine()
    assert statistics(
        lambda size: engine(size, np.random.default_rng(seed(next(calls)))), detect=0.3
    ) == [found]


def test_rows_alike_are_seen():
    def engine(size, seed):
        return np.repeat(Engine()((size + 1) // 2, np.random.default_rng(seed)), 2, axis=0)[:size]

    assert ROWS in statistics(engine)


def test_the_global_generator_is_seeded():
    def engine(size):
        return Engine()(size, np.random)

    reports = [check_texts(engine, target, LENGTH, detect=0.2, seed=seed) for seed in (1, 1, 2)]
    counts = [report.cases[-1].counts.tolist() for report in reports]
    assert counts[0] == counts[1] != counts[2]


def test_what_cannot_be_tested_is_refused():
    with pytest.raises(ValueError, match="length is 8: of 3 tokens there are 6,561 texts"):
        check_texts(Engine(), target, 8)
    with pytest.raises(ValueError, match="target ends with"):
        check_texts(Engine(), EndingModel(memoryless([0.5, 0.25, 0.25]), (0,)), 2)
    with pytest.raises(ValueError, match=r"^engine takes 'draft': name its parameters size and"):
        check_texts(lambda draft: draft, target, 2)
    with pytest.raises(ValueError, match=r"^engine does not tell its parameters: "):
        check_texts(max, target, 2)
    shape = r"^the engine returned texts of type int64 and shape \(\d+, 2\)"
    with pytest.raises(ValueError, match=shape):
        check_texts(lambda size: np.zeros((size, 2), dtype=int), target, 3)
    with pytest.raises(ValueError, match=r"^what the engine returned as texts is ragged"):
        check_texts(lambda size: [[0], [0] * size], target, 3)


def test_what_an_engine_raises_is_said_of_the_engine():
    found = check_texts(lambda size: size / 0, target, 2).findings
    assert {each.reason for each in found} == {
        "the engine fails with ZeroDivisionError: division by zero"
    }
