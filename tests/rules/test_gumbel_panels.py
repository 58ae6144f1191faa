"""The parts of a race's sum over panels, each against its definition, token by token."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.polynomial import chebyshev as polynomials

from otspec.rules.shared_noise.gumbel_panels import (
    Expansion,
    Panel,
    Sorted,
    chebyshev,
    lagrange,
    panels,
    power_rows,
)

COUNT = 9
CUTS = [Panel(1, 4, 1), Panel(4, 9, 2)]


def race():
    """Draft, target and descending draft/target of tokens, two of which have equal ratios."""
    rng = np.random.default_rng(20)
    rho = np.sort(rng.uniform(0.5, 2, COUNT))[::-1]
    rho[6] = rho[5]
    target = rng.dirichlet(np.ones(COUNT))
    return rho * target, target, rho


def before(rho, y):
    """The tokens of larger ratio in the panel of a token."""
    (panel,) = (cut for cut in CUTS if cut.start <= y < cut.end)
    return [z for z in range(panel.start, panel.end) if rho[z] > rho[y]]


def terms_of(s1, s2, s3):
    """The coefficients of Π (1 + d z_1) to third order, by Newton's identities."""
    return [
        s1**0, s1, (s1**2 - s2) / 2, -s2 / 2,
        (s1**3 - 3 * s1 * s2 + 2 * s3) / 6, (s3 - s1 * s2) / 2, s3 / 6,
    ]  # fmt: skip


def test_sums_of_a_panel_are_over_the_tokens_of_larger_ratio():
    draft, target, rho = race()
    found = Expansion(Sorted(draft, target, ()), rho, CUTS)
    for y in range(1, COUNT):
        sums = [
            math.fsum((draft[z] - rho[y] * target[z]) ** m for z in before(rho, y))
            for m in (1, 2, 3)
        ]
        # Powers below 1 are added up to 3 times 9, with weights of at most 3 · 2³.
        assert found.terms[y - 1] == pytest.approx(terms_of(*np.array(sums)), rel=0, abs=1e-13)


def test_slopes_are_the_derivatives_by_each_logit():
    """By a step along the imaginary axis: the terms are polynomials."""
    draft, target, rho = race()
    factors = np.random.default_rng(21).normal(size=(COUNT - 1, 7))
    found = Expansion(Sorted(draft, target, ()), rho, CUTS).slopes(factors)
    for t in range(1, COUNT):
        wanted = 0.0
        for y in range(1, COUNT):
            moved = [
                draft[z] * np.exp(1e-30j * ((t == z) - float(t == y))) - rho[y] * target[z]
                for z in before(rho, y)
            ]
            sums = (sum((each**m for each in moved), start=0j) for m in (1, 2, 3))
            terms = np.array(terms_of(*map(np.complex128, sums)))
            wanted += (factors[y - 1] * terms.imag).sum() / 1e-30
        assert found[t - 1] == pytest.approx(wanted, rel=0, abs=1e-12)


def test_nodes_are_the_roots_of_a_chebyshev_polynomial():
    for count in range(1, 9):
        nodes = chebyshev(0.5, 2.0, count)
        roots = polynomials.chebroots([*[0.0] * count, 1.0]) * 0.75 + 1.25
        assert np.sort(nodes) == pytest.approx(np.sort(roots), rel=0, abs=1e-14)


def test_polynomials_of_nodes_are_1_at_one_of_them_and_add_up_to_powers():
    nodes = np.array([0.3, 0.5, 1.0, 1.75])
    assert lagrange(nodes, nodes) == pytest.approx(np.eye(4), rel=0, abs=1e-14)
    points = np.array([-1.0, 0.4, 2.0])
    for power in range(4):
        assert lagrange(nodes, points) @ nodes**power == pytest.approx(points**power, rel=1e-12)


def test_rows_are_powers():
    masses = np.array([0.5, 2.0, 3.0])
    rows = [row.tolist() for row in power_rows(masses, 3)]
    assert rows == [[1, 1, 1], [0.5, 2, 3], [0.25, 4, 9], [0.125, 8, 27]]


def test_few_tokens_have_a_node_for_each_ratio():
    rho = np.repeat(np.linspace(2, 0.5, 32), 2)
    target = np.full(64, 1 / 64)
    assert panels(rho, target, 64) == []
    assert panels(rho, target, 0) == [Panel(at, at + 2, 1) for at in range(0, 64, 2)]
    assert panels(rho, target, 61) == [Panel(61, 62, 1), Panel(62, 64, 1)]


@pytest.mark.parametrize("heavy", [0.0, 0.4])
def test_panels_have_as_many_nodes_as_their_ratios_need(heavy):
    rng = np.random.default_rng(22)
    rho = np.sort(np.concatenate([rng.uniform(1, 1.05, 400), rng.uniform(0.1, 3, 200), [1.02] * 5]))
    rho, first = rho[::-1], 3
    target = rng.dirichlet(np.ones(605)) * (1 - heavy)
    target[300] += heavy
    found = panels(rho, target, first)
    assert [panel.start for panel in found] == [first, *(panel.end for panel in found[:-1])]
    assert found[-1].end == 605
    assert max(panel.nodes for panel in found) > 2
    for start, end, nodes in found:
        assert start == first or rho[start - 1] > rho[start]
        width, low, inside = rho[start] - rho[end - 1], rho[end - 1], target[start:end].sum()
        if width == 0:
            assert nodes == 1
            continue
        assert math.floor(3 * math.log(rho[start])) == math.floor(3 * math.log(low))
        assert 1 <= nodes < end - start
        # m nodes are off by (width/4ρ)^m: the fewest that are enough, of 8 at most.
        ratio = width / (4 * low)
        assert nodes == 8 or inside * ratio**nodes <= 1e-11 * (1 + 1e-9)
        assert nodes == 1 or inside * ratio ** (nodes - 1) > 1e-11 * (1 - 1e-9)
        # Nothing of fourth order is left out that is larger than the tolerance.
        spread = width / max(1.0, low)
        one, two = inside * spread, (target[start:end] ** 2).sum() * spread**2
        assert inside * (one**4 / 24 + one**2 * two / 4 + two**2) <= 1e-11 * (1 + 1e-9)


def test_a_panel_is_cut_where_terms_of_fourth_order_count():
    """Twenty ratios around 2 of one unit of their logarithm, the others all equal."""
    weights = np.arange(1.0, 21)
    target = np.concatenate([weights / weights.sum() / 2, np.full(80, 0.5 / 80)])
    inside, squares = 0.5, (target[:20] ** 2).sum()
    fourth = inside**4 / 24 + inside**2 * squares / 4 + squares**2
    widest = 2 * (1e-11 / (inside * fourth)) ** 0.25
    for width, whole in ((widest * 0.998, True), (widest * 1.002, False)):
        rho = np.concatenate([np.linspace(2 + width, 2, 20), np.full(80, 0.1)])
        found = panels(rho, target, 0)
        assert ((found[0].start, found[0].end) == (0, 20)) is whole
        assert found[-1] == Panel(20, 100, 1)
