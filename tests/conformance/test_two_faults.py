"""Two faults at once: both are named, the one that shows by itself first; or the first alone."""

import numpy as np
import pytest

from otspec.conformance.faults import FAULTS, RIGHT_RULES
from otspec.conformance.faults.base import Fault
from otspec.conformance.faults.explanations import explanations
from otspec.conformance.faults.two_faults import AND, both
from tests.support.docs_scripts import script

measure = script("fault_controls")
RULE = {rule.name: rule for rule in RIGHT_RULES}


def explained(rule, *names):
    """Return what a verifier with two faults is taken for."""
    kind, machine = measure.kind_of(RULE[rule]), both(*(FAULTS[name].machine for name in names))
    fault = Fault(" and ".join(names), "Both.", "both", machine)
    controls = [measure.control(fault, RULE[rule], kind, case) for case in measure.cases_of(kind)]
    return explanations(kind, measure.seen_of(controls, np.random.default_rng(4))).names


@pytest.mark.parametrize(
    ("rule", "first", "second"),
    [
        ("recursive rejection", "lenience factor", "correction drawn from the target"),
        ("recursive rejection", "residual not renormalized", "unlikely drafts always accepted"),
        ("token verification", "correction drawn from the target",
         "bonus token is the likeliest one"),
        pytest.param("recursive rejection by depth", "bonus token from the draft",
                     "residual not renormalized", marks=pytest.mark.nightly),
    ],
)  # fmt: skip
def test_two_faults_are_named(rule, first, second):
    assert explained(rule, second, first) == [f"{first}{AND}{second}"]


@pytest.mark.parametrize(
    ("rule", "first", "second"),
    [
        ("recursive rejection", "0 / 0 accepted", "correction drawn from the target"),
        ("block verification", "correction drawn from the target",
         "full block accepted without the running cap"),
        ("recursive rejection by depth", "bonus token is the likeliest one", "lenience factor"),
    ],
)  # fmt: skip
def test_another_fault_does_not_hide_the_first(rule, first, second):
    assert explained(rule, first, second)[0].split(AND)[0] == first


def test_two_faults_of_one_part_are_no_machine():
    names = "correction drawn from the target", "correction drawn from the draft"
    assert both(*(FAULTS[name].machine for name in names)) is None
