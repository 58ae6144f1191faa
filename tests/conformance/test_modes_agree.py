"""Every known fault of a block is wrong in kernel, exact and pipeline mode, or in none."""

import pytest

from otspec.conformance.cases.generated import Texts
from otspec.conformance.cases.kinds import Block
from otspec.conformance.cases.library import text_cases
from otspec.conformance.faults import FAULTS
from otspec.conformance.faults.base import faults_of, joint_law, right_law, total_variation
from otspec.conformance.faults.rules import rules_of
from tests.support.docs_scripts import script

measure = script("fault_controls")
DETECT = measure.DETECT
KIND = Block.of_length(2)
TEXTS = Texts(KIND)
SMALL = [case for case in text_cases(TEXTS.length, 101) if case.vocabulary == case.n]
OF_CORRECTIONS = (
    "unlikely drafts always accepted", "correction is the likeliest token",
    "correction uniform over the residual", "correction at another temperature",
    "random number shared by draft and correction", "residual clipped",
    "residual of rows that follow",
)  # fmt: skip
"""No case of two symbols has them: a residual of one token is drawn right in any way."""


def farthest(fault, rule, kind, cases):
    """Return the largest total variation of a fault in a rule over some cases."""
    laws = ((joint_law(fault.machine, rule, kind, case), case) for case in cases)
    return max(total_variation(law, right_law(kind, case)) for law, case in laws)


@pytest.mark.parametrize("name", OF_CORRECTIONS)
def test_faults_of_corrections_show_in_texts(name):
    cases = [case for case in SMALL if case.name == "corrections to two tokens"]
    for rule in rules_of(KIND):
        assert farthest(FAULTS[name], rule, TEXTS, cases) >= DETECT


@pytest.mark.nightly
@pytest.mark.parametrize("rule", rules_of(KIND), ids=lambda rule: rule.name)
def test_every_fault_is_wrong_in_all_modes_or_in_none(rule):
    """Exact mode compares the laws of kernel mode without samples."""
    for fault in faults_of("block"):
        kernel = farthest(fault, rule, KIND, measure.cases_of(KIND)) >= DETECT
        assert (farthest(fault, rule, TEXTS, SMALL) >= DETECT) == kernel, fault.name
