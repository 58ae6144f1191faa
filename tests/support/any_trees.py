"""Trees of any shape, drawn and verified one by one by code of their own."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import oracles
from scipy.stats import binom

from otspec.blocks import Shape
from otspec.rules import TargetOnly

FALSE_ALARM = 1e-9
"""With which probability correct frequencies would have failed a test at a seed never seen."""


@cache
def ordered_trees(nodes):
    """All trees of so many nodes after the text, children in order."""
    if nodes == 0:
        return (Shape(),)
    return tuple(
        Shape((Shape(first.children), *rest.children))
        for below in range(nodes)
        for first in ordered_trees(below)
        for rest in ordered_trees(nodes - 1 - below)
    )


def with_top(shape, rng):
    """The same tree in which some children, chosen by chance, are the likeliest tokens."""
    children = tuple(with_top(child, rng) for child in shape.children)
    return Shape(children, bool(rng.integers(2)))


def top(draft, k):
    """The law of the k likeliest tokens, of no more than there are to draw."""
    k = min(k, sum(mass > 0 for mass in draft))
    return oracles.fixed_table(oracles.likeliest(draft, k))


def drawn(draws, draft, shape, prefix=()):
    """The law of what is drafted: of a node, whether its children are certain, and those."""
    if not shape.children:
        return {(None, ()): Fraction(1)}
    law = {}
    k, row = len(shape.children), tuple(draft(prefix))
    for tokens, mass in (top if shape.top else draws)(row, k).items():
        made = {(): mass}
        for token, child in zip(tokens, shape.children, strict=False):
            below = drawn(draws, draft, child, (*prefix, token))
            made = {
                (*done, (token, node)): each * chance
                for done, each in made.items()
                for node, chance in below.items()
            }
        for children, each in made.items():
            law[shape.top, children] = law.get((shape.top, children), 0) + each
    return law


def united(nodes):
    """The node of several: drawn children side by side, of certain ones each token once."""
    nodes = [node for node in nodes if node[1]]
    if not nodes:
        return None, ()
    kind = nodes[0][0]
    alike = [children for each, children in nodes if each == kind]
    if not kind:
        return kind, sum(alike, ())
    tokens = max(alike, key=len)
    return kind, tuple(
        (token, united([below for children in alike for y, below in children if y == token]))
        for token, _ in tokens
    )


def expected(law, rule, draft, target, merges):
    """The kept tokens, tree by tree, by the kernel of the rule at every node."""

    @cache
    def kernel(prefix, tokens, kind):
        made = TargetOnly if kind else rule
        return tuple(made(draft(prefix), target(prefix), len(tokens)).kernel(tokens))

    @cache
    def kept(node, prefix):
        kind, children = node
        tokens = tuple(token for token, _ in children)
        total = Fraction(0)
        for token, chance in enumerate(kernel(prefix, tokens, kind) if tokens else ()):
            same = [below for drafted, below in children if drafted == token]
            if same and chance:
                on = united(same) if merges and not kind else same[0]
                total += chance * (1 + kept(on, (*prefix, token)))
        return total

    return sum(mass * kept(node, ()) for node, mass in law.items())


def check_frequencies(counts, law):
    """The exact binomial tails of every event, and the number of events in the union bound."""
    size = sum(counts.values())
    assert set(counts) <= {event for event, mass in law.items() if mass > 0}
    tail = FALSE_ALARM / (2 * len(law))
    for event, mass in law.items():
        assert binom.cdf(counts[event], size, float(mass)) >= tail
        assert binom.sf(counts[event] - 1, size, float(mass)) >= tail
