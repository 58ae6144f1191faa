"""Tables of named things: in order, without doubles, open to other packages."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

import otspec
from otspec.drafts import LAWS, SingleDraftLaw
from otspec.registry import Registry


class Thing:
    name = "mine"


def entry_points(monkeypatch, *points):
    found = [EntryPoint(name, value, "tests.things") for name, value in points]
    monkeypatch.setattr(
        importlib.metadata,
        "entry_points",
        lambda group: [point for point in found if point.group == group],
    )


def test_entries_keep_their_order_and_their_names():
    things = Registry("thing", "tests.things")
    things.add("b", 1)
    things.add("a", 2)
    assert (list(things), things["a"], len(things), "c" in things) == (["b", "a"], 2, 2, False)
    assert repr(things) == "<things: b, a>"


def test_a_name_is_given_once():
    things = Registry("thing", "tests.things")
    assert things.register(Thing) is Thing
    assert things.register(Thing) is Thing
    with pytest.raises(ValueError, match=r"another thing named 'mine': rename"):
        things.add("mine", object())


def test_other_packages_add_entries(monkeypatch):
    entry_points(monkeypatch, ("root", "math:sqrt"))
    things = Registry("thing", "tests.things")
    things.add("own", len)
    assert list(things) == ["own", "root"]
    assert things["root"](4) == 2


@pytest.mark.parametrize(
    ("value", "why"),
    [("no_such_module_here:x", "No module named"), ("math:nothing", "has no attribute"),
     ("math:pi", "is no function")],
)  # fmt: skip
def test_what_cannot_be_an_entry_is_left_out_with_a_warning(monkeypatch, value, why):
    def check(name, entry):
        if not callable(entry):
            raise ValueError(f"{name} is no function")

    entry_points(monkeypatch, ("theirs", value), ("root", "math:sqrt"))
    things = Registry("thing", "tests.things", check)
    with pytest.warns(UserWarning, match=why) as found:
        assert list(things) == ["root"]
    assert len(found) == 1
    assert "thing 'theirs'" in str(found[0].message)
    assert list(things) == ["root"]


def test_laws_are_classes_that_say_their_name():
    class Renamed(SingleDraftLaw):
        name = "other"

    for name, law, why in (
        ("iid", otspec.WithoutReplacement, "named"),
        ("x", len, "no subclass"),
        ("y", Renamed, "the law is named 'other'"),
    ):
        with pytest.raises(ValueError, match=why):
            LAWS.add(name, law)


def test_importing_looks_for_no_entry_points():
    program = "import otspec, otspec.rules, sys; print('importlib.metadata' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"False"
