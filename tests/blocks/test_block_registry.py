"""The tables of rules for blocks and trees: what is in them, and how others join."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from otspec import blocks
from otspec.blocks import TokenVerification, compare_block_rules, trees
from otspec.logged import LoggedBlock, compare_on_blocks
from otspec.models import memoryless
from otspec.rules import PlannedRule, RecursiveRejection

COIN, BIASED = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])


@dataclass(frozen=True, eq=False)
class Another(TokenVerification):
    """A rule of another package."""

    name: ClassVar[str] = "another"
    title: ClassVar[str] = "another rule"


class AnotherRejection(RecursiveRejection):
    """A rule for one token of another package."""

    name: ClassVar[str] = "another"
    title: ClassVar[str] = "another rejection"


@pytest.fixture
def another(monkeypatch):
    """Let both tables have one more rule, for one test."""
    for table, rule in ((blocks.BLOCK_RULES, Another), (blocks.TREE_RULES, AnotherRejection)):
        monkeypatch.setattr(table, "_entries", dict(table))
        table.register(rule)


def test_the_tables_have_their_rules_by_name_in_order():
    assert list(blocks.BLOCK_RULES) == ["token", "block-published", "block-preprint"]
    assert (blocks.BLOCK_RULES.group, blocks.TREE_RULES.group) == (
        "otspec.block_rules",
        "otspec.tree_rules",
    )
    for table in (blocks.BLOCK_RULES, blocks.TREE_RULES):
        assert all(rule.name == name for name, rule in table.items())


@pytest.mark.usefixtures("another")
def test_a_rule_of_another_package_is_compared_like_ours():
    assert list(blocks.BLOCK_RULES.values())[-1] is Another
    assert list(blocks.TREE_RULES.values())[-1] is AnotherRejection
    exact = compare_block_rules(COIN, BIASED, [2])
    logged = compare_on_blocks([LoggedBlock([COIN(())], [BIASED(())], [1])], [1])
    for rows in (exact, logged):
        assert [row.rule for row in rows] == [rule.title for rule in blocks.BLOCK_RULES.values()]
        assert rows[-1].expected == rows[0].expected
    by_depth = blocks.compare_trees(COIN, BIASED, ["2x1"])[
        : len(blocks.TREE_RULES) - 1
    ]  # no hub pairs
    assert by_depth[-1].rule == AnotherRejection.title
    assert by_depth[-1].expected == by_depth[0].expected


@pytest.mark.parametrize(
    ("table", "name", "rule", "says"),
    [
        (blocks.BLOCK_RULES, "mine", RecursiveRejection, "is no subclass of SingleDraftRule"),
        (blocks.BLOCK_RULES, "mine", "token", "'token' is no subclass of SingleDraftRule"),
        (blocks.BLOCK_RULES, "mine", Another, "is named 'another', not 'mine'"),
        (
            blocks.TREE_RULES,
            "mine",
            TokenVerification,
            "TokenVerification.* is no subclass of PairRule",
        ),
        (blocks.TREE_RULES, "planned", PlannedRule, "PlannedRule.* is no subclass of PairRule"),
        (blocks.TREE_RULES, "mine", AnotherRejection, "is named 'another', not 'mine'"),
    ],
)
def test_what_is_no_rule_of_the_kind_is_refused(table, name, rule, says):
    with pytest.raises(ValueError, match=says):
        table.add(name, rule)
    assert name not in table


def test_all_names_are_found_in_the_front_room_and_no_others():
    for name in blocks.__all__:
        assert getattr(blocks, name) is not None
    assert set(blocks.__all__) <= set(dir(blocks))
    for room in (blocks, trees):
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            _ = room.nothing
