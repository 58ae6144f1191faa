"""Every argument of every function refuses what it cannot be, in one line, and soon."""

import hostile_calls
import pytest

from hostile_calls import TABLE, hold, settled, valid


@pytest.mark.parametrize("name", TABLE)
def test_the_examples_are_taken(name):
    row = TABLE[name]
    arguments = valid(row)
    if all(kind != "path" for kind, _ in row.arguments.values()):
        settled(row.call(**arguments))


@pytest.mark.parametrize("name", TABLE)
def test_hostile_values_are_refused(name):
    for case in hostile_calls.hostile_calls([name]):
        hold(case)
