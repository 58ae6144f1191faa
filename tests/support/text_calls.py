"""All ways in which a text of the target is decoded, call by call, and what they say of it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from otspec.blocks import DraftSelection, as_shape
from otspec.logged import LoggedBlock, replay


def of_tree(rule, tree):
    return lambda draft, target: DraftSelection(draft, target, tree, rule, merge=False)


def of_block(rule, tree):
    return lambda draft, target: rule(draft, target, as_shape(tree).depth)


def decoded(make, draft, target, number):
    """All ways to decode: text -> [(probability, the calls' beginnings and accept lengths)]."""
    rules, found = {}, {}

    def at(prefix):
        if prefix not in rules:
            rule = make(draft.after(prefix), target.after(prefix))
            rules[prefix] = [
                (one.accepted, one.mass, one.following(())) for one in rule.outcomes() if one.mass
            ]
        return rules[prefix]

    def go_on(prefix, mass, calls):
        if len(prefix) >= number or target.ended(prefix):
            text = prefix[:number]
            found.setdefault(text, []).append((mass, calls))
            return
        for head, chance, row in at(prefix):
            left = number - len(prefix)
            call = (len(prefix), min(len(head), left))
            longer = prefix + head
            if len(head) >= left or target.ended(longer):
                go_on(longer, mass * chance, (*calls, call))
                continue
            for token in np.flatnonzero(row).tolist():
                go_on((*longer, token), mass * chance * row[token], (*calls, call))

    go_on((), Fraction(1), ())
    return found


def logged(draft, target, text, end=()):
    heads = [text[:depth] for depth in range(len(text))]
    rows = [target(head) for head in heads]
    return LoggedBlock([draft(head) for head in heads], rows, text, end, rows)


def check_against(found, draft, target, rule, tree, end=()):
    """Everything that is said of a text is the mean over the ways in which it was decoded."""
    depth = as_shape(tree).depth
    for text, ways in found.items():
        total = sum(mass for mass, _ in ways)
        assert total == target.mass(text)
        said = replay(logged(draft, target, text, end), rule, tree)
        starts = [
            sum(mass for mass, calls in ways if any(start == place for start, _ in calls)) / total
            for place in range(len(text))
        ]
        assert said.starts.tolist() == starts
        lengths = [
            sum(mass * sum(tau == kept for _, tau in calls) for mass, calls in ways) / total
            for kept in range(depth + 1)
        ]
        assert said.lengths.tolist() == lengths
        assert said.calls == sum(mass * len(calls) for mass, calls in ways) / total
        assert said.tokens == len(text)
        assert {type(said.calls), type(said.accepted), type(said.tokens)} == {Fraction}
