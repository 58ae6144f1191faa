"""Rules that are asked together share what they need of a pair, and answer as each does alone."""

import numpy as np
import pytest
from instances import floats, pairs

from otspec import ratios
from otspec.drafts import LAWS
from otspec.drafts.single import FixedButOne
from otspec.optimum import optimal_acceptance
from otspec.programs.truncated import descending, descending_again
from otspec.ratios import Pair
from otspec.rules import compared_rules
from otspec.rules.base.accepted import acceptance_or_estimate
from otspec.rules.rejection.rejected_draws import Heaviest
from otspec.traces import compare

KS = (1, 2, 3, 5, 8)
CLOSE = 1e-12
"""Cumulative sums of some hundred terms, and a quadrature."""


def degenerate(n):
    """Draft = target, disjoint ones, one token each, uniform ones, ties and zeros."""
    rng = np.random.default_rng(n)
    first, last, even = np.eye(n)[0], np.eye(n)[-1], np.full(n, 1 / n)
    halves = np.where(np.arange(n) < n // 2, 1.0, 0.0) / (n // 2)
    ties = rng.integers(0, 3, n) + 1e-30
    ties /= ties.sum()
    yield from [(even, even), (ties, ties), (even, ties), (ties, even)]
    yield from [(first, last), (first, first), (first, even), (even, last)]
    yield halves, halves[::-1].copy()
    yield halves, even


def random_pairs(n, count):
    rng = np.random.default_rng(count)
    for concentration in np.linspace(0.05, 2, count):
        yield tuple(rng.dirichlet(np.full(n, concentration), size=2))


def alone(rule, draft, target, k):
    return acceptance_or_estimate(rule(draft, target, k)).value


@pytest.mark.parametrize("rule", compared_rules(), ids=lambda rule: rule.name)
def test_rules_that_share_a_pair_accept_what_they_do_alone(rule):
    for n, some in ((7, random_pairs(7, 6)), (7, degenerate(7)), (60, random_pairs(60, 2))):
        for draft, target in some:
            taken = [k for k in KS if rule.only_k in (None, k) and k <= n]
            taken = [k for k in taken if rule.law_class.exists(draft, k)]
            found = [each.value for each in rule.acceptances_of(Pair(draft, target), taken[::-1])]
            expected = [alone(rule, draft, target, k) for k in taken[::-1]]
            assert found == pytest.approx(expected, abs=CLOSE)
    for draft, target in pairs(77, 25, most_tokens=4):
        taken = [k for k in (1, 2, 3) if rule.only_k in (None, k)]
        taken = [k for k in taken if rule.law_class.exists(np.array(draft, dtype=object), k)]
        found = rule.acceptances_of(Pair(draft, target), taken)
        assert found == [alone(rule, draft, target, k) for k in taken]


def test_a_comparison_sorts_the_ratios_once(monkeypatch):
    """The ratios once, and once what importance sampling looks for; then it merges."""
    n, sorted_, argsort = 2_000, [], np.argsort
    draft, target = np.random.default_rng(3).dirichlet(np.full(n, 0.2), size=2)

    def counted(values, *rest, **options):
        if len(values) == n:
            sorted_.append(options.get("kind"))
        return argsort(values, *rest, **options)

    monkeypatch.setattr(np, "argsort", counted)
    ordered = []
    monkeypatch.setattr(
        ratios, "ascending", lambda keys: ordered.append(len(keys)) or counted(keys)
    )
    rows = compare(draft, target, (1, 2, 4, 8, 16), ("iid", "without-replacement", "hub"))
    assert len(rows) == 31 + 15 + 2
    assert ordered == [n]
    assert [kind for kind in sorted_ if kind is None] == [None, None]
    assert len(sorted_) == 2 + 15  # the stages of importance sampling, each from the one before
    sorted_.clear()
    compare(draft, target, (1, 2, 4), ("without-replacement", "hub", "top-plus-one"))
    assert sorted_ == [None]


def test_an_order_that_was_nearly_right_is_the_right_one():
    rng = np.random.default_rng(4)
    for _ in range(200):
        values = rng.integers(-3, 3, 40) / 4.0
        tokens = descending(values + rng.choice([0.0, 0.25], 40))
        found = tokens[descending_again(values[tokens], tokens)]
        assert found.tolist() == descending(values).tolist()
        assert found.tolist() == np.lexsort([np.arange(40), -values]).tolist()


@pytest.mark.parametrize(
    "name", [name for name, law in LAWS.items() if issubclass(law, FixedButOne)]
)
def test_the_cut_of_fixed_drafts_is_the_least_of_all_sets(name):
    for draft, target in [*pairs(78, 40, most_tokens=5), *map(floats_of, degenerate(4))]:
        if not LAWS[name].exists(Pair(draft, target).draft, 2):
            continue
        law = LAWS[name](draft, 2)
        best = optimal_acceptance(law, target)
        best.check()
        n = len(draft)
        sets = [[y for y in range(n) if chosen >> y & 1] for chosen in range(2**n)]
        bounds = [sum(best.target[y] for y in some) + 1 - law.inside(some) for some in sets]
        assert best.acceptance == pytest.approx(min(bounds), abs=0 if law.exact else CLOSE)


def floats_of(pair):
    return floats(pair[0]), floats(pair[1])


def test_masses_without_the_heaviest_are_found_back():
    rng = np.random.default_rng(5)
    for n in (1, 2, 6, 30):
        masses = rng.dirichlet(np.full(n, 0.3))
        k = min(n, 4)
        heaviest = Heaviest.of(masses, k)
        for head in range(k):
            heads = np.full(n + 1, head)
            counted = np.where(np.argsort(np.argsort(-masses, kind="stable")) >= head, masses, 0)
            before = np.append(0.0, np.cumsum(counted))
            assert heaviest.before(np.arange(n + 1), heads) == pytest.approx(before, abs=CLOSE)
            wanted = rng.random(50) * before[-1]
            found = heaviest.reached(wanted, np.full(50, head))
            places = np.searchsorted(before, wanted, side="right") - 1
            assert found[places < n].tolist() == places[places < n].tolist()
