"""The rule of the note's first theorem, written from its text alone: lossless, and the optimum."""

from fractions import Fraction
from itertools import pairwise, permutations, product

import pytest

import otspec
from docs.note.examples import instances, least_cut
from otspec.rules import PooledSelection, PooledSelectionWithoutReplacement


def law_of(draft, k, distinct):
    """Every tuple of k drafts with its probability."""
    support = [y for y, mass in enumerate(draft) if mass]
    found = {}
    for x in permutations(support, k) if distinct else product(support, repeat=k):
        mass, left = Fraction(1), Fraction(1)
        for y in x:
            mass *= draft[y] / left
            left -= draft[y] if distinct else 0
        found[x] = mass
    return found


def slope(values, masses, i, j):
    return (values[j] - values[i]) / (masses[j] - masses[i])


def low_slope(p, q, wanted):
    """The slope l with sum (l p - q)_+ equal to what is wanted; ratios ascend."""
    ends = [(wanted + sum(q[:j])) / sum(p[:j]) for j in range(1, len(p) + 1)]
    fits = (end for end, r in zip(ends, ratios(p, q)[1:], strict=False) if end <= r)
    return next(fits, ends[-1])


def high_slope(p, q, wanted):
    """The slope h with sum (q - h p)_+ equal to what is wanted; ratios ascend."""
    ends = [(sum(q[j:]) - wanted) / sum(p[j:]) for j in range(len(p))]
    fits = (end for end, r in zip(ends[:0:-1], ratios(p, q)[-2::-1], strict=True) if end >= r)
    return next(fits, ends[0])


def ratios(p, q):
    return [b / a for a, b in zip(p, q, strict=True)]


def built(p, q, u, g):
    """The selection law and the thresholds, for tokens in ascending order of their ratio."""
    n = len(p)
    total = [sum(q[:j]) for j in range(n + 1)]
    s = max(range(n + 1), key=lambda j: g[j] - total[j])
    c = g[s] - total[s]
    low = low_slope(p[:s], q[:s], c) if s else Fraction(0)
    high = high_slope(p[s:], q[s:], total[n] + c - 1) if s < n else max(map(Fraction, (low, *q)))
    slopes = [max(q[j] / p[j], low) if j < s else min(q[j] / p[j], high) for j in range(n)]
    law = [slope_ * mass for slope_, mass in zip(slopes, p, strict=True)]
    b = [sum(law[:j]) for j in range(n + 1)]
    tight = {j for j in range(n + 1) if b[j] == g[j]}
    budget = {j: slopes[j] - slopes[j - 1] for j in range(1, n) if j not in tight}
    thresholds, w = [Fraction(10) if j in tight else None for j in range(n + 1)], Fraction(0)
    alive = list(range(n + 1))
    while budget:
        rates = {}
        for place in range(1, len(alive) - 1):
            before, j, after = alive[place - 1 : place + 2]
            if j in budget:
                rates[j] = slope(g, u, j, after) - slope(g, u, before, j)
        ends = {j: Fraction(0) if not left else left / rates[j] if rates[j] else None
                for j, left in budget.items()}  # fmt: skip
        first = min((j for j in ends if ends[j] is not None), key=lambda j: ends[j])
        wait = ends[first]
        budget = {j: left - wait * rates[j] for j, left in budget.items()}
        w += wait
        thresholds[first] = w
        del budget[first]
        alive.remove(first)
    return law, thresholds


def output_of(draft, target, k, distinct):
    """What comes out with which probability, accepted or not, from the text's three steps."""
    order = sorted((y for y in range(len(draft)) if draft[y]), key=lambda y: target[y] / draft[y])
    p, q = [draft[y] for y in order], [target[y] for y in order]
    u = [sum(p[:j], Fraction(0)) for j in range(len(p) + 1)]
    tuples = {tuple(map(order.index, x)): mass for x, mass in law_of(draft, k, distinct).items()}
    g = [sum(m for x, m in tuples.items() if max(x) < j) for j in range(len(p) + 1)]
    law, thresholds = built(p, q, u, g)
    assert all(t == 10 or 0 <= t < 1 for t in thresholds)
    selected = [Fraction(0)] * len(p)
    moments = sorted({Fraction(0), Fraction(1), *(t for t in thresholds if t < 1)})
    for w, end in pairwise(moments):
        cuts = [j for j, t in enumerate(thresholds) if t > w]
        for x, mass in tuples.items():
            low, high = next((i, j) for i, j in pairwise(cuts) if i <= max(x) < j)
            inside = [y for y in x if low <= y < high]
            share = {y: Fraction(inside.count(y), len(inside)) for y in inside}
            if distinct:
                after, together = 1 - u[high], sum(p[y] for y in inside)
                rest = (1 - sum(p[y] for y in x)) * (u[high] - u[low])
                chance = after * together / rest if after else Fraction(0)
                assert 0 <= chance <= 1
                share = {y: chance * p[y] / together for y in inside}
                share[inside[0]] += 1 - chance
            for y, part in share.items():
                selected[y] += (end - w) * mass * part
    assert selected == law
    kept = {y: min(m, target[y]) for y, m in zip(order, law, strict=True)}
    return sum(kept.values()), dict(zip(order, law, strict=True))


def agrees(count):
    for draft, target, k in instances(count):
        for rule in (PooledSelection, PooledSelectionWithoutReplacement):
            made = rule(draft, target, k)
            accepted, law = output_of(draft, target, k, rule is PooledSelectionWithoutReplacement)
            assert accepted == made.acceptance() == least_cut(made.law, target)
            assert accepted == otspec.optimal_acceptance(made.law, target).acceptance
            selection = made.law_of_selection
            assert all(selection[y] == mass for y, mass in law.items())


def test_the_text_alone_makes_a_rule_that_attains_the_optimum():
    agrees(100)


@pytest.mark.nightly
def test_the_text_alone_agrees_on_all_instances_of_the_note():
    agrees(1_000)
