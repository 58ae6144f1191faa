"""Rules at the nodes of trees, each made once in a module of tests: a plugin."""

from importlib import import_module

import pytest

_USERS = (
    "blocks.trees.best.acceptance_rates",
    "blocks.trees.verifiers.base",
    "blocks.trees.verifiers.draft_selection",
    "blocks.trees.verifiers.leaf_to_root",
    "blocks.trees.verifiers.nodes",
    "logged.block",
    "logged.chances",
)
"""The modules that make rules at nodes."""


@pytest.fixture(scope="module")
def _made():
    return {}, {}


@pytest.fixture
def rules_made_once(monkeypatch, _made):
    """Give the nodes of equal distributions one rule: branches and samples meet them for ever.

    What a node sums up over the tuples of its rule is summed up once, too.
    """
    nodes = import_module("otspec.blocks.trees.verifiers.nodes")
    make, node = nodes.made_rule, nodes.Node
    known, summed = _made

    def made_once(rule, draft, target, k):
        kinds = draft.dtype, target.dtype  # for equal keys may be exact numbers and floats
        key = rule, tuple(draft.tolist()), tuple(target.tolist()), kinds, k
        if key not in known:
            known[key] = make(rule, draft, target, k)
        return known[key]

    def summed_once(rule, merge):
        key = id(rule), merge
        if key not in summed:
            summed[key] = node(rule, merge)  # which holds the rule, so that the id stays its own
        return summed[key]

    for user in _USERS:
        monkeypatch.setattr(f"otspec.{user}.made_rule", made_once)
    monkeypatch.setattr(nodes, "Node", summed_once)
