"""What the options of a check come to, by default and as they are given, and what engines get."""

import math

import numpy as np
import pytest

from otspec import batch
from otspec.conformance import Report, check
from otspec.conformance.cases.arrays import Form
from otspec.conformance.cases.cases import embedded, remembering
from otspec.conformance.cases.drafting import Sample
from otspec.conformance.cases.generated import Texts
from otspec.conformance.cases.kinds import Block, Tokens
from otspec.conformance.engines import SmallModel, TextEngine, TokenEngine
from otspec.conformance.evidence.case_by_case import Check

DEFAULTS = {
    "kind": "tokens", "mode": "kernel", "maker": None, "detect": 0.005, "false_alarm": 1e-6,
    "rounding": 1e-6, "budget": 10**11, "seed": 0, "coarse": 0.1, "unit": 1, "require": 1.0,
    "seconds": math.inf,
}  # fmt: skip


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, {}),
        ({"detect": 0.2}, {"detect": 0.2, "coarse": 0.2}),
        ({"detect": 0.02, "coarse": 0.02}, {"detect": 0.02, "coarse": 0.02}),
        ({"coarse": 1}, {"coarse": 1.0}),
        ({"detect": 1, "require": 0.5}, {"detect": 1.0, "coarse": 1.0, "require": 0.5}),
        ({"dtype": "float64"}, {"rounding": 1e-9}),
        ({"dtype": "float16", "detect": 0.5}, {"rounding": 2e-3, "detect": 0.5, "coarse": 0.5}),
        ({"rounding": 0}, {"rounding": 0.0}),
        ({"rounding": 9e-101}, {"rounding": 0.0}),
        ({"rounding": 1e-100}, {"rounding": 1e-100}),
        ({"rounding": 0.1}, {"rounding": 0.1}),
        (
            {"false_alarm": 0.5, "seed": 7, "budget": 1},
            {"false_alarm": 0.5, "seed": 7, "budget": 1},
        ),
        ({"mode": "exact"}, {"mode": "exact"}),
        ({"mode": "exact", "seconds": 5}, {"mode": "exact", "seconds": 5.0}),
    ],
)
def test_options_of_a_check(monkeypatch, given, wanted):
    seen = []

    def run(self, _progress):
        seen.append(self)
        return Report("tokens", "kernel", (), (), 1e-6)

    monkeypatch.setattr(Check, "run", run)
    report = check(batch.maximal_coupling, shape=1, **given)
    (made,) = seen
    assert {name: getattr(made, name) for name in DEFAULTS} == DEFAULTS | wanted
    asked = {name: value for name, value in given.items() if name != "mode"}
    first = {"kind": "tokens", "mode": given.get("mode", "kernel"), "shape": 1}
    assert report.settings == first | {"seed": 0} | asked


def test_tasks_are_of_the_vocabulary_and_the_entries(monkeypatch):
    seen = []
    monkeypatch.setattr(
        Check, "run", lambda self, _: seen.append(self) or Report("", "", (), (), 1e-6)
    )
    check(batch.maximal_coupling, shape=1, vocabulary=67, entries=500)
    (made,) = seen
    assert max(task.case.vocabulary for task in made.tasks) == 67
    assert sorted({task.before for task in made.tasks}) == [0, 8, 500]  # 8 rows of 67 are 500
    check(batch.maximal_coupling, shape=1, vocabulary=67, least_vocabulary=11, reserved=(0, 5))
    assert min(task.case.vocabulary for task in seen[1].tasks) == 11
    for task in seen[1].tasks:
        assert (task.case.symbols[[0, 5]] == task.case.n).all()


CASE = embedded(remembering("a", ((1, 1), (1, 3), (3, 1)), ((3, 1), (1, 1), (1, 3))), 5, [4, 1])
"""Symbols 0 and 1 are the tokens 4 and 1."""


def test_a_small_model_goes_on_after_each_token():
    model = SmallModel(CASE.draft[0, 1:], CASE, Form())
    after = {4: [0, 0.75, 0, 0, 0.25], 1: [0, 0.25, 0, 0, 0.75], 0: [0, 0.5, 0, 0, 0.5]}
    for token, row in (*after.items(), (-1, after[0]), (3, after[0])):
        assert model(np.array([[9 % 5, token]])).tolist() == [row]
    texts = np.array([[4, 1, 0], [1, -1, 4]])
    assert model.rows(texts).tolist() == [
        [after[4], after[1], after[0]], [after[1], after[0], after[4]]
    ]  # fmt: skip
    logits = model.logits(texts)
    assert np.exp(logits) == pytest.approx(model.rows(texts))
    assert logits[0, 0, 0] == -math.inf


def sample(*symbols):
    drafts = np.array(symbols)[:, None]
    return Sample(np.zeros(len(drafts), int), drafts, CASE.places[drafts], drafts >= 0)


def test_what_an_engine_is_given():
    def texts(draft, target, prompts, length, block, parents, temperature, top_k, top_p, min_p):
        return None

    given = TextEngine(texts, Form(), {"temperature": 0.6}).arrays(
        Texts(Block.of_length(2)), CASE, sample(0, 1)
    )
    assert (given["length"], given["block"], given["parents"]) == (4, 2, (-1, 0))
    assert (given["temperature"], given["top_k"], given["top_p"], given["min_p"]) == (0.6, 5, 1, 0)
    assert given["prompts"].tolist() == [[4], [4]]
    assert given["draft"](np.array([[4]])).tolist() == [[0, 0.75, 0, 0, 0.25]]
    assert given["target"](np.array([[4]])).tolist() == [[0, 0.5, 0, 0, 0.5]]

    def tokens(draft, target_logits, k, temperature):
        return None

    given = TokenEngine(tokens, Form()).arrays(Tokens(3), CASE, sample(0, 1))
    assert given["draft"].tolist() == [[0, 0.5, 0, 0, 0.5]] * 2
    assert np.exp(given["target_logits"] + 1.25) == pytest.approx(
        np.array([[0, 0.25, 0, 0, 0.75]] * 2)
    )
    assert (given["k"], given["temperature"]) == (3, 1.0)
    assert not {"target", "draft_logits"} & set(given)
