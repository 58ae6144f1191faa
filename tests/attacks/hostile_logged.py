"""Accept lengths from logs, with examples of arguments."""

from hostile_rows import DRAFT, RNG, SEED, SIZE, TARGET, Row, logged, method

import otspec
from otspec import logged as logged_room
from otspec import rules

RULE = ("callable", lambda: rules.RecursiveRejection)
CUT = ("flag", False)


def text():
    return otspec.logged.LoggedBlock([DRAFT] * 2, [TARGET] * 2, [0, 1], sampling=[TARGET] * 2)


def lengths():
    return logged_room.lengths_on_texts([text()], rules.RecursiveRejection, "2")


def logged_rows():
    of_tree = {"rule": RULE, "tree": ("branching", (2, 1))}
    yield (
        "logged.replay",
        Row(logged_room.replay, {"text": ("object", text), **of_tree, "cut": CUT}),
    )
    yield (
        "logged.lengths_on_texts",
        Row(
            logged_room.lengths_on_texts,
            {"texts": ("objects", lambda: [text()]), **of_tree, "cut": CUT},
        ),
    )
    yield (
        "logged.lengths_on_blocks",
        Row(logged_room.lengths_on_blocks, {"blocks": ("objects", lambda: [logged()]), **of_tree}),
    )
    yield "AcceptLengths.__add__", Row(method(lengths, "__add__"), {"other": ("object", lengths)})
    yield "AcceptLengths.draw", Row(method(lengths, "draw"), {"size": SIZE, "seed": SEED})
    followed = lambda: logged_room.replay(text(), rules.RecursiveRejection, "2")  # noqa: E731
    yield "Replay.walk", Row(method(followed, "walk"), {"rng": RNG})
