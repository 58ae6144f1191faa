"""How many tokens may be asked for of all logged blocks."""

from __future__ import annotations

import pytest

from otspec.logged import LoggedBlock
from otspec.logged.comparison import shared_length

HALVES = ["1/2", "1/2"]


def block(tokens, end=()):
    count = len(tokens)
    return LoggedBlock([HALVES] * count, [HALVES] * count, tokens, end=end)


@pytest.mark.parametrize(
    ("blocks", "most", "shared"),
    [
        ([block([0, 0, 0]), block([0, 0])], 8, 2),
        ([block([0, 0, 0]), block([0, 0])], 1, 1),
        # A block that is over has as much as anybody asks for.
        ([block([0, 0, 0]), block([0, 1], end=[1])], 8, 3),
        ([block([1], end=[1])], 8, 8),
    ],
)
def test_a_length_is_shared_by_the_blocks_that_are_not_over(blocks, most, shared):
    assert shared_length(blocks, most) == shared
