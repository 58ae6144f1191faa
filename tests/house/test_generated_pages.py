"""Tables of the documentation that are made from registries are what the registries say."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs_scripts import script

from otspec import blocks
from otspec.rules import RULES

ROOT = Path(__file__).parents[2]


def registries():
    return script("registries")


@pytest.mark.parametrize("name", registries().PAGES)
def test_tables_are_what_the_registries_say(name):
    path = ROOT / "docs" / "tables" / f"registry_{name}"
    written = path.read_text(encoding="utf-8")
    assert written == registries().PAGES[name](), "run: python docs/registries.py"


def test_every_entry_has_a_row():
    pages = registries().PAGES
    for page, registry in (
        ("rules.md", RULES),
        ("blocks.md", blocks.BLOCK_RULES),
        ("blocks.md", blocks.TREE_RULES),
        ("blocks.md", blocks.TREE_VERIFIERS),
    ):
        assert [name for name in registry if f"| `{name}` |" in pages[page]()] == list(registry)


def test_every_arrow_of_a_rules_life_is_an_import(tmp_path):
    life = script("life")
    assert {end for arrow in life.ARROWS for end in arrow} == set(life.STATIONS)
    for first, second in life.ARROWS:
        assert first in life.imported(second), (first, second)
    assert "rules" not in life.imported("coupling")
    life.draw(tmp_path / "life.png")
    assert (tmp_path / "life.png").stat().st_size > 10_000
