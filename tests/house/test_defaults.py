"""What functions and classes take where nothing is said: callers rely on it.

``python tests/house/test_defaults.py`` writes the table anew.
"""

import inspect
from importlib import import_module
from pathlib import Path

import pytest

ROOMS = ("advice", "batch", "blocks", "conformance", "logged", "rules")
SIMPLE = (bool, int, float, str, tuple)
TABLE = Path(__file__).with_name("defaults.txt")
"""A line for each function, class and method: room, name, and flags, numbers and texts.

Those behind a star are keywords only.
"""


def things_of(room):
    """Yield the public functions, classes and methods of a room with their names."""
    for name, thing in vars(import_module(f"otspec.{room}")).items():
        if name[0] == "_" or not getattr(thing, "__module__", "").startswith("otspec."):
            continue
        if callable(thing):
            yield name, thing
        if inspect.isclass(thing):
            methods = filter(inspect.isfunction, vars(thing).values())
            yield from ((f"{name}.{each.__name__}", each) for each in methods)


def lines_of(room):
    """Yield the lines of a room."""
    for name, thing in things_of(room):
        try:
            parameters = inspect.signature(thing).parameters.values()
        except ValueError:
            continue  # an exception
        known = [
            f"{'*' * (p.kind is p.KEYWORD_ONLY)}{p.name}={p.default!r}"
            for p in parameters
            if type(p.default) in SIMPLE
        ]
        if known and "._" not in name:
            yield f"{room} {name}: {', '.join(known)}"


@pytest.mark.parametrize("room", ROOMS)
def test_defaults_are_those_that_they_were(room):
    listed = TABLE.read_text(encoding="utf-8").splitlines()
    assert sorted(lines_of(room)) == [line for line in listed if line.startswith(f"{room} ")]


if __name__ == "__main__":
    lines = [line for room in ROOMS for line in sorted(lines_of(room))]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
