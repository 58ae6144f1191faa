"""Every known fault is wrong in kernel, exact and pipeline mode, or in none.

The laws of faults say on which cases they are wrong; and each fault is written as a function of
arrays, whose answers in each mode have the law of the table.
"""

from contextlib import suppress
from functools import lru_cache

import numpy as np
import pytest
from faulty_verifiers import engine_of, token_engine_of, verifier_of

from otspec.chance import CannotFollowError
from otspec.conformance.cases.arrays import DTYPES, Form
from otspec.conformance.cases.calling import Verifier
from otspec.conformance.cases.generated import DrawnToken, Texts
from otspec.conformance.cases.kinds import Tokens
from otspec.conformance.cases.library import (
    cases_of,
    needs_lengths,
    small_cases,
)
from otspec.conformance.cases.tasks import Task
from otspec.conformance.cases.text_cases import beside_texts, text_cases
from otspec.conformance.engines import TextEngine, TokenEngine
from otspec.conformance.evidence.batches import KernelBatches
from otspec.conformance.evidence.evidence import Evidence, requirement_of
from otspec.conformance.exact_check import exact_counts
from otspec.conformance.faults import FAULTS, RIGHT_RULES
from otspec.conformance.faults.base import faults_of, joint_law
from tests.support.docs_scripts import script

FORM = Form("numpy", "float64")
measure = script("fault_controls")
DETECT = measure.DETECT
RULE = {rule.name: rule for rule in RIGHT_RULES}
BY_DAY = (
    "unlikely drafts always accepted", "correction is the likeliest token",
    "correction uniform over the residual", "correction at another temperature",
    "random number shared by draft and correction", "residual clipped",
    "residual of rows that follow", "random numbers off by one",
    "seed set again in each step", "numbers of verification used again in each step",
    "numbers of drafts used again in each step", "next step follows the rejected draft",
    "number of the draw used again for the next draft",
    "draft of another row of the batch", "target of another text after a rejection",
    "target's row of the place after", "draft's row of the place after",
    "token after a whole path lost", "last token of each step lost",
    "last token of each step doubled", "text ends with a draft that is not verified",
    "text filled up with drafts that are not verified", "text ends with padding",
    "text ends with its last token once more", "padding counted as drafts",
)  # fmt: skip
"""Those that few cases show: a residual of one token, say, is drawn right in any way."""


@lru_cache
def kernel_cases(kind):
    """Return the small cases of kernel and exact mode, of full rows and fast ones first."""
    cases = (case for case in small_cases(kind) if not needs_lengths(kind, case))
    return tuple(sorted(cases, key=lambda case: case.ways))


@lru_cache
def pipeline_cases(kind):
    """Return the small cases of pipeline mode, fast ones first."""
    if isinstance(kind, DrawnToken):
        cases = cases_of(kind, 101, uneven=False)
    else:
        cases = [*text_cases(kind.length, 101), beside_texts()]
    return tuple(sorted((each for each in cases if each.named), key=lambda case: case.ways))


def generated(kind):
    """Return what an engine says that drafts itself."""
    return DrawnToken(kind.k, kind.law) if isinstance(kind, Tokens) else Texts(kind)


def distances(fault, rule, kind, cases):
    """Yield how far a fault is off, and where, on the cases whose law can be had."""
    for case in cases:
        with suppress(CannotFollowError):
            law = joint_law(fault.machine, rule, kind, case)
            yield measure.total_variation(law, measure.right_law(kind, case)), case


def shows(fault, rule, kind, cases):
    """Return whether a fault is as far off on some case as a check has to find."""
    return any(far >= DETECT for far, _ in distances(fault, rule, kind, cases))


def agrees(fault, rule):
    """Return whether a fault shows in kernel and in pipeline mode, or in none of them.

    What reaches from one step to the next shows in texts of several steps alone.
    """
    kind = measure.kind_of(rule)
    alone = shows(fault, rule, kind, kernel_cases(kind))
    texts = shows(fault, rule, generated(kind), pipeline_cases(generated(kind)))
    return (alone, texts) == (False, True) if fault.machine.across else alone == texts


@pytest.mark.parametrize("rule", ["block verification", "recursive rejection by depth"])
def test_faults_that_few_cases_show_are_wrong_in_all_modes(rule):
    for name in BY_DAY:
        assert agrees(FAULTS[name], RULE[rule]), name


@pytest.mark.nightly
@pytest.mark.parametrize("name", RULE)
def test_every_fault_is_wrong_in_all_modes_or_in_none(name):
    """Exact mode compares the laws of kernel mode without samples."""
    others = [fault.name for fault in faults_of(RULE[name].kind) if not agrees(fault, RULE[name])]
    assert others == []


def worst(fault, rule, kind, cases):
    """Return the case on which a fault shows best; None if it shows on none."""
    far, case = max(distances(fault, rule, kind, cases), key=lambda each: each[0])
    return case if far >= DETECT else None


def explains(law, kind, case, counts):
    """Return whether counts, or a law, are those of a fault and not of a correct verifier."""
    detect = 0.9 * measure.total_variation(law, measure.right_law(kind, case))
    seen, wrong = counts.sum(axis=0), []
    for expected in (law.sum(axis=0), measure.right_law(kind, case)):
        needs = requirement_of(expected, detect, 1e-6, DTYPES["float32"], 10**9)
        wrong.append(Evidence(expected, needs).wrong(seen))
    return wrong == [False, True]


def size_of(law, kind, case):
    right = measure.right_law(kind, case)
    detect = 0.9 * measure.total_variation(law, right)
    return requirement_of(right, detect, 1e-6, DTYPES["float32"], 10**9).size


def batches(task):
    rng = np.random.default_rng(5)
    return KernelBatches(task.verifier, task.kind, task.case, task.verifier.randomness(6), rng)


NOT_HANDED = ("bonus token from the draft", "bonus token from a residual",
              "residual of rows that follow")  # fmt: skip
"""Faults of which a verifier of a block is not handed what they need: the row of the draft after
its last token."""


def told(fault, rule):
    """Yield a mode, and whether what a function with a fault says there is what the table says.

    Exact mode hands over one row, so that there is no other row of the batch; and in texts of
    several steps it depends on the batch where another row has got to.
    """
    kind = measure.kind_of(rule)
    case = worst(fault, rule, kind, kernel_cases(kind))
    given = not fault.pipeline and not (kind.name == "block" and fault.name in NOT_HANDED)
    if case is not None and given:
        law = joint_law(fault.machine, rule, kind, case)
        task = Task(Verifier(verifier_of(fault, rule, kind), FORM), kind, case, case)
        if not fault.machine.other_rows:
            exact, _ = exact_counts(task, 1e-9, False)
            yield "exact", np.allclose(exact.sum(axis=0), law.sum(axis=0), rtol=0, atol=1e-7)
        yield "kernel", explains(law, kind, case, batches(task)(size_of(law, kind, case)))
    kind = generated(kind)
    case = worst(fault, rule, kind, pipeline_cases(kind))
    if case is not None and not (fault.machine.other_rows and isinstance(kind, Texts)):
        law = joint_law(fault.machine, rule, kind, case)
        if isinstance(kind, DrawnToken):
            engine = TokenEngine(token_engine_of(fault, rule, kind), FORM)
        else:
            engine = TextEngine(engine_of(fault, rule, kind.step), FORM)
        task = Task(engine, kind, case, case)
        yield "pipeline", explains(law, kind, case, batches(task)(size_of(law, kind, case)))


WRITTEN = {
    "recursive rejection": ("residual of the first round",
                            "random number shared by draft and test"),
    "recursive rejection without replacement": ("one random number for all tests",),
    "token verification": ("bonus token from the draft", "target of another row of the batch",
                           "target's row of the place after", "draft's row of the place after",
                           "last token of each step lost", "last token of each step doubled",
                           "text filled up with drafts that are not verified"),
    "block verification": ("numbers of drafts used again in each step",
                           "next step follows the rejected draft",
                           "padding counted as drafts"),
    "recursive rejection by depth": ("kept length one too long",
                                     "one random number for all drafts",
                                     "independent coins of several beams"),
}  # fmt: skip
"""Faults by day, which few samples show."""


@pytest.mark.parametrize(
    ("rule", "name"), [(rule, name) for rule, names in WRITTEN.items() for name in names]
)
def test_what_functions_with_a_fault_say_is_what_the_table_says(rule, name):
    modes = dict(told(FAULTS[name], RULE[rule]))
    assert modes
    assert all(modes.values()), modes


# All rows of a batch are cut to what one of them keeps, so that rows of one call depend on each
# other: a law of single rows does not say how often.
DEPEND = ("length chosen after seeing the acceptance of other rows",)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "rule",
    ["recursive rejection", "recursive rejection without replacement", "token verification",
     "block verification", "recursive rejection by depth", "traversal verification"],
)  # fmt: skip
def test_all_functions_with_a_fault_say_what_the_table_says(rule):
    others = [
        (fault.name, mode)
        for fault in faults_of(RULE[rule].kind)
        if fault.name not in DEPEND
        for mode, right in told(fault, RULE[rule])
        if not right
    ]
    assert others == []
