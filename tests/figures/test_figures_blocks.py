"""The picture of trees, and the numbers that the page on blocks prints."""

import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from searching import enough

from figures import block_trees
from otspec.blocks import (
    BLOCK_RULES,
    BlockVerification,
    BlockVerificationPreprint,
    TokenVerification,
    decode,
    decoded_after,
)
from otspec.logged import compare_on_blocks, compare_trees_on_blocks
from otspec.models import memoryless
from otspec.rules import (
    KSequential,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
)
from otspec.traces import load_trace

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "blocks.md").read_text(encoding="utf-8")
COIN, BIASED = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])


def table(header):
    """Return the rows below a header, cell by cell."""
    found = re.search(rf"^\| {re.escape(header)} .*\n\|[ -|]*\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    lines = found.group(1).splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.fixture(scope="module")
def trees(computed):
    return computed(block_trees.BlockTrees)


def test_what_the_page_says_of_the_picture(trees):
    of = {
        rule: dict(zip(trees.trees, values, strict=True))
        for rule, values in trees.efficiency.items()
    }
    assert len(trees.trees) == 10
    for values in of.values():
        for tree in trees.trees:
            widths = [int(width) for width in tree.split("x")]
            if widths == sorted(widths, reverse=True):
                assert values[tree] >= values["x".join(map(str, reversed(widths)))]
        assert min(values.values()) == values["1x1x8"] > trees.single
    pooled = of[PooledSelection.title]
    assert max(pooled, key=pooled.get) == "4x2x1"
    assert 3.4 < max(pooled.values()) < 3.5
    for rule in (KSequential, RecursiveRejection):
        assert all(pooled[tree] >= of[rule.title][tree] - 1e-12 for tree in trees.trees)
    distinct = of.pop(PooledSelectionWithoutReplacement.title)
    assert max(distinct, key=distinct.get) == "2x2x2"
    assert distinct["2x2x2"] > max(map(max, (values.values() for values in of.values())))
    assert distinct["2x2x2"] > trees.spechub > max(values["2x2x2"] for values in of.values())


def test_the_picture_shows_every_rule(trees):
    axes = Figure().add_subplot()
    trees.draw([axes])
    labels = {line.get_label() for line in axes.lines}
    assert labels >= {*trees.efficiency, "SpecHub"}
    for rule, values in trees.efficiency.items():
        (line,) = (line for line in axes.lines if line.get_label() == rule)
        assert np.allclose(line.get_ydata(), values, rtol=0, atol=0)


def test_tokens_per_call_of_one_draft_are_as_printed():
    names = {rule.title.split()[0]: rule for rule in BLOCK_RULES.values()}
    names |= {"published": list(BLOCK_RULES.values())[1], "preprint": BlockVerificationPreprint}
    rows = table("$L$ | rule | first block")
    assert len(rows) == 4
    for length, name, first, long_run in rows:
        rule = names[name](COIN, BIASED, int(length))
        assert f"{float(decoded_after(rule, 1)):.4f}" == first
        if name != "preprint":
            assert long_run == first


def test_the_long_run_of_the_preprint_is_as_printed():
    """A tenth of the page's texts: within five standard errors of a mean of two texts.

    By day for the shorter blocks, whose error is less.
    """
    errors = {"2": 0.006, "8": 0.043}
    coin, biased = memoryless([0.5, 0.5]), memoryless([0.25, 0.75])
    rows = [row for row in table("$L$ | rule | first block") if row[1] == "preprint"]
    for length, *_, long_run in rows[: enough(len(rows), least=2)]:
        rule = BlockVerificationPreprint(coin, biased, int(length))
        found = [decode(rule, 3_000, np.random.default_rng(seed)).efficiency for seed in (0, 1)]
        slack = 5 * errors[length] * (20 / 2) ** 0.5
        assert abs(np.mean(found) - float(long_run)) <= slack + 0.005


def test_the_long_trace_is_as_printed(long_trace_path):
    blocks = list(load_trace(long_trace_path).blocks())
    titles = [
        rule.title for rule in (TokenVerification, BlockVerification, BlockVerificationPreprint)
    ]
    for (_, *printed), length in zip(table("drafts | token"), (2, 4, 8), strict=True):
        rows = compare_on_blocks(blocks, [length])
        assert_printed(printed, {row.rule: row for row in rows}, titles)
    titles = ["recursive rejection", "k-sequential", "pooled selection"]
    titles += ["recursive rejection (distinct)", "pooled selection (distinct)", "SpecHub"]
    for tree, *printed in table("tree | recursive rejection"):
        rows = compare_trees_on_blocks(blocks, [tree])
        assert_printed(printed, {row.rule: row for row in rows}, titles)


def assert_printed(cells, rows, titles):
    """Compare cells such as 0.465 (0.025) with rows: half of the last digit, and a simulation."""
    for cell, title in zip(cells, titles, strict=True):
        assert bool(cell) == (title in rows)
        if cell:
            mean, error = map(float, cell.rstrip(")").split("("))
            assert mean == pytest.approx(float(rows[title].expected), abs=0.0015)
            assert error == pytest.approx(rows[title].error, abs=0.0015)
