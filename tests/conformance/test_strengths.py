"""Faults with a strength, such as a temperature, are named whatever it is, if nothing else fits."""

import numpy as np
import pytest

from otspec.conformance.cases.kinds import Tokens
from otspec.conformance.cases.warping import neutral
from otspec.conformance.faults import FAULTS, RIGHT_RULES
from otspec.conformance.faults.base import Fault, joint_law
from otspec.conformance.faults.explanations import explanations
from otspec.conformance.faults.two_faults import at_likeliest_strength, of_strength
from tests.support.docs_scripts import script

measure = script("fault_controls")
RULE = {rule.name: rule for rule in RIGHT_RULES}
DRAWN, FLATTER = "drafts drawn at another temperature", "draft declared at another temperature"
SHARPER = "draft declared sharper than sampled"


def seen_of(name, strength, rule="maximal coupling", seed=4):
    """Return what is seen of a fault of some strength, and its kind."""
    kind = measure.kind_of(RULE[rule])
    machine = of_strength(FAULTS[name].machine, strength)
    fault = Fault(name, "It.", "mend it", machine)
    controls = [measure.control(fault, RULE[rule], kind, case) for case in measure.cases_of(kind)]
    return kind, measure.seen_of(controls, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("name", "strength"),
    [(DRAWN, 0.5), (DRAWN, 0.9), (DRAWN, 1.3), (FLATTER, 1.25), (FLATTER, 2.0), (SHARPER, 0.7),
     ("lenience factor", 1.1), ("strictness factor", 0.6)],
)  # fmt: skip
def test_a_fault_of_any_strength_is_named(name, strength):
    found = explanations(*seen_of(name, strength), pipeline=True)
    assert (found.names, found.sure) == ([name], True)


@pytest.mark.nightly
@pytest.mark.parametrize("rule", ["recursive rejection", "token verification"])
@pytest.mark.parametrize("strength", [0.3, 0.6, 0.8, 0.95, 1.2, 2.0])
def test_drafts_drawn_at_any_temperature_are_named_in_other_rules(rule, strength):
    found = explanations(*seen_of(DRAWN, strength, rule), pipeline=True)
    assert (found.names, found.sure) == ([DRAWN], True)


def test_drafts_that_are_given_are_not_drawn_at_another_temperature():
    assert explanations(*seen_of(DRAWN, 0.5)).names == []


def test_a_strength_is_not_looked_for_where_a_fault_of_the_table_fits():
    kind, seen = seen_of("correction drawn from the target", 1.0)
    found = explanations(kind, seen, pipeline=True)
    assert found.names[0].startswith("correction drawn from the target")
    assert not any(DRAWN in name for name in found.names)


def test_the_strength_is_found():
    kind, seen = seen_of(DRAWN, 0.8)
    order = sorted((each for each in seen if each.off), key=lambda each: each.case.ways)
    rule, machine = RULE["maximal coupling"], FAULTS[DRAWN].machine
    found = at_likeliest_strength(machine, rule, kind, order, marked=True)
    assert found.strength == pytest.approx(0.8, abs=0.02)
    assert (
        at_likeliest_strength(FAULTS["0 / 0 accepted"].machine, rule, kind, order, marked=True)
        is None
    )
    assert at_likeliest_strength(machine, rule, kind, [], marked=True) is None


def test_draws_before_warping_are_those_of_the_case_itself():
    kind, case = Tokens(1), measure.cases_of(Tokens(1))[0]
    rule = RULE["maximal coupling"]
    one, two = (
        joint_law(of_strength(FAULTS[DRAWN].machine, 0.5), rule, kind, each)
        for each in (neutral(case), case)
    )
    assert np.abs(one - two).max() > 0.01
