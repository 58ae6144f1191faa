"""The pictures redrawn from SpecHub, and rejections of many distinct drafts along paths."""

from fractions import Fraction
from itertools import chain, combinations, pairwise, permutations

import numpy as np
import pytest
from captions import caption
from matplotlib.figure import Figure

from figures import spechub_fig5, spechub_fig9
from figures.contract import Settings
from otspec.ratios import Pair
from otspec.rules import RecursiveRejection, RecursiveRejectionWithoutReplacement, SpecHub
from otspec.rules.rejection.rejected_paths import DistinctPaths

DRAFT = [Fraction(part) for part in spechub_fig5.DRAFT]
TARGET = [Fraction(part) for part in spechub_fig5.TARGET]
DISTINCT = {
    (x, y): DRAFT[x] * DRAFT[y] / (1 - DRAFT[x]) for x, y in permutations(range(3), 2)
}  # fmt: skip
RRSW = RecursiveRejectionWithoutReplacement.title


def literal_rejections(draft, target, tokens):
    """MCSD, algorithm 2: the chance that each draft is rejected, and that of these tokens."""
    offered, wanted = np.array(draft), np.array(target)
    chances, of_tokens = [], []
    for token in tokens:
        chances.append(np.maximum(wanted - offered, 0).sum())
        of_tokens.append(1 - min(1, wanted[token] / offered[token]))
        wanted = np.maximum(wanted - offered, 0) / chances[-1]
        offered[token] = 0
        offered = offered / offered.sum()
    return chances, of_tokens


def pair_of_floats(n, seed):
    return np.random.default_rng(seed).dirichlet(np.ones(n), 2)


@pytest.fixture(scope="module")
def masses(computed):
    return computed(spechub_fig5.MassTables)


@pytest.fixture(scope="module")
def decay(computed):
    return computed(spechub_fig9.Decay)


def cells_of(masses, panel):
    return {cell.drafts: cell for cell in masses.cells[panel]}


def test_the_optimum_is_the_least_cut(masses):
    subsets = chain.from_iterable(combinations(range(3), size) for size in range(4))
    cuts = []
    for inside in subsets:
        kept = sum(mass for x, mass in DISTINCT.items() if set(x) <= set(inside))
        cuts.append(sum(TARGET[y] for y in inside) + 1 - kept)
    assert masses.cost("optimum") == 1 - min(cuts) == 0
    assert {x: cell.mass for x, cell in cells_of(masses, "optimum").items()} == DISTINCT


def test_recursive_rejection_is_the_papers(masses):
    cells = cells_of(masses, RRSW)
    for (x, y), mass in DISTINCT.items():
        first = mass * min(1, TARGET[x] / DRAFT[x])
        residual = [max(q - p, 0) for p, q in zip(DRAFT, TARGET, strict=True)]
        wanted = residual[y] / sum(residual)
        second = (mass - first) * min(1, wanted / (DRAFT[y] / (1 - DRAFT[x])))
        assert cells[x, y].mass == mass
        assert cells[x, y].accepted == (first, second)
    assert masses.cost(RRSW) == Fraction("0.06")
    assert masses.lacking[RRSW] == (0, Fraction("0.06"), 0)  # too little of b


def test_spechub_is_the_papers(masses):
    cells = cells_of(masses, "SpecHub")
    hub = 0
    assert cells.keys() == {(0, 1), (0, 2), (1, 0), (2, 0)}
    for x in (1, 2):
        last, first = DRAFT[x], DRAFT[hub] * DRAFT[x] / (1 - DRAFT[hub])
        assert (cells[x, hub].mass, cells[hub, x].mass) == (last, first)
        assert cells[x, hub].accepted[0] == min(TARGET[x], last)
        assert cells[hub, x].accepted[1] == min(TARGET[x] - min(TARGET[x], last), first)
    served = cells[0, 1].accepted[0] + cells[0, 2].accepted[0]
    served += cells[1, 0].accepted[1] + cells[2, 0].accepted[1]
    assert served == TARGET[hub]
    assert masses.cost("SpecHub") == 0


def test_every_table_is_within_both_marginals(masses):
    for panel, cells in masses.cells.items():
        output = list(masses.lacking[panel])
        for cell in cells:
            assert sum(cell.accepted) <= cell.mass
            for token, mass in zip(cell.drafts, cell.accepted, strict=True):
                assert mass >= 0
                output[token] += mass
        assert output == TARGET
        assert sum(cell.mass for cell in cells) == 1
    rows = masses.numbers().rows
    assert len(rows) == 6 + 6 + 4 + 3 * 3
    assert (RRSW, "a", "b", "3/10", "3/50", "6/25") in rows


def test_the_cells_are_written_where_they_belong(masses):
    panels = list(Figure(figsize=(7, 2.6)).subplots(1, 3))
    masses.draw(panels)
    for panel, (name, cells) in zip(panels, masses.cells.items(), strict=True):
        shown = {}
        for text in panel.texts:
            column, row = text.get_position()
            shown.setdefault((round(row), round(column)), []).append(text.get_text())
        assert shown.keys() == {cell.drafts for cell in cells}
        for cell in cells:
            mass, accepted = shown[cell.drafts]
            assert mass == f"{float(cell.mass):.3f}"
            for line, token, value in zip(
                accepted.splitlines(), cell.drafts, cell.accepted, strict=True
            ):
                assert line == f"{'abc'[token]}  {float(value):.3f}"
        assert panel.get_title() == f"{name}: cost {float(masses.cost(name)):.2f}"


@pytest.mark.parametrize("seed", range(4))
def test_levels_and_weights_are_those_of_the_algorithm(seed):
    draft, target = pair_of_floats(7, seed)
    paths = DistinctPaths(Pair(draft, target), 4, 50, seed)
    assert np.allclose(paths.levels[:2], [[0], [1]], rtol=0, atol=1e-12)
    for path in range(50):
        tokens = paths.drafts[:, path].tolist()
        assert len(set(tokens)) == 4
        chances, of_tokens = literal_rejections(draft, target, tokens)
        assert min(of_tokens) > 0  # each can be rejected
        assert np.allclose(np.cumprod(chances), paths.rejected[1:, path], rtol=0, atol=1e-12)


def test_paths_are_drawn_given_that_all_are_rejected():
    draft, target = pair_of_floats(5, 8)
    paths = DistinctPaths(Pair(draft, target), 2, 100_000, 3)
    lost = np.maximum(draft - target, 0)
    first = np.bincount(paths.drafts[0], minlength=5) / paths.size
    assert np.abs(first - lost / lost.sum()).max() < 5 * 0.5 / paths.size**0.5
    x = int(np.argmax(first))
    offered = draft.copy()
    offered[x] = 0
    offered /= offered.sum()
    wanted = np.maximum(target - draft, 0) / np.maximum(target - draft, 0).sum()
    lost = np.maximum(offered - wanted, 0)
    second = paths.drafts[1, paths.drafts[0] == x]
    found = np.bincount(second, minlength=5) / len(second)
    assert np.abs(found - lost / lost.sum()).max() < 5 * 0.5 / len(second) ** 0.5


@pytest.mark.parametrize("seed", range(3))
def test_means_are_the_exact_acceptance(seed):
    draft, target = pair_of_floats(6, seed + 20)
    paths = DistinctPaths(Pair(draft, target), 5, 20_000, seed)
    rule = RecursiveRejectionWithoutReplacement(draft, target, 5)
    by_draft, errors = paths.by_draft()
    assert abs(by_draft[0] - np.minimum(draft, target).sum()) < 1e-12
    assert (np.abs(by_draft - rule.accepted().by_position) <= 5 * errors + 1e-12).all()
    for k in range(1, 6):
        exact = RecursiveRejectionWithoutReplacement(draft, target, k)
        means, errors = paths.acceptances()
        assert abs(means[k] - exact.acceptance()) <= 5 * errors[k] + 1e-12
        assert abs(paths.of_first(k).probability.value - means[k]) < 1e-12
        law = paths.of_first(k).by_token.value
        assert abs(law.sum() - means[k]) < 1e-12
        literal = np.minimum(target[:, None], paths.levels[k] * draft[:, None]).mean(axis=1)
        assert np.allclose(law, literal, rtol=0, atol=1e-12)
        assert np.abs(law - exact.accepted().by_token).max() < 0.01


def test_no_more_drafts_than_there_are_tokens():
    draft, target = np.array([0.5, 0.0, 0.3, 0.2]), np.array([0.1, 0.4, 0.2, 0.3])
    paths = DistinctPaths(Pair(draft, target), 6, 10)
    assert np.allclose(paths.rejected[3:], 0.4, rtol=0, atol=1e-12)  # token 1 is never drafted
    equal = DistinctPaths(Pair(draft, draft), 3, 10)
    assert (equal.rejected[1:] == 0).all()


def test_recursive_rejection_by_draft_is_the_residuals_mass(decay):
    wanted = []
    for draft, target in Settings().pairs():
        level, chances = 0.0, [1.0]
        for _ in range(spechub_fig9.DRAFTS):
            level += chances[-1]
            chances.append(np.maximum(target - level * draft, 0).sum())
        wanted.append(-np.diff(chances))
    found = decay.by_draft[RecursiveRejection.title]
    assert np.allclose(found, np.mean(wanted, axis=0), rtol=0, atol=1e-12)


def test_two_drafts_are_exact_and_later_ones_nearly(decay):
    pairs = list(Settings().pairs())
    for rule in (RecursiveRejectionWithoutReplacement, SpecHub):
        exact = np.mean([rule(*pair, 2).accepted().by_position for pair in pairs], axis=0)
        assert np.allclose(decay.by_draft[rule.title][:2], exact, rtol=0, atol=1e-12)
    assert decay.errors[:2] == (0, 0)
    assert 0 < max(decay.errors) < 1e-4


def test_what_the_caption_says_of_the_decay(decay):
    for rule in (RRSW, RecursiveRejection.title):
        values = decay.by_draft[rule]
        assert all(later < earlier for earlier, later in pairwise(values))
    distinct, same = (np.cumsum(decay.by_draft[rule]) for rule in (RRSW, RecursiveRejection.title))
    assert (distinct >= same - 1e-12).all()
    falling = [f"{value:.3f}" for value in decay.by_draft[RRSW][:4]]
    said = caption("spechub_fig9")
    assert "from {} to {}, {} and {}.".format(*falling) in said
    late = distinct[9] - distinct[4]
    assert f"together accept {late:.3f}, more than the third alone" in said
    assert late > decay.by_draft[RRSW][2]
    assert decay.by_draft[SpecHub.title][1] > decay.by_draft[RRSW][1]


def test_the_decay_is_drawn_and_tabulated(decay):
    axes = Figure().add_subplot()
    decay.draw([axes])
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    assert {rule: tuple(values) for rule, values in lines.items()} == decay.by_draft
    rows = decay.numbers().rows
    assert len(rows) == 22
    for rule, values in decay.by_draft.items():
        mine = [row for row in rows if row[0] == rule]
        assert np.allclose([row[5] for row in mine], np.cumsum(values), rtol=0, atol=1e-12)
        reached = 1 - np.cumsum(values) + values
        assert np.allclose([row[4] * left for row, left in zip(mine, reached, strict=True)], values)
