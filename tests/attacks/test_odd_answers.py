"""Callables of the user that answer with what is no answer: every function that takes one."""

from __future__ import annotations

import fuzz_targets
import hostile_calls
import numpy as np
from each_case import each

ANSWERS = {
    "nothing": lambda: None,
    "a number": lambda: 5,
    "a negative number": lambda: -1,
    "a word": lambda: "x",
    "no entries": tuple,
    "nothing twice": lambda: (None, None),
    "too few masses": lambda: [0.5],
    "not a number": lambda: float("nan"),
    "masses that are none": lambda: np.array([0.5, np.nan, 0.5]),
    "a dictionary": dict,
    "a flag": lambda: True,
    "an object": object,
    "itself": lambda: ANSWERS,
}
PLACES = [
    (name, argument)
    for name, row in hostile_calls.TABLE.items()
    for argument, (kind, _) in row.arguments.items()
    if kind == "callable"
]
FOLLOWS = ("expected", "acceptance", "kept_law", "run")
"""What is asked of the result, which may call the callable only then."""


def test_places_are_those_of_the_package():
    assert len(PLACES) > 60
    assert {"DraftSelection", "audit", "TruncatedAlphabet", "check", "best_tree", "replay"} <= {
        name.rpartition(".")[2] for name, _ in PLACES
    }


@each(("name", "argument"), PLACES)
def test_an_odd_answer_is_refused_in_one_line_or_reported(name, argument):
    """No error but a ValueError of one line with words; a report gives no verdict of lossless."""
    row = hostile_calls.TABLE[name]
    for what, answer in ANSWERS.items():

        def odd(*_, answer=answer, **__):
            return answer()

        with fuzz_targets.time_limit(f"{name}({argument}: answers {what})", 20):
            try:
                given = hostile_calls.valid(row) | {argument: odd}
                result = hostile_calls.settled(row.call(**given))
                for each in FOLLOWS:
                    if callable(getattr(result, each, None)):
                        getattr(result, each)()
            except (ValueError, ImportError) as error:
                message = str(error)
                assert message, what
                assert "\n" not in message, f"{what}: {message}"
            else:
                assert getattr(result, "lossless", None) is not True, what
                assert getattr(result, "passed", None) is not True, what
