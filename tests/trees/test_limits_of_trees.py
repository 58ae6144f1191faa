"""How large trees may be, and from where on their laws are estimates."""

import pytest

from tests.support.limits import of_module

LIMITS = {
    "best.acceptance_rates": {"MOST_PLACES": 20_000},
    "best.best_shape": {"MOST_NODES": 4_096},
    "best.children": {"MOST_CANDIDATES": 20_000},
    "best.costs": {"MOST_TOKENS": 10**9},
    "best.dynamic_tree": {"MOST_NODES": 10**5},
    "token_tree": {"MOST_PROMPT": 10**9},
    "verifiers.greedy_multi_path": {"MOST_PATHS": 10_000, "TEXT_LIMIT": 20_000},
    "verifiers.nodes": {"TUPLE_LIMIT": 20_000},
}


@pytest.mark.parametrize("module", LIMITS)
def test_limits_of_trees_are_those_that_they_were(module):
    assert of_module(f"blocks.trees.{module}", LIMITS[module]) == LIMITS[module]
