"""The package leaves alone what all threads of a process share."""

import ast
from pathlib import Path

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


def test_no_module_changes_what_the_process_shares():
    assert len(FILES) > 200
    for path in FILES:
        found = names(ast.parse(path.read_text(encoding="utf-8")))
        assert [(path, *each) for each in found if each[0] in SHARED] == []
