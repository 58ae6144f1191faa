"""The page of statements is what the modules say, and leads from each statement to its code."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def statements():
    """Return the script that writes the page."""
    spec = importlib.util.spec_from_file_location("statements", ROOT / "docs" / "statements.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_the_page_is_what_the_modules_say(statements):
    page = statements.PAGE.read_text(encoding="utf-8")
    assert page == statements.written(), "run: python docs/statements.py"


def test_every_statement_has_code_and_tests(statements):
    for title, rows in statements.table().items():
        assert rows, title
        for statement, code, tests in rows:
            assert code, f"no module names {title}, {statement}"
            assert tests, f"no test is found for {title}, {statement}"


def test_numbers_of_a_page_are_given_once(statements):
    for page in statements.PAGES:
        numbers = [number for number, *_ in statements.statements(page)]
        assert sorted(numbers, key=int) == [str(i + 1) for i in range(len(numbers))], page


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Couplings (Theory, 1 and 3; Programs, 2).", "theory 1, theory 3, programs 2"),
        ("(docs/pooled.md, propositions 2-4)", "pooled_proofs 2, pooled_proofs 3, pooled_proofs 4"),
        ("(Beyond, prop. 2), theory 4", "pooled_beyond 2"),
        ('(docs, "Pooled selection", propositions 3 and 5)', "pooled_proofs 3, pooled_proofs 5"),
        ('docs, "Beyond i.i.d. drafts", 1; Linear programs, 2', "pooled_beyond 1, programs 2"),
        ("MCSD alg. 1; Block, eqs. 3–5", "MCSD alg. 1, Block eq. 3, Block eq. 4, Block eq. 5"),
        ("Canonical, alg. 1 with eqs. 12 and 13, and app. G for drafts",
         "Canonical alg. 1, Canonical eq. 12, Canonical eq. 13, Canonical app. G"),
        ("SpecTr, Canonical and others of 2024", ""),
    ],
)  # fmt: skip
def test_statements_are_found_in_text(statements, text, found):
    assert ", ".join(map(" ".join, statements.references(text))) == found


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("otspec.rules.KSequential", "otspec.rules.rejection.k_sequential"),
        ("otspec.optimal_plan", "otspec.optimum.plan.completed"),
        ("otspec.Optimum.check", "otspec.optimum.certificate"),
        ("otspec.optimum.cuts.prefix", "otspec.optimum.cuts.prefix"),
        ("numpy.array", None),
    ],
)
def test_names_are_followed_to_their_module(statements, name, module):
    assert statements.defined_in(name) == module
