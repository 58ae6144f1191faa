"""The package leaves alone what all threads of a process share."""

import ast
from pathlib import Path

import pytest

import otspec

SHARED = {
    "catch_warnings", "simplefilter", "filterwarnings", "resetwarnings", "seterr", "seterrcall",
    "chdir", "fchdir", "umask", "setlocale", "setrecursionlimit", "set_int_max_str_digits",
    "setswitchinterval", "settrace", "setprofile", "rcParams", "rcdefaults", "pyplot", "use",
    "setcontext", "setdefaulttimeout", "basicConfig",
}  # fmt: skip
"""Names that change them, or reach for them."""
FILES = sorted(Path(otspec.__file__).parent.rglob("*.py"))


def names(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr, node.lineno
        elif isinstance(node, ast.Name):
            yield node.id, node.lineno
        elif isinstance(node, ast.alias):
            yield node.name.rpartition(".")[2], node.lineno


@pytest.mark.parametrize(
    "path", FILES, ids=[str(path.relative_to(FILES[0].parent)) for path in FILES]
)
def test_no_module_changes_what_the_process_shares(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [(name, line) for name, line in names(tree) if name in SHARED] == []
