"""Rows that have what is another row's, at the ends of calls and at borders of tiles."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from small_verifiers import drawn

from otspec.conformance.cases.arrays import Form
from otspec.conformance.cases.calling import Verifier
from otspec.conformance.cases.kinds import Block, Tokens, Tree
from otspec.conformance.cases.library import in_calls
from otspec.conformance.cases.tasks import SPECIAL, kernel_tasks
from otspec.conformance.evidence.case_by_case import Check
from otspec.conformance.evidence.sizes import FewBeside, FewRows, RowsBeside

KINDS = {"tokens": Tokens(2), "block": Block.of_length(2), "tree": Tree((-1, -1))}


def outcome(verifier, kind):
    """Check a verifier in the first case, and of rows beside each other."""
    first, *tasks = kernel_tasks(Verifier(verifier, Form()), KINDS[kind], 67, 64)
    beside = [task for task in tasks if task.batches in (FewBeside, RowsBeside)]
    assert len(beside) == 2
    whole = Check((first, *beside), kind, "kernel", None, 0.05, 1e-6, 1e-6, 10**9, 0, 0.1)
    return whole.run(lambda *_: None)


def first_row(rows):
    return (rows if rows.ndim == 2 else rows[:, 0]).astype(float)


def verifier_of(kind, taken, pairs):
    """A verifier of the first draft alone, of which some rows take what is another row's."""

    def says(draft, target, drafts, rng):
        to, of = np.array(pairs(len(drafts)), dtype=int).reshape(-1, 2).T
        draft, target, first = first_row(draft), first_row(target), drafts[:, 0]
        uniforms = rng.random((2, len(drafts)))
        for name, values in (("draft", draft), ("target", target), ("numbers", uniforms.T)):
            if name in taken:
                values[to] = values[of]
        rows = np.arange(len(drafts))
        kept = uniforms[0] * draft[rows, first] < target[rows, first]
        rest = np.maximum(target - draft, 0)
        rest = np.where(rest.sum(axis=1, keepdims=True) > 0, rest, target)
        token = np.where(kept, first, drawn(rest, uniforms[1]))
        if "answer" in taken:
            token[to] = token[of]
        return token if kind == "tokens" else (np.full(len(rows), -(kind == "tree")), token)

    return says


def last(condition):
    return lambda count: [(count - 1, count - 2)] if count > 1 and condition(count) else []


PLACES = {
    "last of odd calls from 31 rows on": last(lambda count: count >= 31 and count % 2),
    "last of odd calls of few rows": last(lambda count: count < 8 and count % 2),
    "first": lambda count: [(0, 1)] if count > 1 else [],
    "first of few rows": lambda count: [(0, count - 1)] if 1 < count < 8 else [],
    "before a tile of 64": lambda count: [(at - 1, at) for at in range(64, count, 64)],
    "first of a tile of 32": lambda count: [(at, at - 1) for at in range(32, count, 32)],
}


@pytest.mark.parametrize(
    ("place", "taken", "kind"),
    [
        *((place, "answer", "tokens") for place in PLACES),
        *((place, "target", "block") for place in [*PLACES][::2]),
        *((place, "numbers", "tree") for place in [*PLACES][1::2]),
        (next(iter(PLACES)), "numbers", "tokens"),
    ],
)
def test_rows_that_have_what_is_another_rows_are_found(place, taken, kind):
    report = outcome(verifier_of(kind, taken, PLACES[place]), kind)
    assert report.outcome == "failed"
    for each in report.findings:
        assert each.case.startswith("rows beside each other")
        assert each.statistic.startswith("joint law of")
        assert each.looks_like == (SPECIAL["beside"],)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_have_their_own_pass(kind):
    assert outcome(verifier_of(kind, "", last(bool)), kind).passed


def test_two_rows_have_the_product_of_their_laws():
    """A third of the rows has each of three turns of two rows of weights."""
    (case,) = in_calls(Tokens(1), "a case", uneven=False)
    steps = [Fraction(3, 4) ** power for power in (5, 2, 1, 0)]
    squares = [step**2 for step in steps]
    turns = steps, [*squares[3:], *squares[:3]], [*steps[2:], *steps[:2]]
    first = [weight / (3 * sum(row)) for row in turns for weight in row]
    (law,) = RowsBeside.statistics(Tokens(1), case)
    assert law.expected.tolist() == pytest.approx(
        [*(float(one * two) for one, two in product(first, repeat=2)), 0], rel=1e-15
    )
    assert law.labels[16] == "token 1 of pair 0, then token 0 of pair 1"
    assert law.labels[-1] == "a token of probability 0"
    assert law.samples == 5


@pytest.mark.parametrize("batches", [RowsBeside, FewBeside])
def test_one_pair_of_each_two_places_is_counted_in_each_call(batches):
    """The verifier says which row it is, by its remainder by 4."""
    rows = []

    def verify(draft, target, drafts, rng):
        rows.append(len(drafts))
        return np.arange(len(drafts)) % 4

    made = Verifier(verify, Form())
    (case,) = in_calls(Tokens(1), "a case", uneven=False)
    counts = batches(made, Tokens(1), case, made.randomness(0), np.random.default_rng(0))(24)
    assert rows == [*batches.sizes * 4][:24]
    seen = counts.reshape(5, 13, 13)
    assert seen[:, -1].sum() == seen[:, :, -1].sum() == 0
    tokens = seen[:, :12, :12].reshape(5, 3, 4, 3, 4).sum(axis=(1, 3))
    wanted = np.zeros((5, 4, 4), dtype=int)
    for count in rows:
        border = max(1 << power for power in range(8) if 1 << power < count)
        tile = max(32 * times for times in range(8) if 32 * times < count)
        places = ((0, 1), (count - 2, count - 1), (0, count - 1), (border - 1, border),
                  ((tile - 1) % count, tile))  # fmt: skip
        for way, (one, two) in enumerate(places):
            wanted[way, one % 4, two % 4] += 1
    assert (tokens == wanted).all()


def test_few_rows_are_in_calls_of_each_size_about_as_often():
    rows = [FewRows.sizes.count(size) * size for size in range(2, 8)]
    assert set(FewRows.sizes) == set(range(2, 8))
    assert max(rows) - min(rows) <= 4
    assert FewRows.sizes.count(2) == 6
