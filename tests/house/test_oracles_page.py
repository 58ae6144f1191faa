"""The page of oracles: every oracle is on it, and is used where it says."""

import re
from pathlib import Path

import oracles
import pytest

import validation.oracles

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "oracles.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| `")]
FILES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for folder in ("tests", "validation")
    for path in (ROOT / folder).rglob("*.py")
}


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize("module", [oracles, validation.oracles], ids=lambda each: each.__name__)
def test_every_oracle_is_on_the_page(module):
    own = {
        name
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", "") == module.__name__
    }
    public = {name for name in own if not name.startswith("_")}
    assert public <= {name for row in ROWS for name in quoted(row[0])}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_oracles_are_used_where_the_page_says(row):
    named, used = quoted(row[0]), quoted(row[2])
    modules = [Path(name).stem for name in named if name.endswith(".py")]
    functions = [name for name in named if not name.endswith(".py")] or modules
    assert len(row) == 3
    for place in [name for name in named if "/" in name] + used:
        assert (ROOT / place).exists(), place
    for place in used:
        text = "".join(text for path, text in FILES.items() if path.startswith(place))
        assert any(re.search(rf"\b{name}\b", text) for name in functions), place
