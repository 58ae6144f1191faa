"""Tables of what is known by name, from the registries: ``python docs/registries.py``."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import otspec
from otspec import blocks
from otspec._base.registry import Registry
from otspec.files import small_formats, trace_formats
from otspec.rules import RULES, RecursiveRejectionIndependent
from otspec.rules.base.rule import Rule

TABLES = Path(__file__).parent / "tables"


def table(header: str, rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown; the header names the columns, between bars."""
    columns = header.count("|") + 1
    lines = [f"| {header} |", "| " + " | ".join(["---"] * columns) + " |"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def rules() -> str:
    """Return the table of rules for one token."""
    return table(
        "rule | name | in tables | drafts | k | sum | batch",
        map(rule_row, RULES.values()),
    )


def rule_row(rule: type[Rule]) -> list[str]:
    """Return what the table says of a rule."""
    anything = "independent" if rule is RecursiveRejectionIndependent else "any"
    law = f"`{rule.law_class.name}`" if rule.law_class else anything
    k = "any" if rule.only_k is None else str(rule.only_k)
    names = [f"`{rule.__name__}`", f"`{rule.name}`", rule.title]
    if rule.batch not in (None, rule.name.replace("-", "_")):
        raise ValueError(f"{rule.batch} is not the name of {rule.name} with underscores")
    return [*names, law, k, "" if rule.formula else "yes", "yes" if rule.batch else ""]


def rules_for_several() -> str:
    """Return the table of rules for blocks, of rules for one token by depth, and for trees."""
    return table(
        "drafts | rule | name | in tables | batch function",
        (
            [
                what,
                f"`{rule.__name__}`",
                f"`{name}`",
                rule.title,
                f"`{rule.batch}`" if rule.batch else "",
            ]
            for what, registry in (
                ("one block", blocks.BLOCK_RULES),
                ("a tree, by depth", blocks.TREE_RULES),
                ("a whole tree", blocks.TREE_VERIFIERS),
            )
            for name, rule in registry.items()
        ),
    )


def small_files() -> str:
    """Return the table of the formats of small files."""
    return table(
        "file | holds",
        ([f"`{form.example}`", form.holds] for form in small_formats().values()),
    )


def traces() -> str:
    """Return the table of the formats of traces."""
    return table(
        "source | arrays",
        (
            [
                f"`{form.trace_example}`{' (a folder)' if form.folder else ''}",
                "`draft_logits` and `target_logits`" if form.named else "one each",
            ]
            for form in trace_formats().values()
        ),
    )


def everything() -> str:
    """Return the table of all registries, with the groups of their entry points."""
    return table(
        "registry | an entry is a | entry point | entries",
        (
            [f"`{home}.{name}`", registry.what, f"`{registry.group}`", str(len(registry))]
            for home, name, registry in found_registries()
        ),
    )


def found_registries() -> list[tuple[str, str, Registry[Any]]]:
    """Return the registries of public packages: package, name and registry."""
    return [
        (home, name, thing)
        for home, names in public_names().items()
        for name in names
        if isinstance(thing := getattr(import_module(home), name), Registry)
    ]


def public_names() -> dict[str, list[str]]:
    """Return the public names of each public package, those of ``otspec`` itself first."""
    packages = ["otspec"]
    for module in walk_packages(otspec.__path__, "otspec."):
        private = any(part.startswith("_") for part in module.name.split("."))
        if module.ispkg and not private and module.name.split(".")[1] not in APART:
            packages.append(module.name)
    named = {name: getattr(import_module(name), "__all__", []) for name in packages}
    return {name: list(names) for name, names in named.items() if names}


APART = {"cards", "cli", "display", "testing", "__main__"}
"""Packages that offer commands or serve the others, and no names."""


def names() -> str:
    """Return the table of public names by package."""
    return table(
        "package | names",
        (
            [f"`{package}`", ", ".join(f"`{name}`" for name in named)]
            for package, named in public_names().items()
        ),
    )


PAGES = {
    "registry_all.md": everything,
    "public_names.md": names,
    "registry_rules.md": rules,
    "registry_blocks.md": rules_for_several,
    "registry_files.md": small_files,
    "registry_traces.md": traces,
}
"""The generated tables, by file in docs/tables."""


def main() -> None:
    """Write all tables."""
    for name, content in PAGES.items():
        (TABLES / name).write_text(content(), encoding="utf-8")


if __name__ == "__main__":
    main()
