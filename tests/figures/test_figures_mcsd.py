"""The pictures and the table redrawn from MCSD."""

from itertools import product
from math import prod

import numpy as np
import pytest
from captions import caption
from matplotlib.figure import Figure

from figures import mcsd_fig3, mcsd_fig4, mcsd_tab4
from figures.contract import Settings
from figures.mcsd_fig4 import RRS, RRSW, TOY, TRACE
from figures.spechub_tab4 import NORMAL, random_pairs
from figures.tree_starts import starts
from figures.writing import write
from otspec.blocks import DraftSelection, as_branching, memoryless, random_pair
from otspec.rules import NaiveSampling, RecursiveRejection, RecursiveRejectionWithoutReplacement
from validation.mcsd.tables import TABLES, lines

NAMES = list(mcsd_tab4.RULES)


@pytest.fixture(scope="module")
def curves():
    return mcsd_fig3.AcceptanceCurves.compute(Settings())


@pytest.fixture(scope="module")
def budgets():
    return mcsd_fig4.Budgets.compute(Settings())


@pytest.fixture(scope="module")
def ablation():
    return mcsd_tab4.Ablation.compute(Settings())


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Two texts of five tokens over six, on which distinct drafts are exact."""
    rng = np.random.default_rng(11)
    path = tmp_path_factory.mktemp("trace") / "small.npz"
    logits = rng.standard_normal((2, 2, 6, 6))
    tokens = rng.integers(6, size=(2, 5))
    np.savez(path, draft_logits=logits[0], target_logits=logits[1], draft_tokens=tokens)
    return Settings(trace=str(path))


def softmax(logits):
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


def accepted_of_independent(p, q, k):
    """The accepted law of recursive rejection: min(q, c·p) with c the sum of the rejections."""
    level = 0.0
    for _ in range(k):
        level += np.maximum(q - level * p, 0).sum()
    return np.minimum(q, level * p)


def accepted_naively(p, q, k):
    return q * (1 - (1 - p) ** k)


def accepted_of_distinct(p, q, k):
    k = min(k, len(p))
    if k == len(p):
        return q
    return RecursiveRejectionWithoutReplacement(p, q, k).accepted_law()


LAWS = dict(
    zip(NAMES, (accepted_of_distinct, accepted_of_independent, accepted_naively), strict=True)
)


def literal_means(settings, depth, law, trees):
    """Tokens per call: 1 + Σ_ℓ Π_{i<ℓ} a(x_i)/p(x_i) · Σ a over all places of the trace."""
    logged = settings.logged()
    rows = []
    for text, first in product(range(2), range(5 - depth + 1)):
        row = []
        for tree in map(as_branching, trees):
            total = weight = 1.0
            for place, k in enumerate(tree, start=first):
                p = softmax(logged.draft_logits[text, place])
                q = softmax(logged.target_logits[text, place])
                accepted = law(p, q, k)
                total += weight * accepted.sum()
                token = logged.draft_tokens[text, place]
                weight *= accepted[token] / p[token]
            row.append(total)
        rows.append(row)
    return np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1) / len(rows) ** 0.5, np.array(rows)


def close(found, wanted, within=1e-12):
    assert np.allclose(found, wanted, rtol=0, atol=within)


def test_the_printed_values_are_the_papers():
    rates = {line["row"]: tuple(map(float, line["values"][0])) for line in lines(TABLES["rates"])}
    assert len(mcsd_fig3.PRINTED) == 8
    for (draft, target, data), both in mcsd_fig3.PRINTED.items():
        for temperature, values in enumerate(both):
            row = rates[f"{draft} {target} {temperature}"]
            assert values == (row[:2] if data == "Alpaca" else row[3:5])
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


def test_acceptance_of_independent_drafts_is_the_recursion(curves):
    pairs = list(Settings().pairs())
    for i, k in enumerate(curves.ks):
        wanted = np.mean([accepted_of_independent(*pair, k).sum() for pair in pairs])
        close(curves.acceptance[1, RRS][i], wanted)
    close(curves.acceptance[1, RRSW][0], np.mean([np.minimum(*pair).sum() for pair in pairs]))
    exact = [RecursiveRejectionWithoutReplacement(*pair, 2).acceptance() for pair in pairs]
    close(curves.acceptance[1, RRSW][1], np.mean(exact))
    assert curves.errors[:2] == (0, 0)
    assert 0 < max(curves.errors) < 2e-4


def test_argmax_looks_among_the_likeliest_drafts(curves):
    ranks = []
    for draft, target in Settings().pairs():
        order = np.argsort(-draft, kind="stable").tolist()
        ranks.append(1 + order.index(int(np.argmax(target))))
    for i, k in enumerate(curves.ks):
        close(curves.acceptance[0, RRSW][i], np.mean([rank <= k for rank in ranks]))
    assert set(curves.acceptance[0, RRS]) == {curves.acceptance[0, RRSW][0]}
    assert mcsd_fig3.rank_of_best(np.array([0.3, 0.3, 0.4]), np.array([0.1, 0.5, 0.4])) == 3


def test_what_the_caption_says_of_acceptance(curves):
    distinct, same = curves.acceptance[1, RRSW], curves.acceptance[1, RRS]
    for values in (distinct, same):
        assert list(values) == sorted(values)
    assert all(a >= b - 1e-12 for a, b in zip(distinct, same, strict=True))
    one, _, four, *_, before, last = distinct  # the last two: 32 and 64 drafts
    printed = [high - low for _, (low, high) in mcsd_fig3.PRINTED.values()]
    said = caption("mcsd_fig3")
    assert f"from {one:.3f} to {four:.3f} at k = 4, by {four - one:.2f}" in said
    assert f"(the paper's pairs: {min(printed):.2f} to {max(printed):.2f})" in said
    assert f"still gains {last - before:.3f} at T = 1" in said


def test_the_curves_are_drawn(curves):
    panels = list(Figure().subplots(1, 2))
    curves.draw(panels)
    for temperature, panel in enumerate(panels):
        by_label = {line.get_label(): tuple(line.get_ydata()) for line in panel.lines}
        for rule in (RRS, RRSW):
            assert by_label[rule] == curves.acceptance[temperature, rule]
        thin = [tuple(line.get_ydata()) for line in panel.lines if len(line.get_xdata()) == 2]
        assert thin == [both[temperature] for both in mcsd_fig3.PRINTED.values()]
    assert len(curves.numbers().rows) == 4 * 7 + 8 * 4


def test_trees_on_a_small_trace_are_the_formula(small):
    data = mcsd_fig4.Budgets.compute(small)
    assert data.places == 8
    for group in data.groups:
        for rule, law, within in (
            (RRS, accepted_of_independent, 1e-12),
            (RRSW, accepted_of_distinct, 0.02),
        ):
            means, errors, rows = literal_means(small, 2, law, group.trees)
            close(group.efficiency[TRACE, rule], means, within)
            close(group.errors[TRACE, rule], errors, within)
            gains = rows - rows[:, ::-1]
            close(group.gains[TRACE, rule], gains.mean(axis=0), within)
            close(group.gain_errors[TRACE, rule], gains.std(axis=0, ddof=1) / 8**0.5, within)


def test_two_distinct_drafts_are_exact_in_trees(small):
    for start in starts(small, 2, 4, 10, 0):
        pair = start.block.draft[1], start.block.target[1]
        assert isinstance(start.distinct(*pair, 2), RecursiveRejectionWithoutReplacement)
        assert start.distinct(*pair, 4).paths is start.paths[1]
    means, _, _ = literal_means(small, 2, accepted_of_distinct, ["2x2"])
    found = [start.efficiency((2, 2), start.distinct) for start in starts(small, 2, 4, 10, 0)]
    close(np.mean(found), means[0])


def test_trees_of_markov_chains_are_the_sum_over_first_tokens(budgets):
    draft, target = random_pair(
        mcsd_fig4.TOKENS, mcsd_fig4.DIVERGENCE, np.random.default_rng(mcsd_fig4.SEED)
    )
    for group in budgets.groups:
        for tree, found in zip(group.trees, group.efficiency[TOY, RRS], strict=True):
            above, below = as_branching(tree)
            first = accepted_of_independent(draft(()), target(()), above)
            second = [
                accepted_of_independent(draft((x,)), target((x,)), below).sum() for x in range(8)
            ]
            close(found, 1 + first.sum() + first @ second)


def test_what_the_caption_says_of_budgets(budgets):
    said, apart, spread = caption("mcsd_fig4"), [], []
    assert f"means over {budgets.places} places" in said
    assert [group.budget for group in budgets.groups] == [8, 16, 32]
    for group in budgets.groups:
        for key, gains in group.gains.items():
            for tree, gain in zip(group.trees, gains, strict=True):
                above, below = as_branching(tree)
                assert above * below == group.budget
                assert (gain > 0) == (above > below)  # the monotone rule, in the mean
            values = group.efficiency[key]
            falling = values[: (len(values) + 1) // 2]
            assert max(falling) - min(falling) < 0.3 * (max(values) - min(values))
            if key[0] == TRACE:
                apart += [max(falling) - min(falling)] if group.budget > 8 else []
                spread.append(max(values) - min(values))
    assert f"differ by at most {max(apart):.2f} on the trace" in said
    assert f"up to {max(spread):.2f} between all trees" in said
    eight = budgets.groups[0]
    four = eight.trees.index("4x2")
    gain, error = eight.gains[TRACE, RRSW][four], eight.gain_errors[TRACE, RRSW][four]
    assert f"by {gain:.2f} ± {error:.2f} and {eight.gains[TOY, RRS][four]:.3f}" in said
    best = [max(group.efficiency[TRACE, RRSW]) for group in budgets.groups]
    assert best == sorted(best)


def test_the_trees_are_drawn(budgets):
    panels = list(Figure().subplots(2, 1))
    budgets.draw(panels)
    for panel, models, rules in ((panels[0], TRACE, 2), (panels[1], TOY, 1)):
        drawn = [tuple(bars.lines[0].get_ydata()) for bars in panel.containers]
        wanted = [
            values
            for group in budgets.groups
            for (shown, _), values in group.efficiency.items()
            if shown == models
        ]
        assert drawn == wanted
        assert len(drawn) == 3 * rules
        assert [tick.get_text() for tick in panel.get_xticklabels()] == [
            tree for group in budgets.groups for tree in group.trees
        ]
    assert len(budgets.numbers().rows) == 3 * (4 + 5 + 6)


def test_the_ablation_on_a_small_trace_is_the_formula(small):
    data = mcsd_tab4.Ablation.compute(small)
    assert data.places == 4
    trees = [tree for _, tree in mcsd_tab4.PRINTED]
    rows = []
    for name in NAMES:
        within = 0.03 if name == NAMES[0] else 1e-12
        means, errors, each = literal_means(small, 4, LAWS[name], trees)
        close(data.trace[name], means, within)
        close(data.errors[name], errors, within)
        rows.append(each)
    close(data.gains[NAMES[1], NAMES[2]], (rows[1] - rows[2]).mean(axis=0))


def test_the_toys_are_memoryless_trees():
    draft, target = next(random_pairs(NORMAL, mcsd_tab4.TOY, 1))
    found = mcsd_tab4.toy_efficiencies(draft, target, 2_000)
    models = memoryless(draft), memoryless(target)
    for i, (_, tree) in enumerate(mcsd_tab4.PRINTED):
        for row, rule in zip(found[1:], (RecursiveRejection, NaiveSampling), strict=True):
            selection = DraftSelection(*models, tree, rule, merge=False)
            close(row[i], float(selection.efficiency()))
    four, two = (
        float(RecursiveRejectionWithoutReplacement(draft, target, k).acceptance()) for k in (4, 2)
    )
    close(found[0][0], 1 + four + four * two + four * two**2, 0.003)
    steps = {4: 0.5, 2: 0.25}
    wanted = 1 + sum(prod([steps[k] for k in (4, 2, 2)][: i + 1]) for i in range(3))
    close(mcsd_tab4.efficiency((4, 2, 2), steps.get), wanted)


def test_what_the_caption_says_of_the_ablation(ablation):
    for values in (ablation.trace, ablation.toy):
        for i in range(4):
            column = [values[name][i] for name in NAMES]
            assert column == sorted(column, reverse=True)
    for rows in mcsd_tab4.PRINTED.values():
        column = [tokens for _, tokens in rows]
        assert column == sorted(column, reverse=True)
    table = ablation.numbers()
    assert len(table.rows) == 12
    for i, row in enumerate(table.rows):
        ours = (ablation.trace, ablation.errors, ablation.toy)
        assert row[5:] == tuple(each[NAMES[i % 3]][i // 3] for each in ours)
    models, toys, *gains = ablation.notes()
    assert f"{ablation.places} places" in models
    assert "20 pairs" in toys
    assert len(gains) == 2
    assert "paper +0.06" in gains[0]


def test_quick(tmp_path):
    quick = Settings(quick=True)
    for picture in (mcsd_fig3.AcceptanceCurves, mcsd_fig4.Budgets):
        assert picture.compute(quick).save(tmp_path / "a.png").stat().st_size > 5_000
    assert write(mcsd_tab4.Ablation, quick, tmp_path, ["png"])[1].suffix == ".md"
