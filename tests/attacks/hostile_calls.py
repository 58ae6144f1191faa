"""Every function, class and method of the package with hostile values for each argument in turn.

The table has a row per callable: its name, how it is called, and for each argument the kind of
values that it takes (see ``hostile_values``) and a valid example. ``hostile_calls()`` yields a call
per row, argument and value; ``hold(call)`` checks what must hold of each.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

import fuzz_targets
import hostile_values
from hostile_advice import advice_rows
from hostile_best_trees import best_tree_rows
from hostile_blocks import block_rows, model_rows
from hostile_conformance import CONFORMANCE
from hostile_frames import FRAMES
from hostile_functions import FUNCTIONS
from hostile_logged import logged_rows
from hostile_lossy import lossy_rule_rows
from hostile_methods import law_rows, rule_rows
from hostile_plots import plot_rows
from hostile_traces import TRACES
from searching import NIGHTLY

SECONDS = 5.0
TABLE = (
    FUNCTIONS
    | FRAMES
    | TRACES
    | CONFORMANCE
    | dict(
        (
            *law_rows(),
            *rule_rows(),
            *lossy_rule_rows(),
            *block_rows(),
            *model_rows(),
            *best_tree_rows(),
            *logged_rows(),
            *advice_rows(),
            *plot_rows(),
        )
    )
)

CALLED = {
    ("distributions.as_distribution", "values"): "distribution",
    ("auditing.audit_policy", "pairs"): "draft",
    ("drafts.named_law", "name"): "drafts",
    ("blocks.memoryless", "row"): "model",
    ("blocks.TableModel", "rows"): "model",
}
"""What messages call arguments that say themselves what they are called."""


SHARE = 1 if NIGHTLY else 5
"""By day callables of one name have all values once, and of others each a share in turn."""


@cache
def turns():
    """How many rows before have the same last name and argument, of each row and argument."""
    before, found = Counter(), {}
    for name, row in TABLE.items():
        for argument, (kind, _) in row.arguments.items():
            alike = name.rpartition(".")[2], argument, kind
            found[name, argument] = before[alike]
            before[alike] += 1
    return found


class Call(NamedTuple):
    """One call with one hostile value."""

    name: str
    """Of the callable."""
    argument: str
    number: int
    """Of the value among those of the argument's kind."""
    refused: bool
    """Whether nothing but a refusal will do."""
    call: object
    """Takes nothing."""

    def __str__(self) -> str:
        return f"{self.name}({self.argument}: value {self.number})"


def valid(row, given=()):
    """Return the valid arguments of a row, but those that are given otherwise."""
    return {
        name: example() if callable(example) and kind != "name" else example
        for name, (kind, example) in row.arguments.items()
        if name not in given
    }


def hostile_calls(names=None):
    """Yield the calls of all rows, or of some, each with one hostile value."""
    for name in names or TABLE:
        row = TABLE[name]
        for argument, (kind, _) in row.arguments.items():
            values = [(make, True) for make in hostile_values.hostile(kind)]
            values += [(make, False) for make in hostile_values.odd(kind)]
            turn = turns()[name, argument]
            for number in range(turn and turn % SHARE, len(values), SHARE if turn else 1):
                make, refused = values[number]

                def call(row=row, argument=argument, make=make):
                    return settled(row.call(**valid(row, {argument}), **{argument: make()}))

                yield Call(name, argument, number, refused, call)


def random_calls(rng):
    """Yield calls without end, each with hostile or odd values for some of its arguments."""
    names = list(TABLE)
    while True:
        name = names[int(rng.integers(len(names)))]
        row, given = TABLE[name], {}
        for argument, (kind, _) in row.arguments.items():
            values = [*hostile_values.hostile(kind), *hostile_values.odd(kind)]
            if values and rng.random() < 0.6:
                given[argument] = values[int(rng.integers(len(values)))]

        def call(row=row, given=given):
            made = {argument: make() for argument, make in given.items()}
            return settled(row.call(**valid(row, made), **made))

        yield Call(name, ", ".join(given), 0, False, call)


def settled(result):
    """Return a result; of an iterator its first entries."""
    return list(islice(result, 5)) if isinstance(result, Iterator) else result


def hold(case):
    """Check that a call returns, or is refused in one line that names the argument, and soon."""
    with fuzz_targets.time_limit(str(case), SECONDS):
        try:
            case.call()
        except ValueError as error:
            message = str(error)
        except ImportError:
            return
        else:
            assert not case.refused, f"{case} is taken"
            return
    assert message, f"{case} says nothing"
    assert "\n" not in message, f"{case}: {message}"
    taken = TABLE[case.name].takes()
    for advised in re.findall(r"\bpass (\w+)=", message):
        assert advised in taken, f"{case} takes no {advised}: {message}"
    if case.refused:
        called = (case.argument, CALLED.get((case.name, case.argument), case.argument))
        assert any(name in message for name in called), f"{case}: {message}"
