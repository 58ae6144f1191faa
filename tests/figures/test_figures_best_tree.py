"""The table of best trees: what is recorded, in its order and computed again."""

from __future__ import annotations

from pathlib import Path

import pytest

from figures.best_tree import BUDGETS, CERTAIN, DYNAMIC, LETTERS, RULES, TRACE
from otspec.blocks import DraftSelection, DynamicTree, best_trees
from otspec.datasets import letters, load_smollm2
from otspec.logged import best_trees_on_blocks
from otspec.rules import RecursiveRejection, SpecHub

ROOT = Path(__file__).parents[2]
RECORDED = (ROOT / "docs" / "tables" / "best_tree.md").read_text("utf-8").splitlines()


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.fixture(scope="module")
def rows():
    """Models, rule and budget → the other cells."""
    header, _, *body = [cells(line) for line in RECORDED if line.startswith("| ")]
    return {
        (models, rule, int(nodes)): dict(zip(header[3:], others, strict=True))
        for models, rule, nodes, *others in body
    }


def test_every_rule_and_budget_is_recorded(rows):
    assert set(rows) == {
        (models, rule, budget)
        for models, titles in ((LETTERS, (DYNAMIC, CERTAIN)), (TRACE, (DYNAMIC,)))
        for rule in (*(each.title for each in RULES), *titles)
        for budget in BUDGETS
    }


def test_more_freedom_keeps_more(rows):
    for (models, rule, _), row in rows.items():
        if rule in (DYNAMIC, CERTAIN):
            continue
        names = ["chain", "tokens per call", "best tree", "shaped by the text"]
        values = [float(row[name]) for name in names if row[name]]
        assert values == sorted(values)
        assert len(values) == 4 - (models == TRACE) - (rule == SpecHub.title)
        gain = float(row["best tree"]) - float(row["tokens per call"])
        assert gain == pytest.approx(float(row["gain over the branching"]), abs=2e-4)
    for title in (RecursiveRejection.title, CERTAIN):
        for name in ("best tree", "shaped by the text"):
            kept = [rows[LETTERS, title, budget][name] for budget in BUDGETS]
            assert kept == sorted(kept)
    for budget in BUDGETS:
        grown = [rows[LETTERS, title, budget]["shaped by the text"] for title in (DYNAMIC, CERTAIN)]
        assert grown == sorted(grown)


def test_some_numbers_of_the_letters_again(rows):
    pair = letters(exact=False)
    law = pair.target.contexts()
    row = rows[LETTERS, RecursiveRejection.title, 8]
    tree = DraftSelection(pair.draft, pair.target, row["best branching"], RecursiveRejection, False)
    assert f"{1 + tree.expected_after(law):.4f}" == row["tokens per call"]
    trees = best_trees(
        pair.draft, pair.target, SpecHub, 16, 8, widest=8, keep="likely", beginnings=law
    )
    for budget in (8, 16):
        found = trees.at(budget, 8).efficiency
        assert f"{found:.4f}" == rows[LETTERS, SpecHub.title, budget]["best tree"]
    grown = DynamicTree(pair.draft, pair.target, 8, 8).expected_after(law)
    assert f"{1 + grown:.4f}" == rows[LETTERS, DYNAMIC, 8]["shaped by the text"]


def test_some_numbers_of_the_trace_again(rows):
    blocks = list(load_smollm2().blocks())
    trees = best_trees_on_blocks(blocks, RecursiveRejection, 16, 8, widest=8).trees
    for budget in (8, 16):
        row = rows[TRACE, RecursiveRejection.title, budget]
        assert f"{trees.at(budget, 8).efficiency:.4f}" == row["best tree"]
