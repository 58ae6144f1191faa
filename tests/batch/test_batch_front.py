"""The front of otspec.batch: its names, its table, and that the kernels know nothing of it."""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from batch_table import REFERENCES, RULES, reference

from otspec import batch

MODULES = {"acceptance"}
"""The only public names that are modules."""
PARTS = {
    "_array_api": ("_array_api", "_results", "_triton"),
    "_triton": ("_array_api", "_triton"),
    "_numba": ("_array_api", "_numba"),
}
"""The folders of kernels, and what of the package they know."""
OUTSIDE = {"otspec._base.compiling", "otspec.warping"}
"""What they know of the rest of the package: nothing but loops and the kernel of warping."""
KERNELS = [
    (part, path)
    for part in PARTS
    for path in sorted((Path(batch.__file__).parent / part).rglob("*.py"))
]


def test_no_public_name_is_a_module_but_those_documented():
    public = {name for name in vars(batch) if name[0] not in "_@"}  # @: of pytest
    assert {name for name in public if inspect.ismodule(getattr(batch, name))} == MODULES
    assert public == set(batch.__all__)
    files = Path(batch.__file__).parent.glob("[!_]*.py")
    assert {path.stem for path in files} == MODULES


@pytest.mark.parametrize("name", batch.__all__)
def test_signatures_say_what_is_taken(name):
    value = getattr(batch, name)
    if not inspect.isfunction(value):
        return
    kinds = {parameter.kind for parameter in inspect.signature(value).parameters.values()}
    more = {inspect.Parameter.VAR_KEYWORD} if value is batch.from_logits else set()
    assert kinds <= {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.KEYWORD_ONLY} | more
    for section in ("Parameters", "Returns", "Raises"):
        assert has_section(name, section), (name, section)


def has_section(name, section):
    """Whether a docstring has a section, or names the function of its family that has it."""
    text = inspect.getdoc(getattr(batch, name))
    sentences = re.split(r"\.\s", " ".join(text.split()))
    others = (each for each in sentences if re.search(r"\b[Ee]rrors\b|Everything else", each))
    family = re.findall(r":func:`(?:otspec\.batch\.)?(\w+)`", " ".join(others))
    return f"\n{section}\n-----" in text or any(has_section(other, section) for other in family)


@pytest.mark.parametrize("name", RULES)
def test_a_row_of_the_table_is_true(name):
    row = RULES[name]
    rule = reference(name, ["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"], row.k or 2)
    assert row.k == rule.only_k
    function = getattr(batch, name)
    assert ("mask" in inspect.signature(function).parameters) == row.masked
    assert f"`otspec.rules.{type(rule).__name__}`" in function.__doc__
    draft = np.array([0.5, 0.25, 0.25])
    drafts = getattr(batch, row.drafter)(draft, np.array([0.1, 0.9])[: rule.k])
    assert rule.law.inside(drafts.tolist()) > 0
    assert type(rule.law).__name__ in getattr(batch, row.drafter).__doc__
    assert inspect.isfunction(getattr(batch.acceptance, name))


def test_every_rule_has_a_row():
    functions = {name for name in batch.__all__ if inspect.isfunction(getattr(batch, name))}
    accepting = {name for name in functions if hasattr(batch.acceptance, name)}
    assert accepting - {"optimal_acceptance", "from_logits"} == set(RULES) == set(REFERENCES)


@pytest.mark.parametrize(("part", "path"), KERNELS, ids=lambda each: getattr(each, "stem", each))
def test_kernels_know_nothing_of_the_front(part, path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("otspec"):
            known = tuple(f"otspec.batch.{name}" for name in PARTS[part])
            assert node.module in OUTSIDE or node.module.startswith(known)


def test_there_are_kernels_of_every_kind():
    assert {part for part, _ in KERNELS} == set(PARTS)
    assert len(KERNELS) > 40
