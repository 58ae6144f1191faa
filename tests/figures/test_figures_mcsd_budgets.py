"""MCSD's figure 4 and table 4 of the book, and what is recorded for them."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from recursive_rejection_reference import accepted_naively, accepted_of_independent

from figures import long_trees, mcsd_fig4, mcsd_tab4
from figures.contract import Settings
from figures.long_trace import recorded
from figures.mcsd_fig4 import LETTERS, POOLED, RRS, RRSW, TRACE
from figures.tree_starts import Start
from otspec.blocks import as_branching
from otspec.datasets import letters
from otspec.rules import NaiveSampling, RecursiveRejectionWithoutReplacement
from validation.mcsd.tables import TABLES, lines

QUICK = Settings(quick=True)
TABLE = Path(__file__).parents[2] / "docs" / "tables" / "mcsd_tab4.md"
BUNDLED = (24, 25)
"""The texts of the long trace whose blocks ship with the package."""


@pytest.fixture(scope="module")
def budgets(computed):
    return computed(mcsd_fig4.Budgets, quick=True)


@pytest.fixture(scope="module")
def ablation(computed):
    return computed(mcsd_tab4.Ablation, quick=True)


def kept_by_the_formula(block, tree, law):
    """Tokens kept: Σ_ℓ Π_{i<ℓ} a(x_i)/p(x_i) · Σ a, along the drafted tokens."""
    total, weight = 0.0, 1.0
    for p, q, token, k in zip(
        block.draft, block.target, block.tokens, as_branching(tree), strict=False
    ):
        accepted = law(p, q, k)
        total += weight * accepted.sum()
        weight *= accepted[token] / p[token]
    return total


def calls_on_letters(tree, law):
    """Tokens per call at a random place: the sum over the first tokens, context by context."""
    pair, total = letters(exact=False), 0.0
    for context, weight in pair.target.contexts().items():
        accepted = law(pair.bigram(context), pair.target(context), tree[0])
        below = sum(
            accepted[x] * law(pair.bigram((*context, x)), pair.target((*context, x)), tree[1]).sum()
            for x in range(27)
        )
        total += float(weight) * (1 + accepted.sum() + below)
    return total


@pytest.mark.parametrize(
    ("which", "rule", "law"),
    [
        (long_trees.TWO_LEVELS, RRS, accepted_of_independent),
        (long_trees.BEST, NaiveSampling.title, accepted_naively),
    ],
)
def test_the_records_are_the_formula_on_the_bundled_blocks(which, rule, law):
    kept = recorded(which.path)
    for text, block in zip(BUNDLED, Settings().logged().blocks(), strict=True):
        for tree in which.trees:
            wanted = kept_by_the_formula(block, tree, law)
            assert kept[tree][rule][text] == pytest.approx(wanted, abs=1e-6)


def test_two_distinct_drafts_are_exact_in_trees():
    start = Start.of(next(Settings().logged().blocks()), 2, 4)
    pair = start.block.draft[1], start.block.target[1]
    assert isinstance(start.distinct(*pair, 2), RecursiveRejectionWithoutReplacement)
    assert start.distinct(*pair, 4).found.paths is start.paths[1]


def test_trees_of_two_levels_on_the_letters(budgets):
    i = long_trees.BUDGETS[8].index("4x2")
    wanted = calls_on_letters((4, 2), accepted_of_independent)
    assert budgets.groups[LETTERS, RRS, 8].values[i] == pytest.approx(wanted, abs=1e-9)


def test_every_tree_of_a_budget_has_as_many_sequences():
    for budget, trees in long_trees.BUDGETS.items():
        branchings = [as_branching(tree) for tree in trees]
        assert {above * below for above, below in branchings} == {budget}
        assert branchings == sorted(branchings, reverse=True)


def trace_budgets():
    """All groups of the record: means and gains over the reverse."""
    kept = recorded(long_trees.TWO_LEVELS.path)
    for budget, trees in long_trees.BUDGETS.items():
        for rule in (RRS, RRSW, POOLED):
            rows = np.array([kept[tree][rule] for tree in trees])
            yield budget, rule, 1 + rows.mean(axis=1), (rows - rows[::-1]).mean(axis=1)


def test_trees_that_narrow_are_above_their_reverse(budgets):
    for _, _, _, gains in trace_budgets():
        half = len(gains) // 2
        assert min(gains[:half]) > 0
    for means in budgets.groups.values():
        assert min(means.gains[:2]) > 0


def test_narrowing_trees_differ_little_and_pooled_selection_is_best():
    best = {rule: max(m) for budget, rule, m, _ in trace_budgets() if budget == 32}
    assert max(best, key=best.get) == POOLED
    for _, rule, means, _ in trace_budgets():
        if rule == RRSW:
            falling = means[: (len(means) + 1) // 2]
            assert max(falling) - min(falling) < (max(means) - min(means)) / 2


def test_the_trees_are_drawn(budgets):
    panels = list(Figure().subplots(2, 1))
    budgets.draw(panels)
    for panel, models in zip(panels, (LETTERS, TRACE), strict=True):
        drawn = [tuple(bars.lines[0].get_ydata()) for bars in panel.containers]
        assert drawn == [budgets.groups[models, rule, 8].values for rule in (POOLED, RRS)]
        ticks = [tick.get_text() for tick in panel.get_xticklabels()]
        assert ticks == list(long_trees.BUDGETS[8])
    assert len(budgets.numbers().rows) == 2 * 2 * 4


def test_the_ablation_is_printed_as_in_the_paper():
    trees = {
        line["row"]: line["values"][2][0]
        for line in lines(TABLES["runs"])
        if line["row"].endswith("Alpaca 1")
    }
    found = {line["row"]: line["values"] for line in lines(TABLES["ablation"])}
    assert len(found) == len(mcsd_tab4.PRINTED) == 4
    for (target, tree), values in mcsd_tab4.PRINTED.items():
        assert tree == trees[f"68M {target} Alpaca 1"]
        assert values == tuple(tuple(map(float, pair)) for pair in found[f"68M {target}"])


def test_the_ablation_has_the_paper_s_order_in_every_tree():
    kept = recorded(long_trees.BEST.path)
    rows = [line.split(" | ") for line in TABLE.read_text("utf-8").splitlines()]
    shown = {(row[0].strip("| "), row[1]): row for row in rows if len(row) == 8}
    for tree, printed in zip(mcsd_tab4.TREES, mcsd_tab4.PRINTED.values(), strict=True):
        paper = [tokens for _, tokens in printed]
        exact = [float(shown[tree, name][5]) for name in mcsd_tab4.PAPERS]
        trace = [np.mean(kept[tree][rule.title]) for rule in mcsd_tab4.PAPERS.values()]
        for column in (paper, exact, trace):
            assert column == sorted(column, reverse=True)
        for name, mean in zip(mcsd_tab4.PAPERS, trace, strict=True):
            assert float(shown[tree, name][6]) == pytest.approx(1 + mean, abs=1e-4)


def test_naive_sampling_in_two_levels_of_letters(ablation):
    from figures.on_letters import letter_trees

    wanted = calls_on_letters((4, 2), accepted_naively)
    found = letter_trees(NaiveSampling).tokens_per_call((4, 2))
    assert found == pytest.approx(wanted, abs=1e-9)
    assert ablation.letters["4x2x2", "MCNS"] > found


def test_the_notes_say_how_much_each_is_above_the_next(ablation):
    models, _, note = ablation.notes()
    assert "LLaMA-68M" in models
    assert "MCSS w/ replacement above MCNS" in note
    assert "paper +0.87" in note
    letters_gain, mean, error = ablation.gain("4x2x2", "MCSS w/ replacement", "MCNS")
    assert f"letters {letters_gain:+.3f}, trace {mean:+.3f}" in note
    kept = recorded(long_trees.BEST.path)["4x2x2"]
    above = np.subtract(kept["recursive rejection"], kept[NaiveSampling.title])
    assert mean == pytest.approx(above.mean(), abs=1e-12)
    assert error == pytest.approx(above.std(ddof=1) / 96**0.5, abs=1e-12)
    assert len(ablation.numbers().rows) == len(mcsd_tab4.QUICK_RULES)
