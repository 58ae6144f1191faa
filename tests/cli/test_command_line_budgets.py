"""How far the output may be from the target, as options of ``otspec accept``."""

import json

import pytest
from command_line import complaint, run

import otspec

DRAFT, TARGET = "1/2,3/10,1/5", "1/10,3/5,3/10"


def test_accept_within_a_budget(capsys):
    printed = run(capsys, "accept", DRAFT, TARGET, "--total-variation", "1/20")
    assert "9/10" in printed
    assert "within total variation 0.05 of the target; lossless rules reach 85.0%" in printed
    exact = ("accept", "0.5,0.3,0.2", "0.1,0.6,0.3", "--exact", "--total-variation", "0.05")
    row = json.loads(run(capsys, *exact, "--json"))["results"][0]
    assert [row[name] for name in ("acceptance", "lossless", "at_most")] == [
        "9/10",
        "17/20",
        "9/10",
    ]


@pytest.mark.parametrize(
    ("option", "budget"),
    [
        (("--total-variation", "1/20"), {"total_variation": 0.05}),
        (("--kullback-leibler", "0.05"), {"kullback_leibler": 0.05}),
        (("--reverse-kullback-leibler", "1e-2"), {"reverse_kullback_leibler": 0.01}),
        (("--renyi", "2, 0.05"), {"renyi": (2, 0.05)}),
    ],
)
def test_accept_knows_every_budget(capsys, option, budget):
    pair = "0.5,0.3,0.2", "0.1,0.6,0.3"
    row = json.loads(run(capsys, "accept", *pair, *option, "--json"))["results"][0]
    law = otspec.IID([0.5, 0.3, 0.2], 2)
    best = otspec.optimal_acceptance(law, [0.1, 0.6, 0.3], **budget)
    assert (row["acceptance"], row["at_most"]) == (best.acceptance, best.bound)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--renyi", "2"), "--renyi is '2': write an order and a budget"),
        (("--renyi", "1,0.1"), "kullback_leibler=0.1"),
        (("--total-variation", "2"), "total_variation is 2.0: it must be between 0 and 1"),
        (("--kullback-leibler", "x"), "--kullback-leibler is 'x'"),
        (("--kullback-leibler", "0.1", "--renyi", "2,0.1"), "pass one budget"),
        (("--exact", "--kullback-leibler", "0.1"), "computed in floats"),
    ],
)
def test_accept_refuses_what_is_no_budget(capsys, options, message):
    assert message in complaint(capsys, "accept", "0.5,0.3,0.2", "0.1,0.6,0.3", *options)


BUDGETS = ("--total-variation", "--kullback-leibler", "--reverse-kullback-leibler", "--renyi")
BEYOND_FLOATS = ("9" * 400, "-" + "9" * 400, "1e999", "9" * 400 + "/3", "1e999999999", "9" * 5000)


@pytest.mark.parametrize("option", BUDGETS)
@pytest.mark.parametrize("number", BEYOND_FLOATS, ids=lambda number: f"{number[:4]} {len(number)}")
@pytest.mark.parametrize("exactly", [(), ("--exact",)])
def test_accept_refuses_numbers_that_no_float_holds(capsys, option, number, exactly):
    for value in (f"{number},1", f"2,{number}") if option == "--renyi" else (number,):
        said = complaint(
            capsys, "accept", "0.5,0.3,0.2", "0.1,0.6,0.3", f"{option}={value}", *exactly
        )
        assert said.startswith(f"otspec: {option} is ")
