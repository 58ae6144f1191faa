"""What rules for trees keep of models of growing size, against a bound that is proved."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from lifted_trees import DRAWS, optimum
from searching import by_day

from otspec.blocks import (
    BlockVerification,
    LayerVerification,
    TraversalVerify,
    UniversalTree,
)
from otspec.blocks.trees.shapes import as_shape
from otspec.models import memoryless


def bound(draft, target, widths):
    """At most Σ a(s), a(sy) = min(a(s) M_b(y), P(sy is drafted)), with one corrected token.

    Theory, 18: what is kept up to s is a law below both.
    """
    levels, kept = {(): 1.0}, 0.0
    for depth in range(1, len(widths) + 1):
        below = {}
        for text, token in product(levels, range(len(draft))):
            drafted = 1.0
            for k, y in reversed([*zip(widths, (*text, token), strict=False)]):
                drafted = 1 - (1 - draft[y] * drafted) ** k
            below[*text, token] = min(levels[text] * target[token], drafted)
        levels = below
        kept += sum(levels.values())
        assert len(next(iter(levels))) == depth
    return kept


def shares(n, tree, pairs, rule=UniversalTree):
    """What a rule keeps as shares of the bound, and beyond one path."""
    rng = np.random.default_rng(n)
    widths = [int(width) for width in tree.split("x")]
    for _ in range(pairs):
        draft, target = rng.dirichlet(np.ones(n), 2)
        models = memoryless(draft), memoryless(target)
        kept = float(rule(*models, tree).expected())
        one = float(BlockVerification(*models, len(widths)).expected())
        yield kept / bound(draft, target, widths), kept - one


def test_the_bound_is_above_the_optimum():
    coin = memoryless([0.5, 0.5]), memoryless([0.25, 0.75])
    for tree in ("2x1", "3x1", "2x1x1"):
        widths = [int(width) for width in tree.split("x")]
        most = optimum(DRAWS["iid"], coin, as_shape(tree))
        assert bound([0.5, 0.5], [0.25, 0.75], widths) >= most - 1e-9


@pytest.mark.parametrize(("n", "tree"), [(2, "2x1x1"), (3, "3x1"), (4, "2x1")])
def test_it_keeps_most_of_the_bound_and_more_than_one_path(n, tree):
    for share, more in shares(n, tree, 3):
        assert share >= 0.85
        assert more >= -1e-9


def printed():
    """The least shares that the page prints: (rule, tokens, tree) → share."""
    page = (Path(__file__).parents[2] / "docs" / "open_questions.md").read_text(encoding="utf-8")
    table = page[page.index("| rule | tokens |") :].partition("\n\n")[0]
    head, _, *rows = [[*map(str.strip, line.split("|")[1:-1])] for line in table.splitlines()]
    return {
        (name, int(n), tree): float(cell)
        for name, n, *cells in rows
        for tree, cell in zip(head[2:], cells, strict=True)
        if cell
    }


SHARES = printed()
RULES = {
    "universal tree": UniversalTree,
    "Layer Verification": LayerVerification,
    "Traversal": TraversalVerify,
}


@pytest.mark.parametrize(
    "case", by_day(list(SHARES), [(name, 3, "2x1") for name in ("universal tree", "Traversal")])
)
def test_the_least_shares_are_those_of_the_page(case):
    name, n, tree = case
    assert min(share for share, _ in shares(n, tree, 12, RULES[name])) == pytest.approx(
        SHARES[case], abs=5.1e-4
    )


@pytest.mark.nightly
@pytest.mark.parametrize("n", [2, 3, 4, 6])
@pytest.mark.parametrize("tree", ["2x1", "3x1", "2x2", "2x1x1", "3x1x1", "2x1x1x1"])
def test_so_it_does_on_larger_trees(n, tree):
    for share, more in shares(n, tree, 12):
        assert share >= 0.8
        assert more >= -1e-9
