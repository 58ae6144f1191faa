"""Rules at the nodes of trees, each made once in a module."""

import pytest

from otspec.blocks.trees.best import acceptance_rates
from otspec.blocks.trees.verifiers import base, draft_selection, leaf_to_root, nodes
from otspec.blocks.trees.verifiers.nodes import Node, made_rule
from otspec.logged import block, chances


@pytest.fixture(scope="module")
def _made():
    return {}, {}


@pytest.fixture
def rules_made_once(monkeypatch, _made):
    """Give the nodes of equal distributions one rule: branches and samples meet them for ever.

    What a node sums up over the tuples of its rule is summed up once, too.
    """
    known, summed = _made

    def made_once(rule, draft, target, k):
        kinds = draft.dtype, target.dtype  # for equal keys may be exact numbers and floats
        key = rule, tuple(draft.tolist()), tuple(target.tolist()), kinds, k
        if key not in known:
            known[key] = made_rule(rule, draft, target, k)
        return known[key]

    def summed_once(rule, merge):
        key = id(rule), merge
        if key not in summed:
            summed[key] = Node(rule, merge)  # which holds the rule, so that the id stays its own
        return summed[key]

    for module in (block, acceptance_rates, base, chances, draft_selection, leaf_to_root, nodes):
        monkeypatch.setattr(module, "made_rule", made_once)
    monkeypatch.setattr(nodes, "Node", summed_once)
