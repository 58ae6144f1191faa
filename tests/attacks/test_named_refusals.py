"""What callables return, costs beyond floats, and lengths that lie are refused by name."""

import math
from collections import UserList, deque
from dataclasses import replace

import hostile_values
import numpy as np
import pytest
from each_case import each
from fuzz_targets import time_limit

import otspec
from otspec import blocks, rules
from otspec._base.coerce import as_array
from otspec.blocks import StepCost, as_seconds
from otspec.conformance import check
from otspec.logged import AcceptLengths, Tally
from otspec.models import memoryless
from otspec.solvers import SOLVERS

COIN, BIASED = ["1/2", "1/2"], ["1/4", "3/4"]
PAIR = memoryless(COIN), memoryless(BIASED)
NONSENSE = (None, "x", 3, [], {}, COIN, np.zeros(2), object(), otspec.IID(COIN, 2))
OTHERS = (
    rules.KSequential(COIN, BIASED, 3),
    rules.KSequential(["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"], 2),
)
"""Rules for other numbers of drafts, and of tokens."""


def block(rule):
    tokens = [0.5, 0.5]
    logged = otspec.logged.LoggedBlock([tokens] * 2, [tokens] * 2, (0, 1))
    return logged.expected_of_tree("2x1", rule)


USES = {
    "a tree": lambda rule: blocks.DraftSelection(*PAIR, "2x1", rule).expected(),
    "texts of a tree": lambda rule: list(blocks.DraftSelection(*PAIR, "2x1", rule).outcomes()),
    "a universal tree": lambda rule: list(blocks.UniversalTree(*PAIR, "2x1", rule).outcomes()),
    "the best tree": lambda rule: blocks.best_tree(*PAIR, rule, 2, 2),
    "a logged block": block,
    "a part of the tokens": lambda rule: rules.TruncatedAlphabet(
        COIN, BIASED, 2, kept=2, rule=rule
    ).acceptance(),
}


@each("use", USES)
@each("made", [*NONSENSE, *OTHERS], ids=lambda made: type(made).__name__)
def test_a_rule_that_makes_something_else_is_refused(use, made):
    says = r"\brule (is|makes|returned)\b.*(must make|must return|make it)|what rule makes"
    with pytest.raises(ValueError, match=says):
        USES[use](lambda *_: made)


@pytest.mark.parametrize("made", NONSENSE, ids=lambda made: type(made).__name__)
@pytest.mark.parametrize("kind", ["tokens", "block", "tree"])
def test_a_conformance_check_with_such_a_rule_names_it(kind, made):
    def verifier(draft, target, drafts, *_, **__):
        zeros = np.zeros(len(drafts), int)
        return zeros if kind == "tokens" else (zeros, zeros)

    with pytest.raises(ValueError, match=r"\brule (is|makes|returned)\b"):
        check(verifier, kind=kind, rule=lambda *_: made, budget=100_000)


@pytest.mark.parametrize("made", NONSENSE, ids=lambda made: type(made).__name__)
def test_solutions_that_are_none_are_refused(made):
    solver = replace(SOLVERS["highs"], solve=lambda _: made)
    program = otspec.programs.formulate("reduced", otspec.IID(COIN, 2), BIASED).build()
    with pytest.raises(ValueError, match="what solve returns"):
        solver(program)


@pytest.mark.parametrize("other", [5, 0, None, "x", [], Tally.of(np.zeros((1, 4)))])
def test_accept_lengths_are_added_to_accept_lengths_alone(other):
    lengths = AcceptLengths(2, Tally.of(np.ones((3, 4))), True)
    with pytest.raises(ValueError, match=r"^other is "):
        lengths + other


TOO_SMALL = (5e-324, 1e-320, "1e-400", 9e-101, [1, 5e-324], {1: 5e-324}, "1:1,2:1e-200")
TOO_LARGE = (1.7e308, "1e400", 2e100, [1e308, 1e308], {1: 1, 2: 1e308})


@pytest.mark.parametrize("cost", [*TOO_SMALL, *TOO_LARGE], ids=repr)
@pytest.mark.parametrize("name", ["draft_cost", "target_cost"])
def test_costs_of_which_no_rate_is_a_float_are_refused(name, cost):
    costs = {"draft_cost": 1, "target_cost": 1} | {name: cost}
    with pytest.raises(ValueError, match=rf"^{name} is .*seconds\[\d\] is .* 1e-100 to 1e\+100"):
        otspec.advise(PAIR, nodes=2, depth=1, **costs)


@pytest.mark.parametrize("draft", [1e-100, 1, 1e100])
@pytest.mark.parametrize("target", [1e-100, 1, 1e100])
def test_at_the_ends_of_the_range_all_rates_are_numbers(draft, target):
    advice = otspec.advise(PAIR, draft_cost=draft, target_cost=target, nodes=2, depth=1)
    for choice in advice.choices:
        assert math.isfinite(choice.speed)
        assert choice.speed > 0
    # One row of two drafts at most: a call of each model for 1 to 2 tokens.
    assert 1 <= advice.best.tokens <= 2
    slow = as_seconds([1e-100, 1e100])
    assert math.isfinite(slow(10**9))
    assert math.isfinite(StepCost(slow, slow)(blocks.as_shape("2x1")))


@pytest.mark.parametrize("kind", [hostile_values.Lying, hostile_values.Negative,
                                  hostile_values.Immense, hostile_values.Shorter])  # fmt: skip
@pytest.mark.parametrize("entries", [[0.5, 0.25, 0.25], ["1/2", "1/4", "1/4"]])
def test_lists_of_another_length_than_they_say_are_refused_by_name(kind, entries):
    with time_limit(kind), pytest.raises(ValueError, match=r"^draft (says|cannot be read)"):
        otspec.IID(kind(entries), 2)
    with time_limit(kind), pytest.raises(ValueError, match=r"^table (says|cannot be read)"):
        otspec.Joint([kind(entries)] * 3)


class Numbered:
    """A sequence of a length that it says, with entries as long as they are asked for."""

    def __init__(self, length, entries):
        self.length, self.entries = length, entries

    def __len__(self):
        return self.length

    def __getitem__(self, place):
        if place >= self.entries:
            raise IndexError(place)
        return 0.5


@pytest.mark.parametrize(
    ("length", "entries", "says"),
    [(3, 10**12, "more"), (3, 2, "fewer"), (2**40, 2, "fewer"), (2**40, 10**12, "1,000,000")],
)
def test_sequences_end_where_they_say(length, entries, says):
    made = Numbered(length, entries)
    with time_limit(says), pytest.raises(ValueError, match=rf"^draft .*{says} entries"):
        otspec.IID(made, 2)
    with time_limit(says), pytest.raises(ValueError, match=rf"^x .*{says} entries"):
        as_array([made], "x")


def test_sequences_that_tell_the_truth_are_lists():
    for kind in (list, tuple, deque, UserList):
        assert otspec.IID(kind([0.5, 0.5]), 2).draft.tolist() == [0.5, 0.5]
        assert as_array(kind([kind([1, 2]), kind([3, 4])]), "x").tolist() == [[1, 2], [3, 4]]
    assert otspec.IID(Numbered(2, 2), 2).draft.tolist() == [0.5, 0.5]


def views(number, shape):
    """Arrays of a shape that are views of one number, and lists that hold them."""
    view = np.broadcast_to(np.array(number), shape)
    return view, view[..., None], [view], (view, view)


@pytest.mark.parametrize("number", [0.0, np.float16(0), 0, None], ids=repr)
@pytest.mark.parametrize("shape", [(2**20, 2**20), (2**42,)], ids=repr)
@pytest.mark.parametrize("given", range(4))
def test_an_array_larger_than_memory_is_refused_before_it_is_copied(number, shape, given):
    large = views(number, shape)[given]  # 8 TiB at least
    for name, call in {
        "draft": lambda: otspec.IID(large, 2),
        "target": lambda: otspec.rules.PooledSelection([0.5, 0.5], large, 2),
        "transition": lambda: otspec.models.markov(large),
        "table": lambda: otspec.Joint(large),
        "row": lambda: otspec.models.memoryless(large),
        "pools": lambda: otspec.rules.PooledSelection(COIN, BIASED, 2, pools=large),
    }.items():
        with pytest.raises(ValueError, match=rf"^{name}\b.*(memory|one-dimensional)"):
            call()


def test_the_shape_of_a_distribution_is_looked_at_before_it_is_copied(monkeypatch):
    def copied(values):
        raise AssertionError(f"{values.shape} is copied")

    monkeypatch.setattr("otspec._base.arithmetic.read_only", copied)
    with pytest.raises(ValueError, match=r"^draft must be one-dimensional.* \(3, 5\)"):
        otspec.IID(np.broadcast_to(0.2, (3, 5)), 2)


def test_messages_name_the_parameter():
    coin = otspec.models.memoryless(COIN)
    rule = blocks.BlockVerification(coin, coin, 1)
    for name, call in {
        "row": lambda: otspec.models.memoryless([0.5, 0.6]),
        r"row\[0\]": lambda: otspec.models.memoryless([object()]),
        "name": lambda: otspec.drafts.named_law("x", COIN, 2),
        "tokens": lambda: otspec.audit_blocks(rule, 2**63),
    }.items():
        with pytest.raises(ValueError, match=f"^{name} "):
            call()
