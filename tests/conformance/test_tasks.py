"""What is tried on which cases, how much it takes, and how closely is looked."""

import numpy as np
import pytest
from test_unchanged import digest

from otspec import batch
from otspec.conformance.cases.arrays import Form
from otspec.conformance.cases.calling import Verifier
from otspec.conformance.cases.engine_tasks import engine_tasks
from otspec.conformance.cases.kinds import Block, Tokens, Tree
from otspec.conformance.cases.tasks import SPECIAL, Task, beside_tasks, kernel_tasks
from otspec.conformance.evidence.batches import (
    KernelBatches,
    StepBatches,
    long_call,
)
from otspec.conformance.evidence.dependence import CallPairs, RowPairs
from otspec.conformance.evidence.sizes import (
    FewBeside,
    FewRows,
    OddRows,
    RowsBeside,
    SingleRows,
)

VOCABULARY, ENTRIES = 67, 4_000
BLOCK, TREE = Block.of_length(2), Tree((-1, -1, 0))


def block(draft, target, drafts, lengths, rng):
    return np.zeros(len(drafts), dtype=int), drafts[:, 0]


def tree(draft, target, drafts, parents, mask, rng):
    return np.zeros(len(drafts), dtype=int), drafts[:, 0]


def warping(draft_logits, target_logits, drafts, rng, temperatures, top_p, allowed):
    return drafts[:, 0]


def engine(draft, target, prompts, rng, temperature, top_k):
    return prompts[:, 0]


def token_engine(draft, target, k, rng, temperature, top_p):
    return np.zeros(len(draft), dtype=int)


def said_of(tasks):
    """Return all that a task says of itself, but for its verifier."""
    return [
        (
            task.case.name, task.law.name, task.batches.__name__, task.before, task.large,
            task.numbers, task.handed, task.together, task.special, task.costly,
            task.wanted(0.005, 0.1), task.wanted(0.05, 0.1), task.case.vocabulary,
            [(each.name, each.labels) for each in task.statistics[:1]],
        )
        for task in tasks
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("verify", "kind", "wanted"),
    [
        (batch.maximal_coupling, Tokens(1), "af17e6687da9"),
        (block, BLOCK, "efa5ecea68b6"),
        (tree, TREE, "8134e3646868"),
        (warping, Tokens(2), "7c75946abf42"),
    ],
    ids=["tokens", "block", "tree", "warping"],
)
def test_the_tasks_of_a_verifier_are_those_that_they_were(verify, kind, wanted):
    verifier = Verifier(verify, Form())
    tasks = kernel_tasks(verifier, kind, VOCABULARY, ENTRIES) + beside_tasks(verifier, kind)
    assert digest(said_of(tasks)) == wanted


@pytest.mark.parametrize(
    ("function", "kind", "wanted"),
    [
        (token_engine, Tokens(2), "41c0c9639821"),
        (engine, BLOCK, "b4ce0745dda4"),
    ],
    ids=["tokens", "texts"],
)
def test_the_tasks_of_an_engine_are_those_that_they_were(function, kind, wanted):
    assert digest(said_of(engine_tasks(function, Form(), kind, VOCABULARY, ENTRIES))) == wanted


def made(batches=KernelBatches, before=0, large=False, kind=BLOCK):
    verifier = Verifier(block, Form())
    case = kernel_tasks(verifier, kind, VOCABULARY, ENTRIES)[0].case
    return Task(verifier, kind, case, case, batches, before, large)


@pytest.mark.parametrize(
    ("task", "numbers", "special"),
    [
        # Four symbols in each of three rows of the target.
        (made(), 12, None),
        (made(kind=Tokens(3)), 4, None),
        (made(SingleRows), 12, "single"),
        (made(FewRows), 12, "few"),
        (made(OddRows), 12, "odd"),
        (made(RowsBeside), 12 * 104, "beside"),  # 832 rows in eight calls
        (made(FewBeside), 12 * 4, "beside"),
        (made(large=True), 12, "vocabulary"),
        (made(RowPairs), 48, None),
    ],
)
def test_a_text_takes_the_rows_of_its_call(task, numbers, special):
    assert (task.numbers, task.handed, task.together) == (numbers, numbers, 1)
    assert (task.special, task.costly) == (special, special not in (None, "odd"))


def test_a_long_call_counts_the_rows_behind_the_first_ones():
    assert [sum(long_call(before)) for before in (1, 100, 4_096, 10_000)] == [
        2, 200, 8_192, 14_096
    ]  # fmt: skip
    task = made(before=100)
    assert (task.together, task.handed, task.special) == (100, 2_400, "long")
    assert task.numbers == 24
    assert made(before=10_000).numbers == -(-14_096 * 12 // 4_096)


@pytest.mark.parametrize(
    ("task", "wanted"),
    [
        (made(), 0.005), (made(StepBatches), 0.005), (made(large=True), 0.1),
        (made(SingleRows), 0.1), (made(FewRows), 0.1), (made(before=9), 0.2),
        (made(OddRows), 0.02), (made(RowsBeside), 0.1), (made(FewBeside), 0.1),
        (made(RowPairs), 0.02), (made(CallPairs), 0.02),
    ],
)  # fmt: skip
def test_how_closely_is_looked(task, wanted):
    assert task.wanted(0.005, 0.1) == wanted
    assert made(RowPairs).wanted(0.05, 0.1) == 0.05  # half of what is coarse
    assert made(before=9).wanted(0.005, 0.7) == 1.0
    assert set(SPECIAL) == {"vocabulary", "single", "few", "odd", "beside", "long", "history"}
