"""The law of a step whose last draw has all its ways in one run: that of all its ways."""

from functools import partial

import pytest

from otspec.chance import law_of
from otspec.conformance.cases.library import small_cases
from otspec.conformance.faults import FAULTS, RIGHT_RULES
from otspec.conformance.faults.last_draw import law_of_step
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.setting import setting_of
from tests.support.docs_scripts import script

kind_of = script("fault_controls").kind_of
RULE = {rule.name: rule for rule in RIGHT_RULES}


class Looks(Machine):
    """What it says depends on the token in a way that cannot be left for last."""

    def answer(self, node, token):
        return super().answer(node, {0: 1}.get(token, token))


class DrawsTwice(Machine):
    """A second draw, which replaces the first where that is a drafted token."""

    def draw(self, weights):
        token, second = super().draw(weights), super().draw(weights)
        return second if token in (0, 2) else token


MACHINES = {
    "right": Machine,
    "looks at the token": Looks,
    "draws twice": DrawsTwice,
    "bonus of the draft": FAULTS["bonus token from the draft"].machine,
    "correction of the draft": FAULTS["correction drawn from the draft"].machine,
    "length of others": FAULTS["length chosen after seeing the acceptance of other rows"].machine,
}


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize(
    "rule", ["recursive rejection", "block verification", "recursive rejection by depth"]
)
def test_the_law_is_that_of_all_ways(rule, name):
    kind = kind_of(RULE[rule])
    for case in small_cases(kind)[:2]:
        make = partial(MACHINES[name], setting_of(kind, case), 0)
        found = law_of_step(make, lambda made: made.says(RULE[rule].run))
        wanted = law_of(lambda chance, make=make: make(chance).says(RULE[rule].run), least=1e-12)
        assert found == pytest.approx({(*told,): mass for told, mass in wanted.items()}, abs=1e-15)
        assert sum(found.values()) == pytest.approx(1, abs=1e-12)
