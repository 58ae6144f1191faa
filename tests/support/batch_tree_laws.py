"""The exact law of the verification of a tree, from the batch function and from the rule."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
import pytest
from batch_laws import law_of, residual_cuts
from batch_table import reference_at_rho

from otspec import batch
from otspec.blocks import DraftSelection, TokenTree
from otspec.models import TableModel

ROUNDING = 1e-12


def depths_of(parents):
    """The depth of each node, the text's 0 first."""
    depths = [0]
    for parent in parents:
        depths.append(depths[parent + 1] + 1)
    return depths


def children_of(parents, node):
    return [child for child, parent in enumerate(parents) if parent == node]


def widths_of(parents):
    widths = [0] * max(depths_of(parents))
    for node, depth in enumerate(depths_of(parents), start=-1):
        if children_of(parents, node):
            widths[depth] = max(widths[depth], len(children_of(parents, node)))
    return widths


def random_model(n, seed, zeros=False):
    """A model that says something else after each text of up to two tokens."""
    rng = np.random.default_rng(seed)
    texts = [text for size in range(3) for text in itertools.product(range(n), repeat=size)]
    rows = rng.dirichlet(np.ones(n), len(texts))
    rows[::2, 0] *= not zeros
    return TableModel(dict(zip(texts, rows / rows.sum(axis=1, keepdims=True), strict=True)))


def texts_of(parents, drafts):
    """The text that ends at each node, that of no token first."""
    texts = [()]
    for token, parent in zip(drafts, parents, strict=True):
        texts.append((*texts[parent + 1], token))
    return texts


def mass_of(name, draft, parents, drafts):
    """The probability of the tokens of a tree, drawn for a rule."""
    mass = 1.0
    for node, text in enumerate(texts_of(parents, drafts), start=-1):
        tokens = [drafts[child] for child in children_of(parents, node)]
        if tokens:
            row = draft(text)
            tuples, masses = reference_at_rho(name, row, row, len(tokens)).law.tuples()
            mass *= masses[(tuples == tokens).all(axis=1)].sum()
    return mass


def law_of_batch(name, draft, target, parents):
    """The law of the kept text and the token after it by depth, integrated from the code."""
    widths = widths_of(parents)
    widest, depth = max(widths), len(widths)
    used = [(i, j) for i, width in enumerate(widths) for j in (*range(width), widest)]
    used = tuple(np.transpose([*used, (depth, widest)]))

    def verify(*arrays):
        *others, uniforms = arrays
        numbers = np.full((len(uniforms), depth + 1, widest + 1), np.nan)
        numbers[:, *used] = uniforms
        return batch.tree_verification(*others, numbers, parents, rule=name)

    def cuts(rows, drafts):
        return list(draw_cuts(name, rows, parents, drafts))

    return integrated(verify, len(used[0]), name, draft, target, parents, cuts)


def integrated(verify, dimensions, name, draft, target, parents, cuts=lambda *_: ()):
    """The law of the kept text and the token after it, of drafts that are drawn for a rule."""
    n, law = target.n, defaultdict(float)
    for drafts in itertools.product(range(n), repeat=len(parents)):
        mass, texts = mass_of(name, draft, parents, drafts), texts_of(parents, drafts)
        if mass == 0:
            continue
        rows = [np.array([model(text) for text in texts]) for model in (draft, target)]
        given = *rows, np.array(drafts)

        def outcome(uniforms, given=given):
            arrays = [np.broadcast_to(part, (len(uniforms), *part.shape)) for part in given]
            result = verify(*arrays, uniforms)
            return (result.node + 1) * n + result.token

        found = law_of(outcome, dimensions, len(texts) * n, cuts(rows, drafts))
        for text, row in zip(texts, found.reshape(len(texts), n), strict=True):
            for token in range(n):
                law[text, token] += mass * row[token]
    return law


def draw_cuts(name, rows, parents, drafts):
    """Where the numbers that draw change the token, if none of a node's children is selected."""
    ends = np.cumsum([width + 1 for width in widths_of(parents)]) - 1
    for draft, target, node, depth in zip(
        *rows, range(-1, len(parents)), depths_of(parents), strict=True
    ):
        tokens = [drafts[child] for child in children_of(parents, node)]
        if tokens:
            rule = reference_at_rho(name, draft, target, len(tokens))
            for _, place in residual_cuts(rule, tokens):
                yield ends[depth], place


def law_of_selection(name, draft, target, parents):
    """The law by depth by the rule of otspec.blocks."""

    def rule(draft, target, k):
        return reference_at_rho(name, draft, target, k)

    return law_of_rule(DraftSelection(draft, target, TokenTree(parents), rule, merge=False))


def law_of_rule(rule):
    """The law of the kept text and the token after it by a rule of otspec.blocks."""
    return {
        (outcome.accepted, token): outcome.mass * mass
        for outcome in rule.outcomes()
        for token, mass in enumerate(outcome.following(()))
    }


def agree(found, wanted):
    """Compare two laws up to the rounding of their sums."""
    for key in wanted.keys() | found.keys():
        assert found.get(key, 0) == pytest.approx(wanted.get(key, 0), abs=ROUNDING), key
