"""Tables of the documentation that are made from registries are what the registries say."""

from __future__ import annotations

import importlib
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
    path = ROOT / "docs" / "tables" / name
    written = path.read_text(encoding="utf-8")
    assert written == registries().PAGES[name](), "run: python docs/registries.py"


def test_every_entry_has_a_row():
    pages = registries().PAGES
    for page, registry in (
        ("registry_rules.md", RULES),
        ("registry_blocks.md", blocks.BLOCK_RULES),
        ("registry_blocks.md", blocks.TREE_RULES),
        ("registry_blocks.md", blocks.TREE_VERIFIERS),
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


def test_every_public_name_has_one_home():
    homes: dict[int, list[str]] = {}
    kept = []  # so that no two objects have the same id
    for package, names in registries().public_names().items():
        module = importlib.import_module(package)
        for name in names:
            thing = getattr(module, name)
            kept.append(thing)
            ours = str(getattr(thing, "__module__", "")).startswith("otspec")
            if package != "otspec" and ours:
                homes.setdefault(id(thing), []).append(f"{package}.{name}")
    assert len(homes) > 300
    assert [each for each in homes.values() if len(each) > 1] == []


def test_registries_of_different_packages_have_different_names():
    found = registries().found_registries()
    assert len(found) >= 9
    assert len({name for _, name, _ in found}) == len(found)
